/**
 * The objects that the operator writes, typed by the client library: an unknown field is a compile error. The
 * library gives the types alone; the objects themselves are JSON.
 */
import type {
  V1ConfigMap,
  V1Deployment,
  V1Ingress,
  V1LabelSelector,
  V1NetworkPolicy,
  V1PersistentVolumeClaim,
  V1PodDisruptionBudget,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V2HorizontalPodAutoscaler,
} from "@kubernetes/client-node";
import type { Manifest } from "./blueprint.ts";

/** Route of OpenShift, of which the library has no type. Source: route.openshift.io/v1. */
interface Route {
  readonly metadata?: V1Service["metadata"];
  readonly spec: {
    readonly host?: string;
    readonly to: { readonly kind: "Service"; readonly name: string; readonly weight: number };
    readonly port: { readonly targetPort: string };
    readonly tls: {
      readonly termination: "passthrough" | "edge";
      readonly insecureEdgeTerminationPolicy: "None" | "Redirect";
    };
  };
}

/** Kinds of the Gateway API, of which the library has no types. Source: gateway.networking.k8s.io/v1. */
interface HTTPRoute {
  readonly metadata?: V1Service["metadata"];
  readonly spec: {
    readonly parentRefs: ReadonlyArray<{
      readonly group: string;
      readonly kind: "Gateway";
      readonly name: string;
      readonly namespace?: string;
      readonly sectionName?: string;
    }>;
    readonly hostnames?: ReadonlyArray<string>;
    readonly rules: ReadonlyArray<{
      readonly matches: ReadonlyArray<{ readonly path: { readonly type: "PathPrefix"; readonly value: string } }>;
      readonly timeouts: { readonly request: string };
      readonly backendRefs: ReadonlyArray<{
        readonly group: "";
        readonly kind: "Service";
        readonly name: string;
        readonly port: number;
        readonly weight: number;
      }>;
    }>;
  };
}

interface BackendTLSPolicy {
  readonly metadata?: V1Service["metadata"];
  readonly spec: {
    readonly targetRefs: ReadonlyArray<{
      readonly group: "";
      readonly kind: "Service";
      readonly name: string;
      readonly sectionName: string;
    }>;
    readonly validation: {
      readonly caCertificateRefs: ReadonlyArray<{
        readonly group: "";
        readonly kind: "ConfigMap";
        readonly name: string;
      }>;
      readonly hostname: string;
    };
  };
}

/** PodMonitor and PrometheusRule of the Prometheus Operator, of which the library has no types. Source: monitoring.coreos.com/v1. */
interface PodMonitor {
  readonly metadata?: V1Service["metadata"];
  readonly spec: {
    readonly selector: V1LabelSelector;
    readonly podTargetLabels: ReadonlyArray<string>;
    readonly podMetricsEndpoints: ReadonlyArray<{ readonly port: string }>;
  };
}

interface PrometheusRule {
  readonly metadata?: V1Service["metadata"];
  readonly spec: {
    readonly groups: ReadonlyArray<{ readonly name: string; readonly rules: ReadonlyArray<PrometheusAlert> }>;
  };
}

export interface PrometheusAlert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Every kind that the operator writes, with the API version that it is written in. */
export interface Kinds {
  readonly BackendTLSPolicy: { readonly version: "gateway.networking.k8s.io/v1"; readonly object: BackendTLSPolicy };
  readonly ConfigMap: { readonly version: "v1"; readonly object: V1ConfigMap };
  readonly Deployment: { readonly version: "apps/v1"; readonly object: V1Deployment };
  readonly HorizontalPodAutoscaler: { readonly version: "autoscaling/v2"; readonly object: V2HorizontalPodAutoscaler };
  readonly HTTPRoute: { readonly version: "gateway.networking.k8s.io/v1"; readonly object: HTTPRoute };
  readonly Ingress: { readonly version: "networking.k8s.io/v1"; readonly object: V1Ingress };
  readonly NetworkPolicy: { readonly version: "networking.k8s.io/v1"; readonly object: V1NetworkPolicy };
  readonly PersistentVolumeClaim: { readonly version: "v1"; readonly object: V1PersistentVolumeClaim };
  readonly PodMonitor: { readonly version: "monitoring.coreos.com/v1"; readonly object: PodMonitor };
  readonly PodDisruptionBudget: { readonly version: "policy/v1"; readonly object: V1PodDisruptionBudget };
  readonly PrometheusRule: { readonly version: "monitoring.coreos.com/v1"; readonly object: PrometheusRule };
  readonly Route: { readonly version: "route.openshift.io/v1"; readonly object: Route };
  readonly Secret: { readonly version: "v1"; readonly object: V1Secret };
  readonly Service: { readonly version: "v1"; readonly object: V1Service };
  readonly ServiceAccount: { readonly version: "v1"; readonly object: V1ServiceAccount };
}

/**
 * A type of the library in its JSON form: read-only, times are strings, and fields with a reserved name in JavaScript
 * have their real name (`_from` is `from`).
 */
export type AsJson<T> = T extends Date ? string
  : T extends ReadonlyArray<infer Item> ? ReadonlyArray<AsJson<Item>>
  : T extends object ? { readonly [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: AsJson<T[Key]> }
  : T;

type ObjectOf<Kind extends keyof Kinds> =
  & Omit<AsJson<Kinds[Kind]["object"]>, "apiVersion" | "kind" | "metadata" | "status">
  & {
    readonly apiVersion: Kinds[Kind]["version"];
    readonly kind: Kind;
    readonly metadata: AsJson<NonNullable<V1Service["metadata"]>> & {
      readonly name: string;
      readonly namespace: string;
    };
  };

/** An object of that kind, to be applied. The only place where a type of the library becomes JSON. */
export const manifest = <Kind extends keyof Kinds>(object: ObjectOf<Kind>): ManifestOf<Kind> =>
  object as unknown as ManifestOf<Kind>;

export type ManifestOf<Kind extends keyof Kinds> = Manifest & { readonly kind: Kind };
