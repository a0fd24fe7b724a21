/**
 * Conditions on several settings of one provider, which the code of the server checks when it starts. A new rule is a
 * row. Sources: the validators in config.py of each type, and `initialize` of its adapter.
 *
 * It is over 300 lines because it is one table: all conditions can be read in one go.
 */
import { quoted } from "../../data/printable.ts";
import { verifiesServer } from "../connections/postgres_connection.ts";
import { CA_BUNDLE_FILE } from "../environment.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { at, isList, type Json, type JsonObject, listAt, objectAt } from "../../data/json.ts";
import { expandedText, type KnownEnvironment } from "../known_environment.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { isServedLlama } from "../servers/llama_names.ts";

/** The config of one provider as far as it is known, and the environment that some types read themselves. */
export interface RuleInput {
  readonly config: JsonObject;
  readonly environment: KnownEnvironment;
  /** Version of the server. */
  readonly version: string;
  /** No message may contain a value, because it may be that of a Secret. */
  readonly hidesValues?: boolean;
}

/** Of Llama Stack 0.2. */
const SINKS: ReadonlyArray<string> = ["console", "otel_metric", "otel_trace", "sqlite"];

interface ProviderRule {
  /** `<api> <type>`, of storage backends `storage <type>`; unset for every type. */
  readonly of?: string;
  /** The setting to which the message belongs. */
  readonly field: ReadonlyArray<string>;
  readonly broken: (input: RuleInput) => string | undefined;
}

export const brokenRules = (
  api: string,
  type: string,
  input: RuleInput,
  /** Of the config. */
  path: FieldPath,
): ReadonlyArray<SettingInvalid> =>
  [...OF_EVERY_TYPE, ...RULES_OF[`${api} ${type}`] ?? []].flatMap(({ field, broken }) => {
    const detail = broken(input);
    return detail === undefined ? [] : [new SettingInvalid({ path: [...path, ...field], detail })];
  });

/** A placeholder counts as set: only the pod knows its value. */
const isSet = (config: JsonObject, ...path: ReadonlyArray<string>): boolean => {
  const value = at(config, ...path);
  return value !== undefined && value !== null && value !== "";
};

/** Whether it is certain that the server reads something. */
const isText = (value: Json | undefined, environment: KnownEnvironment): boolean => {
  if (typeof value !== "string" || !isPlaceholder(value)) return typeof value === "string" && value !== "";
  const read = expandedText(value, (name) => ({ Set: "x", Unset: "", Unknown: undefined })[environment(name)]);
  return read !== undefined && read !== null;
};

/** A value as the subject of a message. */
const shown = (value: Json, { hidesValues = false }: RuleInput): string =>
  hidesValues ? "the value" : typeof value === "string" ? quoted(value) : String(value);

const isPlaceholder = (value: Json): boolean => typeof value === "string" && value.includes("${env.");

/** Both numbers, or their defaults; undefined if one is not known. */
const pair = (
  config: JsonObject,
  names: readonly [string, string],
  defaults: readonly [number, number],
  environment: KnownEnvironment,
): readonly [number, number] | undefined => {
  const numberOf = (value: Json): number =>
    Number(
      typeof value === "string" && isPlaceholder(value)
        ? expandedText(value, (variable) => environment(variable) === "Unset" ? "" : undefined) ?? Number.NaN
        : value,
    );
  const [first, second] = [numberOf(config[names[0]] ?? defaults[0]), numberOf(config[names[1]] ?? defaults[1])];
  return Number.isNaN(first) || Number.isNaN(second) ? undefined : [first, second];
};

/** Headers that the server never forwards from a request. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...["host", "content-type", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"],
  ...["cookie", "set-cookie", "forwarded", "proxy-authorization", "x-real-ip"],
  ...["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-prefix"],
]);

/** A name of a header as HTTP allows it. Source: RFC 9110, 5.6.2. */
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const forwarding = (input: RuleInput): string | undefined => {
  const { config } = input;
  const blocked = new Set([...NOT_FORWARDED, ...listAt(config, "extra_blocked_headers").map(String).map(lower)]);
  const wrong = Object.entries(objectAt(config, "forward_headers")).find(([key, header]) =>
    key.startsWith("__") ||
    !isPlaceholder(header) && (!HEADER.test(String(header)) || blocked.has(lower(String(header))))
  );
  if (wrong === undefined) return undefined;
  return wrong[0].startsWith("__")
    ? `${quoted(wrong[0])} begins with __, which is reserved`
    : `${shown(String(wrong[1]), input)} is not the name of a header that may be forwarded`;
};

const lower = (text: string): string => text.trim().toLowerCase();

/** What the client takes. Source: VALID_BUCKET in handlers.py of botocore, whose two expressions for ARNs are wider here. */
const BUCKET = /^(?:[A-Za-z0-9.\-_]{1,255}|arn:[^:]*:s3(?:-object-lambda|-outposts)?:[^:]*:[0-9]{12}:.+)$/;

/** Source: validate_region_name in utils.py of botocore. */
const REGION = /^(?![0-9]+$)(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/;

export const isAwsRegion = (text: string): boolean => REGION.test(text);

/** Source: is_valid_endpoint_url in utils.py of botocore, and the schemes of urllib3. */
export const isAwsEndpoint = (text: string): boolean => {
  const [, host = ""] =
    /^https?:\/\/(?:[^/?#]*@)?(\[[0-9a-f:.]+(?:%25[^\]]*)?\]|[^/?#:[]*)(?::[0-9]*)?(?:[/?#]|$)/i.exec(text) ?? [];
  return host.startsWith("[") ||
    host.length <= 255 &&
      host.replace(/\.$/, "").split(".").every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i.test(label));
};

/** What clients refuse of the host and the port in a URL as soon as they are made, though they connect later. */
const unfitPlace = (url: Json | undefined, isStrict: boolean): string | undefined => {
  if (typeof url !== "string" || isPlaceholder(url)) return undefined;
  const [, place] = /^[a-z][a-z0-9+.-]*:[/][/](?:[^/?#]*@)?([^/?#]*)/i.exec(url) ?? [];
  if (place === undefined) return undefined;
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place) ?? [];
  if (port !== "" && (!/^[0-9]+$/.test(port) || Number(port) > PORT_MAX)) {
    return `not a port of a URL; write http://HOST:PORT, with a port from 1 to ${PORT_MAX}`;
  }
  return isStrict && /\s|^$/.test(host) ? NO_HOST : undefined;
};

/** A place of Qdrant. */
const IN_MEMORY = ":memory:";

const NO_HOST = "not a host of a URL; write http://HOST:PORT";

const PORT_MAX = 65535;

/** The server puts the port behind it, and an account may be in front. */
const isUnfitForRedis = (host: string): boolean => {
  const place = host.slice(host.lastIndexOf("@") + 1);
  return /^[a-z+]+:\/\//i.test(host) ||
    /[:[\]]/.test(place) && !/^\[[0-9a-f:.]*:[0-9a-f:.]*(?:%[^\]]*)?\]$/i.test(place);
};

const brokenMongo = (host: string): string | undefined => {
  const [, scheme = "", authority = ""] = /^(mongodb(?:[+]srv)?:[/][/])?([^/?]*)/.exec(host) ?? [];
  const user = scheme === "" ? "" : authority.slice(0, Math.max(authority.lastIndexOf("@"), 0));
  if (user.includes("@") || user.split(":").length > 2) {
    return "write : and @ of the user and the password as %3A and %40";
  }
  if (scheme === "" && host.includes("/")) {
    return "what has a slash is read as a URI; begin it with mongodb://, or write the name of the host alone";
  }
  const addresses = authority.slice(user === "" ? 0 : user.length + 1).split(",");
  if (addresses.some((address) => address.startsWith("[") ? !address.includes("]") : address.split(":").length > 2)) {
    return "write an IPv6 address in brackets";
  }
  const ports = addresses.flatMap((address) => /^(?:\[.*\]|[^:]*):([^:]*)$/.exec(address)?.[1] ?? []);
  if (scheme.includes("srv")) return ports.length === 0 ? undefined : "an address with mongodb+srv:// has no port";
  return ports.every((port) => /^[0-9]+$/.test(port) && Number(port) > 0 && Number(port) <= 65_535)
    ? undefined
    : "expected a port from 1 to 65535 after the colon of an address";
};

/** Source: milvus_lite/server.py, and pymilvus for the ending. */
const MILVUS_FILE = /^(?:.*[/])?(?=[^/]{1,36}$)[A-Za-z0-9._-]*\.db$/s;

/** Neither an address with a service, nor a description, nor a name of tnsnames.ora. Source: impl/base/parsers.pyx of python-oracledb. */
const isUnfitForOracle = (text: string): boolean => {
  const address = text.replace(/^(?:tcps?:)?\/\//i, "");
  if (text.startsWith("(") || address === text && !/[:/]/.test(text)) return false;
  const [, hosts] = /^([^/]+)\//.exec(address) ?? [];
  return hosts === undefined || /:(?![0-9])/.test(hosts.replaceAll(/\[[^\]]*\]/g, ""));
};

const POSTGRES_URI = /^postgres(ql)?:[/][/](?:[^/?#]*@)?[^/?#@:][^/?#@]*[/]+[^/?#]/;

const HOSTED_NIM = "integrate.api.nvidia.com";

const OCI_AUTHENTICATION = ["instance_principal", "config_file"];

/** Types of `inference` that make their client when they start, from 1.5 on; others do with the first request. */
const CLIENT_AT_START = ["remote::llama-cpp-server", "remote::text-embeddings-inference"];

/** `<api> <type> <field>` of texts that a client puts into its headers when it is made, with the first minor version that does. */
const IN_HEADERS: Readonly<Record<string, string>> = {
  "vector_io remote::qdrant api_key": "0.2",
  ...Object.fromEntries(CLIENT_AT_START.map((type) => [`inference ${type} api_key`, "1.5"])),
};

const HEADERS = ["network", "headers"] as const;

/** No client sends a header with one of these. Source: httpx/_models.py, seen on 0.2.24 and 1.5.0. */
const UNSENDABLE = /[^ -~\s]/;

export const unfitHeader = (
  api: string,
  type: string,
  place: FieldPath,
  value: Json,
  version: string,
): string | undefined => {
  const first = IN_HEADERS[`${api} ${type} ${place.join(".")}`];
  const isHeader = first === undefined
    ? place.length > HEADERS.length && HEADERS.every((key, index) => place[index] === key)
    : !isOlderMinor(version, first);
  return isHeader && typeof value === "string" && UNSENDABLE.test(value)
    ? "expected ASCII characters alone, since the client sends it in a header"
    : undefined;
};

/** Names and groups of ciphers, of which a list of OpenSSL may have any; those of TLS 1.3 choose none. Source: ciphers(1). */
const CIPHERS =
  /^[!+-]*(@|(TLSv1|SSLv3|SUITEB|[aek]?(NULL|RSA|ECDSA|DSS|DHE?|EDH|ECDHE?|EECDH|PSK|SRP)|ADH|AECDH|AES|ARIA|CAMELLIA|CHACHA20|SHA|HIGH|MEDIUM|LOW|ALL|DEFAULT|COMPLEMENTOF)(?![A-Z_]*_))/;

const areCiphers = (text: string): boolean => text.split(/[:, ]/).some((name) => CIPHERS.test(name));

const PROVIDER_RULES: ReadonlyArray<ProviderRule> = [
  {
    of: "inference remote::oci",
    field: ["oci_compartment_id"],
    broken: ({ config, environment }) =>
      isSet(config, "oci_compartment_id") || environment("OCI_COMPARTMENT_OCID") !== "Unset"
        ? undefined
        : "required; set it, or the variable OCI_COMPARTMENT_OCID in spec.workload.overrides.env",
  },
  // Source: initialize in remote/inference/nvidia/nvidia.py up to 0.3, which later servers do not check.
  {
    of: "inference remote::nvidia",
    field: ["api_key"],
    broken: ({ config, environment, version }) => {
      const address = config.url ?? (environment("NVIDIA_BASE_URL") === "Unset" ? HOSTED_NIM : null);
      const isKeyRead = isOlderMinor(version, "0.3") && environment("NVIDIA_API_KEY") !== "Unset";
      return !isOlderMinor(version, "0.4") || isSet(config, "api_key") || isKeyRead ||
          !String(address).includes(HOSTED_NIM)
        ? undefined
        : `required with ${HOSTED_NIM}; set apiKey, or the address of a NIM of your own`;
    },
  },
  // Source: remote/inference/cerebras/cerebras.py of 0.2, whose client wants a key, if only an empty one.
  {
    of: "inference remote::cerebras",
    field: ["api_key"],
    broken: ({ config, environment, version }) =>
      isOlderMinor(version, "0.3") && config.api_key === undefined && environment("CEREBRAS_API_KEY") === "Unset"
        ? "required; set apiKey"
        : undefined,
  },
  // Optional to the class alone. Source: tgi.py of 0.2, the only servers that start with this type.
  {
    of: "inference remote::hf::endpoint",
    field: ["api_token"],
    broken: ({ config }) => (config.api_token ?? null) === null ? "required; set apiKey" : undefined,
  },
  {
    of: "inference remote::oci",
    field: ["oci_auth_type"],
    broken: ({ config: { oci_auth_type: type } }) =>
      type === undefined || isPlaceholder(type) || OCI_AUTHENTICATION.includes(String(type))
        ? undefined
        : `expected one of ${OCI_AUTHENTICATION.join(", ")}`,
  },
  ...(["files remote::s3 region", "safety remote::bedrock region_name"].map((place): ProviderRule => {
    const [api, type, field = ""] = place.split(" ");
    return {
      of: `${api} ${type}`,
      field: [field],
      broken: (input) => {
        const region = input.config[field];
        const isLeftOut = region === "" && type === "remote::bedrock";
        return typeof region !== "string" || isLeftOut || isPlaceholder(region) || REGION.test(region)
          ? undefined
          : `${shown(region, input)} is not the name of a region`;
      },
    };
  })),
  {
    of: "safety remote::bedrock",
    field: ["region_name"],
    broken: ({ config, environment }) =>
      isSet(config, "region_name") || environment("AWS_DEFAULT_REGION") !== "Unset"
        ? undefined
        : "required; set it, or the variable AWS_DEFAULT_REGION in spec.workload.overrides.env",
  },
  {
    of: "vector_io inline::qdrant",
    field: ["path"],
    broken: ({ config: { path } }) => path === "" ? "empty; write the path of a folder, or leave it out" : undefined,
  },
  {
    of: "files remote::s3",
    field: ["bucket_name"],
    broken: ({ config: { bucket_name: name } }) =>
      typeof name !== "string" || isPlaceholder(name) || BUCKET.test(name)
        ? undefined
        : "not the name of a bucket: letters, digits, dots, hyphens and underscores, or the ARN of an access point",
  },
  {
    of: "vector_io remote::oci",
    field: ["conn_str"],
    broken: ({ config: { conn_str: text } }) =>
      typeof text === "string" && !isPlaceholder(text) && isUnfitForOracle(text)
        ? "expected a connect string of Oracle, such as tcps://host:1522/service or a name of tnsnames.ora"
        : undefined,
  },
  ...Object.keys(IN_HEADERS).map((place): ProviderRule => {
    const [api = "", type = "", field = ""] = place.split(" ");
    return {
      of: `${api} ${type}`,
      field: [field],
      broken: ({ config: { [field]: text = null }, version }) =>
        isPlaceholder(text) ? undefined : unfitHeader(api, type, [field], text, version),
    };
  }),
  {
    field: HEADERS,
    broken: ({ config }) => {
      const unfit = Object.entries(objectAt(config, ...HEADERS)).find(([, text]) =>
        typeof text === "string" && !isPlaceholder(text) && UNSENDABLE.test(text)
      );
      return unfit === undefined
        ? undefined
        : `no client can send ${quoted(unfit[0])}; write it in ASCII characters alone`;
    },
  },
  {
    of: "files remote::s3",
    field: ["endpoint_url"],
    broken: (input) => {
      const { endpoint_url: address } = input.config;
      return typeof address !== "string" || address === "" || isPlaceholder(address) || isAwsEndpoint(address)
        ? undefined
        : `${shown(address, input)} is not a URL that the client takes; write one such as http://minio:9000, with a ` +
          "host name without underscores";
    },
  },
  // Before 0.8, the session of a client with keys gets session_ttl, which it does not know, unless that is null; by default it is not.
  // The class reads both variables in place of the fields. Source: create_bedrock_client in providers/utils/bedrock/client.py, seen
  // on 0.7.3.
  {
    of: "safety remote::bedrock",
    field: ["aws_access_key_id"],
    broken: ({ config, environment, version }) =>
      isOlderMinor(version, "0.8") && !(Object.hasOwn(config, "session_ttl") && !isSet(config, "session_ttl")) &&
        ["aws_access_key_id", "aws_secret_access_key"].every((key) =>
          Object.hasOwn(config, key) ? isSet(config, key) : environment(key.toUpperCase()) === "Set"
        )
        ? "with both keys of AWS this server does not start unless session_ttl is null; set it to null, or remove the keys here and " +
          "from the variables of the pod, and let its ServiceAccount provide the credentials"
        : undefined,
  },
  // Chroma parses the address itself only without TLS.
  ...[{ type: "remote::chromadb", field: "url", literal: /^http:\/\/\[/i }, {
    type: "remote::milvus",
    field: "uri",
    literal: /^\w+:\/\/(?:[^/@]*@)?\[/,
  }].map(({ type, field, literal }): ProviderRule => ({
    of: `vector_io ${type}`,
    field: [field],
    broken: ({ config }) =>
      literal.test(String(config[field] ?? "")) ? "the client cannot use an IPv6 address; use a host name" : undefined,
  })),
  // Each connection to a file without a name has tables of its own.
  ...["kv_sqlite", "sql_sqlite"].map((type): ProviderRule => ({
    of: `storage ${type}`,
    field: ["db_path"],
    broken: ({ config: { db_path: file } }) =>
      file === ""
        ? "empty; expected the path of a file"
        : typeof file === "string" && /(?:^|[/])[.]{0,2}$/.test(file)
        ? "a folder; expected the path of a file"
        : undefined,
  })),
  // Source: _parse_postgres_connection_string and _validate_postgres_connection_settings in core/storage/datatypes.py.
  ...["kv_postgres", "sql_postgres"].flatMap((type): ReadonlyArray<ProviderRule> => [
    // The port is in a field of its own, and the server makes a URL of both.
    {
      of: `storage ${type}`,
      field: ["host"],
      broken: ({ config: { host } }) =>
        typeof host === "string" && /^(?:[a-z+]+:\/\/.*|[^:]*:[0-9]*)$/i.test(host)
          ? "expected the name of a host alone; write its port as port"
          : undefined,
    },
    {
      of: `storage ${type}`,
      field: ["ca_cert_path"],
      broken: ({ config: { ssl_mode: mode, ca_cert_path: file }, environment }) =>
        verifiesServer(mode) && (file ?? "") === "" && environment("PGSSLROOTCERT") === "Unset"
          ? `required with ssl_mode ${mode}; name the file with the authority of the database, which is ${CA_BUNDLE_FILE} with ` +
            "spec.networking.tls.caBundle"
          : undefined,
    },
    {
      of: `storage ${type}`,
      field: ["user"],
      broken: ({ config: { user, connection_string: text }, version }) =>
        !isOlderMinor(version, "1.4") && user === "" && (text ?? null) === null ? "empty; write the user" : undefined,
    },
    {
      of: `storage ${type}`,
      field: ["connection_string"],
      broken: ({ config: { connection_string: text } }) =>
        typeof text !== "string" || isPlaceholder(text) || POSTGRES_URI.test(text)
          ? undefined
          : "expected a URI that begins with postgresql:// and names a host and a database",
    },
    {
      of: `storage ${type}`,
      field: ["connection_string"],
      broken: ({ config: { connection_string: text, ssl_mode: mode, ca_cert_path: file } }) =>
        typeof text === "string" && /[?&]ssl(mode|rootcert|cert|key|crl|password|negotiation)?=/.test(text) &&
          (mode ?? file ?? null) !== null
          ? "it sets TLS, too; remove ssl_mode and ca_cert_path, or that part of the URI"
          : undefined,
    },
  ]),
  // An account may be in front of it.
  {
    of: "storage kv_redis",
    field: ["host"],
    broken: ({ config: { host } }) =>
      typeof host === "string" && !isPlaceholder(host) && isUnfitForRedis(host)
        ? "expected the name of a host alone, or an IPv6 address in brackets; write its port as port"
        : undefined,
  },
  {
    of: "storage kv_redis",
    field: ["port"],
    broken: ({ config: { port } }) =>
      typeof port === "number" && port > 65_535 || typeof port === "string" && Number(port) > 65_535
        ? "expected a port of at most 65535"
        : undefined,
  },
  {
    // Source: _build_credentials_tuple of pymongo.
    of: "storage kv_mongodb",
    field: ["password"],
    broken: ({ config: { user, password } }) =>
      typeof user === "string" && user !== "" && !isPlaceholder(user) && (password ?? null) === null
        ? "required beside user"
        : undefined,
  },
  {
    // Source: parse_userinfo and split_hosts of pymongo.
    of: "storage kv_mongodb",
    field: ["host"],
    broken: ({ config: { host } }) => typeof host !== "string" || isPlaceholder(host) ? undefined : brokenMongo(host),
  },
  {
    // Source: Collection of pymongo.
    of: "storage kv_mongodb",
    field: ["collection_name"],
    broken: ({ config: { collection_name: name } }) =>
      typeof name !== "string" || isPlaceholder(name) ||
        name !== "" && !/[.][.]|^[.]|[.]$|\0/.test(name) &&
          (!name.includes("$") || /^(oplog[.][$]main|[$]cmd)/.test(name))
        ? undefined
        : 'not the name of a collection: not empty, without "$" and "..", and no dot at its ends',
  },
  {
    // Source: database names of pymongo.
    of: "storage kv_mongodb",
    field: ["db"],
    broken: ({ config: { db } }) =>
      typeof db !== "string" || isPlaceholder(db) || /^[^ .$/\\"]+$/.test(db)
        ? undefined
        : 'not the name of a database: not empty, and without spaces, ".", "$", "/", "\\" and quotes',
  },
  {
    of: "vector_io inline::milvus",
    field: ["db_path"],
    broken: ({ config: { db_path: file } }) =>
      typeof file !== "string" || isPlaceholder(file) || MILVUS_FILE.test(file)
        ? undefined
        : "the client takes only files whose name ends with .db and has at most 36 letters, digits, dots, hyphens and underscores",
  },
  {
    // File processors run in processes of their own from 1.3 on, and none can be given the inference API there. Source:
    // _add_dependency_descriptors in core/resolver.py.
    of: "file_processors inline::docling",
    field: ["vlm_model"],
    broken: ({ config: { vlm_model: model }, environment, version }) =>
      !isOlderMinor(version, "1.3") && isText(model, environment)
        ? "this server does not start with it; remove it, or use the provider remote::docling-serve"
        : undefined,
  },
  {
    of: "responses inline::builtin",
    field: ["moderation_endpoint"],
    broken: ({ config: { moderation_endpoint: address } }) =>
      typeof address !== "string" || isPlaceholder(address) || /^https?:[/][/][^/]/.test(address)
        ? undefined
        : "not a URL; write the whole address of the moderation service, e.g. https://moderation/v1/moderations",
  },
  {
    of: "inference inline::meta-reference",
    field: ["model"],
    broken: ({ config: { model } }) =>
      model === undefined || isPlaceholder(model) || isServedLlama(model)
        ? undefined
        : "not a model of Meta that the server knows by name; write e.g. Llama3.2-3B-Instruct, or remove it",
  },
  {
    of: "inference remote::gemini",
    field: ["access_token"],
    broken: ({ config }) =>
      isSet(config, "api_key") && isSet(config, "access_token")
        ? "cannot be combined with an API key; remove one of the two"
        : undefined,
  },
  {
    of: "inference remote::gemini",
    field: ["project"],
    broken: ({ config }) => {
      const [token, project] = [isSet(config, "access_token"), isSet(config, "project")];
      if (token && !project) return "required with access_token";
      return project && !token ? "requires access_token; remove it if you use an API key" : undefined;
    },
  },
  {
    of: "vector_io remote::pgvector",
    field: ["pool_min_size"],
    broken: (input) => {
      const sizes = pair(input.config, ["pool_min_size", "pool_max_size"], [4, 20], input.environment);
      return sizes === undefined || sizes[0] <= sizes[1]
        ? undefined
        : `${shown(sizes[0], input)} is larger than pool_max_size${input.hidesValues ? "" : `, ${sizes[1]}`}`;
    },
  },
  {
    of: "vector_io remote::pgvector",
    field: ["vector_index", "probes"],
    broken: (input) => {
      const index = objectAt(input.config, "vector_index");
      const counts = index.type === "IVFFlat"
        ? pair(index, ["probes", "lists"], [10, 100], input.environment)
        : undefined;
      return counts === undefined || counts[0] < counts[1]
        ? undefined
        : `${shown(counts[0], input)} must be less than lists${input.hidesValues ? "" : `, ${counts[1]}`}`;
    },
  },
  // The class takes nothing here, too, and then compares the two. Source: validate_probes in config.py.
  ...["probes", "lists"].map((name): ProviderRule => ({
    of: "vector_io remote::pgvector",
    field: ["vector_index", name],
    broken: ({ config, environment }) => {
      const { type, [name]: value } = objectAt(config, "vector_index");
      const read = typeof value === "string"
        ? expandedText(value, (variable) => environment(variable) === "Unset" ? "" : undefined)
        : value;
      return type === "IVFFlat" && read === null ? "expected a number; write one, or leave it out" : undefined;
    },
  })),
  // Source: parse_neo4j_uri in _api.py of the client.
  {
    of: "vector_io remote::neo4j",
    field: ["uri"],
    broken: ({ config: { uri } }) => {
      if (typeof uri !== "string" || isPlaceholder(uri)) return undefined;
      if (/^[a-z0-9+]+:\/\/[^/?#@]+@/i.test(uri)) {
        return "an account is not allowed in the address; write it as user and password";
      }
      return /^bolt[a-z+]*:\/\/[^?#]*\?[^#]/i.test(uri)
        ? "only addresses that begin with neo4j have options; remove the part after the ?"
        : undefined;
    },
  },
  ...[["location", "a URL", "url"], ["host", "a URL", "url"], ["location", "a host", "host"]].map((
    [name = "", what, other = ""],
  ): ProviderRule => ({
    of: "vector_io remote::qdrant",
    field: [name],
    broken: ({ config }) =>
      (config[other] ?? null) !== null && (config[name] ?? null) !== null
        ? `cannot be combined with ${what}; remove one of the two`
        : undefined,
  })),
  ...([["chromadb", "url"], ["elasticsearch", "elasticsearch_url"], ["milvus", "uri"], ["qdrant", "url"], [
    "qdrant",
    "location",
  ]] as const)
    .map(([name, field]): ProviderRule => ({
      of: `vector_io remote::${name}`,
      field: [field],
      broken: ({ config }) => unfitPlace(config[field], name === "elasticsearch"),
    })),
  {
    of: "vector_io remote::qdrant",
    field: ["host"],
    broken: ({ config: { host } }) =>
      typeof host === "string" && /^https?:[/][/]/.test(host)
        ? "the name of a host without http:// or https://; write the address as url, and remove host"
        : undefined,
  },
  // The client takes a location for a URL, too.
  ...["url", "location"].map((name): ProviderRule => ({
    of: "vector_io remote::qdrant",
    field: [name],
    broken: ({ config: { [name]: url = null, prefix } }) => {
      if (typeof url !== "string" || isPlaceholder(url)) return undefined;
      if (url === IN_MEMORY) return name === "location" ? undefined : `${NO_HOST}, or ${IN_MEMORY} as location`;
      // Source: parse_url of urllib3 2.8, with which the client reads it.
      if (/^(?:https?:[/][/])?[^/?#]*[\0- \x7f]|^:(?![0-9]*(?:[/?#]|$))/i.test(url)) {
        return NO_HOST;
      }
      if (url.startsWith("localhost")) return undefined;
      const scheme = /^([a-z][a-z0-9+-]*):/i.exec(url)?.[1]?.toLowerCase();
      if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
        return "the client takes what is before the first colon for a scheme; begin with http:// or https://";
      }
      // A slash at the end is a path, too.
      const hasPath = /^[^/?#]*\//.test(url.replace(/^(?:https?:)?\/\//i, ""));
      return typeof prefix === "string" && prefix !== "" && hasPath
        ? "a path cannot be combined with prefix; remove one of the two"
        : undefined;
    },
  })),
  {
    of: "telemetry inline::meta-reference",
    field: ["sinks"],
    broken: ({ config: { sinks } }) => {
      if (sinks === undefined || isPlaceholder(sinks)) return undefined;
      const names = typeof sinks === "string" ? sinks.split(",").map((name) => name.trim()) : sinks;
      return isList(names) && names.every((name) => typeof name === "string" && SINKS.includes(name))
        ? undefined
        : `write names separated by commas, of ${SINKS.join(", ")}`;
    },
  },
  {
    of: "telemetry inline::meta-reference",
    field: ["sqlite_db_path"],
    broken: ({ config: { sqlite_db_path: path } }) =>
      typeof path === "string" && path !== "" && !path.includes("/")
        ? "a file without a folder, which this server cannot create; write one such as /.llama/traces.db"
        : undefined,
  },
  // Source: telemetry.py of 0.2, the only servers with this type.
  {
    of: "telemetry inline::meta-reference",
    field: ["otel_exporter_otlp_endpoint"],
    broken: ({ config: { sinks, otel_exporter_otlp_endpoint: address } }) => {
      const names = typeof sinks === "string" && !isPlaceholder(sinks) ? sinks.split(",") : isList(sinks) ? sinks : [];
      return (address ?? null) === null && names.some((name) => /^otel_/.test(String(name).trim()))
        ? "required with otel_trace and otel_metric; write the URL of the collector, such as http://otel-collector:4318"
        : undefined;
    },
  },
  { of: "inference remote::passthrough", field: ["forward_headers"], broken: forwarding },
  { of: "safety remote::passthrough", field: ["forward_headers"], broken: forwarding },
  ...CLIENT_AT_START.map((type): ProviderRule => ({
    of: `inference ${type}`,
    field: ["network", "tls", "ciphers"],
    broken: ({ config }) => {
      const ciphers = listAt(config, "network", "tls", "ciphers").map(String);
      return ciphers.length === 0 || ciphers.some((cipher) => isPlaceholder(cipher) || areCiphers(cipher))
        ? undefined
        : "none of them is a cipher of OpenSSL for TLS 1.2; write one such as ECDHE-RSA-AES128-GCM-SHA256";
    },
  })),
  {
    field: ["network", "proxy", "url"],
    broken: ({ config }) =>
      isSet(config, "network", "proxy", "url") &&
        (isSet(config, "network", "proxy", "http") || isSet(config, "network", "proxy", "https"))
        ? "cannot be combined with http and https; remove either"
        : undefined,
  },
  {
    field: ["network", "tls", "client_cert"],
    broken: ({ config }) =>
      isSet(config, "network", "tls", "client_cert") !== isSet(config, "network", "tls", "client_key")
        ? "client_cert and client_key must be set together"
        : undefined,
  },
];

const OF_EVERY_TYPE = PROVIDER_RULES.filter((rule) => rule.of === undefined);
const RULES_OF = Object.groupBy(PROVIDER_RULES.filter((rule) => rule.of !== undefined), (rule) => rule.of ?? "");
