/** What is created again while a resource cannot be reconciled. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { after, converged, edited, planOf, snapshot } from "../../tests/snapshots.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { RECORD_ANNOTATIONS } from "../snapshot/record.ts";

const GOOD: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const BAD: JsonObject = { providers: { inference: [{ provider: "nonsense" }] }, networking: { port: 9000 } };

const failing = (): ClusterSnapshot => {
  const { snapshot: good } = converged(snapshot(GOOD));
  return converged(edited(good, BAD)).snapshot;
};

const without = (clusterSnapshot: ClusterSnapshot, ...keys: ReadonlyArray<string>): ClusterSnapshot => {
  const live = new Map(clusterSnapshot.live);
  for (const key of keys) live.delete(key);
  return { ...clusterSnapshot, live };
};

const applied = (clusterSnapshot: ClusterSnapshot): ReadonlyArray<string> =>
  planOf(clusterSnapshot).steps.flatMap((step) =>
    step._tag === "Apply" ? [`${step.manifest.kind}/${step.manifest.metadata.name}`] : []
  );

Deno.test("decide() creates a deleted Service and ServiceAccount again while the resource fails, as the Deployment needs them", () => {
  const deleted = without(failing(), "Service/my-service", "ServiceAccount/my-sa");
  deepStrictEqual(applied(deleted), ["ServiceAccount/my-sa", "Service/my-service"]);
  const again = after(deleted, planOf(deleted));
  // The port of the running server, and not that of the spec that cannot be applied.
  const ports = at(again.live.get("Service/my-service"), "spec", "ports");
  deepStrictEqual(ports, at(failing().live.get("Service/my-service"), "spec", "ports"));
  deepStrictEqual(planOf(again).steps.filter(({ _tag }) => _tag === "Apply"), []);
  // Once the resource can be reconciled, they are as they would be without the failure.
  const fixed = converged(edited(again, GOOD)).snapshot;
  strictEqual(
    JSON.stringify(at(fixed.live.get("Service/my-service"), "metadata", "annotations")),
    JSON.stringify(
      at(converged(snapshot(GOOD)).snapshot.live.get("Service/my-service"), "metadata", "annotations"),
    ),
  );
});

Deno.test("decide() creates nothing for a Deployment that is gone, ends, or belongs to somebody else", () => {
  const deleted = without(failing(), "Service/my-service", "ServiceAccount/my-sa");
  const withDeployment = (path: ReadonlyArray<string>, value: JsonObject | string | ReadonlyArray<JsonObject>) => {
    const deployment = deleted.live.get("Deployment/my") ?? {};
    return { ...deleted, live: new Map([...deleted.live, ["Deployment/my", put(deployment, path, value)]]) };
  };
  deepStrictEqual(applied(without(deleted, "Deployment/my")), []);
  deepStrictEqual(applied(withDeployment(["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z")), []);
  const other = [{ kind: "ReplicaSet", name: "x", uid: "x", controller: true }];
  deepStrictEqual(applied(withDeployment(["metadata", "ownerReferences"], other)), []);
});

Deno.test("a config that somebody deletes while an edit fails is named, since nobody can make it again", () => {
  const message = (of: ClusterSnapshot): string =>
    listAt(converged(of).snapshot.resource, "status", "conditions").flatMap((item) =>
      stringAt(item, "type") === "DeploymentUpdated" ? [stringAt(item, "message") ?? ""] : []
    ).join();
  match(message(failing()), /is unchanged until the errors of the resource are fixed$/);
  const configs = [...failing().live.keys()].filter((key) => key.startsWith("ConfigMap/"));
  match(
    message({ ...without(failing(), ...configs), configs: [] }),
    /fixed\. The ConfigMap my-config-[0-9a-f]{8} that its pods mount was deleted, and cannot be made again/,
  );
});

const RESTRICTED = { allowedFrom: { namespaces: ["apps"] } };

Deno.test("decide() creates a deleted NetworkPolicy again while the resource fails, for the port of the running server", () => {
  const { snapshot: good } = converged(snapshot({ ...GOOD, networking: RESTRICTED }));
  const bad = converged(edited(good, { ...BAD, networking: { ...RESTRICTED, port: 9000 } })).snapshot;
  const deleted = without(bad, "NetworkPolicy/my-network-policy");
  deepStrictEqual(applied(deleted), ["NetworkPolicy/my-network-policy"]);
  const again = after(deleted, planOf(deleted));
  const spec = (seen: ClusterSnapshot) => at(seen.live.get("NetworkPolicy/my-network-policy"), "spec");
  deepStrictEqual(spec(again), spec(good));
  deepStrictEqual(applied(again), []);
});

Deno.test("decide() restricts nothing that was open when it was adopted, while the resource fails", () => {
  const { snapshot: good } = converged(snapshot({ ...GOOD, networking: RESTRICTED }));
  const bad = converged(edited(good, { ...BAD, networking: RESTRICTED })).snapshot;
  const key = "Deployment/my";
  const open = put(bad.live.get(key) ?? {}, ["metadata", "annotations", RECORD_ANNOTATIONS.open], "x") as JsonObject;
  const seen = without(bad, "NetworkPolicy/my-network-policy");
  deepStrictEqual(applied({ ...seen, live: new Map([...seen.live, [key, open]]) }), []);
});
