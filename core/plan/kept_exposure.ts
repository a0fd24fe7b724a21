/** A server that has an Ingress or Route keeps it, until its resource asks for a gateway and the HTTPRoute is there. */
import type { Spec } from "../api/v1alpha2.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import type { Blueprint, Platform } from "../resources/blueprint.ts";
import { exposureOf } from "../resources/exposure.ts";
import { ingressName } from "../resources/ingress.ts";
import { type ClusterSnapshot, liveKey, type Sources } from "../snapshot/cluster_snapshot.ts";
import { isGoing, isOurs } from "./ownership.ts";

type Cluster = Pick<Sources, "resource" | "live">;

/** Without the gateways of the settings for a server that is reached by way of an Ingress or Route. */
export const platformFor = (spec: Spec, { resource, live, operator: { platform } }: Sources): Platform =>
  spec.networking?.expose?.gateway === undefined && formerExposure({ resource, live }) !== undefined
    ? { ...platform, gatewayParentRefs: [] }
    : platform;

/** The object that a server is exposed with while its HTTPRoute does not exist. */
export const exposedUntilRouted = (
  { resource, live }: Pick<ClusterSnapshot, "resource" | "live">,
  { name, spec, platform }: Pick<Blueprint, "name" | "spec" | "platform">,
): JsonObject | undefined => {
  if (exposureOf(spec, platform).kind !== "Gateway") return undefined;
  const isRouted = isHeld({ resource, live }, live.get(liveKey("HTTPRoute", name)));
  return isRouted ? undefined : formerExposure({ resource, live });
};

/** Delay before the reconciliation that gives up what the HTTPRoute of this one replaces: no watch reports an own write. */
export const routedMs = (
  before: Pick<ClusterSnapshot, "resource" | "live">,
  done: Pick<ClusterSnapshot, "resource" | "live">,
  blueprint: Blueprint,
): number | undefined =>
  exposedUntilRouted(before, blueprint) !== undefined && exposedUntilRouted(done, blueprint) === undefined
    ? ROUTED_LOOK_MS
    : undefined;

const ROUTED_LOOK_MS = 1000;

const formerExposure = ({ resource, live }: Cluster): JsonObject | undefined => {
  const name = stringAt(resource, "metadata", "name") ?? "";
  return [liveKey("Ingress", ingressName(name)), liveKey("Route", name)].map((key) => live.get(key))
    .find((object) => isHeld({ resource, live }, object));
};

const isHeld = ({ resource }: Cluster, object: JsonObject | undefined): boolean =>
  object !== undefined && isOurs(object, stringAt(resource, "metadata", "uid")) && !isGoing(object);
