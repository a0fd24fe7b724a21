/** One thing of each kind that a server stores, and which of them a later server on the same data still has. */
import { strictEqual } from "node:assert/strict";
import { until } from "../waiting.ts";
import { type Stateful, uploadFile } from "./stored_state.ts";

/** Id of what was stored, by its kind. */
export type StoredKinds = Readonly<Partial<Record<KindName, string>>>;

/** Of a server with the models of `withModels`. Returns when the server answers for all of it. */
export const storeKinds = async (stack: Stateful, kinds: ReadonlyArray<KindName>): Promise<StoredKinds> => {
  const stored: Partial<Record<KindName, string>> = {};
  for (const kind of kinds) {
    const id = await KINDS[kind].store(stack);
    // A queue writes some of it.
    await until(`the server answers for its ${kind}`, () => KINDS[kind].isThere(stack, id));
    stored[kind] = id;
  }
  return stored;
};

/** The kinds that are there with their content, sorted. */
export const kindsThere = async (stack: Stateful, stored: StoredKinds): Promise<ReadonlyArray<KindName>> => {
  const found: KindName[] = [];
  for (const kind of KIND_NAMES) {
    const id = stored[kind];
    if (id !== undefined && await KINDS[kind].isThere(stack, id)) found.push(kind);
  }
  return found;
};

interface Kind {
  /** Returns the id. */
  readonly store: (stack: Stateful) => Promise<string>;
  readonly isThere: (stack: Stateful, id: string) => Promise<boolean>;
}

const CHAT = { model: "vllm/test-model", messages: [{ role: "user", content: "remember this" }] };
const TEXT = "a file that is kept";
const ITEM = { type: "message", role: "user", content: [{ type: "input_text", text: "an item that is kept" }] };

const made = async (stack: Stateful, path: string, body: unknown, id = "id"): Promise<string> => {
  const answer = await stack.post(path, body);
  strictEqual(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body[id];
};

/** An answer with this text somewhere in it. */
const tells = async (stack: Stateful, path: string, text: string): Promise<boolean> => {
  const { status, body } = await stack.get(path);
  return status === 200 && JSON.stringify(body).includes(text);
};

const KINDS = {
  batch: {
    store: async (stack) => {
      const line = JSON.stringify({ custom_id: "one", method: "POST", url: "/v1/chat/completions", body: CHAT });
      const input_file_id = await uploadFile(stack, `${line}\n`);
      return made(stack, "/v1/batches", { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" });
    },
    isThere: (stack, id) => tells(stack, `/v1/batches/${id}`, id),
  },
  "chat completion": {
    store: (stack) => made(stack, "/v1/chat/completions", CHAT),
    isThere: (stack, id) => tells(stack, `/v1/chat/completions/${id}`, "You said: remember this"),
  },
  conversation: {
    store: async (stack) => {
      const id = await made(stack, "/v1/conversations", { metadata: { topic: "storage" } });
      const { status, body } = await stack.post(`/v1/conversations/${id}/items`, { items: [ITEM] });
      strictEqual(status, 200, JSON.stringify(body));
      return id;
    },
    isThere: async (stack, id) =>
      await tells(stack, `/v1/conversations/${id}`, "storage") &&
      await tells(stack, `/v1/conversations/${id}/items`, ITEM.content[0]?.text ?? ""),
  },
  file: {
    store: (stack) => uploadFile(stack, TEXT),
    isThere: (stack, id) => tells(stack, `/v1/files/${id}/content`, TEXT),
  },
  prompt: {
    store: (stack) => made(stack, "/v1/prompts", { prompt: "hello {{name}}", variables: ["name"] }, "prompt_id"),
    isThere: (stack, id) => tells(stack, `/v1/prompts/${id}`, "hello {{name}}"),
  },
  response: {
    store: (stack) => made(stack, "/v1/responses", { model: "vllm/test-model", input: "remember this" }),
    isThere: (stack, id) => tells(stack, `/v1/responses/${id}`, "You said: remember this"),
  },
  shield: {
    store: (stack) => {
      const shield = { shield_id: "kept", provider_id: "llama-guard", provider_shield_id: "vllm/test-model" };
      return made(stack, "/v1/shields", shield, "identifier");
    },
    isThere: (stack, id) => tells(stack, `/v1/shields/${id}`, "llama-guard"),
  },
  "vector store": {
    store: async (stack) => {
      const embedding = { embedding_model: "vllm/test-embedding", embedding_dimension: 384 };
      const id = await made(stack, "/v1/vector_stores", { name: "kept", provider_id: "faiss", ...embedding });
      await made(stack, `/v1/vector_stores/${id}/files`, { file_id: await uploadFile(stack, TEXT) });
      return id;
    },
    isThere: async (stack, id) => {
      const { status, body } = await stack.post(`/v1/vector_stores/${id}/search`, { query: "which file" });
      return status === 200 && JSON.stringify(body).includes(TEXT);
    },
  },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS).sort() as ReadonlyArray<KindName>;

/** What the operator calls each kind where it says what a move loses. */
export const LOST_AS: Readonly<Record<KindName, string>> = {
  batch: "batches",
  "chat completion": "chat completions",
  conversation: "conversations",
  file: "files",
  prompt: "prompts",
  response: "responses",
  shield: "shields",
  "vector store": "vector stores",
};
