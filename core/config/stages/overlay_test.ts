import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { config, generated, smallBase, warnings } from "../../../tests/given.ts";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";

const ids = (spec: JsonObject, api: string, surroundings = smallBase()) =>
  listAt(config(spec, surroundings), "providers", api).filter(isObject).map(({ provider_id }) => provider_id);

Deno.test("overlayProviders() appends a new id behind those of the base", () => {
  deepStrictEqual(ids({ providers: { inference: [{ id: "mine", provider: "openai" }] } }, "inference"), [
    "${env.OLLAMA_URL:+ollama}",
    "openai",
    "mine",
  ]);
});

Deno.test("overlayProviders() replaces a base entry of the same id in place, as a whole", () => {
  const spec = { providers: { inference: [{ id: "openai", provider: "vllm", endpoint: "http://vllm/v1" }] } };
  deepStrictEqual(ids(spec, "inference"), ["${env.OLLAMA_URL:+ollama}", "openai"]);
  const entry = objectAt(listAt(config(spec, smallBase()), "providers", "inference")[1]);
  deepStrictEqual([entry.provider_type, entry.config], ["remote::vllm", { base_url: "http://vllm/v1" }]);
});

Deno.test("overlayProviders() makes a conditional base entry of that id unconditional", () => {
  const spec = { providers: { inference: [{ provider: "ollama", endpoint: "http://ollama:11434/v1" }] } };
  deepStrictEqual(ids(spec, "inference"), ["ollama", "openai"]);
});

Deno.test("overlayProviders() keeps unknown parts of a base", () => {
  const base = smallBase({ unknown: { deep: [1, { x: "y" }] }, server: { port: 1, auth: { route_policy: [] } } });
  const made = config({ providers: { inference: [{ id: "mine", provider: "openai" }] } }, base);
  deepStrictEqual(made.unknown, { deep: [1, { x: "y" }] });
  deepStrictEqual(objectAt(made, "server").auth, { route_policy: [] });
});

Deno.test("overlayProviders() leaves out the base entry of an API of which the server uses one provider", () => {
  const own = { id: "own", provider: "inline::localfs" };
  deepStrictEqual(ids({ providers: { files: [own] } }, "files"), ["own"]);
  deepStrictEqual(warnings({ providers: { files: [own] } }), []);
});

Deno.test("overlayProviders() warns of all but the last provider where the server uses one", () => {
  const spec = { providers: { files: ["a", "b"].map((id) => ({ id, provider: "inline::localfs" })) } };
  deepStrictEqual(warnings(spec), ["OneProviderOnly at spec.providers.files[0]"]);
});

Deno.test("generate() never changes a base", () => {
  const surroundings = smallBase();
  const before = JSON.stringify(surroundings);
  generated(
    { providers: { inference: [{ provider: "openai" }] }, storage: { kv: {} }, disabled: ["safety"] },
    surroundings,
  );
  strictEqual(JSON.stringify(surroundings), before);
});

Deno.test("a declared provider may have a type of a module that the base config names", () => {
  const tree = JSON.parse(String(smallBase().base?.content));
  const own = { provider_id: "own", provider_type: "remote::my-own", module: "my_package", config: { a: 1 } };
  const content = JSON.stringify({
    ...tree,
    providers: { ...tree.providers, inference: [...tree.providers.inference, own] },
  });
  const spec = { providers: { inference: [{ id: "own", provider: "remote::my-own", settings: { a: 2 } }] } };
  const made = config(spec, { base: { origin: "test", content } });
  const entry = listAt(made, "providers", "inference").find((item) => stringAt(item, "provider_id") === "own");
  deepStrictEqual(entry, { ...own, config: { a: 2 } });
});
