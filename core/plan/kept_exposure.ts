/** A server that has an Ingress or Route keeps it, until its resource asks for a gateway and that accepts the HTTPRoute. */
import type { Spec } from "../api/v1alpha2.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import type { Blueprint, Platform } from "../resources/blueprint.ts";
import { ingressName } from "../resources/ingress.ts";
import { type ClusterSnapshot, liveKey, type Sources } from "../snapshot/cluster_snapshot.ts";
import { isGoing, isOurs } from "./ownership.ts";
import { routingOf } from "./routing.ts";

type Cluster = Pick<Sources, "resource" | "live">;

/** Without the gateways of the settings for a server that is reached by way of an Ingress or Route. */
export const platformFor = (spec: Spec, { resource, live, operator: { platform } }: Sources): Platform =>
  spec.networking?.expose?.gateway === undefined && formerExposure({ resource, live }) !== undefined
    ? { ...platform, gatewayParentRefs: [] }
    : platform;

/** The object that a server is exposed with while no Gateway routes requests to it. */
export const exposedUntilRouted = (
  { resource, live }: Pick<ClusterSnapshot, "resource" | "live">,
  blueprint: Blueprint,
): JsonObject | undefined => {
  const routing = routingOf({ live }, blueprint);
  if (routing === undefined) return undefined;
  const isRouted = routing.kind === "accepted" &&
    isHeld({ resource, live }, live.get(liveKey("HTTPRoute", blueprint.name)));
  return isRouted ? undefined : formerExposure({ resource, live });
};

const formerExposure = ({ resource, live }: Cluster): JsonObject | undefined => {
  const name = stringAt(resource, "metadata", "name") ?? "";
  return [liveKey("Ingress", ingressName(name)), liveKey("Route", name)].map((key) => live.get(key))
    .find((object) => isHeld({ resource, live }, object));
};

const isHeld = ({ resource }: Cluster, object: JsonObject | undefined): boolean =>
  object !== undefined && isOurs(object, stringAt(resource, "metadata", "uid")) && !isGoing(object);
