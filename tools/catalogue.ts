/**
 * Writes configs/catalogue: APIs, provider types and their config fields of each published server.
 *
 * The published package is installed and inspected (catalogue.py). With --check nothing is written; exits with 1 if a
 * file is stale.
 */
import { join } from "node:path";
import { writeOrCheck } from "./generated_files.ts";
import { isOlderMinor } from "../core/config/servers/families/families.ts";
import { jsonRows } from "./json_rows.ts";
import { installServer, SERVER_VERSIONS, type ServerVersion } from "./install/python_server.ts";

/** The catalogue of one server, as it is committed. */
const catalogueOf = async (minor: string, source: Source): Promise<Tree> => {
  const told = await askPackage(source);
  const strange = told.unexplained.filter((name) => !EXPLAINED.has(name));
  if (strange.length > 0) {
    throw new Error(
      `${source.version}: nobody knows what these validators demand: ${strange.join(", ")}; ` +
        "write a rule for what they refuse, and add them to EXPLAINED in tools/catalogue.ts",
    );
  }
  const providers = Object.entries(told.providers).map(([api, types]) => [
    api,
    Object.fromEntries(Object.entries(types).map(([type, facts]) => [type, providerType(minor, api, type, facts)])),
  ]);
  const origin = { ...told.origin, python: LOCKED_PYTHON };
  const classes = (all: Told["models"], fieldsOf: (of: Described) => Tree) =>
    Object.fromEntries(
      Object.entries(all).map(([name, found]) => {
        const fields = demanding(minor, name, described(found.fields));
        return [name, classOf(found, fieldsOf(fields))];
      }),
    );
  const models = classes(told.models, withoutTexts);
  const backends = classes(told.backends, (fields) => fields);
  const { apis, config } = told;
  return sorted({ server: minor, origin, apis, config, backends, models, providers: Object.fromEntries(providers) });
};

/** The Python version of the lock files; a newer Python produces the same catalogue. */
const LOCKED_PYTHON = "3.12";

interface Source {
  readonly version: ServerVersion;
  readonly package: string;
  /** Where the API types are a package of their own. */
  readonly apiPackage?: string;
}

/** `llama-stack 0.7.3` → minor `0.7` and its packages; the API package came with 0.4. */
const SOURCES: Readonly<Record<string, Source>> = Object.fromEntries(
  SERVER_VERSIONS.map((version): [string, Source] => {
    const [server = "", release = ""] = version.split(" ");
    const minor = release.split(".").slice(0, 2).join(".");
    const own = minor === "0.2" || minor === "0.3" ? {} : { apiPackage: `${server}-api` };
    return [minor, { version, package: server, ...own }];
  }),
);

/** The fields that `endpoint` may mean, best first: a type with several (qdrant) also takes them one for the other. */
const ENDPOINT_FIELDS: readonly string[] = [
  "base_url",
  "url",
  "uri",
  "endpoint_url",
  "weaviate_cluster_url",
  "elasticsearch_url",
  "guardrails_service_url",
  "evaluator_url",
  "datasets_url",
  // Up to 0.3: azure and llama-openai-compat.
  "api_base",
  "openai_compat_api_base",
  "conn_str",
  // pgvector alone: host and port apart.
  "host",
];

/** The fields that `apiKey` may mean, best first: gemini takes an access token instead of a key. */
const KEY_FIELDS: readonly string[] = [
  "api_key",
  "api_token",
  "aws_bedrock_bearer_token",
  "access_token",
  "token",
  "password",
  "weaviate_api_key",
  "elasticsearch_api_key",
  "openai_api_key",
];

/** Types that have a `url` and talk to a fixed address all the same. */
const ENDPOINT_UNREAD: ReadonlySet<string> = new Set(
  ["0.2", "0.3"].flatMap((minor) => [`${minor} remote::fireworks`, `${minor} remote::together`]),
);

/** Types that inherit a key field and never read it. */
const KEY_UNREAD: ReadonlySet<string> = new Set([
  // Signs its requests with what oci_auth_type names.
  "inference remote::oci",
]);

/**
 * Types whose class allows null for `persistence` and whose adapter does not: pgvector and elasticsearch do not start,
 * weaviate starts and then fails to look up its stores.
 */
const PERSISTENCE_NEEDED: ReadonlySet<string> = new Set([
  "remote::elasticsearch",
  "remote::pgvector",
  "remote::weaviate",
]);

/** Validators that refuse nothing, or whose demands are rules in core/config, with the file of the rule. */
const EXPLAINED: ReadonlySet<string> = new Set([
  // They refuse nothing.
  "RegisteredResources",
  "S3FilesImplConfig.key_prefix",
  "ServerStoresConfig",
  "StackConfig.external_providers_dir",
  "StackRunConfig.external_providers_dir",
  // stages/authentication.ts
  "CORSConfig",
  "ServerConfig",
  "TenancyConfig",
  // stages/own_policies.ts
  "UpstreamHeaderAuthConfig.trusted_proxy_cidrs",
  // stages/backend_findings.ts and servers/base.ts
  "StackConfig",
  "StackRunConfig",
  // stages/provider_rules.ts and stages/client_certificate.ts
  "GeminiConfig",
  "MetaReferenceInferenceConfig.model",
  "PassthroughImplConfig",
  "PassthroughSafetyConfig",
  "PassthroughSafetyConfig.forward_headers",
  "PGVectorIVFFlatVectorIndex",
  "PGVectorVectorIOConfig",
  "ProxyConfig.cacert",
  "TelemetryConfig.sinks",
  "TLSConfig",
  "TLSConfig.client_cert",
  "TLSConfig.client_key",
  "TLSConfig.verify",
  "VLLMInferenceAdapterConfig",
  "VLLMInferenceAdapterConfig.tls_verify",
]);

/**
 * Fields that the class of a type keeps without knowing them, for the client of its adapter. From 1.4 on, that connects with the first
 * request. Source: grpc_handler.py of pymilvus, and `initialize` in milvus.py.
 */
const ofClient = (minor: string, type: string): Described =>
  type !== "vector_io remote::milvus" || !isOlderMinor(minor, "1.4") ? {} : Object.fromEntries(
    ["ca_pem_path", "client_key_path", "client_pem_path", "server_pem_path"]
      .map((name) => [name, { type: "string", nullable: true, file: true }]),
  );

/** Written into statements without quotes. */
const TABLE = { pattern: "[A-Za-z_][A-Za-z0-9_]*" };

/** Of libpq, which looks at it before it connects. */
const SSL_MODE = { enum: ["allow", "disable", "prefer", "require", "verify-ca", "verify-full"] };

/**
 * What the code of a server demands of a field and its class does not say: by type of backend or class, and field, and by the minor
 * version before them where it is one alone.
 */
const DEMANDS: Readonly<Record<string, Tree>> = {
  "kv_postgres.ssl_mode": SSL_MODE,
  "kv_postgres.table_name": TABLE,
  "PostgresKVStoreConfig.ssl_mode": SSL_MODE,
  "PostgresKVStoreConfig.table_name": TABLE,
  // The server makes its folder, also one without a name.
  "0.2 SqliteKVStoreConfig.db_path": { pattern: ".*/.+" },
};

const demanding = (minor: string, of: string, fields: Described): Described =>
  Object.fromEntries(
    Object.entries(fields).map(([name, known]) => {
      const field = `${of}.${name}`;
      return [name, { ...known, ...DEMANDS[field], ...DEMANDS[`${minor} ${field}`] }];
    }),
  );

/** Plain strings that hold a credential all the same. */
const CREDENTIAL = /(^|_)(api_key|client_secret|password|token)$/;

const providerType = (minor: string, api: string, type: string, facts: ReportedProvider): Tree => {
  const fields = { ...described(facts.fields), ...ofClient(minor, `${api} ${type}`) };
  const endpoint = ENDPOINT_UNREAD.has(`${minor} ${type}`)
    ? undefined
    : ENDPOINT_FIELDS.find((name) => Object.hasOwn(fields, name));
  const key = KEY_UNREAD.has(`${api} ${type}`) ? undefined : KEY_FIELDS.find((name) => fields[name]?.["secret"]);
  return present({
    fields,
    endpoint,
    endpointPort: endpoint === "host" ? "port" : undefined,
    key,
    references: references(type, facts.references),
    requires: facts.requires,
    optional: facts.optional,
    pip: facts.pip.flatMap(requirements),
    extra: facts.extra,
    deprecated: facts.deprecated ?? undefined,
  });
};

type Described = Readonly<Record<string, Record<string, unknown>>>;

const described = (fields: ReportedProvider["fields"]): Described =>
  Object.fromEntries(Object.entries(fields).map(([name, told]) => [name, field(name, told)]));

const classOf = ({ extra, converted, oneOf = [], apart = [] }: ReportedClass, fields: Tree): Tree =>
  present({
    fields,
    extra,
    converted: converted || undefined,
    oneOf: oneOf.length > 0 ? oneOf : undefined,
    apart: apart.length > 0 ? apart : undefined,
  });

/** Of nested fields, only the checks are used. */
const withoutTexts = (fields: Described): Tree =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { description: _, default: value, isDefaultRead, ...checks }]) => [
      name,
      isDefaultRead === true ? present({ ...checks, default: value ?? undefined }) : checks,
    ]),
  );

const references = (type: string, told: ReportedProvider["references"]): Tree =>
  Object.fromEntries(
    Object.entries(told).map(([path, reference]) => [
      path,
      present({
        ...reference,
        required: reference.required || (path === "persistence" && PERSISTENCE_NEEDED.has(type)) || undefined,
      }),
    ]),
  );

const field = (name: string, told: ReportedField): Record<string, unknown> =>
  present({
    ...kind(told),
    aliases: told.aliases.length > 0 ? told.aliases : undefined,
    converted: told.converted || undefined,
    required: told.required || undefined,
    secret: told.secret || (told.type === "string" && CREDENTIAL.test(name)) || undefined,
    default: told.default,
    description: told.description === "" ? undefined : cut(told.description),
    file: told.file || undefined,
    quotedBoolean: told.quotedBoolean || undefined,
    contains: told.contains,
    isDefaultRead: told.isDefaultRead || undefined,
    replacedBy: told.replacedBy,
    minimum: told.minimum,
    maximum: told.maximum,
    exclusiveMinimum: told.exclusiveMinimum,
    exclusiveMaximum: told.exclusiveMaximum,
  });

const kind = (told: ReportedKind): Record<string, unknown> =>
  present({
    type: told.type,
    enum: told.enum.length > 0 ? told.enum : undefined,
    nullable: told.nullable || undefined,
    model: told.model ?? undefined,
    variants: told.variants ?? undefined,
    tagged: told.tagged && told.variants !== null || undefined,
    items: within(told.items),
    values: within(told.values),
    schemes: told.schemes ?? undefined,
    notEmpty: told.notEmpty,
    choices: told.choices?.map(kind),
  });

/** Of a plain type, its name alone. */
const within = (told: ReportedKind | null): unknown => {
  if (told === null) return undefined;
  const found = kind(told);
  if (Object.keys(found).length > 1) {
    return found["type"] === "any" && found["choices"] === undefined ? undefined : found;
  }
  return found["type"] === "any" ? undefined : found["type"];
};

/** A registry entry may contain several requirements, and pip options for their source. */
const requirements = (entry: string): readonly string[] =>
  entry.replaceAll(/--(no-deps|(extra-)?index-url\s+\S+)/g, "").split(/\s+/).filter((part) => part !== "");

const DESCRIPTION_MAX = 160;

const cut = (text: string): string =>
  text.length <= DESCRIPTION_MAX ? text : text.slice(0, DESCRIPTION_MAX - 1).replace(/\s+\S*$/, "") + "…";

interface ReportedKind {
  readonly type: string;
  readonly enum: readonly unknown[];
  readonly nullable: boolean;
  readonly model: string | null;
  readonly variants: Readonly<Record<string, string>> | null;
  readonly tagged: boolean;
  readonly items: ReportedKind | null;
  readonly values: ReportedKind | null;
  readonly schemes: readonly string[] | null;
  readonly notEmpty?: boolean;
  readonly choices: readonly ReportedKind[] | null;
}

interface ReportedField extends ReportedKind {
  readonly aliases: readonly string[];
  readonly converted: boolean;
  readonly required: boolean;
  readonly secret: boolean;
  readonly default?: unknown;
  readonly description: string;
  readonly file: boolean;
  readonly quotedBoolean?: boolean;
  readonly contains?: readonly string[];
  readonly isDefaultRead: boolean;
  readonly replacedBy?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

interface ReportedClass extends Pick<ReportedProvider, "fields" | "extra"> {
  readonly converted?: boolean;
  readonly oneOf?: readonly string[];
  readonly apart?: readonly (readonly string[])[];
}

interface ReportedProvider {
  readonly fields: Readonly<Record<string, ReportedField>>;
  readonly references: Readonly<
    Record<string, { readonly kind: string; readonly required: boolean; readonly default?: unknown }>
  >;
  readonly requires: readonly string[];
  readonly optional: readonly string[];
  readonly pip: readonly string[];
  readonly extra: string;
  readonly deprecated: string | null;
}

interface Told {
  readonly origin: Tree;
  readonly apis: Tree;
  readonly providers: Readonly<Record<string, Readonly<Record<string, ReportedProvider>>>>;
  readonly config: Tree;
  readonly backends: Readonly<Record<string, ReportedClass>>;
  readonly models: Readonly<Record<string, ReportedClass>>;
  readonly unexplained: readonly string[];
}

const askPackage = async (source: Source): Promise<Told> => {
  const installed = await installServer(source.version);
  const home = await Deno.makeTempDir();
  try {
    const output = await new Deno.Command(installed.python, {
      args: [
        join(import.meta.dirname ?? ".", "catalogue.py"),
        source.package,
        ...(source.apiPackage === undefined ? [] : [source.apiPackage]),
      ],
      // Many defaults fall back on variables of the environment; without any, what is left is the package's own word.
      clearEnv: true,
      env: { HOME: home, PYTHONPATH: installed.pythonPath, PYTHONDONTWRITEBYTECODE: "1" },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    if (!output.success) {
      throw new Error(`${source.version} did not print its catalogue:\n${decoder.decode(output.stderr)}`);
    }
    // Some defaults lie in the home folder, which is another one each time.
    return JSON.parse(decoder.decode(output.stdout).replaceAll(home, "~")) as Told;
  } finally {
    await Deno.remove(home, { recursive: true });
  }
};

type Tree = Readonly<Record<string, unknown>>;

const present = (tree: Tree): Record<string, unknown> =>
  Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined));

const sorted = <A>(value: A): A => {
  if (Array.isArray(value)) return value.map(sorted) as A;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)])) as A;
};

/** An API, the class of a map, a type of storage backends, or a provider type. */
const isRow = ([part, ...keys]: ReadonlyArray<string>): boolean => keys.length === (part === "providers" ? 2 : 1);

if (import.meta.main) {
  const texts = new Map<string, string>();
  // `--only 1.0,1.1` for some of them: an environment is a gigabyte.
  const only = (Deno.args[Deno.args.indexOf("--only") + 1] ?? "").split(",");
  const wanted = Object.entries(SOURCES).filter(([minor]) => !Deno.args.includes("--only") || only.includes(minor));
  for (const [minor, source] of wanted) {
    texts.set(`configs/catalogue/${minor}.json`, jsonRows(await catalogueOf(minor, source), isRow));
  }
  writeOrCheck(texts, "deno run -A tools/catalogue.ts");
}
