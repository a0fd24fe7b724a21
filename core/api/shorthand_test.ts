import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifest } from "../../tests/given.ts";
import { at, type JsonObject } from "../data/json.ts";
import { expandShorthand } from "./shorthand.ts";

Deno.test("expandShorthand() reads one provider object and bare model names into the list form, and prints that form", () => {
  const { resource, warnings } = expandShorthand(
    manifest({
      providers: { inference: { provider: "vllm", endpoint: "http://v" } },
      resources: { models: ["a", { name: "b" }] },
    }),
  );
  deepStrictEqual(at(resource, "spec", "providers", "inference"), [{ provider: "vllm", endpoint: "http://v" }]);
  deepStrictEqual(at(resource, "spec", "resources", "models"), [{ name: "a" }, { name: "b" }]);
  deepStrictEqual(warnings.map(({ message }) => message.split("; write ")[1]), [
    'inference: [{"provider":"vllm","endpoint":"…"}]',
    'models: [{"name":"a"},{"name":"b"}]',
  ]);
});

Deno.test("expandShorthand() leaves the list form alone", () => {
  const resource = manifest({ providers: { inference: [{ provider: "vllm" }] } });
  const expanded = expandShorthand(resource);
  strictEqual(expanded.resource, resource);
  deepStrictEqual(expanded.warnings, []);
});

Deno.test("expandShorthand() prints no value that could be a secret", () => {
  const provider: JsonObject = {
    provider: "vllm",
    endpoint: "http://u:canary@v",
    apiKey: "canary",
    secretRefs: { x: "canary" },
    settings: { y: "canary" },
  };
  const { warnings } = expandShorthand(manifest({ providers: { inference: provider } }));
  strictEqual(warnings.length, 1);
  ok(!warnings[0]?.message.includes("canary"));
});

Deno.test("expandShorthand() reads providers as OGXServer has them", () => {
  const remote = {
    vllm: [{ id: "a", endpoint: "http://v" }],
    braveSearch: [{ apiKey: { name: "brave", key: "api-key" } }],
    custom: [{ type: "remote::own", settings: { x: 1 } }],
  };
  const { resource, warnings } = expandShorthand(manifest({ providers: { inference: { remote } } }));
  deepStrictEqual(at(resource, "spec", "providers", "inference"), [
    { provider: "remote::vllm", id: "a", endpoint: "http://v" },
    { provider: "remote::brave-search", apiKey: { secretKeyRef: { name: "brave", key: "api-key" } } },
    { provider: "remote::own", settings: { x: 1 } },
  ]);
  deepStrictEqual(warnings.map(({ message }) => message), [
    "providers by type: the notation of OGXServer, a resource of another operator, which the API server rejects; write " +
    'inference: [{"provider":"remote::vllm","id":"a","endpoint":"…"},{"provider":"remote::brave-search",' +
    '"apiKey":{"secretKeyRef":{"name":"brave","key":"api-key"}}},{"provider":"remote::own","settings":"…"}]',
  ]);
});
