import { deepStrictEqual, ok } from "node:assert/strict";
import { FAMILY_0_7 } from "../config/servers/families/family_0_7.ts";
import { FAMILY_LEGACY } from "../config/servers/families/family_legacy.ts";
import type { JsonObject } from "../data/json.ts";
import { manifest, SURROUNDINGS } from "../../tests/given.ts";
import { writeYaml } from "../data/yaml.ts";
import { moved } from "./moved.ts";
import { renderCommand } from "./render.ts";

const at = (tree: JsonObject) => ({ tree, family: FAMILY_0_7 });
const provider = (type: string, config: JsonObject, id = "p"): JsonObject => ({
  provider_id: id,
  provider_type: type,
  config,
});

Deno.test("moved() reports lost, new and renamed APIs, providers, fields and resources", () => {
  const before: JsonObject = {
    apis: ["inference", "safety"],
    providers: {
      inference: [provider("remote::vllm", { url: "http://v", max_tokens: 5 })],
      safety: [provider("inline::llama-guard", {}, "g")],
      agents: [provider("inline::builtin", {}, "t")],
    },
    registered_resources: { models: [{ model_id: "m" }], shields: [{ shield_id: "s" }] },
  };
  const after: JsonObject = {
    apis: ["inference", "responses"],
    providers: {
      inference: [provider("remote::openai", { base_url: "http://v", network: {} })],
      responses: [provider("inline::builtin", {}, "t")],
    },
    registered_resources: { models: [{ model_id: "m" }] },
  };
  deepStrictEqual(moved(at(before), at(after)), [
    "lost: API safety",
    "new: API responses",
    "renamed: type remote::vllm of inference provider p is remote::openai",
    "renamed: field url of inference provider p is base_url",
    "lost: field max_tokens of inference provider p",
    "new: field network of inference provider p",
    "lost: safety provider g (inline::llama-guard)",
    "renamed: API agents of provider t is responses",
    "lost: shield s",
  ]);
  deepStrictEqual(moved(at(before), at(before)), []);
});

Deno.test("moved() does not confuse APIs whose providers have the same id and type", () => {
  const before = { providers: { eval: [provider("inline::builtin", {}, "builtin")] } };
  const after = { providers: { interactions: [provider("inline::builtin", {}, "builtin")] } };
  deepStrictEqual(moved(at(before), at(after)), [
    "lost: eval provider builtin (inline::builtin)",
    "new: interactions provider builtin (inline::builtin)",
  ]);
});

Deno.test("moved() finds the resources of a server of before 0.3 in their place", () => {
  const before = { tree: { models: [{ model_id: "m" }] }, family: FAMILY_LEGACY };
  deepStrictEqual(moved(before, at({})), ["lost: model m"]);
});

Deno.test("render --server-version reports what a resource loses or gains with the other server", () => {
  const resource = manifest({
    distribution: { name: "starter" },
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
  });
  const files = [{ name: "my.yaml", text: writeYaml(resource) }];
  const { stderr, code } = renderCommand(files, { ...SURROUNDINGS, serverVersion: "0.3.5" }, {
    only: "config",
    format: "yaml",
    style: { name: (text) => text, error: (text) => text, good: (text) => text, warning: (text) => text },
  });
  deepStrictEqual(code, 0, stderr);
  ok(stderr.includes("on server 0.3.5: lost: API responses"), stderr);
  ok(/on server 0\.3\.5: renamed: field base_url of inference provider \S+ is url/.test(stderr), stderr);
});
