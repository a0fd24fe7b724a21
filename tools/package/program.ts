/** The operator's own namespace, account, Deployment and Services. */
import { type Json, type JsonObject, put } from "../../core/data/json.ts";
import { metadata, NAME, NAMESPACE, PORTS, SELECTOR, SERVING_SECRET } from "./names.ts";
import { METRICS_SERVICE, WEBHOOK_SERVICE } from "../../core/api/own_objects.ts";
import type { Choices } from "./choices.ts";

/** Restricted pod security is enforced, so that a change that breaks it fails at once. */
export const namespace = (): JsonObject => {
  const { labels, ...meta } = metadata(NAMESPACE, "operator");
  const security = Object.fromEntries(
    ["enforce", "audit", "warn"].map((text) => [`pod-security.kubernetes.io/${text}`, "restricted"]),
  );
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { ...meta, labels: { ...labels as JsonObject, ...security } },
  };
};

export const serviceAccount = (): JsonObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: metadata(NAME, "operator", NAMESPACE),
});

export const metricsService = (): JsonObject => service(METRICS_SERVICE, "metrics", PORTS.metrics, PORTS.metrics);

/** The API server calls port 443 of it. */
export const webhookService = ({ certificates }: Choices): JsonObject => {
  const made = service(WEBHOOK_SERVICE, "webhook", 443, PORTS.webhook);
  return certificates !== "service-ca" ? made : put(made, ["metadata", "annotations"], {
    "service.beta.openshift.io/serving-cert-secret-name": SERVING_SECRET,
  }) as JsonObject;
};

const service = (name: string, port: keyof typeof PORTS, number: number, target: number): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: metadata(name, port, NAMESPACE),
  spec: {
    selector: SELECTOR,
    ports: [{ name: "https", port: number, protocol: "TCP", targetPort: target }],
  },
});

/** Two replicas: one works, both answer the API server's webhook calls. */
export const REPLICAS = 2;

/** Longer than the operator needs to end: it stops within 10 s. */
const GRACE_SECONDS = 30;

/** docs/measurements.md; the limit leaves room for several thousand resources. */
export const RESOURCES: JsonObject = {
  requests: { cpu: "50m", memory: "128Mi" },
  limits: { memory: "512Mi" },
};

const CERTIFICATES = "/etc/llama-stack-operator/serving-cert";

export const deployment = (choices: Choices): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: metadata(NAME, "operator", NAMESPACE),
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: SELECTOR },
    // The new pod is ready before an old one stops: /convert is always available.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: {
        labels: (metadata(NAME, "operator") as { labels: JsonObject }).labels,
        annotations: { "kubectl.kubernetes.io/default-container": "operator" },
      },
      spec: podSpec(choices),
    },
  },
});

/** A drain of nodes leaves one replica to answer the API server. */
export const disruptionBudget = (): JsonObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: metadata(NAME, "operator", NAMESPACE),
  spec: { maxUnavailable: 1, selector: { matchLabels: SELECTOR } },
});

/** The image is one of Linux; a cluster may have nodes with Windows too. */
export const NODE_SELECTOR = { "kubernetes.io/os": "linux" };

/** No user is named: the image's own is 65532, and OpenShift gives one from the namespace's range. */
export const POD_SECURITY_CONTEXT = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };

export const CONTAINER_SECURITY_CONTEXT = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  // Nor is there a volume to write to: the compiled program may not write (PERMISSIONS in tools/program_flags.ts).
  readOnlyRootFilesystem: true,
};

export const SPREAD = [{
  maxSkew: 1,
  topologyKey: "kubernetes.io/hostname",
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels: SELECTOR },
}];

const podSpec = (choices: Choices): JsonObject => ({
  serviceAccountName: NAME,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: GRACE_SECONDS,
  nodeSelector: NODE_SELECTOR,
  securityContext: POD_SECURITY_CONTEXT,
  topologySpreadConstraints: SPREAD,
  containers: [{
    name: "operator",
    image: choices.image,
    args: args(choices),
    env: [
      fieldEnv("POD_NAME", "metadata.name"),
      fieldEnv("POD_NAMESPACE", "metadata.namespace"),
      ...(choices.operatorGroup ? [fieldEnv("WATCH_NAMESPACE", "metadata.annotations['olm.targetNamespaces']")] : []),
      ...choices.relatedImages.map(({ variable, image }) => ({ name: variable, value: image })),
    ],
    ports: [
      ...(choices.webhooks ? [{ name: "webhook", containerPort: PORTS.webhook, protocol: "TCP" }] : []),
      { name: "metrics", containerPort: PORTS.metrics, protocol: "TCP" },
      { name: "health", containerPort: PORTS.health, protocol: "TCP" },
    ],
    // Two minutes: a start takes more of the processor than an answer, so it helps no operator on a node that has none to spare.
    livenessProbe: {
      httpGet: { path: "/livez", port: "health" },
      periodSeconds: 20,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 5, timeoutSeconds: 5 },
    resources: RESOURCES,
    securityContext: CONTAINER_SECURITY_CONTEXT,
    ...(hasMountedCertificate(choices)
      ? { volumeMounts: [{ name: "serving-cert", mountPath: CERTIFICATES, readOnly: true }] }
      : {}),
  }],
  ...(hasMountedCertificate(choices)
    ? { volumes: [{ name: "serving-cert", secret: { secretName: SERVING_SECRET } }] }
    : {}),
});

/** OLM mounts it automatically, into this directory. */
const OLM_CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs";

const hasMountedCertificate = ({ webhooks, certificates }: Choices): boolean =>
  webhooks && (certificates === "cert-manager" || certificates === "service-ca");

const args = (choices: Choices): ReadonlyArray<Json> => [
  "run",
  ...choices.watched.map((text) => `--namespace=${text}`),
  ...(choices.webhooks ? [`--webhook-address=:${PORTS.webhook}`] : []),
  ...(hasMountedCertificate(choices) ? [`--certificate-directory=${CERTIFICATES}`] : []),
  ...(choices.webhooks && choices.certificates === "olm" ? [`--certificate-directory=${OLM_CERTIFICATES}`] : []),
  ...(choices.secretPolling ? ["--secret-polling"] : []),
];

const fieldEnv = (name: string, fieldPath: string): JsonObject => ({ name, valueFrom: { fieldRef: { fieldPath } } });
