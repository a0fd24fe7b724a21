/** What the operator asks of the API server, and for what: the one list behind every Role that we ship. */
import { SETTINGS_CONFIG_MAP } from "../settings.ts";
import { CRD_NAME } from "../api/crd.ts";
import { type Kind, OWN_KINDS, POD_KINDS, ROUTES } from "../plan/kinds.ts";
import { type Choices, watchesAll } from "./choices.ts";
import { AUTHORITY_SECRET, HMAC_SECRET, LEASE, WEBHOOK_CONFIGURATION } from "../own_objects.ts";

export interface Permission {
  readonly apiGroup: string;
  readonly resource: string;
  readonly verbs: ReadonlyArray<string>;
  /** Absent: every name. `create`, and `list` without a field selector, cannot be limited by name. */
  readonly names?: ReadonlyArray<string>;
  /** Where resources are watched, in the operator's own namespace, or on objects of no namespace. */
  readonly where: "watched" | "own" | "cluster";
  /** Ends the sentence "needed to …". */
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
    why: "keep the authority that signs the certificates of the webhooks",
  },
  {
    apiGroup: CRD_GROUP,
    resource: "customresourcedefinitions",
    verbs: ["list", "patch"],
    names: [CRD_NAME],
    where: "cluster",
    why: "tell the API server which authority to trust for conversion",
  },
  {
    apiGroup: "admissionregistration.k8s.io",
    resource: "validatingwebhookconfigurations",
    verbs: ["list", "patch"],
    names: [WEBHOOK_CONFIGURATION],
    where: "cluster",
    why: "tell the API server which authority to trust for admission",
  },
];

/** Only where every namespace is watched: a version can be dropped when no resource of the cluster is stored in it. */
const MIGRATION: ReadonlyArray<Permission> = [
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions",
    verbs: ["patch"],
    where: "cluster",
    why: "store again what is stored in a former version",
  },
  {
    apiGroup: CRD_GROUP,
    resource: "customresourcedefinitions",
    verbs: ["get"],
    names: [CRD_NAME],
    where: "cluster",
    why: "know which versions are stored",
  },
  {
    apiGroup: CRD_GROUP,
    resource: "customresourcedefinitions/status",
    verbs: ["update"],
    names: [CRD_NAME],
    where: "cluster",
    why: "say which versions are stored",
  },
];

const READ = ["get", "list", "watch"];

const groupOf = (apiVersion: string): string => apiVersion.includes("/") ? apiVersion.split("/")[0] ?? "" : "";

const onOwn = (kind: Kind): Permission => ({
  apiGroup: groupOf(kind.apiVersion),
  resource: kind.plural,
  // Server-side apply of an object that is not there yet asks for both, create and patch.
  verbs: [...READ, "create", "patch", ...(kind.prunable || kind.kind === "ConfigMap" ? ["delete"] : [])],
  where: "watched",
  why: `keep the ${kind.kind} of each server`,
});

/**
 * Without `list` and `watch` on Secrets where those are read by name; caBundles are written only where nobody else does. With
 * some namespaces watched, what is left of cluster-wide rights is two objects by name.
 */
export const permissionsFor = (choices: Choices): ReadonlyArray<Permission> => [
  ...PERMISSIONS.map((one) =>
    choices.secretPolling && one.resource === "secrets" && one.where === "watched"
      ? { ...one, verbs: one.verbs.filter((verb) => verb !== "list" && verb !== "watch") }
      : one
  ),
  ...(watchesAll(choices) ? MIGRATION : []),
  ...(choices.webhooks && choices.certificates === "self-managed" ? CERTIFICATES : []),
];

const PERMISSIONS: ReadonlyArray<Permission> = [
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions",
    verbs: ["list", "watch"],
    where: "watched",
    why: "know what is asked for",
  },
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions/status",
    verbs: ["update"],
    where: "watched",
    why: "tell how it goes",
  },
  {
    apiGroup: GROUP,
    resource: "llamastackdistributions/finalizers",
    verbs: ["update"],
    where: "watched",
    why: "own objects where OwnerReferencesPermissionEnforcement is on, as on OpenShift",
  },
  ...OWN_KINDS.map(onOwn),
  {
    apiGroup: "apps",
    resource: "deployments/scale",
    verbs: ["patch"],
    where: "watched",
    why: "change the number of pods and nothing else, while the rest of an edit cannot be carried out",
  },
  onOwn(ROUTES),
  {
    apiGroup: groupOf(ROUTES.apiVersion),
    resource: "routes/custom-host",
    verbs: ["create"],
    where: "watched",
    why: "give a Route the host that a resource names",
  },
  ...POD_KINDS.map((kind): Permission => ({
    apiGroup: groupOf(kind.apiVersion),
    resource: kind.plural,
    verbs: ["list", "watch"],
    where: "watched",
    why: "say why a server is not ready",
  })),
  { apiGroup: "events.k8s.io", resource: "events", verbs: ["create"], where: "watched", why: "tell what happened" },
  {
    apiGroup: "coordination.k8s.io",
    resource: "leases",
    verbs: ["create"],
    where: "own",
    why: "choose one replica that works",
  },
  {
    apiGroup: "coordination.k8s.io",
    resource: "leases",
    verbs: ["get", "update"],
    names: [LEASE],
    where: "own",
    why: "choose one replica that works",
  },
  {
    apiGroup: "",
    resource: "secrets",
    verbs: ["create"],
    where: "own",
    why: "keep a key for digests of Secret values",
  },
  {
    apiGroup: "",
    resource: "secrets",
    verbs: ["get"],
    names: [HMAC_SECRET],
    where: "own",
    why: "keep a key for digests of Secret values",
  },
  {
    apiGroup: "",
    resource: "configmaps",
    verbs: ["list", "watch"],
    names: [SETTINGS_CONFIG_MAP],
    where: "own",
    why: "follow its settings",
  },
  { apiGroup: "events.k8s.io", resource: "events", verbs: ["create"], where: "own", why: "tell of a bad setting" },
];
