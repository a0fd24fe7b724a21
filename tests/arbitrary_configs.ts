/**
 * Random resources out of the catalogue of a server: every provider type and field, with right, odd and wrong values; for the comparison
 * of what lint says with what the server does.
 */
import * as Result from "effect/Result";
import fc from "fast-check";
import { PROVIDER_LISTS } from "../core/api/api_names.ts";
import {
  type Catalogue,
  type CatalogueField,
  type FieldType,
  type ProviderType,
} from "../core/config/servers/catalogue.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../core/config/servers/distributions.ts";
import { apiOn, isOlderMinor, serverOf } from "../core/config/servers/families/families.ts";
import { effectiveId } from "../core/api/rules.ts";
import { type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../core/data/json.ts";
import { readConfigYaml, writeYaml } from "../core/data/yaml.ts";
import type { ConfigMaps } from "../core/config/config_map_content.ts";
import type { Secrets } from "../tools/server/boot.ts";
import { repaired } from "./repaired_config.ts";

export interface ArbitraryConfig {
  readonly manifest: JsonObject;
  readonly secrets: Secrets;
  /** With the base config of the resource, if it has one of its own. */
  readonly configMaps?: ConfigMaps;
  /** What that has in place of what the base of the distribution has. */
  readonly edits?: ReadonlyArray<Edit>;
}

type Edit = readonly [path: ReadonlyArray<string>, value: Json];

/** Weighted: a resource in which everything is odd is refused for its first oddity, and says nothing about the others. */
const mostly = <A>(right: fc.Arbitrary<A>, odd: fc.Arbitrary<A>, weight = 30): fc.Arbitrary<A> =>
  fc.oneof({ weight, arbitrary: right }, { weight: 1, arbitrary: odd });

const ODD_VALUES: ReadonlyArray<Json> = [
  ...[null, "", " ", "x", "5", "007", "١٢", "true", "1e3", "${env.UNSET}", "${env.UNSET:=y}", "${env.UNSET:=5}"],
  ...[0, -1, 5, 1.5, 65536, true, false, [], ["a"], {}, { a: 1 }, { type: "x" }],
];
const odd: fc.Arbitrary<Json> = fc.constantFrom(...ODD_VALUES);

const URLS = ["http://host:8000", "https://host/v1", "http://host:8000/v1", "http://[::1]:8000"];
const ENDPOINTS = [...URLS, "host", "host:6333", "grpc://host:1", "http://host", "host/path", "http://u:p@host", "/db"];

const byType: Readonly<Record<FieldType, fc.Arbitrary<Json>>> = {
  string: fc.constantFrom<Json>("a", "some text", "x-1", "${env.UNSET:=a}"),
  integer: fc.constantFrom<Json>(1, 5, 100),
  number: fc.constantFrom<Json>(0.5, 1, 30),
  boolean: fc.boolean(),
  url: fc.constantFrom<Json>(...URLS),
  object: fc.constantFrom<Json>({}),
  array: fc.constantFrom<Json>([], ["a"]),
  any: fc.constantFrom<Json>("a", 1, true),
};

const valueOf = (catalogue: Catalogue, field: CatalogueField): fc.Arbitrary<Json> => {
  const model = field.model === undefined ? undefined : catalogue.models[field.model];
  if (field.enum !== undefined) return mostly(fc.constantFrom(...field.enum as ReadonlyArray<Json>), odd);
  if (model !== undefined) return mostly(fieldsOf(catalogue, model.fields, 2), odd);
  const right = typeof field.default === "string" || typeof field.default === "number"
    ? fc.oneof(byType[field.type], fc.constant(field.default as Json))
    : byType[field.type];
  return mostly(right, odd);
};

/** The fields that must be there, and up to `most` others. */
const fieldsOf = (
  catalogue: Catalogue,
  fields: ProviderType["fields"],
  most: number,
): fc.Arbitrary<JsonObject> => {
  const [required, others] = [true, false].map((wanted) =>
    Object.keys(fields).filter((name) => (fields[name]?.required === true) === wanted)
  ) as [string[], string[]];
  return fc.tuple(
    mostly(fc.constant(required), fc.subarray(required)),
    fc.subarray(others, { maxLength: Math.min(most, others.length) }),
  )
    .chain(([must, may]) =>
      fc.record(
        Object.fromEntries(
          [...must, ...may].flatMap((name) => {
            const field = fields[name];
            return field === undefined ? [] : [[name, valueOf(catalogue, field)]];
          }),
        ),
        { noNullPrototype: true },
      )
    ) as fc.Arbitrary<JsonObject>;
};

const KEYS = ["plain", "digits", "letters", "reference", "spaces"] as const;

/** Values of the Secret that all references name. */
const secretValues: fc.Arbitrary<Secrets> = fc.record({
  plain: fc.constantFrom("secret", "sk-1234"),
  digits: fc.constantFrom("12345", "007", "1e5"),
  letters: fc.constantFrom("pässwörd", "١٢٣", "a$b{c}"),
  reference: fc.constantFrom("${env.HOME}", "a ${env.X:=y}", "$(HOME)"),
  spaces: fc.constantFrom(" a ", "a\nb", "a: b # c"),
}).map((values) => ({ s: values, db: { url: "postgresql://user:word@db:5432/llama" } }));

const reference: fc.Arbitrary<JsonObject> = mostly(
  fc.constant("plain"),
  fc.constantFrom<string>(...KEYS),
  2,
).map((key) => ({ secretKeyRef: { name: "s", key } }));

const ids = (bases: ReadonlyArray<string>): fc.Arbitrary<string> =>
  mostly(fc.constantFrom("mine", "a-b", ...bases), fc.constantFrom("123", "007", "a.b", "true", "transformers"));

const provider = (catalogue: Catalogue, api: string, bases: ReadonlyArray<string>): fc.Arbitrary<JsonObject> =>
  fc.constantFrom(...Object.keys(catalogue.providers[api] ?? {})).chain((type) => {
    const known = catalogue.providers[api]?.[type] ?? { fields: {} };
    const own = new Set([known.endpoint, known.endpointPort, known.key, ...Object.keys(known.references ?? {})]);
    const fields = Object.fromEntries(Object.entries(known.fields).filter(([name]) => !own.has(name)));
    const secret = Object.keys(fields).filter((name) => fields[name]?.secret === true);
    const plain = Object.fromEntries(Object.entries(fields).filter(([name]) => !secret.includes(name)));
    const isRequired = (name: string | undefined) => fields[name ?? ""]?.required === true;
    const refs = mostly(
      fc.subarray(secret).map((names) => [...new Set([...names, ...secret.filter(isRequired)])]),
      fc.subarray(Object.keys(fields), { maxLength: Math.min(1, Object.keys(fields).length) }),
      8,
    );
    return fc.record({
      provider: fc.constant(type),
      id: fc.option(ids(bases), { nil: undefined, freq: 2 }),
      endpoint: known.endpoint === undefined
        ? fc.constant(undefined)
        : fc.option(mostly(fc.constantFrom(...URLS), fc.constantFrom(...ENDPOINTS), 6), { nil: undefined, freq: 6 }),
      // Servers before 0.6 register models only of providers that have a key.
      apiKey: known.key === undefined ? fc.constant(undefined) : fc.option(reference, {
        nil: undefined,
        freq: known.fields[known.key]?.required === true || catalogue.server < "0.6" ? 30 : 2,
      }),
      secretRefs: refs.chain((names) =>
        names.length === 0
          ? fc.constant(undefined)
          : fc.record(Object.fromEntries(names.map((name) => [name, reference])), { noNullPrototype: true })
      ),
      settings: fc.option(fieldsOf(catalogue, plain, 3), {
        nil: undefined,
        freq: Object.keys(plain).some(isRequired) ? 30 : 3,
      }),
    }, { noNullPrototype: true }).map(withoutUndefined);
  });

const withoutUndefined = (value: object): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as JsonObject;

/** Providers of one list have ids of their own, but for some. */
const apart = (list: string, entries: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  entries.length < 2
    ? entries
    : entries.map((entry, index) => ({ ...entry, id: index === 0 ? entry.id ?? list : `${list}-${index}` }));

const model = (idsOfProviders: ReadonlyArray<string>): fc.Arbitrary<JsonObject> =>
  fc.record({
    name: fc.constantFrom("m", "org/model", "nomic-ai/nomic-embed-text-v1.5", "llama-3"),
    provider: idsOfProviders.length === 0
      ? fc.constant(undefined)
      : fc.option(mostly(fc.constantFrom(...idsOfProviders), fc.constant("absent")), { nil: undefined }),
    modelType: fc.option(fc.constantFrom("llm", "embedding", "rerank"), { nil: undefined }),
    embeddingDimension: fc.option(fc.constantFrom(384, 768), { nil: undefined }),
    contextLength: fc.option(fc.constantFrom(4096), { nil: undefined }),
    metadata: fc.option(
      mostly(
        fc.constantFrom<JsonObject>({ team: "search" }, { a: null, b: [1.5, { c: "007" }] }, { n: "${env.UNSET:=5}" }),
        fc.constantFrom<JsonObject>({ embedding_dimension: "x" }, { embedding_dimension: 4 }),
      ),
      { nil: undefined, freq: 2 },
    ),
  }).map(withoutUndefined);

/** Tool groups, shields and what else a server registers: what it has, but for some. */
const registered = (
  { server, apis }: Catalogue,
  models: ReadonlyArray<JsonObject>,
): fc.Arbitrary<JsonObject> => {
  const only = <A>(isThere: boolean, value: fc.Arbitrary<A>, freq = 2) =>
    mostly(
      isThere ? fc.option(value, { nil: undefined, freq }) : fc.constant(undefined),
      fc.option(value, { nil: undefined }),
    );
  const named = <A extends { readonly name: unknown }>(item: fc.Arbitrary<A>) =>
    fc.uniqueArray(item, { minLength: 1, maxLength: 2, selector: ({ name }) => name });
  const object = <A extends object>(fields: { readonly [Key in keyof A]: fc.Arbitrary<A[Key]> }) =>
    fc.record(fields as Record<string, fc.Arbitrary<unknown>>, { noNullPrototype: true })
      .map((made) => withoutUndefined(made) as JsonObject & { readonly name: Json });
  const maybe = <A>(right: ReadonlyArray<A>, wrong: ReadonlyArray<A> = []) =>
    fc.option(
      wrong.length === 0 ? fc.constantFrom(...right) : mostly(fc.constantFrom(...right), fc.constantFrom(...wrong)),
      {
        nil: undefined,
      },
    );
  const embeddings = models.filter(({ modelType }) => modelType === "embedding").map(({ name }) => `${name}`);
  const evaluates = apis.eval !== undefined;
  const FREE: ReadonlyArray<JsonObject> = [{ a: 1, b: [null, { c: "x" }] }, { team: "007" }];
  return fc.record({
    toolGroups: only(
      true,
      named(object({
        name: mostly(fc.constantFrom("mcp::a", "mcp::b", "rag", "websearch"), fc.constantFrom("own", "builtin::rag")),
        provider: maybe(["model-context-protocol"], ["absent", "tavily-search"]),
        endpoint: maybe(URLS, ["host", "ftp://host"]),
        args: maybe(FREE),
      })),
    ),
    shieldConfigs: only(
      apis.shields !== undefined,
      named(object({
        name: fc.constantFrom("guard", "scanner"),
        provider: maybe(["code-scanner", "llama-guard"], ["absent"]),
        providerShieldId: maybe(["code-scanner"], ["m"]),
        params: maybe(FREE),
      })),
    ),
    vectorStores: only(
      !isOlderMinor(server, "0.4") && embeddings.length > 0,
      named(object({
        name: fc.constantFrom("docs", "007"),
        provider: maybe(["faiss"], ["absent", "qdrant"]),
        embeddingModel: mostly(fc.constantFrom("absent", ...embeddings, ...embeddings), fc.constant("${env.UNSET}")),
        displayName: maybe(["Docs", "5"]),
        providerVectorStoreId: maybe(["there", "1e5"]),
      })),
    ),
    datasets: only(
      evaluates,
      named(object({
        name: fc.constantFrom("rows", "1"),
        purpose: mostly(
          fc.constantFrom("eval/question-answer", "eval/messages-answer"),
          fc.constant("post-training/messages"),
        ),
        rows: fc.constant([{ a: 1, b: "x" }]),
        provider: maybe(["localfs", "huggingface"], ["absent"]),
        metadata: maybe(FREE, [{ provider_id: "localfs" }]),
      })),
    ),
    scoringFunctions: only(
      evaluates,
      named(object({
        name: mostly(fc.constantFrom("f", "g"), fc.constant("llm-as-judge::base")),
        provider: maybe(["llm-as-judge"], ["basic", "absent"]),
        description: maybe(["text", "5"]),
        returnType: maybe(["number", "json", "array"]),
        judge: maybe<JsonObject>([{ model: "m" }, { model: "5", promptTemplate: "{x}", aggregations: ["median"] }]),
        metadata: maybe(FREE),
      })),
    ),
    benchmarks: only(
      evaluates,
      named(object({
        name: fc.constantFrom("b"),
        dataset: fc.constantFrom("rows", "absent"),
        scoringFunctions: fc.constantFrom(["f"], ["5", "basic::equality"]),
        provider: mostly(fc.constant(undefined), fc.constantFrom("builtin", "absent")),
        metadata: maybe(FREE),
      })),
    ),
  }).map(withoutUndefined);
};

const connectors = ({ server }: Catalogue): fc.Arbitrary<ReadonlyArray<JsonObject> | undefined> =>
  fc.option(
    fc.constantFrom<ReadonlyArray<JsonObject>>(
      [{ connectorId: "c", url: "http://c/mcp" }],
      [{ connectorId: "5", url: "https://c/mcp", serverLabel: "007" }, { connectorId: "a", url: "http://a" }],
      [{ connectorId: "c", url: "c" }],
    ),
    { nil: undefined, freq: 2 },
  ).chain((value) =>
    isOlderMinor(server, "0.5") ? mostly(fc.constant(undefined), fc.constant(value)) : fc.constant(value)
  );

/** Defaults of vector stores: what the server reads, but for some. */
const vectorStores = (
  { server }: Catalogue,
  base: string,
  providers: ReadonlyArray<string>,
  models: ReadonlyArray<JsonObject>,
): fc.Arbitrary<JsonObject | undefined> => {
  const field = <A>(since: string, right: ReadonlyArray<A>, wrong: ReadonlyArray<A>) =>
    fc.option(
      mostly(right.length === 0 ? fc.constant(undefined) : fc.constantFrom(...right), fc.constantFrom(...wrong)),
      {
        nil: undefined,
      },
    ).chain((value) =>
      isOlderMinor(server, since) ? mostly(fc.constant(undefined), fc.constant(value)) : fc.constant(value)
    );
  const named = (type: string) => [
    ...models.filter(({ modelType }) => modelType === type).flatMap(({ name, provider }) =>
      provider === undefined ? [`${name}`] : [`${name}`, `${provider}/${name}`]
    ),
    ...namedIn(base, type),
  ];
  const odd = ["absent", "vllm/absent", " ", "${env.MODEL}", "/m", "m", "org/model"];
  return fc.option(
    fc.record({
      defaultProvider: field("0.2", ["faiss", "sqlite-vec", ...providers], ["qdrant", "sqlite_vec", "absent"]),
      defaultEmbeddingModel: field("0.3", named("embedding"), odd),
      defaultRerankerModel: field("0.7", named("rerank"), odd),
      chunking: field<JsonObject>("0.8", [
        { maxChunkSizeTokens: 100 },
        { maxChunkSizeTokens: 4096 },
        { maxChunkSizeTokens: 2049, chunkOverlapTokens: 2048 },
      ], [{ maxChunkSizeTokens: 100, chunkOverlapTokens: 100 }]),
      searchMode: field("0.8", ["vector", "vector", "keyword", "hybrid"], ["neural"]),
    }).map(withoutUndefined),
    { nil: undefined, freq: 2 },
  );
};

/** The default models of a base config, as clients write them. */
const namedIn = (base: string, type: string): ReadonlyArray<string> => {
  const key = type === "rerank" ? "default_reranker_model" : "default_embedding_model";
  const [, provider, model] = new RegExp(`${key}:\\s+provider_id: (\\S+)\\s+model_id: (\\S+)`).exec(base) ?? [];
  return provider === undefined ? [] : [`${provider}/${model}`];
};

const DATABASE: JsonObject = { secretKeyRef: { name: "db", key: "url" } };
const STORAGES: ReadonlyArray<JsonObject> = [
  { kv: {}, sql: {} },
  { kv: { type: "redis", endpoint: "redis://redis:6379" } },
  { kv: { type: "redis", endpoint: "redis:6379", password: { secretKeyRef: { name: "s", key: "letters" } } } },
  { sql: { type: "postgres", connectionString: DATABASE } },
  { kv: { type: "postgres" }, sql: { type: "postgres", connectionString: DATABASE } },
];

const SECRET_FIELD = /^(password|user|host|connection_string)$/;

/** Fields of a further backend, right and odd: what a server does not accept is rejected before. */
const backends = (catalogue: Catalogue): fc.Arbitrary<Array<JsonObject>> => {
  const types = Object.keys(catalogue.backends);
  if (types.length === 0) return fc.constant([]);
  const value = fc.oneof(
    fc.constantFrom<Json>("text", "007", "5432", 5432, "", null, [], true, "${env.X:=7}", "a/b@c:d", "require"),
    fc.constantFrom<Json>("localhost", 30, "/tmp/x.db", "relative.db", "/no/such/folder/x.db"),
  );
  const one = fc.constantFrom(...types).chain((type) => {
    const fields = Object.keys(catalogue.backends[type]?.fields ?? {});
    return fc.record({
      name: fc.constantFrom("kv_default", "sql_default", "extra", "a-b", "Files_2"),
      type: fc.constant(type),
      settings: fc.subarray(fields, { maxLength: Math.min(3, fields.length) }).chain((chosen) =>
        fc.tuple(...chosen.map((field) => value.map((given) => [field, given] as const)))
      ).map((entries) => ({
        ...(type.endsWith("_postgres") ? { user: "u" } : {}),
        ...Object.fromEntries(entries),
      })),
      secretRefs: fc.option(fc.constantFrom(...fields.filter((field) => SECRET_FIELD.test(field)), undefined), {
        nil: undefined,
      }).map((field) =>
        field === undefined ? {} : {
          [field]: {
            secretKeyRef: field === "connection_string" ? { name: "db", key: "url" } : { name: "s", key: "letters" },
          },
        }
      ),
    });
  });
  return fc.uniqueArray(one, { minLength: 1, maxLength: 2, selector: ({ name }) => name });
};

const CLAIMS: JsonObject = { groups: "roles", "realm_access.roles": "teams" };
const AUTHENTICATIONS: ReadonlyArray<JsonObject> = [
  { oidc: { issuer: "https://issuer", audience: "llama", jwksUri: "https://issuer/keys" } },
  {
    oidc: {
      issuer: "http://issuer/5",
      audience: "5",
      jwksUri: "https://issuer/keys",
      jwksToken: { secretKeyRef: { name: "s", key: "plain" } },
      claimsMapping: CLAIMS,
    },
  },
  {
    introspection: {
      url: "https://issuer",
      clientId: "007",
      clientSecret: { secretKeyRef: { name: "s", key: "letters" } },
    },
  },
  {
    introspection: {
      url: "https://issuer",
      clientId: "llama",
      clientSecret: { secretKeyRef: { name: "s", key: "digits" } },
    },
  },
  { kubernetes: {} },
  { kubernetes: { claimsMapping: CLAIMS } },
  { webhook: { endpoint: "http://who:8080/check" } },
  { upstreamHeader: { principalHeader: "x-user" } },
  { upstreamHeader: { principalHeader: "x-user", attributesHeader: "x-a", attributeHeaders: { "x-b": "teams" } } },
  {
    upstreamHeader: { principalHeader: "x-user", trustedProxyCidrs: ["10.1.2.3/8", "fd00::1/8", "::ffff:1.2.3.4/96"] },
  },
  { upstreamHeader: { principalHeader: "x-user", trustedProxyCidrs: ["010.0.0.0/8"] } },
  { upstreamHeader: { principalHeader: "x-user", trustedProxyCidrs: ["10.0.0.0/33"] } },
];

const condition = mostly(
  fc.constantFrom(
    "user is owner",
    "user is not owner",
    "user with admin in roles",
    "user with 5 not in teams",
    "user in owners namespaces",
    "user not in owners projects",
    "resource is unowned",
  ),
  fc.constantFrom(
    "user",
    "user is admin",
    "user  is owner",
    "user with a b in roles",
    "user with ${env.UNSET} in roles",
  ),
  12,
);

const rules = (scope: fc.Arbitrary<JsonObject>): fc.Arbitrary<ReadonlyArray<JsonObject>> =>
  fc.array(
    fc.tuple(
      fc.constantFrom("permit", "forbid"),
      scope,
      fc.constantFrom(undefined, "when", "unless"),
      fc.array(condition, { minLength: 1, maxLength: 2 }),
    ).map(([effect, what, relation, conditions]) => ({
      [effect]: what,
      ...(relation === undefined ? {} : { [relation]: conditions }),
    })),
    { minLength: 1, maxLength: 3 },
  );

const accessPolicy = rules(
  fc.record({
    actions: fc.subarray(["create", "read", "update", "delete"], { minLength: 1 }),
    principal: fc.option(fc.constantFrom("someone", "5", "true"), { nil: undefined }),
    resource: fc.option(fc.constantFrom("model::*", "model::vllm/m", "regex:model::.*$", "regex:("), {
      nil: undefined,
    }),
  }, { noNullPrototype: true }).map(withoutUndefined),
);
const routePolicy = rules(
  fc.record({
    paths: fc.subarray(["*", "/v1/models", "/v1/files*", "regex:/v1/(models|files)", "regex:("], { minLength: 1 }),
  }, { noNullPrototype: true }),
);

const authentication = fc.record({
  kind: fc.constantFrom(...AUTHENTICATIONS),
  accessPolicy: fc.option(accessPolicy, { nil: undefined }),
  routePolicy: fc.option(routePolicy, { nil: undefined }),
}).map(({ kind, ...policies }) => ({ ...kind, ...withoutUndefined(policies) }));

/** Variables that the base of a distribution reads. */
const variablesOf = (base: string): ReadonlyArray<string> =>
  [...new Set([...base.matchAll(/\$\{env\.([A-Z0-9_]+)/g)].flatMap(([, name]) => name ?? []))].sort();

/** Variables that code in the servers reads itself. */
const CODE_VARIABLES = [
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"],
  ...["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_MAX_ATTEMPTS"],
  ...["AWS_METADATA_SERVICE_TIMEOUT", "AWS_RETRY_MODE", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"],
];

const VARIABLE_VALUES = ["value", "5", "007", "http://host:1234", "host", "true", "", "sqlite-vec", "__disabled__"];

const textOf = (content: string | Uint8Array): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** Names of distributions with an image of this server, with their base. */
const distributionsOf = (minor: string): ReadonlyArray<{ readonly name: string; readonly base: string }> => {
  const catalogue = serverOf(minor)?.catalogue;
  return [...EMBEDDED_DISTRIBUTIONS].flatMap(([name, named]) => {
    if (named.aliasOf !== undefined) return [];
    const found = named.releases.find(({ serverVersion, base }) =>
      base !== undefined && serverOf(serverVersion ?? "")?.catalogue === catalogue
    );
    return found?.base === undefined ? [] : [{ name, base: textOf(found.base.content) }];
  });
};

/** A part of a whole config at its place, which the class of the server has or nobody. */
const part = (
  catalogue: Catalogue,
  fields: ProviderType["fields"],
  path: ReadonlyArray<string> = [],
): fc.Arbitrary<Edit> =>
  fc.constantFrom(...Object.entries(fields)).chain(([name, field]) => {
    const place = [...path, name];
    const words = fc.constantFrom("", "{query} {index}", "a-b", "file_search {num_chunks}", "0", "INFO", "/no/file");
    const value = fc.oneof({ weight: 3, arbitrary: valueOf(catalogue, field) }, {
      weight: 1,
      arbitrary: field.type === "string" ? words : odd,
    }).map((given) => [place, given] as const);
    const classes = [field.model, ...Object.values(field.variants ?? {})].flatMap((key) => {
      const found = catalogue.models[key ?? ""];
      return found === undefined ? [] : [found];
    });
    if (classes.length === 0) return value;
    const below = fc.constantFrom(...classes).chain((found) => part(catalogue, found.fields, place));
    const whole = fc.constantFrom(...Object.keys(field.variants ?? { "": "" })).chain((type) =>
      fieldsOf(catalogue, catalogue.models[field.variants?.[type] ?? field.model ?? ""]?.fields ?? {}, 3)
        .map((drawn) => [place, type === "" ? drawn : { ...drawn, type }] as const)
    );
    return fc.oneof({ weight: 4, arbitrary: below }, { weight: 2, arbitrary: whole }, { weight: 1, arbitrary: value });
  });

/** A field of a provider that the config has, or a provider more. */
const partOfProvider = (catalogue: Catalogue, config: JsonObject): fc.Arbitrary<Edit> => {
  const lists = Object.keys(objectAt(config, "providers")).filter((api) => catalogue.providers[api] !== undefined);
  return fc.constantFrom(...lists).chain((api) => {
    const entries = listAt(config, "providers", api);
    const types = catalogue.providers[api] ?? {};
    const added = fc.constantFrom(...Object.keys(types)).chain((type) =>
      fieldsOf(catalogue, types[type]?.fields ?? {}, 3).map((settings): Edit => [
        ["providers", api],
        [...entries, { provider_id: "more", provider_type: type, config: settings }],
      ])
    );
    if (entries.length === 0) return added;
    const changed = fc.nat({ max: entries.length - 1 }).chain((index) => {
      const entry = entries[index] as JsonObject;
      const fields = types[stringAt(entry, "provider_type") ?? ""]?.fields ?? {};
      const replaced = (more: JsonObject): Edit => [["providers", api], entries.with(index, { ...entry, ...more })];
      const identified = ids([]).map((id) => replaced({ provider_id: id }));
      const set = Object.keys(fields).length === 0 ? identified : fc.constantFrom(...Object.entries(fields)).chain((
        [name, field],
      ) =>
        valueOf(catalogue, field).map((value) => replaced({ config: { ...objectAt(entry, "config"), [name]: value } }))
      );
      const settings = objectAt(entry, "config");
      const removed = fc.constantFrom("", ...Object.keys(settings)).map((name) =>
        replaced({ config: omitted(settings, name) })
      );
      return fc.oneof({ weight: 4, arbitrary: set }, { weight: 2, arbitrary: identified }, removed);
    });
    return fc.oneof(changed, added);
  });
};

/** The base of a distribution as somebody else has edited it. */
const edited = (
  catalogue: Catalogue,
  base: string,
): fc.Arbitrary<Pick<ArbitraryConfig, "edits"> & { text: string }> => {
  const fields = omitted(catalogue.models[catalogue.config.class]?.fields ?? {}, "providers");
  const tree = Result.getOrThrow(readConfigYaml(base)).tree as JsonObject;
  const one = fc.oneof(part(catalogue, fields), partOfProvider(catalogue, tree));
  return fc.array(one, { maxLength: 2 }).map((edits) => ({
    edits,
    text: edits.length === 0
      ? base
      : writeYaml(edits.reduce((config, [path, value]) => put(config, path, value), tree)),
  }));
};

const omitted = <A>(record: Readonly<Record<string, A>>, name: string): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));

const anyConfig = (catalogue: Catalogue): fc.Arbitrary<ArbitraryConfig> =>
  mostly(
    fc.constantFrom(...distributionsOf(catalogue.server).filter(({ name }) => name === "starter")),
    fc.constantFrom(...distributionsOf(catalogue.server)),
    4,
  ).chain(({ name, base }) => {
    const bases = [...new Set([...base.matchAll(/provider_id: ([a-z0-9-]+)$/gm)].flatMap(([, id]) => id ?? []))];
    const inference = bases.filter((id) => `remote::${id}` in (catalogue.providers.inference ?? {}));
    const server = serverOf(catalogue.server);
    const lists = PROVIDER_LISTS.map(({ field, api }) => ({ field, api: (server && apiOn(server, api)) ?? api }))
      .filter(({ api }) => Object.keys(catalogue.providers[api] ?? {}).length > 0);
    const providers = fc.subarray([...lists], { maxLength: Math.min(2, lists.length) }).chain((chosen) =>
      fc.record(
        Object.fromEntries(
          chosen.map(({ field, api }) => [
            field,
            fc.array(provider(catalogue, api, bases), { minLength: 1, maxLength: 2 })
              .chain((entries) => mostly(fc.constant(apart(field, entries)), fc.constant(entries))),
          ]),
        ),
        { noNullPrototype: true },
      )
    );
    const variables = variablesOf(base);
    const env = fc.uniqueArray(
      mostly(fc.constantFrom(...variables), fc.constantFrom(...CODE_VARIABLES), 4),
      { maxLength: 2 },
    ).chain((names) =>
      fc.tuple(
        ...names.map((variable) => fc.constantFrom(...VARIABLE_VALUES).map((value) => ({ name: variable, value }))),
      )
    );
    return fc.record({
      providers,
      models: fc.array(model(inference), { maxLength: 2 }),
      connectors: connectors(catalogue),
      ownBase: mostly(fc.constant(undefined), edited(catalogue, base), 2),
      storage: mostly(
        fc.constant(undefined),
        fc.oneof(
          fc.constantFrom<JsonObject | undefined>(...STORAGES),
          fc.tuple(fc.constantFrom({}, ...STORAGES), backends(catalogue)).map(([storage, more]) =>
            more.length === 0 ? undefined : { ...storage, backends: more }
          ),
        ),
        6,
      ),
      disabled: fc.subarray(["safety", "vectorIo", "toolRuntime", "files", "inference", "eval", "responses"], {
        maxLength: 1,
      }),
      auth: fc.option(authentication, { nil: undefined, freq: 2 }),
      env: variables.length === 0 ? fc.constant([]) : fc.option(env, { nil: [], freq: 3 }),
      secrets: secretValues,
    }).chain((drawn) => {
      const stores = listAt(drawn.providers as JsonObject, "vectorIo").map((entry) => effectiveId(entry));
      return fc.tuple(
        vectorStores(catalogue, base, stores, drawn.models),
        fc.oneof(fc.constant({}), registered(catalogue, drawn.models)),
      ).map(([chosen, others]) => ({ ...drawn, chosen, others }));
    }).map((
      { providers, models, others, connectors, ownBase, chosen, storage, disabled, auth, env, secrets },
    ) => ({
      secrets,
      ...(ownBase === undefined ? {} : {
        configMaps: new Map([["default/base", { data: { "config.yaml": ownBase.text }, binaryData: {} }]]),
        edits: ownBase.edits,
      }),
      manifest: {
        apiVersion: "llamastack.io/v1alpha2",
        kind: "LlamaStackDistribution",
        metadata: { name: "my" },
        spec: withoutUndefined({
          distribution: { name, serverVersion: catalogue.server },
          providers: Object.keys(providers).length === 0 ? undefined : providers,
          baseConfig: ownBase === undefined ? undefined : { configMapName: "base" },
          resources: models.length === 0 && Object.keys(others).length === 0
            ? undefined
            : { ...(models.length === 0 ? {} : { models }), ...others },
          connectors,
          vectorStores: chosen,
          storage,
          auth,
          networking: auth === undefined || !("upstreamHeader" in auth) ? undefined : { allowedFrom: {} },
          disabled: disabled.some((name) => name in providers) || disabled.length === 0 ? undefined : disabled,
          workload: env.length === 0 ? undefined : { overrides: { env: [...env] } },
        }),
      },
    }));
  });

/** Resources for a server of this minor version. Seven in eight without what lint rejects: most draws have some part of that kind. */
export const arbitraryConfig = (catalogue: Catalogue): fc.Arbitrary<ArbitraryConfig> =>
  fc.tuple(anyConfig(catalogue), fc.nat({ max: 7 })).map(([config, number]) =>
    number === 0 ? config : number < 4 && config.edits !== undefined ? ofOwnConfig(config) : repaired(config)
  );

/** Nothing else may be said beside a whole config. */
const ofOwnConfig = (config: ArbitraryConfig): ArbitraryConfig => {
  const { distribution = null, baseConfig = null, workload } = objectAt(config.manifest, "spec");
  const spec = { distribution, overrideConfig: baseConfig, ...(workload === undefined ? {} : { workload }) };
  return { ...config, manifest: { ...config.manifest, spec } };
};
