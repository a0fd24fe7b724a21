import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { converged, planOf, snapshot } from "../../tests/snapshots.ts";
import { goSnapshots } from "../../tests/go_operator_objects.ts";

const NO_POLICIES = goSnapshots({ networkPolicies: false });
const POLICIES = goSnapshots({ networkPolicies: true });
const OPENSHIFT = goSnapshots({ networkPolicies: true, openshift: true });

const given = (all: ReadonlyMap<string, ClusterSnapshot>, name: string): ClusterSnapshot => {
  const found = all.get(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const policyOf = ({ live }: ClusterSnapshot, name: string): JsonObject | undefined =>
  live.get(`NetworkPolicy/${name}-network-policy`);
const peers = (snapshot: ClusterSnapshot, name: string): ReadonlyArray<string> =>
  listAt(listAt(policyOf(snapshot, name), "spec", "ingress")[0], "from").map((peer) => JSON.stringify(peer)).sort();
const editedAt = (snapshot: ClusterSnapshot, path: ReadonlyArray<string>, value: Json): ClusterSnapshot => ({
  ...snapshot,
  resource: put(put(snapshot.resource, path, value), ["metadata", "generation"], 2) as JsonObject,
});
const ALLOWED = ["spec", "networking", "allowedFrom", "namespaces"];
const warned = (snapshot: ClusterSnapshot): boolean =>
  listAt(snapshot.resource, "status", "configGeneration", "warnings").some((text) => /allowedFrom/.test(String(text)));

Deno.test("an adopted server gets no NetworkPolicy that its former operator did not make, before the next edit of its network", () => {
  for (const name of ["r16", "r17", "r27"]) {
    const start = given(NO_POLICIES, name);
    ok(at(start.resource, "spec", "networking", "allowedFrom") !== undefined);
    const adopted = converged(start).snapshot;
    strictEqual(policyOf(adopted, name), undefined, name);
    ok(warned(adopted), name);
    // Another edit rolls out the template, and still creates none.
    const other =
      converged(editedAt(adopted, ["spec", "workload", "overrides", "env"], [{ name: "E", value: "1" }])).snapshot;
    ok(JSON.stringify(other.live.get(`Deployment/${name}`)).includes('"E"'));
    strictEqual(policyOf(other, name), undefined, name);
    const edited = converged(editedAt(other, ALLOWED, ["team-c"])).snapshot;
    ok(peers(edited, name).some((peer) => peer.includes("team-c")), name);
    ok(!warned(edited), name);
    // Nothing brings the former state back.
    const back = converged(editedAt(edited, ALLOWED, at(start.resource, ...ALLOWED) ?? null)).snapshot;
    ok(policyOf(back, name) !== undefined, name);
  }
});

Deno.test("the setting of the operator creates a NetworkPolicy for adopted servers too", () => {
  const adopted = converged(given(NO_POLICIES, "r17")).snapshot;
  const { platform } = adopted.operator;
  const set = { ...adopted, operator: { ...adopted.operator, platform: { ...platform, networkPolicies: true } } };
  ok(policyOf(converged(set).snapshot, "r17") !== undefined);
});

Deno.test("an adopted NetworkPolicy keeps its peers until the next edit of its network, the router of OpenShift among them", () => {
  for (const all of [POLICIES, OPENSHIFT]) {
    for (const [name, start] of all) {
      const before = peers(start, name);
      const adopted = converged(start).snapshot;
      // Resources with errors are not adopted.
      if (stringAt(policyOf(adopted, name), "metadata", "annotations", "llamastack.io/manifest-digest") === undefined) {
        ok(planOf(adopted).failures.length > 0, name);
        continue;
      }
      const after = peers(adopted, name);
      deepStrictEqual(before.filter((peer) => !after.includes(peer)), [], name);
      // Only what the operator itself needs is added: it asks the server for its version.
      const added = after.filter((peer) => !before.includes(peer));
      deepStrictEqual(added.filter((peer) => !peer.includes(adopted.operator.platform.operatorNamespace)), [], name);
    }
  }
  const router = (snapshot: ClusterSnapshot) =>
    peers(snapshot, "r18").some((peer) => peer.includes("network.openshift.io/policy-group"));
  const adopted = converged(given(OPENSHIFT, "r18")).snapshot;
  strictEqual(at(adopted.resource, "spec", "networking", "expose"), undefined);
  ok(router(adopted));
  ok(router(converged(editedAt(adopted, ["spec", "workload", "replicas"], 2)).snapshot));
  ok(!router(converged(editedAt(adopted, ALLOWED, ["team-c"])).snapshot));
});

Deno.test("peers that somebody adds to an adopted NetworkPolicy are removed", () => {
  const adopted = converged(given(POLICIES, "r18")).snapshot;
  const live = new Map(adopted.live);
  const key = "NetworkPolicy/r18-network-policy";
  const rule = listAt(live.get(key), "spec", "ingress")[0] as JsonObject;
  live.set(
    key,
    put(live.get(key) ?? {}, ["spec", "ingress"], [
      { ...rule, from: [...listAt(rule, "from"), { namespaceSelector: {} }] },
    ]) as JsonObject,
  );
  deepStrictEqual(peers(converged({ ...adopted, live }).snapshot, "r18"), peers(adopted, "r18"));
});

Deno.test("while nobody knows whether the settings ask for NetworkPolicies, each server has the one that it has", () => {
  const withPolicies = (start: ClusterSnapshot, networkPolicies: boolean | "Existing"): ClusterSnapshot => ({
    ...start,
    operator: { ...start.operator, platform: { ...start.operator.platform, networkPolicies } },
  });
  const start = (networkPolicies: boolean) => converged(withPolicies(snapshot({}), networkPolicies)).snapshot;
  const { snapshot: kept, passes } = converged(withPolicies(start(true), "Existing"));
  deepStrictEqual([passes, policyOf(kept, "my")], [0, policyOf(start(true), "my")]);
  ok(policyOf(kept, "my") !== undefined);
  strictEqual(policyOf(converged(withPolicies(start(false), "Existing")).snapshot, "my"), undefined);
  strictEqual(policyOf(converged(withPolicies(kept, false)).snapshot, "my"), undefined);
  const closed = put(kept.resource, ["spec", "networking"], { policy: { enabled: false } }) as JsonObject;
  strictEqual(policyOf(converged({ ...kept, resource: closed }).snapshot, "my"), undefined);
});
