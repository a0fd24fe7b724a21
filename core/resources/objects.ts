/** All objects of a resource, in the order in which they are written. */
import { isExposed } from "../api/exposed.ts";
import { sha256Hex } from "../data/digest.ts";
import { type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { type Blueprint, type Manifest, portOf, servesTls } from "./blueprint.ts";
import { autoscaler } from "./autoscaler.ts";
import { claim } from "./claim.ts";
import { caBundleMap, type ConfigContent, configMap } from "./config_map.ts";
import { type ConnectionParts, connectionSecrets } from "./connection_secrets.ts";
import { deployment } from "./deployment.ts";
import { disruptionBudget } from "./disruption_budget.ts";
import { backendTlsPolicy, httpRoute } from "./http_route.ts";
import { ingress, route } from "./ingress.ts";
import { networkPolicy } from "./network_policy.ts";
import { podMonitor } from "./pod_monitor.ts";
import { prometheusRule } from "./prometheus_rule.ts";
import { type Served, service } from "./service.ts";
import { serviceAccount } from "./service_account.ts";

/** Inputs from outside the resource; each is undefined if it has not been read. */
export interface Contents {
  readonly config: ConfigContent | undefined;
  readonly connections: ConnectionParts;
  readonly caBundlePem: string | undefined;
}

export interface Objects {
  /** A refusal of one of these stops before the Deployment: nothing is started on half of what it needs. */
  readonly before: ReadonlyArray<Manifest>;
  readonly deployment: Manifest;
  /** Written after the Deployment, also where that is held. A rejection of one of these is reported and blocks nothing else. */
  readonly after: ReadonlyArray<Manifest>;
}

const servedBy = ({ spec }: Blueprint): Served => ({
  port: portOf(spec),
  annotations: {
    ...(isExposed(spec) && servesTls(spec) ? { [TRAEFIK_SCHEME]: "https" } : {}),
    ...spec.networking?.serviceAnnotations,
  },
});

/** How Traefik learns that the server behind an Ingress speaks TLS. */
const TRAEFIK_SCHEME = "traefik.ingress.kubernetes.io/service.serversscheme";

export const objectsOf = (blueprint: Blueprint, contents: Contents): Objects => {
  return {
    before: there(
      serviceAccount(blueprint),
      claim(blueprint),
      ...connectionSecrets(blueprint, contents.connections),
      contents.config === undefined ? undefined : configMap(blueprint, contents.config),
      caBundleMap(blueprint, contents.caBundlePem),
      guardOf(blueprint),
    ),
    deployment: deployment(blueprint),
    after: aroundPods(blueprint),
  };
};

const there = (...all: ReadonlyArray<Manifest | undefined>): ReadonlyArray<Manifest> =>
  all.filter((item) => item !== undefined);

/** A server that believes the headers of whoever reaches it is not started before it is guarded. */
export const guardOf = (blueprint: Blueprint): Manifest | undefined =>
  blueprint.spec.auth?.upstreamHeader === undefined ? undefined : networkPolicy(blueprint);

/** What is written after the Deployment. */
export const aroundPods = (blueprint: Blueprint): Objects["after"] =>
  there(
    service(blueprint, servedBy(blueprint)),
    guardOf(blueprint) === undefined ? networkPolicy(blueprint) : undefined,
    ingress(blueprint),
    route(blueprint),
    httpRoute(blueprint),
    backendTlsPolicy(blueprint),
    autoscaler(blueprint),
    disruptionBudget(blueprint),
    podMonitor(blueprint),
    prometheusRule(blueprint),
  );

/** sha256 of the manifest without its owner; detects removed fields, which the live object does not show. */
export const MANIFEST_ANNOTATION = "llamastack.io/manifest-digest";

/** The manifest with its own digest on it; asked when it is planned, and after the writes again for the status. */
export const stamped = onceForEach((manifest: Manifest): Manifest => {
  const { ownerReferences: _, ...metadata } = manifest.metadata as JsonObject;
  const digest = sha256Hex(JSON.stringify({ ...manifest, metadata }));
  const annotations = { ...objectAt(manifest.metadata, "annotations"), [MANIFEST_ANNOTATION]: digest };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
});

/** Digest of the manifest that an object was last applied from, or that this manifest carries. */
export const manifestDigest = (object: JsonObject | Manifest): string | undefined =>
  stringAt(object, "metadata", "annotations", MANIFEST_ANNOTATION);

/** As one list. */
export const allOf = ({ before, deployment, after }: Objects): ReadonlyArray<Manifest> => [
  ...before,
  deployment,
  ...after,
];

/** With their digests. */
export const listed = (objects: Objects): ReadonlyArray<Manifest> => allOf(objects).map(stamped);
