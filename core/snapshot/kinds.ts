/**
 * Every kind of object that belongs to a resource: its API path, and what the operator does with it. The watches, the
 * paths, pruning and the RBAC rules of the installation are derived from this table.
 */
import type { OptionalKind } from "../resources/blueprint.ts";
import type { Kinds } from "../resources/kubernetes_objects.ts";

export interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  /** Created and deleted with a field of the resource. */
  readonly prunable: boolean;
}

/** Whether an object is deleted when the resource no longer requires it. */
type Fate = "pruned" | "kept";

const written = (apiVersion: string, kind: string, plural: string, fate: Fate): Kind => ({
  kind,
  apiVersion,
  plural,
  prunable: fate === "pruned",
});

/**
 * Objects of a resource: every kind that the operator can write, so that a new one cannot be forgotten here. Claims,
 * ServiceAccounts and Services are kept; a ConfigMap is deleted when no workload uses it any longer.
 */
const OWN: { readonly [Name in Exclude<keyof Kinds, OptionalKind>]: Kind } = {
  Deployment: written("apps/v1", "Deployment", "deployments", "kept"),
  ConfigMap: written("v1", "ConfigMap", "configmaps", "kept"),
  PersistentVolumeClaim: written("v1", "PersistentVolumeClaim", "persistentvolumeclaims", "kept"),
  Secret: written("v1", "Secret", "secrets", "pruned"),
  ServiceAccount: written("v1", "ServiceAccount", "serviceaccounts", "kept"),
  Service: written("v1", "Service", "services", "kept"),
  HorizontalPodAutoscaler: written("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "pruned"),
  Ingress: written("networking.k8s.io/v1", "Ingress", "ingresses", "pruned"),
  NetworkPolicy: written("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "pruned"),
  PodDisruptionBudget: written("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", "pruned"),
};

export const AUTOSCALERS: Kind = OWN.HorizontalPodAutoscaler;

export const OWN_KINDS: ReadonlyArray<Kind> = Object.values(OWN);

/** Kinds that the API server may serve or not, and that it can begin and cease to serve at any time. */
const OPTIONAL: { readonly [Name in OptionalKind]: Kind } = {
  /** In place of an Ingress or Route. */
  HTTPRoute: written("gateway.networking.k8s.io/v1", "HTTPRoute", "httproutes", "pruned"),
  BackendTLSPolicy: written("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "backendtlspolicies", "pruned"),
  PodMonitor: written("monitoring.coreos.com/v1", "PodMonitor", "podmonitors", "pruned"),
  PrometheusRule: written("monitoring.coreos.com/v1", "PrometheusRule", "prometheusrules", "pruned"),
  /** In place of an Ingress. */
  Route: written("route.openshift.io/v1", "Route", "routes", "pruned"),
};

export const OPTIONAL_KINDS: ReadonlyArray<Kind & { readonly kind: OptionalKind }> = (
  Object.keys(OPTIONAL) as ReadonlyArray<OptionalKind>
).map((kind) => ({ ...OPTIONAL[kind], kind }));

/** Everything that is written for a resource. */
export const WRITTEN_KINDS: ReadonlyArray<Kind> = [...OWN_KINDS, ...OPTIONAL_KINDS];

/** Kinds that Kubernetes creates from the Deployment. */
export const POD_KINDS: ReadonlyArray<Kind> = [
  written("v1", "Pod", "pods", "kept"),
  written("apps/v1", "ReplicaSet", "replicasets", "kept"),
];

/** Written and read outside of the objects of a resource. */
export const OTHER_KINDS: ReadonlyArray<Kind> = [
  written("coordination.k8s.io/v1", "Lease", "leases", "kept"),
  written("llamastack.io/v1alpha2", "LlamaStackDistribution", "llamastackdistributions", "kept"),
];

/** `/api/v1`, `/apis/apps/v1`. */
export const groupPath = (apiVersion: string): string =>
  apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

/** Objects that we make carry this label. */
export const OWN_LABELS = "app.kubernetes.io/managed-by=llama-stack-operator";

/** Pods and ReplicaSets carry the labels of the Deployment's selector only. */
export const POD_LABELS = "app=llama-stack";
