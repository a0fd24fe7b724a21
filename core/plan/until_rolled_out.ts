/**
 * What surrounds the pods while those of a former template serve, or would serve again after a rollback. The port and TLS of a server
 * are in its template: Service, Ingress, routes and NetworkPolicy have those of the pods that serve, until the rollout is complete.
 * And what alone kept callers from a server without authentication stays until none of its pods is left.
 */
import type { Spec } from "../api/v1alpha2.ts";
import { isObject, type JsonObject, listAt, member, put } from "../data/json.ts";
import { type Manifest, portOf, servesTls } from "../resources/blueprint.ts";
import {
  isGuardedFromOutside,
  isOnlyGuard,
  networkPolicyName,
  ONLY_GUARD_ANNOTATION,
  policyOf,
} from "../resources/network_policy.ts";
import { aroundPods, guardOf } from "../resources/objects.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn, type LiveDeployment } from "../snapshot/live_deployment.ts";
import { liveObject } from "../snapshot/live_object.ts";
import { ingressRules } from "../snapshot/live_policy.ts";
import { type ServerPort, serverPortIn } from "../snapshot/server_port.ts";
import { PEERS_ANNOTATION } from "./kept_network.ts";
import { isOurs } from "./ownership.ts";
import type { Prepared } from "./prepare.ts";
import { lastGoodReplicaSet } from "./rollout/last_good.ts";
import { templateDigest } from "./rollout/rollout.ts";
import { rolloutState } from "./rollout/rollout_state.ts";

/** Whether nothing of a former template is needed any more: all pods have the desired one, or had it once. */
export const isRolledOut = ({ objects }: Pick<Prepared, "objects">, snapshot: ClusterSnapshot): boolean => {
  const live = deploymentIn(snapshot);
  // The template of another operator is adopted as it is.
  if (live?.record.template === undefined) return true;
  if (isSettled(live, snapshot)) return live.record.template === templateDigest(objects.deployment);
  // No template ever served.
  return live.record.lastGood === undefined && live.availableReplicas === 0 &&
    live.progress !== "NewReplicaSetAvailable";
};

/** The same objects where nothing of a former template is needed. */
export const whileRollingOut = (prepared: Prepared, snapshot: ClusterSnapshot): Prepared => {
  if (isRolledOut(prepared, snapshot)) return prepared;
  const { blueprint, objects } = prepared;
  const servingSpec = servedOn(blueprint.spec, servedPort(snapshot));
  const around = { ...blueprint, spec: servingSpec };
  const former = isGuardedFromOutside(blueprint.spec) ? undefined : formerGuard(snapshot);
  const port = portOf(blueprint.spec);
  const both = (one: Manifest) => one.kind === "NetworkPolicy" ? forBoth(one, port, former) : one;
  const before = objects.before.map((one) => one.kind === "NetworkPolicy" ? guardOf(around) ?? one : one).map(both);
  const after = aroundPods(around).map(both);
  const isLost = former !== undefined && ![...before, ...after].some(({ kind }) => kind === "NetworkPolicy");
  return {
    ...prepared,
    servingSpec,
    objects: {
      ...objects,
      before,
      // Egress is free as the resource says; the new pods may need it to start.
      after: isLost ? [...after, forBoth(policyOf(blueprint, { policyTypes: ["Ingress"] }), port, former)] : after,
    },
  };
};

const isSettled = (live: LiveDeployment, snapshot: ClusterSnapshot): boolean =>
  ["complete", "disrupted"].includes(rolloutState(live, snapshot));

/**
 * Undefined where no template was ever good, or no pod of it is left and none comes back: then at most the present template serves, as
 * after `kubectl rollout restart`.
 */
const servedPort = (snapshot: ClusterSnapshot): ServerPort | undefined => {
  const live = deploymentIn(snapshot);
  if (live === undefined) return undefined;
  if (isSettled(live, snapshot)) return live.serverPort;
  const good = lastGoodReplicaSet(live, snapshot);
  return good === undefined || good.replicas === 0 && !live.isRecreated ? undefined : serverPortIn(good.template);
};

const servedOn = (spec: Spec, { port = portOf(spec), isTls = servesTls(spec) }: Partial<ServerPort> = {}): Spec =>
  port === portOf(spec) && isTls === servesTls(spec) ? spec : {
    ...spec,
    networking: { ...spec.networking, port, tls: { ...spec.networking?.tls, enabled: isTls } },
  };

/** The NetworkPolicy that alone protects the former pods. */
const formerGuard = ({ resource, live }: ClusterSnapshot): JsonObject | undefined => {
  const { name, uid } = liveObject(resource);
  const policy = live.get(liveKey("NetworkPolicy", networkPolicyName(name)));
  return policy !== undefined && isOnlyGuard(policy) && isOurs(policy, uid) && !liveObject(policy).isGoing
    ? policy
    : undefined;
};

/** For the pods of both templates: on the ports of both, and with no more peers than the former ones may have. */
const forBoth = (policy: Manifest, port: number, former: JsonObject | undefined): Manifest => {
  const kept = former === undefined ? policy : withRulesOf(policy, former);
  const [rule, ...further] = listAt(kept, "spec", "ingress").filter(isObject);
  const ports = listAt(rule, "ports");
  if (rule === undefined || ports.some((one) => member(one, "port") === port)) return kept;
  const first = { ...rule, ports: [...ports, { protocol: "TCP", port }] };
  return put(kept, ["spec", "ingress"], [first, ...further]) as Manifest;
};

const withRulesOf = (policy: Manifest, former: JsonObject): Manifest => {
  const { annotations } = liveObject(former);
  const marked = [ONLY_GUARD_ANNOTATION, PEERS_ANNOTATION].filter((name) => annotations[name] !== undefined)
    .reduce((all, name) => put(all, ["metadata", "annotations", name], annotations[name]), policy as JsonObject);
  return put(marked, ["spec", "ingress"], ingressRules(former)) as Manifest;
};
