/**
 * What a config means to its server, in a form in which two configs can be compared: by subject, such as a provider or a model, and by
 * field. Defaults, spellings and keys that the server does not read are left out, and where data is kept stands apart.
 */
import * as Result from "effect/Result";
import { entriesOf } from "../config/draft.ts";
import { variablesIn } from "../config/known_environment.ts";
import { BASES } from "../config/servers/bases.ts";
import { baseId, conditionOf } from "../config/servers/base.ts";
import type { Catalogue } from "../config/servers/catalogue.ts";
import { apiOn, serverName } from "../config/servers/families/families.ts";
import { ignoredSections } from "../config/servers/ignored_sections.ts";
import { isFirstProvider, modelKey } from "../config/stages/models.ts";
import {
  at,
  isList,
  isObject,
  isSameValue,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  omit,
  stringAt,
} from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { readYaml11 } from "../data/yaml.ts";
import { audienceOn, AUTH_SUBJECT, authFields } from "./auth_meaning.ts";
import {
  entriesIn,
  type Entry,
  type Fields,
  fieldsOf,
  idIn,
  type Read,
  SECRET,
  servedApis,
  serverSectionOf,
  storeFields,
  usualConnection,
} from "./entries.ts";
import { flat } from "./leaves.ts";
import { foldersOf, placesOf } from "./places.ts";
import { settled, settledMap, settledText } from "./variables.ts";

export interface Meaning {
  /** What the server does. */
  readonly subjects: ReadonlyMap<string, Fields>;
  /** Where it keeps its data. */
  readonly places: Fields;
  /** Absolute folders of its files. */
  readonly folders: ReadonlySet<string>;
  /** What nobody reads. */
  readonly dead: ReadonlyArray<string>;
  /** Providers that a variable would switch on. */
  readonly off: ReadonlyArray<string>;
}

type Subject = readonly [name: string, fields: Fields];

const subject = (name: string, fields: ReadonlyArray<readonly [string, Json | undefined]>): Subject => [
  name,
  new Map(fields.flatMap(([key, value]) => flat(value, key)).map(([key, value]) => [key, JSON.stringify(value)])),
];

export const meaningOf = (read: Read): Meaning => {
  const { tree, server } = read;
  const served = servedApis(read);
  const entries = served.flatMap((api) => entriesIn(api, read));
  const subjects = [
    ...served.map((api): Subject => [`API ${api}`, new Map()]),
    ...entries.map((entry): Subject => [`${entry.api} provider ${entry.id}`, fieldsOf(entry, read)]),
    ...registered(read, served, entries),
    ...storage(read),
    ...(entries.some(({ api }) => api === "vector_io") ? vectorStores(read, entries) : []),
    ...sections(read),
  ];
  const unread = Object.keys(objectAt(tree, "providers")).filter((api) =>
    !served.includes(apiOn(server, api) ?? api) && entriesOf(tree, api).length > 0
  );
  return {
    subjects: new Map(subjects),
    places: placesOf(read, entries),
    folders: foldersOf(read, entries),
    dead: [
      ...ignoredSections(tree, server),
      ...unreadPasswords(tree),
      ...REGISTERED.flatMap(({ list, what, key }) =>
        listAt(tree, ...server.family.resourcesAt, list).filter(isObject)
          .filter((entry) =>
            list !== "datasets" && stringAt(entry, key) !== undefined &&
            [undefined, null].includes(entry.provider_id as null | undefined)
          )
          .map((entry) => `${what} ${stringAt(entry, key)}: not registered without provider_id`)
      ),
      ...unread.map((api) =>
        `providers.${api}: ${
          listAt(tree, "apis").includes(api)
            ? `${serverName(server.version)} has no API of this name`
            : "apis does not list it"
        }`
      ),
      ...entries.flatMap(({ api, id, leaves }) =>
        leaves.filter(({ kind }) => kind === "dead").map(({ path }) => `${path.join(".")} of ${api} provider ${id}`)
      ),
    ],
    off: [
      ...served.flatMap((api) =>
        entriesOf(tree, api).filter((entry) => idIn(entry, read.valueOf) === undefined && baseId(entry) !== undefined)
          .map((entry) => `${api}/${baseId(entry)} (${conditionOf(entry) ?? "no id"})`)
      ),
      ...REGISTERED.flatMap(({ list, what, key }) =>
        listAt(tree, ...server.family.resourcesAt, list).flatMap((entry) => stringAt(entry, key) ?? [])
          .filter((id) => settledText(id, read.valueOf) === null).map((id) => `${what} (${variablesIn(id).join(", ")})`)
      ),
    ],
  };
};

/** Where there are no backends, of which lint says it. Source: RedisKVStoreConfig of the servers, which has host and port only. */
const unreadPasswords = (tree: JsonObject): ReadonlyArray<string> =>
  stringAt(tree, "metadata_store", "type") === "redis" && at(tree, "metadata_store", "password") !== undefined
    ? ["metadata_store.password: the password of Redis is part of the host, as in user:password@host"]
    : [];

/** Lists of resources with the key of their ids, the API that has them, and the fields with their defaults. */
export const REGISTERED = [
  { list: "models", api: "inference", what: "model", key: "model_id" },
  { list: "shields", api: "safety", what: "shield", key: "shield_id" },
  { list: "tool_groups", api: "tool_runtime", what: "tool group", key: "toolgroup_id" },
  { list: "vector_stores", api: "vector_io", what: "vector store", key: "vector_store_id" },
  { list: "vector_dbs", api: "vector_io", what: "vector store", key: "vector_db_id" },
  { list: "datasets", api: "datasetio", what: "dataset", key: "dataset_id" },
  { list: "scoring_fns", api: "scoring", what: "scoring function", key: "scoring_fn_id" },
  { list: "benchmarks", api: "eval", what: "benchmark", key: "benchmark_id" },
] as const;

/** Without those that name no provider, which the server skips, or one that is not there or off, with which it does not start. */
const registered = (read: Read, served: ReadonlyArray<string>, entries: ReadonlyArray<Entry>): ReadonlyArray<Subject> =>
  REGISTERED.flatMap(({ list, api, what, key }) => {
    const { family } = read.server;
    const ids = idsOf(entries);
    const place = [...family.resourcesAt, list];
    const isDead = [...family.ignoredKeys, ...family.droppedKeys].some((path) => path.join(".") === place.join("."));
    if (isDead || !served.includes(api)) return [];
    return listAt(read.tree, ...place).filter(isObject).map((entry) => settledMap(entry, read.valueOf))
      .filter((entry) => ![null, "", undefined, "__disabled__"].includes(entry[key] as string | null | undefined))
      .filter(({ provider_id: id }) =>
        // Datasets name their provider elsewhere.
        id === undefined ? list === "datasets" : ids.has(`${api}/${id}`) ||
          list === "models" && isFirstProvider(String(id), read.server.version)
      )
      .map((entry): Subject => {
        const own = { ...entry, [key]: String(entry[key]) };
        if (list === "models") return modelSubject(own, read);
        const rest = omit(own, key, ...(own[`provider_${key}`] === own[key] ? [`provider_${key}`] : []));
        return subject(`${what} ${own[key]}`, Object.entries(rest));
      });
  });

type Ids = ReadonlySet<string>;

const idsOf = (entries: ReadonlyArray<Entry>): Ids => new Set(entries.map(({ api, id }) => `${api}/${id}`));

const modelSubject = (entry: JsonObject, { server: { family } }: Read): Subject => {
  const bare = String(entry.model_id).replace(`${entry.provider_id}/`, "");
  return subject(`model ${modelKey(entry, family)}`, [
    ["modelType", entry.model_type ?? "llm"],
    ["providerModelId", entry.provider_model_id ?? bare],
    ["metadata", entry.metadata],
  ]);
};

const storage = (read: Read): ReadonlyArray<Subject> => [
  ...(["kv", "sql"] as const).map((kind) =>
    subject(`storage of kind ${kind}`, [["backend", usualConnection(kind, read)]])
  ),
  ...Object.entries(objectAt(read.tree, "storage", "stores")).flatMap(([name, store]): ReadonlyArray<Subject> => {
    const kind = stringAt(store, "table_name") === undefined ? "kv" : "sql";
    const fields = isObject(store) ? storeFields("store", store, kind, read) : [];
    return fields.length === 0 ? [] : [[`store ${name}`, new Map(fields)]];
  }),
];

/** Requests that name no provider go to the only one. */
const vectorStores = (read: Read, entries: ReadonlyArray<Entry>): ReadonlyArray<Subject> => {
  if (!read.server.family.vectorStoreDefaults) return [];
  const section = settledMap(objectAt(read.tree, "vector_stores"), read.valueOf);
  const ids = idsOf(entries);
  const lost = Object.keys(section).filter((key) =>
    /^default_.*_model$/.test(key) && !ids.has(`inference/${objectAt(section, key).provider_id}`)
  );
  const own = omit(section, ...lost);
  const [store, ...others] = entries.filter(({ api }) => api === "vector_io");
  const usual = new Map(flat(usualVectorStores(read.server.catalogue)));
  const fields = flat({
    ...(others.length === 0 && store !== undefined ? { default_provider_id: store.id } : {}),
    ...own,
  }).filter(([key, value]) => key.startsWith("default_") || !isSameValue(usual.get(key), value));
  return [subject("vector_stores", fields)];
};

/** The starter of the same version has what the server takes if the section is missing, but for its `default_…`. */
const usualVectorStores = onceForEach((catalogue: Catalogue): JsonObject => {
  const base = Result.getOrElse(readYaml11(BASES[`starter-${catalogue.server}.yaml`] ?? ""), () => null);
  return objectAt(base, "vector_stores");
});

const sections = (read: Read): ReadonlyArray<Subject> => {
  const { tree, server, valueOf } = read;
  const dead = [...server.family.ignoredKeys, ...server.family.droppedKeys].map((path) => path.join("."));
  const own = serverSectionOf(read);
  const auth = objectAt(own, "auth");
  const usual: JsonObject = {
    port: 8321,
    workers: 1,
    hsts_max_age: 31_536_000,
    registry_refresh_interval_seconds: 300,
    "tenancy.mode": "disabled",
  };
  const fields = flat(omit(own, "auth", "insecure", ...dead.map((key) => key.replace("server.", ""))))
    .filter(([key, value]) =>
      !isSameValue(usual[key], value) && !(key === "host" && ["0.0.0.0", "::"].includes(String(value)))
    )
    .map(([key, value]) => [key, OF_SECRET.has(key) ? SECRET : value] as const);
  const type = at(auth, "provider_config", "type");
  // A variable that nobody knows here may switch it on.
  const written = at(tree, "server", "auth", "provider_config", "type") ?? null;
  const mayBeOn = !read.isComplete && variablesIn(JSON.stringify(written)).length > 0;
  const isOff = !mayBeOn && type !== undefined && [null, ""].includes(type as string | null);
  // Rules for paths are enforced without users as well, and Llama Stack up to 0.2.16 had provider_type.
  // In a form that no server reads.
  const unreadable = [at(own, "auth"), at(own, "auth", "provider_config")].find((part) =>
    part !== undefined && part !== null && !isObject(part)
  );
  const isOn = unreadable !== undefined || Object.keys(auth).length > 0 && !isOff &&
      (type !== undefined || listAt(auth, "route_policy").length > 0 || auth.provider_type !== undefined);
  return [
    subject("server", fields),
    ...(isOn
      ? [subject(AUTH_SUBJECT, [
        ...(mayBeOn ? [["type", written]] as const : []),
        ["provider_type", auth.provider_type],
        ["unreadable", unreadable],
        ...authFields(auth, audienceOn(server)),
      ])]
      : []),
    ...["safety", "connectors", "logging_config", "external_providers_dir", "external_apis_dir"].flatMap((key) => {
      const value = settled(member(tree, key) ?? null, valueOf);
      if (dead.includes(key) || flat(value).length === 0) return [];
      if (key !== "connectors" || !isList(value)) return [subject(key, [[key, value]])];
      return value.map((item) =>
        subject(`connector ${stringAt(item, "connector_id")}`, Object.entries(objectAt(item)))
      );
    }),
  ];
};

/** Files that come from a Secret, wherever it is mounted. */
const OF_SECRET: ReadonlySet<string> = new Set(["tls_certfile", "tls_keyfile"]);
