/** From the meaning of a config to the spec of a resource: what its base config does not say already. */
import { camelCase, PROVIDER_LISTS, type ProviderList } from "../api/api_names.ts";
import { effectiveId } from "../api/rules.ts";
import { entriesOf } from "../config/draft.ts";
import { variablesIn } from "../config/known_environment.ts";
import { baseId, conditionOf } from "../config/servers/base.ts";
import { apiOn, isOlderMinor } from "../config/servers/families/families.ts";
import { isObject, type Json, type JsonObject, objectAt, put, stringAt } from "../data/json.ts";
import { entriesIn, type Entry, type Fields, fieldsOf, servedApis } from "./entries.ts";
import { itemOf, movesData } from "./express_providers.ts";
import { authOf, serverOf, storageOf } from "./express_server.ts";
import { connectorsOf, type Meanings, resourcesOf, sameFields } from "./express_resources.ts";
import { meaningOf } from "./meaning.ts";
import { foldersOf } from "./places.ts";
import { settledMap } from "./variables.ts";
import { blocks, secretName, type SecretOf, type Wanted } from "./wanted.ts";

export interface Expressed {
  readonly spec: JsonObject;
  /** Keys of the Secret that is to be created, each with what belongs into it. */
  readonly secrets: ReadonlyMap<string, string>;
  /** For a resource that keeps the whole config. */
  readonly ownEnv: ReadonlyArray<Json>;
  /** What the Secret of the SQL connection will say. */
  readonly connection: ReadonlyMap<string, string>;
  /** Of a volume that is new. */
  readonly mountPath: string | undefined;
}

export const express = (wanted: Wanted): Expressed => {
  const secrets = new Map<string, string>();
  const secretOf = (variable: string): JsonObject => {
    const found = wanted.variables.get(variable);
    const ref = found?.kind === "secret" ? found.ref : undefined;
    if (ref === undefined) secrets.set(variable, `YOUR_${variable}`);
    const { name, key } = ref ?? { name: secretName(wanted.name), key: variable };
    return { secretKeyRef: { name, key } };
  };
  const lists = PROVIDER_LISTS.map((list) => listOf(list, wanted, secretOf));
  const providers = Object.fromEntries(
    lists.filter(({ items }) => items.length > 0).map(({ field, items }) => [field, items]),
  );
  const meanings = { own: meaningOf(wanted.own), base: meaningOf(wanted.base) };
  const { storage, connection } = storageOf(wanted, secrets, secretOf);
  const spec = {
    ...blocks({
      providers,
      resources: resourcesOf(wanted, meanings),
      connectors: connectorsOf(wanted, meanings) as Json,
      vectorStores: vectorStoresOf(wanted, lists, meanings),
      storage,
    }),
    ...blocks({ disabled: disabledOf(wanted, lists) as Json }),
    ...blocks({ ...serverOf(wanted), auth: authOf(wanted, secretOf) }),
  };
  const folder = wanted.keepData ? folderOf(wanted) : undefined;
  const mountPath = wanted.keepData && wanted.mountPath === undefined ? mountOf(wanted, folder) : undefined;
  const isKept = folder !== undefined && isInside(folder, wanted.mountPath ?? mountPath);
  const env = [
    ...entriesFor(variablesOf(spec, wanted, lists.flatMap(({ kept }) => kept)), wanted, secretOf),
    ...(isKept ? [{ name: "SQLITE_STORE_DIR", value: folder }] : []),
  ];
  const mounted = mountPath === undefined ? spec : put(spec, ["workload", "storage"], { mountPath });
  return {
    spec: env.length === 0 ? mounted : put(mounted, ["workload", "overrides", "env"], env),
    mountPath,
    secrets,
    ownEnv: entriesFor(wanted.names, wanted, secretOf),
    connection,
  };
};

interface List {
  readonly field: ProviderList;
  /** The name of the API on this server; undefined: it has none. */
  readonly api: string | undefined;
  readonly items: ReadonlyArray<JsonObject>;
  /** Entries of the base config that say the same. */
  readonly kept: ReadonlyArray<string>;
  /** `disabled` has one line for all others. */
  readonly replacesAll: boolean;
}

const listOf = ({ field, api }: typeof PROVIDER_LISTS[number], wanted: Wanted, secretOf: SecretOf): List => {
  const { own, base } = wanted;
  const here = apiOn(own.server, api);
  if (here === undefined || !servedApis(own).includes(here)) {
    return { field, api: here, items: [], kept: [], replacesAll: false };
  }
  const entries = entriesIn(here, own);
  const known = entriesIn(here, base);
  const isKept = (entry: Entry) =>
    !movesData(entry, wanted) &&
    known.some((other) => other.id === entry.id && sameFields(fieldsOf(other, base), fieldsOf(entry, own)));
  const kept = entries.filter(isKept);
  const extras = extrasOf(here, wanted);
  const isDirect = own.server.catalogue.apis[here]?.kind === "direct";
  // One line for all of them, if the kept ones can be named in fewer lines than the others are.
  const replacesAll = !isDirect && extras.all.length > 0 && (kept.length === 0 || 2 * kept.length < extras.on.length);
  const changed = entries.filter((entry) => !kept.includes(entry));
  // Of an API with one provider, any item replaces all of the base config.
  const isAll = replacesAll || isDirect && changed.length > 0;
  const declared = isAll ? entries : changed;
  const items = declared.map((entry) => itemOf(entry, declared.length > 1, wanted, secretOf));
  return { field, api: here, items, kept: isAll ? [] : kept.map(({ id }) => `${here}/${id}`), replacesAll };
};

/** Providers of the base config that the config does not have: those that are on, and all. */
const extrasOf = (api: string, { own, base }: Wanted) => {
  const named = new Set(entriesOf(own.tree, api).map(baseId));
  const ons = new Set(entriesIn(api, own).map(({ id }) => id));
  const on = entriesIn(api, base).map(({ id }) => id).filter((id) => !ons.has(id));
  const all = entriesOf(base.tree, api).flatMap((entry) => baseId(entry) ?? []).filter((id) => !named.has(id));
  return { on, all };
};

const disabledOf = (wanted: Wanted, lists: ReadonlyArray<List>): ReadonlyArray<string> => {
  const { own, base } = wanted;
  const served = servedApis(own);
  return servedApis(base).flatMap((api) => {
    if (!served.includes(api)) return [camelCase(api)];
    const list = lists.find((other) => other.api === api);
    if (list === undefined) return [];
    if (list.replacesAll) return [`${camelCase(api)}/*`];
    const isReplaced = own.server.catalogue.apis[api]?.kind === "direct" && list.items.length > 0;
    return isReplaced ? [] : extrasOf(api, wanted).on.map((id) => `${camelCase(api)}/${id}`);
  });
};

/** What the section says, as far as it is not what the operator would choose; an empty text where it says nothing. */
const vectorStoresOf = (wanted: Wanted, lists: ReadonlyArray<List>, meanings: Meanings): Json | undefined => {
  const { own } = wanted;
  if (!own.server.family.vectorStoreDefaults || entriesIn("vector_io", own).length === 0) return undefined;
  const [section, usual] = [meanings.own, meanings.base].map(({ subjects }) =>
    subjects.get("vector_stores") ?? new Map()
  );
  const valueAt = (fields: Fields | undefined, key: string): string => JSON.parse(fields?.get(key) ?? '""');
  const modelAt = (fields: Fields | undefined, key: string) => {
    const [provider, model] = ["provider_id", "model_id"].map((part) => valueAt(fields, `${key}.${part}`));
    return model === "" ? "" : `${provider}/${model}`;
  };
  const of = (list: ProviderList) => lists.find(({ field }) => field === list);
  const [first] = (of("vectorIo")?.items ?? []).map((item) => effectiveId(item));
  // Models of the base config that no other provider has under this id.
  const isThere = (model: string) =>
    entriesIn("inference", own).some(({ id, type }) => type.startsWith("inline::") && model.startsWith(`${id}/`));
  const embeds = [...meanings.own.subjects].find(([name, fields]) =>
    name.startsWith("model ") && fields.get("modelType") === '"embedding"'
  );
  const [store, embedding, reranker] = [
    valueAt(section, "default_provider_id"),
    modelAt(section, "default_embedding_model"),
    modelAt(section, "default_reranker_model"),
  ];
  const usualModel = (key: string) => {
    const model = modelAt(usual, key);
    return isThere(model) ? model : "";
  };
  const chosen = {
    provider: first ?? valueAt(usual, "default_provider_id"),
    embedding: embeds?.[0].slice("model ".length) ?? usualModel("default_embedding_model"),
    reranker: usualModel("default_reranker_model"),
  };
  const unlessUsual = (key: string, own: string, other: string) => own === other ? {} : { [key]: own };
  const chunks = objectAt(settledMap(objectAt(own.tree, "vector_stores"), own.valueOf), "file_ingestion_params");
  const size = chunks.default_chunk_size_tokens;
  const mode = section?.get("chunk_retrieval_params.default_search_mode");
  const isCut = [...section?.keys() ?? []].some((key) => key.startsWith("file_ingestion_params.default_chunk"));
  return {
    ...(store === chosen.provider ? {} : { defaultProvider: store }),
    ...unlessUsual("defaultEmbeddingModel", embedding, chosen.embedding),
    ...(isOlderMinor(own.server.version, "0.7") ? {} : unlessUsual("defaultRerankerModel", reranker, chosen.reranker)),
    ...(typeof size !== "number" || !isCut ? {} : {
      chunking: {
        maxChunkSizeTokens: size,
        ...(typeof chunks.default_chunk_overlap_tokens === "number"
          ? { chunkOverlapTokens: chunks.default_chunk_overlap_tokens }
          : {}),
      },
    }),
    ...(mode === undefined ? {} : { searchMode: JSON.parse(mode) as Json }),
  };
};

/** Variables that the result still reads: of its own texts, and of what it keeps of the base config. */
const variablesOf = (
  spec: JsonObject,
  { base, own }: Wanted,
  kept: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const ofBase = servedApis(own).flatMap((api) =>
    entriesOf(base.tree, api).filter((entry) => kept.includes(`${api}/${baseId(entry)}`))
      .flatMap((entry) => [conditionOf(entry) ?? "", ...variablesIn(JSON.stringify(entry))])
  );
  const { providers: _, storage, ...sections } = base.tree;
  const backends = Object.values(objectAt(storage ?? {}, "backends")).filter((backend) =>
    objectAt(spec, "storage")[(stringAt(backend, "type") ?? "").split("_")[0] ?? ""] === undefined
  );
  const others = JSON.stringify([sections, spec.storage === undefined ? storage : backends]);
  return [...variablesIn(JSON.stringify(spec)), ...ofBase, ...variablesIn(others)];
};

const entriesFor = (names: ReadonlyArray<string>, { variables }: Wanted, secretOf: SecretOf): ReadonlyArray<Json> =>
  [...new Set(names)].filter((name) => variables.has(name) && !OF_OPERATOR.has(name)).sort().map((name): Json => {
    const found = variables.get(name);
    if (found?.kind === "value") return { name, value: found.value };
    if (found?.kind === "secret") return { name, valueFrom: secretOf(name) };
    return found?.valueFrom === undefined ? { name, value: TO_FILL_IN } : { name, valueFrom: found.valueFrom };
  });

/** The folder of the databases, if they are in one. */
const folderOf = ({ own }: Wanted): string | undefined => {
  const files = Object.values(objectAt(own.tree, "storage", "backends")).map((backend) =>
    stringAt(isObject(backend) ? settledMap(backend, own.valueOf) : null, "db_path")
  );
  const [folder, ...others] = [...new Set(files.map((file) => file?.replace(/\/[^/]*$/, "")))];
  return folder?.startsWith("/") === true && others.length === 0 ? folder : undefined;
};

/** The folder that all files of the server are in; that of its databases, if there is no such one. */
const mountOf = ({ own }: Wanted, folder: string | undefined): string | undefined => {
  const folders = [...foldersOf(own, servedApis(own).flatMap((api) => entriesIn(api, own)))];
  const [first, ...others] = folders.map((path) => path.split("/").slice(1));
  const steps = others.reduce((common, path) => {
    const end = common.findIndex((step, index) => path[index] !== step);
    return end < 0 ? common : common.slice(0, end);
  }, first ?? []);
  const path = `/${steps.join("/")}`;
  return OF_IMAGE.test(path) ? folder : path;
};

/** What an image has here would be hidden by a volume. */
const OF_IMAGE = /^\/(app|bin|etc|home|lib|opt|root|run|srv|tmp|usr|var)?$/;

export const isInside = (folder: string, mountPath: string | undefined): boolean =>
  mountPath !== undefined && `${folder}/`.startsWith(`${mountPath.replace(/\/+$/, "")}/`);

/** Folders that the operator chooses. */
export const OF_OPERATOR: ReadonlySet<string> = new Set([
  "SQLITE_STORE_DIR",
  "FILES_STORAGE_DIR",
  "MILVUS_DB_PATH",
  "LLSD_KV_USERINFO",
]);

/** In place of values that only the author knows; the others are for fields that take no text. */
export const TO_FILL_IN = "TO_FILL_IN";
export const OTHERS_TO_FILL_IN: ReadonlyArray<string> = ["https://TO-FILL-IN", "8080"];
