/**
 * What the operator promises, and the test on a real part that verifies it. `deno task test` runs these tests, and no others on
 * real parts; docs/promises.md is generated from them. docs/security.md has the promises about threats.
 */

/** The real part: API server, Llama Stack and OGX servers, a node, or an API server beside a hostile tenant. */
export type RealPart = "cluster" | "server" | "node" | "hostile";

export interface Promised {
  readonly promise: string;
  readonly part: RealPart;
  /** In tests/<part>. */
  readonly file: string;
  readonly test: string;
}

const of = (part: RealPart, file: string, test: string, ...promises: ReadonlyArray<string>): ReadonlyArray<Promised> =>
  promises.map((promise) => ({ promise, part, file: `tests/${part}/${file}_test.ts`, test }));

export const PROMISES: ReadonlyArray<Promised> = [
  ...of(
    "cluster",
    "up",
    "up as README has it ends with a chat with the real server, and leaves nothing behind",
    "one command starts everything from nothing, ends with a chat, and leaves nothing behind",
  ),
  ...of(
    "cluster",
    "operator",
    "the operator on a real API server",
    "a resource becomes a Ready server; what it misses is reported once, and noticed when it is there",
    "while an edit fails, the Deployment and the config stay as they are, byte for byte",
    "pods restart when a Secret that they use changes",
    "nothing is written while nothing changes",
    "objects of other owners are never changed",
    "a PersistentVolumeClaim outlives its resource",
  ),
  ...of(
    "cluster",
    "upgrades",
    "upgrades on a real API server",
    "an upgrade of the operator restarts no server on its own, and a failed one stops the others",
  ),
  ...of(
    "cluster",
    "kept_settings",
    "an entry of the settings that becomes invalid keeps its last valid value over restarts, and opens nothing",
    "a setting that becomes invalid keeps its last valid value, also over restarts, and opens nothing",
  ),
  ...of(
    "cluster",
    "optional_kinds",
    "PodMonitors and PrometheusRules come and go with their definitions, and no server or status fails",
    "kinds that are installed or removed later are noticed, and a server that exists is unchanged by them",
  ),
  ...of(
    "cluster",
    "gateway",
    "a server follows its Gateway on a real API server",
    "an exposed server is routed by the Gateway that it names, and its status says what the controller answers",
  ),
  ...of(
    "cluster",
    "network_policy",
    "NetworkPolicies of resources on a real API server",
    "rules in networking.policy are in the NetworkPolicy, and those that the API server would reject are named before",
  ),
  ...of(
    "cluster",
    "conversion",
    "both API versions on a real API server",
    "resources of both API versions are read and written without loss",
  ),
  ...of(
    "cluster",
    "admission",
    "admission on a real API server",
    "mistakes are rejected with the field and the fix when they are made",
  ),
  ...of(
    "cluster",
    "refused_fields",
    "the field of the resource is named for each field that a real API server rejects",
    "what the API server rejects of the objects of a server is reported with the field of the resource",
  ),
  ...of(
    "cluster",
    "replicas",
    "replicas as processes",
    "no edit is lost when replicas of the operator are killed, put to sleep or replaced",
  ),
  ...of(
    "cluster",
    "history",
    "after … random walks every resource has the objects of a fresh one",
    "the objects of a server depend on its spec, and not on what happened to it before",
  ),
  ...of(
    "cluster",
    "takeover",
    "objects of the Go operator are adopted on a real API server",
    "servers of the Go operator are taken over without a restart",
  ),
  ...of(
    "cluster",
    "takeover_fields",
    "servers with every field of the Go operator are adopted, or say why not, without a restart or a new NetworkPolicy",
    "takeover-check shows before the installation what the take-over changes, and nobody is cut off",
  ),
  ...of(
    "server",
    "oracle",
    "ogx 1.5.0 starts with the config of each drawn resource that has no finding",
    "a server starts with what lint finds nothing to say about",
  ),
  ...of(
    "server",
    "parsed_configs",
    "ogx 1.5.0 parses the configs in which lint finds nothing, and no others",
    "of a config of your own, lint tells what the parser of the server refuses, field by field",
  ),
  ...of(
    "server",
    "authentication_boot",
    "with spec.auth servers answer only callers that a webhook or an OpenID Connect issuer knows, by their roles",
    "with spec.auth a server answers only callers with a valid token, and each by its roles; health and version stay open",
  ),
  ...of(
    "server",
    "import_boot",
    "server 0.7.3 answers alike with tests/fixtures/import/playground-0.7.yaml and with the resource that import makes of it",
    "a resource that import calls equal to a config gives the real server the same providers, models, shields and tools",
  ),
  ...of(
    "server",
    "own_config_boot",
    "ogx 1.5.0 does not start with a variable that nothing sets, or a password of digits",
    "warnings about a config of your own are what the server does with it",
  ),
  ...of(
    "server",
    "samples_boot",
    "deploy/samples/vllm.yaml boots, and the server has what it requests",
    "the config of the first sample runs on the real server, with its provider, model and key",
  ),
  ...of(
    "server",
    "storage_boot",
    "the state of every server is in Redis and PostgreSQL, and its log has neither password",
    "a key-value store in Redis and an SQL store in PostgreSQL, on Llama Stack and OGX",
  ),
  ...of(
    "server",
    "server_boot",
    "two workers of every server serve HTTPS on the port of the resource",
    "a server speaks TLS with the certificate of its Secret",
  ),
  ...of(
    "server",
    "pyyaml",
    "writeYaml() preserves … hostile strings for PyYAML, as value, as key and in a list",
    "servers read every text of a config as it was written",
  ),
  ...of(
    "node",
    "pod",
    "the vllm sample answers through its Service with the key of its Secret, and reports its models",
    "a real pod on a real node answers a chat through its Service",
  ),
];

/** Tests of the promises of docs/security.md that need a real part. */
const SECURITY: ReadonlyArray<Pick<Promised, "part" | "file" | "test">> = [
  ...of(
    "cluster",
    "hostile_registry",
    "a hostile registry gets a typed failure for each trick, and disturbs no other resource",
    "",
  ),
  ...of("cluster", "image_labels", "the operator reads base configs from the labels of images in a real registry", ""),
  ...of("cluster", "foreign_load", "foreign Secrets and ConfigMaps cost the operator no memory and are never read", ""),
  ...of(
    "cluster",
    "permissions",
    "the operator's account may do what it does, and nothing else, on a real API server",
    "",
  ),
  ...of(
    "cluster",
    "write_guard",
    "the write guard allows the operator's writes and protects everything else on a real API server",
    "",
  ),
  ...of(
    "cluster",
    "secret_polling",
    "run --secret-polling never lists Secrets, and applies a changed one within its interval",
    "",
  ),
  ...of("hostile", "secrets", "no output contains the value of a Secret, in any encoding", ""),
  ...of("hostile", "corpus", "a hostile tenant neither stops the operator nor slows down another tenant", ""),
  ...of(
    "cluster",
    "conversion_guard",
    "an object that cannot be converted leaves v1alpha1 to everybody else, and can be deleted",
    "",
  ),
  ...of("hostile", "strangers", "strangers neither end nor silence the operator through its webhooks", ""),
  ...of("hostile", "strangers", "registries that tenants name neither end nor silence the operator", ""),
];

/** What `deno task test` runs on real parts. */
export const SELECTED = [...PROMISES, ...SECURITY];

export const filesOf = (part: RealPart): ReadonlyArray<string> => [
  ...new Set(SELECTED.filter((row) => row.part === part).map(({ file }) => file)),
];

/** For the test runner: exactly these tests of the files. */
export const filterOf = (part: RealPart): string => {
  const names = [...new Set(SELECTED.filter((row) => row.part === part).map(({ test }) => test))];
  return `--filter=/^(${names.map(escaped).join("|")})$/`;
};

/** "…" stands for what the test counts. */
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&").replaceAll("…", "\\S+");
