/** A base config of one's own, with keys that the server does not know, and a database beside that of the base. */
import { ok, strictEqual } from "node:assert/strict";
import { BASES } from "../../core/config/servers/bases.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { manifest, secret } from "../given.ts";
import { boot } from "../../tools/server/boot.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { startPostgresAccount } from "./storage_services.ts";
import { uploadFile, withModels } from "./stored_state.ts";
import { onEveryServer } from "./tested_servers.ts";

/** Of no server, at top level and below. */
const UNKNOWN = Array.from({ length: 9 }, (_, index) => `house_key_${index}: {nested: [${index}, text]}`).join("\n");

Deno.test("a base config with ten unknown keys starts on every server, and a provider stores in a backend by name", () =>
  onEveryServer(async (server) => {
    const models = startModelServer({ models: ["test-model", "test-embedding"] });
    await using postgres = await startPostgresAccount("a-password");
    try {
      const text = BASES[`${server.distribution}-${server.minor}.yaml`] ?? "";
      ok(text.includes("\nserver:\n"));
      const base = `${UNKNOWN}\n${text.replace("\nserver:\n", "\nserver:\n  house_key: true\n")}`;
      const { host, port, db, user } = postgres.place;
      const spec: JsonObject = withModels({
        distribution: { name: server.distribution },
        baseConfig: { configMapName: "house" },
        storage: {
          backends: [{
            name: "sql_files",
            type: "sql_postgres",
            settings: { host, port, db, user },
            secretRefs: { password: secret("files", "password") },
          }],
        },
      }, models.baseUrl);
      const asked = manifest({
        ...spec,
        providers: {
          ...objectAt(spec, "providers"),
          files: [{ provider: "localfs", settings: { metadata_store: { backend: "sql_files", table_name: "files" } } }],
        },
      });
      await using stack = await boot(asked, {
        ...server.options,
        secrets: { files: { password: "a-password" } },
        surroundings: {
          ...server.options.surroundings,
          configMaps: new Map([["default/house", { data: { "config.yaml": base }, binaryData: {} }]]),
        },
      });
      strictEqual(stack.derived.config.tree.house_key_8 !== undefined, true);
      const { body } = await stack.get("/v1/models");
      ok(listAt(body, "data").some((model) => stringAt(model, "id") === "vllm/test-model"), JSON.stringify(body));
      const file = await uploadFile(stack, "in the other database");
      strictEqual((await stack.get(`/v1/files/${file}`)).status, 200);
      // Whatever table the reference names.
      strictEqual(await postgres.rowCount("openai_files"), 1);
    } finally {
      await models.stop();
    }
  }));
