/**
 * What an exposed server keeps when the settings change: its Ingress or Route, until its resource asks for a gateway and
 * that accepts the HTTPRoute; and the HTTPRoute that it has by the settings, while these name no Gateway. And the NetworkPolicy
 * that a server has, while nobody knows whether the settings ask for one.
 */
import * as Result from "effect/Result";
import { decodeParentRefs } from "../api/gateway_rules.ts";
import type { ParentRef, Spec } from "../api/v1alpha2.ts";
import { type Json, type JsonObject } from "../data/json.ts";
import type { Blueprint, Platform } from "../resources/blueprint.ts";
import { DEFAULT_GATEWAYS_ANNOTATION } from "../resources/http_route.ts";
import { ingressName } from "../resources/ingress.ts";
import { networkPolicyName } from "../resources/network_policy.ts";
import { type ClusterSnapshot, liveKey, type Sources } from "../snapshot/cluster_snapshot.ts";
import { isOurs } from "./ownership.ts";
import { routingOf } from "./routing.ts";
import { liveObject } from "../snapshot/live_object.ts";

type Cluster = Pick<Sources, "resource" | "live">;

/** As it is for this server. */
export const platformFor = (spec: Spec, { resource, live, operator: { platform } }: Sources): Platform => ({
  ...platform,
  networkPolicies: platform.networkPolicies === "Existing"
    ? isOwned({ resource, live }, live.get(liveKey("NetworkPolicy", networkPolicyName(liveObject(resource).name))))
    : platform.networkPolicies,
  gatewayParentRefs: defaultGateways(spec, { resource, live }, platform),
});

const defaultGateways = (spec: Spec, cluster: Cluster, { gatewayParentRefs: named = [] }: Platform) => {
  if (spec.networking?.expose?.gateway === undefined && formerExposure(cluster) !== undefined) return [];
  const route = cluster.live.get(liveKey("HTTPRoute", liveObject(cluster.resource).name));
  return named.length > 0 || route === undefined || !isOwned(cluster, route) ? named : recordedGateways(route);
};

/** The object that a server is exposed with while no Gateway routes requests to it. */
export const exposedUntilRouted = (
  { resource, live }: Pick<ClusterSnapshot, "resource" | "live">,
  blueprint: Blueprint,
): JsonObject | undefined => {
  const routing = routingOf({ live }, blueprint);
  if (routing === undefined) return undefined;
  const isRouted = routing.kind === "accepted" &&
    isOwned({ resource, live }, live.get(liveKey("HTTPRoute", blueprint.name)));
  return isRouted ? undefined : formerExposure({ resource, live });
};

/** None if the resource itself named the Gateways. */
const recordedGateways = (route: JsonObject): ReadonlyArray<ParentRef> => {
  const recorded = liveObject(route).annotations[DEFAULT_GATEWAYS_ANNOTATION] ?? "[]";
  const read = Result.flatMap(Result.try(() => JSON.parse(recorded) as Json), decodeParentRefs);
  return Result.getOrElse(read, () => []);
};

const formerExposure = ({ resource, live }: Cluster): JsonObject | undefined => {
  const { name } = liveObject(resource);
  return [liveKey("Ingress", ingressName(name)), liveKey("Route", name)].map((key) => live.get(key))
    .find((object) => isOwned({ resource, live }, object));
};

const isOwned = ({ resource }: Cluster, object: JsonObject | undefined): boolean =>
  object !== undefined && isOurs(object, liveObject(resource).uid) && !liveObject(object).isGoing;
