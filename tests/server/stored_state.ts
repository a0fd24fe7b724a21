/** Things that a server has to remember: in the relational store, in the key-value store and on the data volume. */
import { deepStrictEqual, ok, partialDeepStrictEqual, strictEqual } from "node:assert/strict";
import { type JsonObject, put } from "../../core/data/json.ts";
import { until } from "../waiting.ts";
import type { Answer } from "../../tools/server/llama_stack.ts";

/** The part of a running server that is used here. */
export interface Stateful {
  readonly url: string;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
}

/** What the spec of a server needs for `storeState`: chat and embeddings of a model server. */
export const withModels = (spec: JsonObject, endpoint: string): JsonObject =>
  put(put(spec, ["providers", "inference"], [{ provider: "vllm", endpoint }]), ["resources", "models"], [
    { name: "test-model" },
    { name: "test-embedding", modelType: "embedding", embeddingDimension: 384 },
  ]);

export interface StoredState {
  readonly response: string;
  readonly conversation: string;
  readonly file: string;
  readonly vectorStore: string;
}

/** A response, a conversation and the entry of a file go to the relational store, a vector store to the key-value one. */
export const storeState = async (stack: Stateful): Promise<StoredState> => {
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await stack.post(path, body);
    strictEqual(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  const response = await made("/v1/responses", { model: "vllm/test-model", input: "remember this" });
  const conversation = await made("/v1/conversations", { metadata: { topic: "storage" } });
  const file = await uploadFile(stack, FILE);
  const vectorStore = await made("/v1/vector_stores", {
    name: "kept",
    provider_id: "faiss",
    embedding_model: "vllm/test-embedding",
    embedding_dimension: 384,
  });
  await made(`/v1/vector_stores/${vectorStore}/files`, { file_id: file });
  return { response, conversation, file, vectorStore };
};

/** Everything is still there, with its content. */
export const assertState = async (stack: Stateful, state: StoredState): Promise<void> => {
  const path = `/v1/responses/${state.response}`;
  // A queue writes it.
  await until(`${path} is there`, async () => (await stack.get(path)).status === 200);
  const response = await stack.get(path);
  strictEqual(response.body.output?.[0].content[0].text, "You said: remember this", JSON.stringify(response.body));
  const conversation = await stack.get(`/v1/conversations/${state.conversation}`);
  partialDeepStrictEqual(conversation.body, { id: state.conversation, metadata: { topic: "storage" } });
  deepStrictEqual(await stack.get(`/v1/files/${state.file}/content`), { status: 200, body: FILE });
  const found = await stack.post(`/v1/vector_stores/${state.vectorStore}/search`, { query: "which file" });
  const texts = found.body.data?.flatMap((item: { content: { text: string }[] }) =>
    item.content.map(({ text }) => text)
  );
  ok(texts?.join().includes(FILE), JSON.stringify(found.body));
};

/** Returns the id of the file. */
export const uploadFile = async (stack: Stateful, content: string): Promise<string> => {
  const form = new FormData();
  form.append("purpose", "assistants");
  form.append("file", new Blob([content]), "note.txt");
  const answer = await fetch(`${stack.url}/v1/files`, { method: "POST", body: form });
  const text = await answer.text();
  strictEqual(answer.status, 200, text);
  return JSON.parse(text).id;
};

const FILE = "a file that is kept";
