import { deepStrictEqual, doesNotMatch, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/data/json.ts";
import { manifest, secret } from "../given.ts";
import { assertProviders, listedProviders } from "./asked.ts";
import { boot, type Booted, type Secrets } from "../../tools/server/boot.ts";
import { EMBEDDING_DIMENSION, type ModelServer, startModelServer } from "../../tools/model_server.ts";
import { endpointReading } from "./provider_endpoints.ts";
import { sideBySide } from "./side_by_side.ts";
import { knownTypes, onEveryServer, TESTED_SERVERS, type TestedServer } from "./tested_servers.ts";

interface InferenceType {
  /** The field of its key, where it is not `api_key`; null: it has none. */
  readonly key?: string | null;
  /** What it needs besides endpoint and key. */
  readonly settings?: JsonObject;
  /** Why nothing can be led to the model server here. */
  readonly unrouted?: string;
  /** Its models cannot talk. */
  readonly embedsOnly?: true;
  /** Which of the model server's two models the server lists, where it is not the one that is allowed. */
  readonly lists?: "none" | "all";
}

/** Every remote inference type of every server; a missing or an outdated one is an error. */
const TYPES: Readonly<Record<string, InferenceType>> = {
  "remote::anthropic": { unrouted: "it talks to api.anthropic.com" },
  "remote::azure": {},
  "remote::bedrock": { unrouted: "its address follows from the region" },
  "remote::cerebras": {},
  "remote::databricks": { key: "api_token", lists: "none" },
  "remote::deepseek": {},
  "remote::fireworks": {},
  "remote::gemini": { unrouted: "it talks to generativelanguage.googleapis.com" },
  "remote::groq": {},
  "remote::llama-cpp-server": {},
  "remote::llama-openai-compat": {},
  "remote::meta": {},
  "remote::mistral": {},
  "remote::nvidia": {},
  "remote::oci": {
    key: null,
    settings: {
      oci_auth_type: "config_file",
      oci_config_file_path: "/nowhere",
      oci_compartment_id: "ocid1.compartment",
    },
    unrouted: "its address follows from the region",
  },
  "remote::ollama": { key: null },
  "remote::openai": {},
  "remote::passthrough": { lists: "all" },
  "remote::runpod": { key: "api_token" },
  "remote::sambanova": {},
  "remote::text-embeddings-inference": { embedsOnly: true },
  "remote::together": { lists: "none" },
  "remote::vertexai": {
    key: "access_token",
    settings: { project: "a-project" },
    unrouted: "its address follows from project and location",
  },
  "remote::vllm": { key: "api_token" },
  "remote::watsonx": {},
};

const LISTED = { none: [], one: ["test-model"], all: ["test-model", "test-embedding"] };

Deno.test("every inference type in these tests is offered by some server", () => {
  const offered = TESTED_SERVERS.flatMap((server) => knownTypes(server, "inference"));
  deepStrictEqual(Object.keys(TYPES).filter((type) => !offered.includes(type)), []);
});

const remoteTypes = (server: TestedServer): string[] =>
  knownTypes(server, "inference").filter((type) => type.startsWith("remote::"));

Deno.test("every remote inference type of a server is known to these tests", () => {
  for (const server of TESTED_SERVERS) {
    deepStrictEqual(remoteTypes(server).filter((type) => !Object.hasOwn(TYPES, type)), [], server.name);
  }
});

Deno.test("inference providers of every server accept both spellings of an endpoint, and keys", () =>
  onEveryServer((server) =>
    sideBySide(
      ["bare", "with a path"] as const,
      (spelling) => assertReached(server, remoteTypes(server), spelling),
    )
  ));

type Spelling = "bare" | "with a path";

const assertReached = async (server: TestedServer, types: readonly string[], spelling: Spelling): Promise<void> => {
  await using around = startAround(types, spelling);
  // Files at OpenAI need nothing but a key to start, so they are tried along the way.
  const files = [{ id: "builtin-files", provider: "openai", apiKey: secret("openai", "key") }];
  const providers = { inference: around.providers, files };
  const asked = manifest({ distribution: { name: server.distribution }, providers });
  await using stack = await boot(asked, { ...server.options, secrets: around.secrets });
  await assertProviders(asked.spec as JsonObject, stack);
  await assertKeysAreMasked(stack, around, server);
  const listed = await stack.get("/v1/models");
  const ids: string[] = listed.body.data.map(({ id }: { id: string }) => id);
  await sideBySide(around.routed, async ({ id, type, key, models }) => {
    const own = TYPES[type] ?? {};
    const found = ids.filter((model) => model.startsWith(`${id}/`)).map((model) => model.slice(id.length + 1));
    deepStrictEqual(found.sort(), [...LISTED[own.lists ?? "one"]].sort(), id);
    await (own.embedsOnly === true ? assertEmbeds(stack, id) : assertTalks(stack, id));
    const request = models.requests.find(({ method }) => method === "POST");
    if (own.key !== null) strictEqual(request?.key, key, id);
  });
};

interface Routed {
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly models: ModelServer;
}

interface Around extends AsyncDisposable {
  readonly providers: JsonObject[];
  readonly secrets: Secrets;
  /** The providers whose chats reach a model server of their own, which takes no other key. */
  readonly routed: readonly Routed[];
}

const startAround = (types: readonly string[], spelling: Spelling): Around => {
  const secrets: Record<string, Record<string, string>> = {};
  const routed: Routed[] = [];
  const providers = types.map((type): JsonObject => {
    const id = type.slice("remote::".length);
    const key = `key of ${id} 1#2`;
    const own = TYPES[type] ?? {};
    const reading = endpointReading("inference", type);
    secrets[id] = { key };
    const provider = {
      id,
      provider: id,
      ...(own.key === null ? {} : { apiKey: secret(id, "key") }),
      settings: { allowed_models: ["test-model"], ...own.settings },
    };
    if (reading === undefined) return provider;
    // A gateway's path of its own shows that a given path stays as it is.
    const path = spelling === "bare" ? reading.path ?? "" : `/gateway${reading.path ?? ""}`;
    const models = startModelServer({
      basePath: `${path}${reading.adds ?? ""}`,
      ...(own.key === null ? {} : { requireKey: key }),
    });
    if (own.unrouted === undefined) routed.push({ id, type, key, models });
    return { ...provider, endpoint: `http://127.0.0.1:${models.port}${spelling === "bare" ? "" : path}` };
  });
  return {
    providers,
    secrets,
    routed,
    [Symbol.asyncDispose]: async () => void await Promise.all(routed.map(({ models }) => models.stop())),
  };
};

const assertTalks = async (stack: Booted, id: string): Promise<void> => {
  const messages = [{ role: "user", content: `I am ${id}` }];
  const { body } = await stack.post("/v1/chat/completions", { model: `${id}/test-model`, messages });
  strictEqual(body.choices?.[0].message.content, `You said: I am ${id}`, `${id}: ${JSON.stringify(body)}`);
};

const assertEmbeds = async (stack: Booted, id: string): Promise<void> => {
  const { body } = await stack.post("/v1/embeddings", { model: `${id}/test-model`, input: "hello" });
  strictEqual(body.data?.[0].embedding.length, EMBEDDING_DIMENSION, `${id}: ${JSON.stringify(body)}`);
};

const assertKeysAreMasked = async (stack: Booted, { secrets }: Around, { minor }: TestedServer): Promise<void> => {
  for (const { api, provider_id, provider_type, config } of await listedProviders(stack)) {
    const own = TYPES[provider_type];
    if (api !== "inference" || own === undefined || own.key === null) continue;
    const field = provider_type === "remote::bedrock" && minor !== "0.7"
      ? "aws_bedrock_bearer_token"
      : own.key ?? "api_key";
    strictEqual(config[field], "********", `${provider_id} ${field}`);
    doesNotMatch(JSON.stringify(config), new RegExp(secrets[provider_id]?.key ?? "^"));
  }
};
