/**
 * While a resource cannot be reconciled, what the running server needs around it and lacks is created: without the Service nobody
 * reaches it, without the ServiceAccount no pod of it starts, and without the NetworkPolicy everybody reaches it. The first two
 * follow from the running Deployment; what the spec adds to them is applied once the resource can be reconciled.
 */
import type { Spec } from "../api/v1alpha2.ts";
import { networkPolicy } from "../resources/network_policy.ts";
import { stamped } from "../resources/objects.ts";
import { service } from "../resources/service.ts";
import { serviceAccount } from "../resources/service_account.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { type LiveDeployment, liveDeployment } from "../snapshot/live_deployment.ts";
import { liveObject } from "../snapshot/live_object.ts";
import { isAdoptable, isNotAdopted, isOurs } from "./ownership.ts";
import type { Restoration } from "./step.ts";

/** What the running server needs around it, whether it exists or not. `spec`: undefined where it cannot be decoded. */
export const neededByServer = (
  snapshot: ClusterSnapshot,
  spec: Spec | undefined,
): ReadonlyArray<Restoration["manifest"]> => {
  const { resource, live, operator: { platform } } = snapshot;
  const { name, namespace, uid } = liveObject(resource);
  const deployment = live.get(liveKey("Deployment", name));
  if (uid === undefined || deployment === undefined) return [];
  if (!isOurs(deployment, uid) || liveObject(deployment).isGoing || !isAdoptable(deployment, snapshot)) return [];
  const owner = { name, namespace, uid };
  const running = liveDeployment(deployment);
  const { port } = running.serverPort ?? {};
  // Another operator may have made neither a Service nor a NetworkPolicy.
  const isOthers = port === undefined || isNotAdopted(running, resource);
  const policy = isOthers || spec === undefined || running.record.open !== undefined
    ? undefined
    : networkPolicy({ ...owner, platform, spec: servedOn(port, spec), metrics: metricsOf(running) });
  return [
    serviceAccount(owner),
    ...(isOthers ? [] : [service(owner, { port })]),
    ...(policy === undefined ? [] : [policy]),
  ].map((manifest) => ({ ...stamped(manifest), kind: manifest.kind }));
};

/** Of these, what does not exist. */
export const restored = (snapshot: ClusterSnapshot, spec: Spec | undefined): ReadonlyArray<Restoration> =>
  neededByServer(snapshot, spec)
    .filter(({ kind, metadata }) => !snapshot.live.has(liveKey(kind, metadata.name)))
    .map((manifest) => ({
      _tag: "Apply",
      manifest,
      why: "the running server needs it, and it does not exist",
      precondition: "must not exist",
      blocks: false,
    }));

const servedOn = (port: number, spec: Spec): Spec => ({ ...spec, networking: { ...spec.networking, port } });

const metricsOf = ({ metricsPort }: LiveDeployment): Parameters<typeof networkPolicy>[0]["metrics"] =>
  metricsPort === undefined ? { kind: "off" } : { kind: "served", port: metricsPort };
