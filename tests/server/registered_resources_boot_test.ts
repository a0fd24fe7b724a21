/** The resources of docs/resources.md and docs/tools.md on real servers: what they register is what the servers list. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { boot, type Booted } from "../../tools/server/boot.ts";

/** The resource of this name on a page. */
const documented = async (page: string, name: string): Promise<JsonObject> => {
  const text = await Deno.readTextFile(new URL(`../../docs/${page}`, import.meta.url));
  const found = [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = ""]) => Result.getOrElse(readManifests(block), () => []))
    .find((manifest) => stringAt(manifest, "metadata", "name") === name);
  ok(isObject(found ?? null), `no resource ${name} in docs/${page}`);
  return found as JsonObject;
};

const listed = async (stack: Booted, path: string, key: string): Promise<ReadonlyArray<Json>> => {
  const { status, body } = await stack.get(path);
  deepStrictEqual(status, 200, `${path}: ${JSON.stringify(body)}`);
  return listAt(body as JsonObject, "data").map((entry) => stringAt(entry, key) ?? null).sort();
};

Deno.test("a server lists the shields that a resource configures", async () => {
  await using stack = await boot(await documented("resources.md", "guarded"));
  const shields = await listed(stack, "/v1/shields", "identifier");
  ok(["input", "secrets", "meta-llama/Llama-Guard-3-8B"].every((name) => shields.includes(name)), shields.join());
});

Deno.test("a server lists the datasets, scoring functions and benchmarks of a resource", async () => {
  await using stack = await boot(await documented("resources.md", "judged"));
  deepStrictEqual(await listed(stack, "/v1beta/datasets", "identifier"), ["capitals"]);
  ok((await listed(stack, "/v1/scoring-functions", "identifier")).includes("judge"));
  deepStrictEqual(await listed(stack, "/v1alpha/eval/benchmarks", "identifier"), ["geography"]);
});

for (const serverVersion of ["0.7.3", "1.5.0"]) {
  Deno.test(`server ${serverVersion} lists the vector stores of a resource`, async () => {
    await using stack = await boot(await documented("resources.md", "library"), { surroundings: { serverVersion } });
    deepStrictEqual(await listed(stack, "/v1/vector_stores", "id"), ["handbook"]);
  });

  Deno.test(`server ${serverVersion} lists the connectors of a resource`, async () => {
    await using stack = await boot(await documented("tools.md", "many"), { surroundings: { serverVersion } });
    const path = serverVersion.startsWith("0.") ? "/v1beta/connectors" : "/v1alpha/admin/connectors";
    deepStrictEqual(await listed(stack, path, "connector_id"), ["maps", "tickets", "weather"]);
  });
}
