import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { manifest } from "../../tests/given.ts";
import { formatPath } from "../data/field_path.ts";
import type { JsonObject } from "../data/json.ts";
import { defaulted } from "./resource_schema.ts";
import { API_NAMES, camelCase, DISABLED_NAMES } from "./api_names.ts";
import { RULE_CASES } from "../../tests/rule_cases.ts";
import { none } from "../../tests/none.ts";
import { ruleFindings, RULES } from "./rules.ts";

const broken = (resource: JsonObject) => ruleFindings(defaulted(resource)).map(({ message }) => message);

for (const { message, passes, fails, says } of RULE_CASES) {
  Deno.test(`ruleFindings() holds "${message}" against what breaks it and against nothing else`, () => {
    deepStrictEqual(broken(manifest(passes)), []);
    deepStrictEqual(broken(manifest(fails)), [says ?? message]);
  });
}

Deno.test("every rule has a case that passes and one that fails", () => {
  const told = new Set(RULE_CASES.map(({ message }) => message));
  // The rule on metadata.name is shown in decode_test.ts: its case is a name, not a spec.
  const missing = RULES.filter(({ at, message }) => at !== "" && !told.has(message)).map(({ message }) => message);
  none(missing, "Add cases of these rules to tests/rule_cases.ts");
});

Deno.test("ruleFindings() points to the field that a client should mark", () => {
  const found = ruleFindings(manifest({ storage: { kv: { type: "redis" } } })).map(({ path }) => formatPath(path));
  deepStrictEqual(found, ["spec.storage.kv.endpoint"]);
});

Deno.test("ruleFindings() never throws on values of the wrong type", () => {
  for (const wrong of [null, 1, "x", [], [null], {}, [{}]]) {
    for (
      const field of [
        "distribution",
        "providers",
        "resources",
        "storage",
        "disabled",
        "networking",
        "workload",
        "overrideConfig",
      ]
    ) {
      ok(
        Result.try({ try: () => ruleFindings(manifest({ [field]: wrong } as never)), catch: String })._tag ===
          "Success",
      );
    }
  }
});

Deno.test("DISABLED_NAMES holds both spellings of every API", () => {
  for (const name of API_NAMES) {
    ok(DISABLED_NAMES.includes(name) && DISABLED_NAMES.includes(camelCase(name)));
  }
});
