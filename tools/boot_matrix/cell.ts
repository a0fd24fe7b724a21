/** One cell of the matrix: a resource with a vLLM on one server, one distribution and one storage, started on a real server. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { BaseSource } from "../../core/config/servers/image_labels.ts";
import type { ServerFamily } from "../../core/config/servers/families/family.ts";
import { type Server, serverOf } from "../../core/config/servers/families/families.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { isObject, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { lastLines } from "../cluster/background_process.ts";
import { startModelServer } from "../model_server.ts";
import { boot, type Booted, NoConfig, type Secrets } from "../server/boot.ts";
import { ServerDidNotStart } from "../server/llama_stack.ts";
import { type Backends, databaseName } from "./backends.ts";

export const STORAGES = ["sqlite", "postgres", "redis"] as const;
export type Storage = typeof STORAGES[number];

export interface Cell {
  /** Minor version, e.g. `1.0`. */
  readonly minor: string;
  readonly distribution: string;
  readonly storage: Storage;
}

export type Outcome =
  | { readonly kind: "boots" }
  /** The operator's own message. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Its models run inside the server and need a GPU, which the test host does not have. */
  | { readonly kind: "needs hardware"; readonly reason: string }
  /** The server exited, with the end of its output. */
  | { readonly kind: "ends"; readonly reason: string };

/** A base config of a distribution without a name, and the variables it reads. */
export interface OwnBase {
  readonly base: BaseSource;
  readonly env: Readonly<Record<string, string>>;
}

export const bootCell = async (cell: Cell, backends: Backends, own?: OwnBase): Promise<Outcome> => {
  try {
    await assertCell(cell, backends, own);
    return { kind: "boots" };
  } catch (failure) {
    if (failure instanceof NoConfig) return { kind: "refused", reason: failure.message };
    if (failure instanceof ServerDidNotStart) {
      const kind = cell.distribution.endsWith("-gpu") ? "needs hardware" : "ends";
      return { kind, reason: lastWord(failure.log) };
    }
    return { kind: "ends", reason: failure instanceof Error ? failure.message : String(failure) };
  }
};

/** Boots the cell and checks that the server has what its resource requires; fails with what is missing. */
export const assertCell = async (
  { minor, distribution, storage }: Cell,
  backends: Backends,
  own?: OwnBase,
): Promise<void> => {
  const server = serverOf(minor);
  if (server === undefined) throw new Error(`no server family has ${minor}`);
  const key = "key of vllm 1#2";
  const models = startModelServer({ requireKey: key });
  const redis = storage === "redis" ? await backends.startRedis() : undefined;
  try {
    const place = await storageOf(backends, { minor, distribution, storage }, redis?.endpoint ?? "");
    const resource = resourceOf(server, distribution, `http://127.0.0.1:${models.port}`, place, own);
    const secrets: Secrets = { vllm: { key }, storage: backends.secrets({ minor, distribution }) };
    await using stack = await boot(resource.manifest, {
      secrets,
      surroundings: { serverVersion: minor, ...(own === undefined ? {} : { base: own.base }) },
    });
    await assertAnswers(stack, server.family, resource, storage === "redis");
    // Start-up dumps of the config are masked or silenced, user info in a host included.
    const log = await stack.log();
    const told = Object.entries(secrets)
      .flatMap(([name, secret]) => Object.entries(secret).map(([key, value]) => ({ name: `${name}/${key}`, value })))
      .filter(({ value }) => log.includes(value) || log.includes(encodeURIComponent(value)));
    // The operator itself warns if no log level helps.
    const known = storage === "redis" && server.family.process.quietStartup === undefined ? ["storage/redis"] : [];
    deepStrictEqual(told.map(({ name }) => name), known, "keys of Secrets whose values are in the server's log");
    const request = models.requests.find(({ method }) => method === "POST");
    strictEqual(request?.key, key, "the key that the model server received");
  } finally {
    await redis?.[Symbol.asyncDispose]();
    await models.stop();
  }
};

interface Asked {
  readonly manifest: JsonObject;
  readonly shields: readonly string[];
  readonly tools: readonly string[];
}

/** Tools and shields are requested if the base config serves them unconditionally. */
const resourceOf = (
  server: Server,
  distribution: string,
  endpoint: string,
  storage: JsonObject,
  own: OwnBase | undefined,
): Asked => {
  const base = own === undefined ? baseText(distribution, server) : String(own.base.content);
  // meta-reference-gpu runs a model itself and has no default for it.
  const needed: Readonly<Record<string, string>> = distribution === "meta-reference-gpu"
    ? { INFERENCE_MODEL: "Llama3.2-3B-Instruct" }
    : own?.env ?? {};
  const env = Object.entries(needed).map(([name, value]) => ({ name, value }));
  const { family } = server;
  const tools = /provider_type: remote::tavily-search/.test(base) ? ["websearch"] : [];
  const shields = family.shields && /provider_type: inline::llama-guard/.test(base) ? ["guard"] : [];
  const ref = { secretKeyRef: { name: "vllm", key: "key" } };
  return {
    shields,
    tools,
    manifest: {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { name: "my", namespace: "default" },
      spec: {
        distribution: own === undefined ? { name: distribution } : { image: `example.com/${distribution}:own` },
        ...(env.length === 0 ? {} : { workload: { overrides: { env } } }),
        providers: { inference: [{ id: "vllm", provider: "vllm", endpoint, apiKey: ref }] },
        resources: {
          models: [{ name: "test-model", provider: "vllm" }],
          ...(tools.length === 0 ? {} : { tools }),
          ...(shields.length === 0 ? {} : { shields }),
        },
        storage,
      },
    },
  };
};

const baseText = (distribution: string, server: Server): string => {
  const named = EMBEDDED_DISTRIBUTIONS.get(distribution);
  const release = [named, ...(named?.releases ?? [])].find((item) =>
    serverOf(item?.serverVersion ?? "")?.catalogue === server.catalogue
  );
  return String(release?.base?.content ?? "");
};

const storageOf = async (
  backends: Backends,
  { minor, distribution, storage }: Cell,
  redisEndpoint: string,
): Promise<JsonObject> => {
  const sqlite = { type: "sqlite" };
  if (storage === "sqlite") return { kv: sqlite, sql: sqlite };
  if (storage === "redis") {
    const ref = { secretKeyRef: { name: "storage", key: "redis" } };
    return { kv: { type: "redis", endpoint: redisEndpoint, password: ref }, sql: sqlite };
  }
  await backends.createDatabase(databaseName(minor, distribution));
  const ref = { secretKeyRef: { name: "storage", key: "sql" } };
  return { kv: { type: "postgres" }, sql: { type: "postgres", connectionString: ref } };
};

const assertAnswers = async (
  stack: Booted,
  family: ServerFamily,
  { shields, tools }: Asked,
  isOnRedis: boolean,
): Promise<void> => {
  // The Redis defect in the definition of the server family: the first request that uses it fails.
  const hasDefect = isOnRedis && family.redisDefect !== undefined;
  if (hasDefect) await stack.get("/v1/models");
  const providers = (await stack.get("/v1/providers")).body.data as readonly JsonObject[];
  const vllm = providers.filter(({ provider_id }) => provider_id === "vllm");
  deepStrictEqual(vllm.map(({ provider_type }) => provider_type), ["remote::vllm"], "the provider vllm");
  const listed = (await stack.get("/v1/models")).body.data as readonly JsonObject[];
  const ids = listed.map((model) => stringAt(model, "identifier") ?? stringAt(model, "id"));
  ok(ids.includes("vllm/test-model"), `the model vllm/test-model among ${ids}`);
  const messages = [{ role: "user", content: "hello" }];
  const ask = () => stack.post(`${family.process.openAiPath}/chat/completions`, { model: "vllm/test-model", messages });
  if (hasDefect) await ask();
  const chat = await ask();
  strictEqual(
    chat.body?.choices?.[0]?.message?.content,
    "You said: hello",
    `${JSON.stringify(chat.body)}\n${lastLines(await stack.log(), 30)}`,
  );
  if (shields.length > 0) {
    const found = ((await stack.get("/v1/shields")).body.data as readonly JsonObject[]).map(({ identifier }) =>
      identifier
    );
    for (const shield of shields) ok(found.includes(shield), `the shield ${shield} among ${found}`);
  }
  if (tools.length === 0) return;
  // The tools endpoint of OGX 1.x returns 500, so only the provider is checked.
  if (!family.shields) {
    ok(providers.some(({ provider_type }) => provider_type === "remote::tavily-search"), "a provider of websearch");
    return;
  }
  const { status, body } = await stack.get("/v1/tools");
  strictEqual(status, 200, JSON.stringify(body));
  const groups = listAt(Array.isArray(body) ? { data: body } : body, "data").filter(isObject)
    .map((tool) => stringAt(tool, "toolgroup_id"));
  ok(groups.includes("builtin::websearch"), `builtin::websearch among ${groups}`);
};

/** The last error that the log names, else its last family. */
export const lastWord = (log: string): string => {
  const lines = log.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const named = lines.flatMap((line) =>
    /(?:^|[\s:])((?:[A-Za-z_]+\.)*[A-Za-z_]*(?:Error|Exception)\b.{5,})$/.exec(line)?.[1] ?? []
  );
  return (named.at(-1) ?? lines.at(-1) ?? "").slice(0, REASON_MAX);
};

/** In characters; a reason is a note below a table. */
const REASON_MAX = 240;
