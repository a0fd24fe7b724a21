import { deepStrictEqual, ok } from "node:assert/strict";
import { objectOf } from "../../tests/objects.ts";
import { type Json, type JsonObject, listAt, member, objectAt } from "../../core/data/json.ts";
import { DEFAULT } from "./choices.ts";
import { networkPolicy, strictNetworkPolicy } from "./network_policy.ts";
import { deployment } from "./program.ts";

const POLICY = strictNetworkPolicy();

/** Whether one of the rules names the port, or no port at all. */
const hasPort = (rule: Json, port: number): boolean =>
  listAt(rule, "ports").length === 0 || listAt(rule, "ports").some((entry) => member(entry, "port") === port);

/** Who may connect to the port: the peers of each rule that names it, and nothing for everybody. */
const mayConnect = (port: number): ReadonlyArray<ReadonlyArray<Json>> =>
  listAt(POLICY, "spec", "ingress").filter((rule) => hasPort(rule, port)).map((rule) => listAt(rule, "from"));

Deno.test("strictNetworkPolicy() opens the webhooks to everybody, metrics to labelled namespaces, and health to nobody", () => {
  const [container] = listAt(deployment(DEFAULT), "spec", "template", "spec", "containers");
  const ports = Object.fromEntries(
    listAt(container, "ports").map((port) => [member(port, "name"), Number(member(port, "containerPort"))]),
  );
  deepStrictEqual(mayConnect(ports.webhook ?? 0), [[]]);
  deepStrictEqual(mayConnect(ports.metrics ?? 0), [[{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }]]);
  deepStrictEqual(mayConnect(ports.health ?? 0), []);
});

for (const [name, policy] of [["networkPolicy", networkPolicy(DEFAULT)], ["strictNetworkPolicy", POLICY]] as const) {
  Deno.test(`${name}() selects the pods of the operator`, () => {
    const labels = objectAt(deployment(DEFAULT), "spec", "template", "metadata", "labels");
    for (const [key, value] of Object.entries(objectAt(policy, "spec", "podSelector", "matchLabels"))) {
      deepStrictEqual(labels[key], value);
    }
  });
}

for (const [what, choices] of Object.entries({ "": DEFAULT, " without webhooks": { ...DEFAULT, webhooks: false } })) {
  Deno.test(`networkPolicy() admits everybody to each port of the operator${what}, and restricts no egress`, () => {
    const policy = networkPolicy(choices);
    const [container] = listAt(deployment(choices), "spec", "template", "spec", "containers");
    const served = listAt(container, "ports").map((port) => member(port, "containerPort"));
    const rules = listAt(policy, "spec", "ingress");
    deepStrictEqual(rules.map((rule) => listAt(rule, "from")), [[]]);
    deepStrictEqual(listAt(rules[0] ?? null, "ports").map((port) => member(port, "port")), served);
    deepStrictEqual(listAt(policy, "spec", "policyTypes"), ["Ingress"]);
  });
}

Deno.test("strictNetworkPolicy() allows the operator to reach every server, on any port", () => {
  const servers: ReadonlyArray<JsonObject> = [
    {},
    { networking: { port: 1234 } },
    { workload: { overrides: { podLabels: { app: "other", team: "a" } } } },
  ];
  for (const spec of servers) {
    const labels = objectAt(objectOf("Deployment", spec), "spec", "template", "metadata", "labels");
    const reaches = listAt(POLICY, "spec", "egress").some((rule) =>
      listAt(rule, "ports").length === 0 &&
      listAt(rule, "to").some((peer) =>
        Object.keys(objectAt(peer, "namespaceSelector")).length === 0 &&
        Object.entries(objectAt(peer, "podSelector", "matchLabels")).every(([name, value]) => labels[name] === value)
      )
    );
    ok(reaches, JSON.stringify(labels));
  }
});

Deno.test("strictNetworkPolicy() allows the operator no other connections than DNS and API servers", () => {
  const open = listAt(POLICY, "spec", "egress").filter((rule) => listAt(rule, "to").length === 0);
  deepStrictEqual(
    open.flatMap((rule) => listAt(rule, "ports").map((port) => `${member(port, "protocol")} ${member(port, "port")}`)),
    ["UDP 53", "TCP 53", "UDP 5353", "TCP 5353", "TCP 443", "TCP 6443"],
  );
});
