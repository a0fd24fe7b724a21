/**
 * While a resource cannot be reconciled, a Service or ServiceAccount that is missing is created again: without the Service nobody
 * reaches the running server, and without the ServiceAccount no pod of it starts. Both follow from the running Deployment; what
 * the spec adds to them is applied once the resource can be reconciled.
 */
import { stringAt } from "../data/json.ts";
import { stamped } from "../resources/objects.ts";
import { service } from "../resources/service.ts";
import { serviceAccount } from "../resources/service_account.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { liveDeployment } from "../snapshot/live_deployment.ts";
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
  const running = liveDeployment(deployment);
  const port = isNotAdopted(running, resource) ? undefined : running.port;
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
