/** What the builders of this folder need. Everything in it has been checked before: a builder cannot fail. */
import type { EnvVar } from "../api/embedded.ts";
import { type ParentRef, PORT_DEFAULT, type Spec } from "../api/v1alpha2.ts";
import type { DataFolders } from "../config/data_folders.ts";
import type { Metrics } from "../config/metrics.ts";
import type { ServerFamily } from "../config/servers/families/family.ts";
import type { JsonObject } from "../data/json.ts";

export interface Blueprint {
  readonly name: string;
  readonly namespace: string;
  /** Of the resource in the cluster; undefined without a cluster, and then no owner references are written. */
  readonly uid: string | undefined;
  readonly spec: Spec;
  readonly image: string;
  /** Undefined if the server of the image is unknown. */
  readonly family: ServerFamily | undefined;
  /** The file that the server is started with; undefined: the image starts what it brings. */
  readonly configFile: ConfigFile | undefined;
  readonly env: ReadonlyArray<EnvVar>;
  readonly metrics: Metrics;
  /** Whether the server has metrics if the resource says nothing about them. */
  readonly isMonitored: boolean;
  readonly folders: DataFolders;
  /** True when some backend of the config is a sqlite file in the data folder. */
  readonly usesSqlite: boolean;
  readonly platform: Platform;
  /** Host names of the server's own certificate; undefined where it has not been read. */
  readonly certificateNames: ReadonlyArray<string> | undefined;
  /** What is missing of the CA with which a gateway verifies the server, where that has been read. */
  readonly missingGatewayCa: "ConfigMap" | "key" | "text" | "certificate" | "readable" | "authority" | undefined;
  /** Of the certificates of its CA bundle, sha256 in hex; undefined where they have not been read. */
  readonly caBundleDigest: string | undefined;
  /** Annotations of the pod template, digests among them: a change of one restarts the pods. */
  readonly podAnnotations: Readonly<Record<string, string>>;
}

/** A ConfigMap and the key in it that is config.yaml; undefined where only a command of the author reads a file of it. */
export interface ConfigFile {
  readonly configMapName: string;
  readonly key: string | undefined;
  /** Further keys that are files beside it, sorted: an own config may refer to them. */
  readonly others: ReadonlyArray<string>;
}

/** Kinds that not every API server serves. */
export type OptionalKind = "BackendTLSPolicy" | "HTTPRoute" | "PodMonitor" | "PrometheusRule" | "Route";

/** What the cluster offers. */
export interface Platform {
  /** `security.openshift.io` is served: the cluster chooses users and groups itself. */
  readonly openshift: boolean;
  /** Those of the optional kinds that the API server serves. */
  readonly served: ReadonlyArray<OptionalKind>;
  /** Namespace of the operator, which may always reach the servers. */
  readonly operatorNamespace: string;
  /** The feature flag: a NetworkPolicy for every server, not only where allowedFrom is set; `Existing`: where there is one. */
  readonly networkPolicies: boolean | "Existing";
  /** Gateways of exposed servers that name none. */
  readonly gatewayParentRefs?: ReadonlyArray<ParentRef>;
  /** Labels of the namespace of the ingress controller; none: it is not known. */
  readonly ingressNamespaceLabels?: Readonly<Record<string, string>>;
  /** The same of the namespace of Prometheus. */
  readonly monitoringNamespaceLabels?: Readonly<Record<string, string>>;
}

/** One Kubernetes object as it is applied. */
export type Manifest = JsonObject & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace: string };
};

export const portOf = (spec: Spec): number => spec.networking?.port ?? PORT_DEFAULT;

export const servesTls = (spec: Spec): boolean => spec.networking?.tls?.enabled === true;

/** Desired number of pods in the resource; an autoscaler may set another one. */
export const replicasOf = (spec: Spec): number => spec.workload?.replicas ?? 1;
