/** What a server does with a vector store for which a request names neither a provider nor an embedding model. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { isObject, listAt, stringAt } from "../../core/data/json.ts";
import { boot } from "../../tools/server/boot.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { manifest } from "../given.ts";
import { uploadFile, withModels } from "./stored_state.ts";
import { onEveryServer } from "./tested_servers.ts";

Deno.test("a vector store without a provider lands in the one that the resource declares, and its texts are found", () =>
  onEveryServer(async (server) => {
    const models = startModelServer();
    try {
      const spec = withModels({ distribution: { name: server.distribution } }, models.baseUrl);
      const vectorIo = [{ id: "own", provider: "inline::faiss" }];
      const asked = manifest({ ...spec, providers: { ...spec.providers as object, vectorIo } });
      await using stack = await boot(asked, server.options);
      const listed = (await stack.get(server.isOgx ? "/v1alpha/admin/providers" : "/v1/providers")).body.data;
      const ids = listAt({ listed }, "listed").filter(isObject)
        .filter((entry) => stringAt(entry, "api") === "vector_io").map((entry) => stringAt(entry, "provider_id"));
      // The default of the base config is there too.
      deepStrictEqual(ids.filter((id) => id === "own" || id === "faiss").sort(), ["faiss", "own"]);
      const { status, body: store } = await stack.post("/v1/vector_stores", { name: "notes" });
      strictEqual(status, 200, JSON.stringify(store));
      strictEqual(stringAt(store, "metadata", "provider_id"), "own", JSON.stringify(store));
      const file = await uploadFile(stack, "a note for the default");
      const attached = await stack.post(`/v1/vector_stores/${store.id}/files`, { file_id: file });
      strictEqual(attached.body.status, "completed", JSON.stringify(attached.body));
      const found = await stack.post(`/v1/vector_stores/${store.id}/search`, { query: "which note" });
      match(JSON.stringify(found.body), /a note for the default/);
    } finally {
      await models.stop();
    }
  }));
