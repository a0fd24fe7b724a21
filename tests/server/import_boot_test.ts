/** What `import` calls equal, asked of a real server: it runs a config as its author wrote it, and the one from the imported resource. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { type Json, listAt, stringAt } from "../../core/data/json.ts";
import { importConfig } from "../../core/import/importing.ts";
import { sourceOf } from "../../core/import/source.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { boot, podStart } from "../../tools/server/boot.ts";
import { type LlamaStack, startServer } from "../../tools/server/llama_stack.ts";
import { SURROUNDINGS } from "../given.ts";

const PATHS = ["/v1/providers", "/v1/models", "/v1/shields"];

const answers = async (server: LlamaStack): Promise<ReadonlyArray<Json>> =>
  await Promise.all(PATHS.map(async (path) => {
    const { status, body } = await server.get(path);
    strictEqual(status, 200, path);
    return listAt(body as Json, "data").map((item) =>
      ["api", "provider_id", "provider_type", "identifier", "provider_resource_id", "model_type"]
        .map((field) => stringAt(item, field) ?? "").join(" ")
    ).sort();
  }));

Deno.test("llama-stack 0.7.3 has the same providers and models with a config and with the resource that import makes of it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-import-" });
  try {
    const written = await Deno.readTextFile(new URL("../fixtures/import/playground-0.7.yaml", import.meta.url));
    const text = written.replaceAll("/var/lib/playground", folder);
    const source = sourceOf([{ name: "f", text }], { name: "my", namespace: undefined, variables: undefined });
    const { resource, differences } = Result.getOrThrow(
      importConfig(Result.getOrThrow(source), { keepData: false, serverVersion: "0.7.3" }, SURROUNDINGS),
    );
    deepStrictEqual(differences, []);
    const [port] = freePorts(1) as [number];
    const own = await startServer({ ...await podStart(resource, port, folder), config: text, dataDir: folder, port });
    const before = await answers(own).finally(() => own.stop());
    await using made = await boot(resource);
    deepStrictEqual(await answers(made), before);
    const [providers = null] = before;
    ok(Array.isArray(providers) && providers.length >= 8);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
