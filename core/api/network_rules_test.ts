import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { manifest } from "../../tests/given.ts";
import { NETWORK_RULE_CASES } from "../../tests/network_rule_cases.ts";
import { decodeResource } from "./decode.ts";
import { networkRuleFindings } from "./network_rules.ts";

for (const { what, rule, wrong } of NETWORK_RULE_CASES) {
  Deno.test(`a network rule with ${what} is ${wrong === undefined ? "accepted" : "rejected"}`, () => {
    deepStrictEqual(
      networkRuleFindings(rule, "from").map(({ path }) => path.join(".")),
      wrong === undefined ? [] : [wrong],
    );
  });
}

Deno.test("rules of egress have other peers, and a wrong one is named with its whole path", () => {
  strictEqual(networkRuleFindings({ to: [{ podSelector: {} }] }, "to").length, 0);
  strictEqual(networkRuleFindings({ from: [{ podSelector: {} }] }, "to").length, 1);
  const decoded = decodeResource(
    manifest({ networking: { policy: { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.1/8" } }] }] } } }),
    "lenient",
  );
  ok(Result.isFailure(decoded));
  deepStrictEqual(decoded.failure.map(({ path }) => path.join(".")), [
    "spec.networking.policy.egress.0.to.0.ipBlock.cidr",
  ]);
  ok(decoded.failure[0]?.message.includes("10.0.0.1/8"));
});
