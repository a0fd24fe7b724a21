/** An image of unknown server with a config of the author's own, started by the script of its pod. */
import { strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { CONFIG_FILE } from "../../core/config/environment.ts";
import { isObject, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { startServer } from "../../tools/server/llama_stack.ts";
import { generated } from "../given.ts";
import { objectOf } from "../objects.ts";

for (const [server, serverVersion] of [["llama-stack 0.2.24", "0.2.24"], ["llama-stack 0.3.5", "0.3.5"]] as const) {
  Deno.test(`${server} in an image of unknown server starts on the author's own config`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const [port] = freePorts(1) as [number];
      const placed = { networking: { port }, workload: { storage: { mountPath: folder } } };
      const own = generated({ ...placed, storage: { kv: {} } }, { serverVersion }).config.yaml;
      const unknown = { distribution: { image: "registry.example/own:1" }, overrideConfig: { configMapName: "own" } };
      const [container] = listAt(objectOf("Deployment", { ...placed, ...unknown }), ...CONTAINERS);
      const here = (text: string) => text.replaceAll(CONFIG_FILE, join(folder, "config.yaml"));
      const [program = "", ...command] = listAt(container, "command").map(String).map(here);
      const env = { ...variables(listAt(container, "env").filter(isObject), here), HOME: folder };
      const stack = await startServer({ server, program, command, config: own, env, dataDir: folder, port });
      try {
        const { body } = await stack.get("/v1/version");
        strictEqual(body.version, serverVersion);
      } finally {
        await stack.stop();
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

const CONTAINERS = ["spec", "template", "spec", "containers"];

const variables = (env: readonly JsonObject[], here: (text: string) => string): Record<string, string> =>
  Object.fromEntries(env.map((object) => [stringAt(object, "name") ?? "", here(stringAt(object, "value") ?? "")]));
