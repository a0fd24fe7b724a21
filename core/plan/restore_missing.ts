/**
 * While a resource cannot be reconciled, a Service or ServiceAccount that is missing is created again: without the Service nobody
 * reaches the running server, and without the ServiceAccount no pod of it starts. Both follow from the running Deployment; what
 * the spec adds to them is applied once the resource can be reconciled.
 */
import { at, type JsonObject, listAt, stringAt } from "../data/json.ts";
import { stamped } from "../resources/objects.ts";
import { templateSpec } from "../resources/pod_spec.ts";
import { service } from "../resources/service.ts";
import { serviceAccount } from "../resources/service_account.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { isAdoptable, isGoing, isNotAdopted, isOurs } from "./ownership.ts";
import type { Restoration } from "./step.ts";

export const restored = (snapshot: ClusterSnapshot): ReadonlyArray<Restoration> => {
  const { resource, live } = snapshot;
  const [name, namespace, uid] = ["name", "namespace", "uid"].map((field) => stringAt(resource, "metadata", field));
  const deployment = live.get(liveKey("Deployment", name ?? ""));
  if (name === undefined || namespace === undefined || uid === undefined || deployment === undefined) return [];
  if (!isOurs(deployment, uid) || isGoing(deployment) || !isAdoptable(deployment, snapshot)) return [];
  const owner = { name, namespace, uid };
  // Another operator may not have made a Service.
  const port = isNotAdopted(deployment, resource) ? undefined : servedPort(deployment);
  return [serviceAccount(owner), ...(port === undefined ? [] : [service(owner, { port })])]
    .filter(({ kind, metadata }) => !live.has(liveKey(kind, metadata.name)))
    .map((manifest) => ({
      _tag: "Apply",
      manifest: { ...stamped(manifest), kind: manifest.kind },
      why: "the running server needs it, and it was deleted",
      precondition: "must not exist",
      blocks: false,
    }));
};

/** Of the server, which is the first container. */
const servedPort = (deployment: JsonObject): number | undefined => {
  const port = at(listAt(listAt(templateSpec(deployment), "containers")[0], "ports")[0], "containerPort");
  return typeof port === "number" ? port : undefined;
};
