/**
 * What servers say when they do not start, what it means, and what to do. Source: the code of Llama Stack 0.6 – 0.7 and OGX
 * 0.8 – 1.5 and of the libraries that they call, and the failures that the tests on real servers have seen.
 *
 * A named group is a name that the log repeats; `{name|others}` shows it if the resource or its config has it, else `others`.
 */
export interface KnownEnd {
  /** One line of the log. Each takes a time that grows with the length of the line alone. */
  readonly says: RegExp;
  /** Continues "the server ended because". */
  readonly meaning: string;
  readonly advice: string;
}

/** Of names in quotes, and of those without. */
const NAME = "[\\w./:@+-]{1,200}";
const row = (says: string, meaning: string, advice: string): KnownEnd => ({
  says: new RegExp(says.replaceAll(/<(\w+)>/g, (_, name) => `(?<${name}>${NAME})`)),
  meaning,
  advice,
});

const CHECK_DATABASE = "check host, port and NetworkPolicies of spec.storage, and that the database is running";
const CHECK_PASSWORD = "correct the Secret that spec.storage names";
const CHECK_ENDPOINT = "check the endpoints of spec.providers, and that the services run and accept connections";
const CHECK_KEY = "correct the Secret that the provider names as apiKey or in secretRefs";
const CHECK_VOLUME = "check spec.workload.storage, and fsGroup in spec.workload.overrides.securityContext";
const CHECK_MODELS = "correct spec.resources.models, or the service behind the provider";
const OWN_CONFIG = "correct the config that spec.overrideConfig names, or its base config";

/** The first that fits counts: what is specific stands before what is general. */
export const KNOWN_ENDS: ReadonlyArray<KnownEnd> = [
  // core/stack.py
  row(
    "Environment variable '<variable>' not set or empty",
    "its config uses the environment variable {variable|one that the log names}, which is not set or empty",
    "set it in spec.workload.overrides.env, or give it a default in the config: ${env.NAME:=value}",
  ),
  row(
    "Embedding model '<model>' not found",
    "the default embedding model {model|of the vector stores} is not registered",
    "add it to spec.resources.models with modelType embedding, or set spec.vectorStores to another one",
  ),
  row(
    "(?:Reranker|Rewrite query) model '<model>' not found",
    "the model {model|that the config of the vector stores names} is not registered",
    "add it to spec.resources.models, or remove it from the config",
  ),
  row(
    "(?:is missing 'embedding_dimension' in metadata|Embedding dimension '<dimension>' cannot be converted)",
    "the embedding model has no number as its dimension",
    "set its dimension in spec.resources.models",
  ),
  row(
    "Models API is not available but vector_stores config requires",
    "vector stores need a model, and the API of models is switched off",
    "remove inference from spec.disabled, or add a provider for it",
  ),
  row(
    "Safety configuration requires the (?:shields|safety) API",
    "its config sets defaults of safety without that API",
    "add a provider to spec.providers.safety, or remove the section from the config",
  ),
  row(
    "storage\\.stores\\.\\w{1,40} must be configured|ServiceNotEnabledError",
    "a store that it needs has no backend",
    OWN_CONFIG,
  ),
  row(
    "references unknown backend '<backend>'",
    "a store refers to the storage backend {backend|that the log names}, which does not exist",
    OWN_CONFIG,
  ),
  row(
    "references backend '<backend>' of type",
    "a store refers to the storage backend {backend|that the log names}, which is of the wrong kind",
    OWN_CONFIG,
  ),
  row(
    "Unknown (?:KVStore backend|SQL store backend|storage backend type|kvstore type|sqlstore type)",
    "a provider refers to a storage backend that does not exist",
    OWN_CONFIG,
  ),
  // core/resolver.py
  row(
    "Provider `<type>` is not available for API `<api>`",
    "this server has no provider type {type|that the log names} for the API {api|there}",
    "use one of `llama-stack-operator catalogue`, or another server version",
  ),
  row(
    "Provider for `<api>` is automatically provided",
    "the API {api|that the log names} takes no provider",
    "remove its entry from the config",
  ),
  row(
    "Failed to resolve '<api>' provider '<provider>' of type '[^']{1,200}': required dependency '<needed>'",
    "the provider {provider|that the log names} needs the API {needed|named there}, which has no provider",
    "add one to spec.providers, or remove the API from spec.disabled",
  ),
  row(
    "Failed to sort providers: circular dependency",
    "its providers need each other",
    "remove one of the providers that the log names",
  ),
  row(
    "does not implement the following methods",
    "a provider was written for another server version",
    "use a version of the provider for this server (docs/external-providers.md)",
  ),
  // core/routing_tables
  row(
    "Provider '<provider>' not found in (?:the )?routing table|Provider [`']<other>[`'] not found",
    "a model or another resource names the provider {provider|that the log names}, which does not exist",
    "correct its provider in spec.resources, or add the provider to spec.providers",
  ),
  row(
    "Please specify a provider_id for model <model>",
    "the model {model|that the log names} names no provider, and there are several",
    "set provider in spec.resources.models",
  ),
  row(
    "returned no models for auto resolution|No \\w{1,40} models found in provider '<provider>'",
    "the provider {provider|that the log names} offers no model of the kind that is needed",
    CHECK_MODELS,
  ),
  row(
    "Failed to list models from provider '<provider>'",
    "the models of the provider {provider|that the log names} cannot be listed",
    CHECK_ENDPOINT,
  ),
  // providers/utils/inference
  row(
    "Model <model> is not available from provider <provider>",
    "the service behind the provider {provider|that the log names} does not have the model {model|named there}",
    CHECK_MODELS,
  ),
  row(
    "model is not supported\\. Supported models are|UnsupportedModelError",
    "a model is not one that its provider supports",
    CHECK_MODELS,
  ),
  row("API key is not set|api_key client option must be set|Missing credentials", "a provider has no key", CHECK_KEY),
  row(
    "mcp_endpoint is required",
    "a provider of MCP tools has no server",
    "set the endpoint of the tools in spec.resources.tools",
  ),
  // core/server
  row(
    "verify_tls=False in auth provider config",
    "the check of certificates of its authentication is off",
    "use a certificate that the server trusts (spec.networking.tls.caBundle)",
  ),
  row(
    "(?:One of|only one of) jwks or introspection",
    "its authentication needs either keys (JWKS) or introspection",
    "set one of them in spec.auth or in the config",
  ),
  row(
    "'local_api_key' but|local_api_key provider does",
    "its authentication does not fit its tenancy",
    "use another kind of authentication, or tenancy for a single tenant",
  ),
  row(
    "Cannot use wildcard origins with credentials",
    "CORS allows every origin together with credentials",
    "name the origins in the config",
  ),
  row(
    "(?:OGX_CONFIG|LLAMA_STACK_CONFIG) environment variable is required",
    "it was started without a config",
    "remove spec.workload.overrides.command, or let it set the variable",
  ),
  // core/storage and its clients
  row("Could not connect to MongoDB", "MongoDB cannot be reached", CHECK_DATABASE),
  row("password authentication failed for user", "PostgreSQL rejects user or password", CHECK_PASSWORD),
  row(
    'database "<database>" does not exist',
    "the database {database|that the log names} does not exist",
    "create it, or correct the name in spec.storage",
  ),
  row(
    "requires a valid client certificate|certificate authentication failed for user|SSL error: tlsv1 alert unknown ca",
    "PostgreSQL demands a client certificate that it accepts",
    "set spec.networking.tls.clientSecretName to a Secret with one that names the user of spec.storage",
  ),
  row(
    'private key file "|could not open certificate file',
    "it cannot read the key of its client certificate",
    "set fsGroup in spec.workload.overrides.securityContext",
  ),
  row("no pg_hba\\.conf entry", "PostgreSQL does not let this user in from the pod", "allow it in pg_hba.conf"),
  row(
    'Could not connect to (?:PostgreSQL|PGVector) database server|connection to server at "[^"]{1,200}"',
    "PostgreSQL cannot be reached, or refuses the login",
    `${CHECK_DATABASE}; the log has the answer of PostgreSQL`,
  ),
  row(
    "Failed to (?:validate|parse|configure) PostgreSQL",
    "its connection to PostgreSQL is not set up correctly",
    CHECK_PASSWORD,
  ),
  row(
    "WRONGPASS|NOAUTH Authentication required|invalid username-password pair",
    "Redis rejects the password",
    CHECK_PASSWORD,
  ),
  row("Error (?:-?\\d{1,4} )?connecting to", "Redis cannot be reached", CHECK_DATABASE),
  row("database is locked", "another process uses the sqlite database", "run one replica, or store in PostgreSQL"),
  row(
    "attempt to write a readonly database|unable to open database file",
    "the sqlite database cannot be written",
    CHECK_VOLUME,
  ),
  row("NoSuchBucket|bucket does not exist", "the bucket for files does not exist", "create it, or correct its name"),
  row(
    "Unable to locate credentials|NoCredentialsError|InvalidAccessKeyId|SignatureDoesNotMatch",
    "there are no valid credentials for the bucket",
    "set them as Secrets (docs/storage.md)",
  ),
  // The operating system
  row("No space left on device", "its volume is full", "raise spec.workload.storage.size, or remove data"),
  row(
    "Permission denied|Read-only file system|cannot create directory",
    "it may not write a file or folder that the log names",
    CHECK_VOLUME,
  ),
  row("address already in use", "its port is in use", "change spec.networking.port, or end the other process"),
  row(
    "exec format error",
    "the image is for another processor",
    "use an image for the architecture of the node, or set spec.workload.overrides.nodeSelector",
  ),
  row(
    "CUDA out of memory|No CUDA GPUs are available|module 'torch' has no attribute",
    "it finds no GPU with enough memory, or lacks PyTorch",
    "request a GPU in spec.workload.resources, and use an image with PyTorch",
  ),
  // The network
  row(
    "CERTIFICATE_VERIFY_FAILED|certificate verify failed",
    "it does not trust the certificate of a service",
    "add its certificate authority to spec.networking.tls.caBundle",
  ),
  row(
    "Name or service not known|Temporary failure in name resolution|nodename nor servname|No address associated",
    "the name of a host cannot be resolved",
    CHECK_ENDPOINT,
  ),
  row(
    "couldn't connect to 'https://huggingface\\.co|LocalEntryNotFoundError|cannot find the requested files in the local cache",
    "a model cannot be downloaded from Hugging Face",
    "allow the connection, or provide the files (docs/air-gap.md)",
  ),
  row(
    "Cannot connect to host|Connection refused|All connection attempts failed|APIConnectionError|ConnectError\\b",
    "a service cannot be reached",
    CHECK_ENDPOINT,
  ),
  row("Incorrect API key|invalid_api_key|Error code: 401|401 Unauthorized", "a service rejects the key", CHECK_KEY),
  row("Error code: 403|403 Forbidden|403 Client Error", "a service does not allow what it is asked", CHECK_KEY),
  row(
    "Error code: 404|404 Not Found",
    "a service has no such path or model",
    "check the path of the endpoint, such as /v1, and spec.resources.models",
  ),
  row("ConnectTimeout|ReadTimeout|Connection timed out", "a service does not answer in time", CHECK_ENDPOINT),
  // Python
  row(
    "Field '\\w{1,80}' defined on a base class was overridden",
    "a provider type does not work in this release of the server",
    "use another type, such as remote::vllm with an OpenAI-compatible endpoint",
  ),
  row(
    "No module named",
    "a Python package is missing in the image",
    "use an image with the packages of the provider, or spec.externalProviders",
  ),
  row(
    "Extra inputs are not permitted",
    "its config has a field that this server does not know",
    "check settings of spec.providers, or the server version",
  ),
  row(
    "\\d{1,4} validation errors? for",
    "its config has a value that this server rejects",
    "check settings of spec.providers with lint; the log names the field",
  ),
  row("yaml\\.(?:scanner|parser)\\.\\w{1,20}Error", "its config is not valid YAML", OWN_CONFIG),
  row(
    "No such file or directory",
    "a file or program that the log names is missing in the container",
    "check command, volumes and settings with paths",
  ),
];
