/** Where an object is on the API server. */
import type { ObjectKey } from "../core/plan/step.ts";

export const pathOf = ({ apiVersion, kind, namespace, name }: ObjectKey): string =>
  `${apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`}/namespaces/${namespace}/${
    PLURALS[kind] ?? kind
  }/${name}`;

/** Plural of each kind that we write or read by name. */
const PLURALS: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Deployment: "deployments",
  HorizontalPodAutoscaler: "horizontalpodautoscalers",
  Ingress: "ingresses",
  Lease: "leases",
  LlamaStackDistribution: "llamastackdistributions",
  NetworkPolicy: "networkpolicies",
  PersistentVolumeClaim: "persistentvolumeclaims",
  PodDisruptionBudget: "poddisruptionbudgets",
  Route: "routes",
  Secret: "secrets",
  Service: "services",
  ServiceAccount: "serviceaccounts",
};
