import { match, ok, strictEqual } from "node:assert/strict";
import { growsWithSize } from "../../tests/measured.ts";
import { none } from "../../tests/none.ts";
import { converged, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, put } from "../data/json.ts";
import { KNOWN_ENDS } from "./known_ends.ts";
import { livePod } from "../snapshot/live_pod.ts";
import { exceptionClass, knownEnd, publicNames } from "./last_words.ts";

/** As servers write them, each known by the row with this beginning of its meaning. */
const SEEN: ReadonlyArray<readonly [line: string, means: RegExp]> = [
  [
    "ogx.core.stack.EnvVarError: Environment variable 'VLLM_URL' not set or empty at providers.inference[0].config. Use",
    /variable "VLLM_URL", which/,
  ],
  [
    "ValueError: Embedding model 'x/nomic' not found. Available embedding models: []",
    /embedding model "x\/nomic" is not/,
  ],
  ["ValueError: Reranker model 'r' not found. Available reranker models: []", /^the model that the config of the/],
  ["ValueError: Embedding model 'e' is missing 'embedding_dimension' in metadata", /no number as its dimension/],
  [
    "ValueError: Models API is not available but vector_stores config requires model 'm'",
    /^vector stores need a model/,
  ],
  ["ValueError: Safety configuration requires the shields API to be enabled", /defaults of safety/],
  ["ValueError: storage.stores.metadata must be configured with a kv_* backend", /^a store that it needs/],
  ["ValueError: inference references unknown backend 'sql_x'. Available backends: []", /which does not exist/],
  ["ValueError: metadata references backend 'b' of type 'sql_sqlite', but a backend", /of the wrong kind/],
  ["ValueError: Unknown KVStore backend 'x'. Registered backends: []", /storage backend that does not exist/],
  [
    "ValueError: Provider `remote::vllm` is not available for API `inference`",
    /no provider type "remote::vllm" for the API "inference"/,
  ],
  ["ValueError: Provider for `inspect` is automatically provided and cannot be overridden", /takes no provider/],
  [
    "RuntimeError: Failed to resolve 'responses' provider 'builtin' of type 'inline::builtin': required dependency 'files' is not",
    /^the provider that the log names needs the API named there/,
  ],
  ["RuntimeError: Failed to sort providers: circular dependency detected involving APIs x", /need each other/],
  ["ValueError: Provider `p (inference)` does not implement the following methods:", /another server version/],
  ["ValueError: Provider 'vllm' not found in routing table", /the provider "vllm", which does not exist/],
  ["ValueError: Please specify a provider_id for model m since multiple providers are available", /names no provider/],
  ["ValueError: Provider 'vllm' returned no models for auto resolution", /offers no model of the kind/],
  ["ValueError: Failed to list models from provider 'vllm' for auto model resolution: x", /"vllm" cannot be listed/],
  ["ValueError: Model gpt-4o is not available from provider openai", /^the service behind the provider/],
  [
    "llama_stack_api.common.errors.UnsupportedModelError: 'm' model is not supported. Supported models are: ..",
    /not one that/,
  ],
  ["ERROR: Error creating app: API key is not set. Please provide a valid API", /a provider has no key/],
  ["ValueError: mcp_endpoint is required", /MCP tools/],
  [
    "FATAL: verify_tls=False in auth provider config. TLS verification is required.",
    /certificates of its authentication/,
  ],
  ["ValueError: At present only one of jwks or introspection should be configured", /either keys/],
  ["server.auth.provider_config.type is 'local_api_key' but server.tenancy.mode is 'multi'.", /tenancy/],
  ["ValueError: Cannot use wildcard origins with credentials enabled", /CORS/],
  ["ValueError: OGX_CONFIG environment variable is required", /without a config/],
  [
    'connection to server at "10.0.0.7", port 5432 failed: FATAL:  password authentication failed for user "u"',
    /^PostgreSQL rejects user or password/,
  ],
  [
    'connection to server at "10.0.0.7", port 5432 failed: FATAL:  connection requires a valid client certificate',
    /^PostgreSQL demands a client certificate/,
  ],
  [
    'connection to server at "10.0.0.7", port 5432 failed: private key file "/etc/llama-stack/client-tls/tls.key" has',
    /^it cannot read the key/,
  ],
  ["RuntimeError: Could not connect to PostgreSQL database server", /PostgreSQL cannot be reached/],
  ["RuntimeError: Could not connect to MongoDB database server", /MongoDB/],
  ['FATAL:  password authentication failed for user "me"', /rejects user or password/],
  ['FATAL:  database "llama" does not exist', /the database that the log names/],
  ['FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "me"', /does not let this user/],
  ["ValueError: Failed to validate PostgreSQL connection_string: scheme must be", /not set up correctly/],
  ["redis.exceptions.AuthenticationError: invalid username-password pair or user is disabled.", /Redis rejects/],
  [
    "redis.exceptions.ConnectionError: Error 111 connecting to redis:6379. Connection refused.",
    /Redis cannot be reached/,
  ],
  ["sqlite3.OperationalError: database is locked", /another process/],
  ["sqlite3.OperationalError: unable to open database file", /cannot be written/],
  ["botocore.errorfactory.NoSuchBucket: An error occurred (NoSuchBucket) when calling", /bucket for files/],
  ["botocore.exceptions.NoCredentialsError: Unable to locate credentials", /no valid credentials/],
  ["OSError: [Errno 28] No space left on device", /volume is full/],
  ["PermissionError: [Errno 13] Permission denied: '/.llama/distributions'", /may not write/],
  ["OSError: [Errno 98] error while attempting to bind on address: address already in use", /port is in use/],
  ["exec /usr/bin/python3: exec format error", /another processor/],
  ["AttributeError: module 'torch' has no attribute 'Tensor'", /no GPU/],
  ["ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", /does not trust/],
  ["socket.gaierror: [Errno -2] Name or service not known", /cannot be resolved/],
  ["OSError: We couldn't connect to 'https://huggingface.co' to load the files", /Hugging Face/],
  ["Error creating app: Cannot connect to host 127.0.0.1:9 ssl:default", /a service cannot be reached/],
  [
    "openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-1'}}",
    /rejects the key/,
  ],
  ["openai.PermissionDeniedError: Error code: 403 - x", /does not allow/],
  ["openai.NotFoundError: Error code: 404 - x", /no such path/],
  ["httpx.ReadTimeout", /does not answer in time/],
  [
    "Error loading ASGI app factory: Field 'overwrite_completion_id' defined on a base class was overridden by",
    /provider type/,
  ],
  ["ModuleNotFoundError: No module named 'faiss'", /Python package is missing/],
  ["  Extra inputs are not permitted [type=extra_forbidden, input_value='x', input_type=str]", /does not know/],
  ["pydantic_core._pydantic_core.ValidationError: 1 validation error for VLLMConfig", /server rejects/],
  ["yaml.scanner.ScannerError: mapping values are not allowed here", /not valid YAML/],
  ["FileNotFoundError: [Errno 2] No such file or directory: '/etc/ogx/config.yaml'", /missing in the container/],
];

const NAMES = publicNames("VLLM_URL x/nomic remote::vllm inference vllm");

for (const [line, means] of SEEN) {
  Deno.test(`knownEnd() knows ${line}`, () =>
    match(knownEnd(`Traceback (most recent call last):\n  File "x"\n${line}\n`, NAMES) ?? "", means));
}

Deno.test("every known end was seen, and has a meaning and advice", () => {
  ok(KNOWN_ENDS.length >= 25);
  const unseen = KNOWN_ENDS.filter(({ says }) => !SEEN.some(([line]) => says.test(line)));
  none(unseen.map(({ says }) => says.source), "Add lines of a log that they know to SEEN in this file");
  for (const { meaning, advice } of KNOWN_ENDS) ok(meaning.length > 10 && advice.length > 10);
});

Deno.test("exceptionClass() names classes that everybody has, and no other", () => {
  strictEqual(exceptionClass("a\nValueError: x\nend"), "ValueError");
  strictEqual(exceptionClass("sqlalchemy.exc.OperationalError: (x)"), "OperationalError");
  strictEqual(exceptionClass("HunterTwoError: x"), undefined);
  strictEqual(exceptionClass("x ValueError: y"), undefined);
  strictEqual(exceptionClass(""), undefined);
});

Deno.test("knownEnd() takes a time that grows with the length of the lines alone", () => {
  for (const word of ["Model ", "Failed to resolve 'a' provider '", 'database "', "Provider `", "1 validation "]) {
    const log = (characters: number) => `${word.repeat(characters / word.length)}\n`.repeat(80);
    growsWithSize(() => knownEnd(log(500), NAMES), () => knownEnd(log(2000), NAMES));
  }
});

const CANARY = "k9Vz7W-m41x.P2:q@Z";
const bytes = new TextEncoder().encode(CANARY);
/** The value as it is, wherever a row expects a name, and in codes. */
const FORMS = [
  CANARY,
  bytes.toBase64(),
  bytes.toHex(),
  bytes.join(" "),
  `${CANARY}Error`,
  CANARY.slice(0, 9),
  CANARY.slice(9),
];
const revealed = (text: string): boolean =>
  Array.from({ length: CANARY.length - 5 }, (_, index) => CANARY.slice(index, index + 6)).some((piece) =>
    text.includes(piece)
  ) || FORMS.slice(1, 4).some((form) => text.includes(form));

/** Each line with the secret in place of every name, behind it, and as the exception. */
const leaking = SEEN.flatMap(([line]) =>
  FORMS.flatMap((form) => [
    line.replaceAll(/'[^']*'|`[^`]*`|"[^"]*"/g, (name) => `${name.at(0)}${form}${name.at(-1)}`),
    line.replace(/(?<=model |provider |for )[\w./:-]+$/, form),
    `${line} ${form}`,
    `${form}: ${line}`,
    `${form}\n${line}\n${form}`,
  ])
);

Deno.test("no secret of a server's log reaches the status or an Event, in any form or place", () => {
  const secrets = secretsOf({ vllm: { token: "another" } });
  const spec = { providers: { inference: [{ id: "vllm", provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
  const { snapshot: settled } = converged(snapshot(spec, { secrets }));
  for (const log of [...leaking, ...FORMS]) {
    ok(!revealed(`${knownEnd(log, publicNames(JSON.stringify(settled.resource)))} ${exceptionClass(log)}`), log);
  }
  const live = new Map(settled.live);
  const replicas = { replicas: 1, updatedReplicas: 1, availableReplicas: 0, observedGeneration: 1 };
  live.set("Deployment/my", put(settled.live.get("Deployment/my") ?? {}, ["status"], replicas) as JsonObject);
  for (const log of leaking.filter((_, index) => index % 40 === 0)) {
    const pods = [{
      metadata: { name: "my-1" },
      status: {
        containerStatuses: [{
          name: "llama-stack",
          restartCount: 4,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 1, message: log } },
        }],
      },
    }];
    const told = JSON.stringify(planOf({ ...settled, live, pods: pods.map(livePod) }).steps);
    ok(told.includes("See kubectl logs my-1"), told);
    ok(!revealed(told), log);
  }
});
