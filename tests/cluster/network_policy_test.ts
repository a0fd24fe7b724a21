/** NetworkPolicies of resources on a real API server, and the rules that it rejects. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type JsonObject, listAt, objectAt } from "../../core/data/json.ts";
import { networkRuleFindings } from "../../core/api/network_rules.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { NETWORK_RULE_CASES } from "../network_rule_cases.ts";
import { eventually } from "../waiting.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, read, ready, RESOURCES } from "./settled.ts";

const POLICIES = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
const POLICY = `${POLICIES}/my-network-policy`;

/** Whether the API server would create a policy with the rule. */
const isAccepted = async (cluster: ControlPlane, rule: JsonObject): Promise<boolean> => {
  const answer = await cluster.fetch(`${POLICIES}?dryRun=All&fieldValidation=Strict`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "tried" },
      spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [rule] },
    }),
  });
  await answer.body?.cancel();
  return answer.ok;
};

const server = (networking: JsonObject): JsonObject => manifest({ distribution: { name: "starter" }, networking });

const INGRESS = [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 8321 }] }];
const EGRESS = [{ to: [{ namespaceSelector: {} }], ports: [{ port: 8000, endPort: 8010 }] }];

const policy = (cluster: ControlPlane, what: string, isSo: (spec: JsonObject | undefined) => boolean) =>
  eventually(what, async () => {
    const found = await read(cluster, POLICY);
    return isSo(found.kind === "NetworkPolicy" ? objectAt(found, "spec") : undefined) ? found : undefined;
  });

Deno.test("NetworkPolicies of resources on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    await t.step("lint accepts the rules that the API server accepts, and rejects those that it rejects", async () => {
      const wrong: Array<string> = [];
      for (const { what, rule } of NETWORK_RULE_CASES) {
        const isRight = networkRuleFindings(rule, "from").length === 0;
        if (await isAccepted(cluster, rule) !== isRight) wrong.push(`${what}: ${isRight ? "rejected" : "accepted"}`);
      }
      deepStrictEqual(wrong, []);
    });
    const operator = await startOperator(cluster);
    try {
      await t.step("rules are added to those of the operator", async () => {
        await apply(cluster, server({ policy: { ingress: INGRESS, egress: EGRESS } }));
        const { spec } = await policy(cluster, "the policy is there", (found) => found !== undefined);
        deepStrictEqual(at(spec, "policyTypes"), ["Ingress", "Egress"]);
        deepStrictEqual([listAt(spec, "ingress").length, listAt(spec, "egress").length], [2, 2]);
        await ready(cluster, "my");
      });

      await t.step("fields that the API server adds to a rule lead to no write", async () => {
        await ready(cluster, "my");
        const version = at(await read(cluster, POLICY), "metadata", "resourceVersion");
        await apply(cluster, {
          ...server({ policy: { ingress: INGRESS, egress: EGRESS }, serviceAnnotations: { a: "b" } }),
        });
        await eventually("the next edit is applied", async () => {
          const service = await read(cluster, "/api/v1/namespaces/default/services/my-service");
          return at(service, "metadata", "annotations", "a") === "b" || undefined;
        });
        await ready(cluster, "my");
        strictEqual(at(await read(cluster, POLICY), "metadata", "resourceVersion"), version);
      });

      await t.step("without egress nothing restricts what the server reaches", async () => {
        await apply(cluster, server({ policy: { ingress: INGRESS } }));
        const { spec } = await policy(cluster, "no egress", (found) => listAt(found, "egress").length === 0);
        deepStrictEqual(at(spec, "policyTypes"), ["Ingress"]);
      });

      await t.step(
        "a rule that the API server would reject is reported with its place, and the policy stays",
        async () => {
          await apply(cluster, server({ policy: { ingress: [{ from: [{}] }] } }));
          const message = await eventually("the status names the field", async () => {
            const found = condition(await read(cluster, `${RESOURCES}/my`), "ConfigGenerated");
            return at(found, "status") === "False" ? String(at(found, "message")) : undefined;
          });
          ok(message.includes("spec.networking.policy.ingress[0].from[0]"), message);
          deepStrictEqual(listAt(await read(cluster, POLICY), "spec", "ingress").length, 2);
        },
      );

      await t.step("a policy that is switched off is deleted", async () => {
        await apply(cluster, server({ policy: { enabled: false } }));
        await eventually(
          "the policy is gone",
          async () => (await read(cluster, POLICY)).kind === "Status" || undefined,
        );
        await ready(cluster, "my");
      });
    } finally {
      await operator.stop();
    }
  } finally {
    await cluster.stop();
  }
});
