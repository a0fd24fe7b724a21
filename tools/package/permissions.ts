/** What the operator asks of the API server, and for what: the one list behind every Role that we ship. */
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { GO_OPERATOR_BINDING } from "../../core/operator/go_operator_settings.ts";
import { CRD_NAME } from "../../core/api/crd.ts";
import { PROFILE_GROUP } from "../../core/operator/tls_profile.ts";
import { type Kind, POD_KINDS, WRITTEN_KINDS } from "../../core/snapshot/kinds.ts";
import { type Choices, watchesAll } from "./choices.ts";
import {
  AUTHORITY_SECRET,
  HMAC_SECRET,
  LEASE,
  REGISTRY_SECRET,
  WEBHOOK_CONFIGURATION,
} from "../../core/api/own_objects.ts";

export interface Permission {
  readonly apiGroup: string;
  readonly resource: string;
  readonly verbs: ReadonlyArray<string>;
  /** Absent: every name. `create`, and `list` without a field selector, cannot be limited by name. */
  readonly names?: ReadonlyArray<string>;
  /** Where resources are watched, in the operator's own namespace, or on objects of no namespace. */
  readonly where: "watched" | "own" | "cluster";
  /** Completes the phrase "needed to …". */
  readonly why: string;
}

const GROUP = "llamastack.io";
const CRD_GROUP = "apiextensions.k8s.io";
/** Only where the operator makes the certificates of its webhooks itself. */
const CERTIFICATES: ReadonlyArray<Permission> = [
  {
    apiGroup: "",
    resource: "secrets",
    verbs: ["get", "update"],
    names: [AUTHORITY_SECRET],
    where: "own",
    why: "store the certificate authority of the webhooks",
  },
  {
    apiGroup: CRD_GROUP,
    resource: "customresourcedefinitions",
    verbs: ["list", "patch"],
    names: [CRD_NAME],
    where: "cluster",
    why: "publish that authority and the path for conversion",
  },
  {
    apiGroup: "admissionregistration.k8s.io",
    resource: "validatingwebhookconfigurations",
    verbs: ["list", "patch"],
    names: [WEBHOOK_CONFIGURATION],
    where: "cluster",
    why: "publish that authority and the path for admission",
  },
];

/** Only where every namespace is watched: a version can be dropped when no resource of the cluster is stored in it. */
const MIGRATION: ReadonlyArray<Permission> = [
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions",
    verbs: ["patch"],
    where: "cluster",
    why: "rewrite resources that are stored in an older version",
  },
  {
    apiGroup: CRD_GROUP,
    resource: "customresourcedefinitions",
    verbs: ["get"],
    names: [CRD_NAME],
    where: "cluster",
    why: "find out which versions are stored",
  },
  {
    apiGroup: CRD_GROUP,
    resource: "customresourcedefinitions/status",
    verbs: ["update"],
    names: [CRD_NAME],
    where: "cluster",
    why: "drop an older version from the list of stored versions",
  },
];

/** Only where every namespace is watched: nodes belong to the whole cluster. */
const NODES: ReadonlyArray<Permission> = [{
  apiGroup: "",
  resource: "nodes",
  verbs: ["list"],
  where: "cluster",
  why: "read the labels of images only for architectures that the cluster has, and from no address of a node",
}, {
  apiGroup: "discovery.k8s.io",
  resource: "endpointslices",
  verbs: ["get"],
  names: ["kubernetes"],
  where: "cluster",
  why: "read the labels of images from no address of an API server",
}];

/** Only where every namespace is watched: the object is the cluster's. */
const TLS_PROFILE: ReadonlyArray<Permission> = [{
  apiGroup: PROFILE_GROUP,
  resource: "apiservers",
  verbs: ["get"],
  names: ["cluster"],
  where: "cluster",
  why: "follow the TLS profile of OpenShift",
}];

/** Only where every namespace is watched, and the resources of the Go operator may be taken over. */
const GO_OPERATOR: ReadonlyArray<Permission> = [{
  apiGroup: "rbac.authorization.k8s.io",
  resource: "clusterrolebindings",
  verbs: ["get"],
  names: [GO_OPERATOR_BINDING],
  where: "cluster",
  why: "find the settings of the Go operator, and copy them",
}];

const READ = ["get", "list", "watch"];

const groupOf = (apiVersion: string): string => apiVersion.includes("/") ? apiVersion.split("/")[0] ?? "" : "";

const onOwn = (kind: Kind): Permission => ({
  apiGroup: groupOf(kind.apiVersion),
  resource: kind.plural,
  // Server-side apply of a new object requires both create and patch.
  verbs: [...READ, "create", "patch", ...(kind.prunable || kind.kind === "ConfigMap" ? ["delete"] : [])],
  where: "watched",
  why: kind.kind === "Secret" || kind.kind === "ConfigMap"
    ? `manage the ${kind.kind}s of each server, and read those that a resource references`
    : `manage the ${kind.kind} of each server`,
});

/**
 * Without `list` and `watch` on Secrets if they are read by name; caBundles are written only if no other controller
 * does. If only some namespaces are watched, the remaining cluster-wide rights are limited to two objects by name.
 */
export const permissionsFor = (choices: Choices): ReadonlyArray<Permission> => [
  ...PERMISSIONS.map((permission) =>
    choices.secretPolling && permission.resource === "secrets" && permission.where === "watched"
      ? { ...permission, verbs: permission.verbs.filter((verb) => verb !== "list" && verb !== "watch") }
      : permission
  ),
  ...(watchesAll(choices) ? [...MIGRATION, ...NODES, ...TLS_PROFILE, ...GO_OPERATOR] : []),
  ...(choices.webhooks && choices.certificates === "self-managed" ? CERTIFICATES : []),
];

const PERMISSIONS: ReadonlyArray<Permission> = [
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions",
    verbs: ["list", "watch", "create"],
    where: "watched",
    why: "watch the resources, and create the default instance of the settings",
  },
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions/status",
    verbs: ["update"],
    where: "watched",
    why: "write their status",
  },
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions/finalizers",
    verbs: ["update"],
    where: "watched",
    why: "own objects where OwnerReferencesPermissionEnforcement is on, as on OpenShift",
  },
  ...WRITTEN_KINDS.map(onOwn),
  {
    apiGroup: "route.openshift.io",
    resource: "routes/custom-host",
    verbs: ["create"],
    where: "watched",
    why: "set the host of a Route",
  },
  ...POD_KINDS.map((kind): Permission => ({
    apiGroup: groupOf(kind.apiVersion),
    resource: kind.plural,
    verbs: ["list", "watch"],
    where: "watched",
    why: "report why a server is not ready",
  })),
  {
    apiGroup: "events.k8s.io",
    resource: "events",
    verbs: ["create"],
    where: "watched",
    why: "report changes and failures",
  },
  {
    apiGroup: "authentication.k8s.io",
    resource: "tokenreviews",
    verbs: ["create"],
    where: "cluster",
    why: "authenticate clients of the metrics",
  },
  {
    apiGroup: "authorization.k8s.io",
    resource: "subjectaccessreviews",
    verbs: ["create"],
    where: "cluster",
    why: "check that they may read metrics",
  },
  {
    apiGroup: "coordination.k8s.io",
    resource: "leases",
    verbs: ["create"],
    where: "own",
    why: "elect a leader",
  },
  {
    apiGroup: "coordination.k8s.io",
    resource: "leases",
    verbs: ["get", "update"],
    names: [LEASE],
    where: "own",
    why: "elect a leader",
  },
  {
    apiGroup: "",
    resource: "secrets",
    verbs: ["create"],
    where: "own",
    why: "store the HMAC key for digests of Secret values",
  },
  {
    apiGroup: "",
    resource: "secrets",
    verbs: ["get", "update"],
    names: [HMAC_SECRET],
    where: "own",
    why:
      "store the HMAC key for digests of Secret values and the last valid settings, and record that the default instance was created",
  },
  {
    apiGroup: "",
    resource: "secrets",
    verbs: ["get"],
    names: [REGISTRY_SECRET],
    where: "own",
    why: "read labels of images with the operator's own credentials",
  },
  {
    apiGroup: "",
    resource: "configmaps",
    verbs: ["list", "watch"],
    names: [SETTINGS_CONFIG_MAP],
    where: "own",
    why: "watch the operator's settings",
  },
  { apiGroup: "events.k8s.io", resource: "events", verbs: ["create"], where: "own", why: "report an invalid setting" },
];
