/** What a server does with a vector store for which a request names neither a provider nor an embedding model. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { boot, type Booted } from "../../tools/server/boot.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { manifest } from "../given.ts";
import { until } from "../waiting.ts";
import { uploadFile, withModels } from "./stored_state.ts";
import { onEveryServer } from "./tested_servers.ts";

/** Its name differs from that at the provider, which is its id on Llama Stack. */
const CHOSEN = {
  name: "chosen",
  providerModelId: "other-embedding",
  modelType: "embedding",
  embeddingDimension: 384,
};

Deno.test("a vector store without a provider lands in the chosen one, and its texts are embedded by the chosen model", () =>
  onEveryServer(async (server) => {
    const models = startModelServer({ models: ["test-model", "test-embedding", "other-embedding"] });
    try {
      const spec = withModels({ distribution: { name: server.distribution } }, models.baseUrl);
      const asked = manifest({
        ...spec,
        providers: {
          ...objectAt(spec, "providers"),
          vectorIo: [{ id: "first", provider: "inline::sqlite-vec" }, { id: "second", provider: "inline::faiss" }],
        },
        // Neither is the first one.
        resources: { models: [...listAt(spec, "resources", "models"), CHOSEN] },
        vectorStores: {
          defaultProvider: "second",
          defaultEmbeddingModel: "chosen",
          ...(server.isOgx
            ? { chunking: { maxChunkSizeTokens: 100, chunkOverlapTokens: 0 }, searchMode: "vector" }
            : {}),
        },
      });
      await using stack = await boot(asked, server.options);
      const listed = (await stack.get(server.isOgx ? "/v1alpha/admin/providers" : "/v1/providers")).body.data;
      const ids = listAt({ listed }, "listed").filter(isObject)
        .filter((entry) => stringAt(entry, "api") === "vector_io").map((entry) => stringAt(entry, "provider_id"));
      // The default of the base config is there too.
      deepStrictEqual(ids.filter((id) => ["first", "second", "faiss"].includes(id ?? "")).sort(), [
        "faiss",
        "first",
        "second",
      ]);
      const { status, body: store } = await stack.post("/v1/vector_stores", { name: "notes" });
      strictEqual(status, 200, JSON.stringify(store));
      strictEqual(stringAt(store, "metadata", "provider_id"), "second", JSON.stringify(store));
      const file = await uploadFile(stack, "a note for the default");
      const attached = await stack.post(`/v1/vector_stores/${store.id}/files`, { file_id: file });
      strictEqual(attached.body.status, "completed", JSON.stringify(attached.body));
      const found = await stack.post(`/v1/vector_stores/${store.id}/search`, { query: "which note" });
      match(JSON.stringify(found.body), /a note for the default/);
      const embedded = models.requests.filter(({ path }) => path.endsWith("/embeddings"))
        .map(({ body }) => stringAt(body as JsonObject, "model"));
      ok(embedded.length >= 2);
      deepStrictEqual([...new Set(embedded)], ["other-embedding"]);
      if (server.isOgx) await assertChunking(stack);
    } finally {
      await models.stop();
    }
  }));

/** A file that a store is created with, by a processor of the base config. */
const assertChunking = async (stack: Booted): Promise<void> => {
  const file = await uploadFile(stack, Array(1000).fill("word").join(" "));
  const { body: store } = await stack.post("/v1/vector_stores", { name: "chunks", file_ids: [file] });
  const path = `/v1/vector_stores/${store.id}`;
  await until("the file is in the store", async () => (await stack.get(path)).body.file_counts?.completed === 1);
  const { body } = await stack.get(`${path}/files/${file}/content`);
  // Each word is a token.
  strictEqual(listAt(body, "data").length, 10, JSON.stringify(body).slice(0, 500));
};
