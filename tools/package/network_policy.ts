/** Who may connect to the operator, and where the operator may connect to. */
import type { JsonObject } from "../../core/data/json.ts";
import { POD_LABELS } from "../../core/snapshot/kinds.ts";
import type { Choices } from "./choices.ts";
import { metadata, NAME, NAMESPACE, PORTS, SELECTOR } from "./names.ts";

/** Namespaces with this label may read the metrics. */
export const METRICS_READERS: JsonObject = { metrics: "enabled" };

/** DNS, and where OpenShift's DNS pods listen: the port counts that a packet has at the pod, not the one of the Service. */
const DNS_PORTS = [53, 5353];

/** Of the Service `kubernetes`, and of the API server behind it. */
const API_SERVER_PORTS = [443, 6443];

const tcp = (port: number): JsonObject => ({ protocol: "TCP", port });
const udp = (port: number): JsonObject => ({ protocol: "UDP", port });

/** Of the pods of servers, which have the labels of their Deployment's selector. */
const SERVERS: JsonObject = Object.fromEntries([POD_LABELS.split("=")]);

const policy = (spec: JsonObject): JsonObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: metadata(NAME, "operator", NAMESPACE),
  spec: { podSelector: { matchLabels: SELECTOR }, ...spec },
});

/**
 * Of every installation: the ports that the operator serves, for everybody. Also where a policy of the namespace denies
 * everything else, the API server then reaches the webhooks, from whatever address it calls. Egress is not restricted:
 * the port of the API server and the labels of DNS pods differ between clusters.
 */
export const networkPolicy = ({ webhooks }: Choices): JsonObject =>
  policy({
    policyTypes: ["Ingress"],
    ingress: [{ ports: [...(webhooks ? [PORTS.webhook] : []), PORTS.metrics, PORTS.health].map(tcp) }],
  });

/**
 * Of the component. There is no rule for the health port: a node always reaches its own pods. API servers, nodes and
 * node-local DNS caches are not pods and have no labels, so their rules contain ports only.
 */
export const strictNetworkPolicy = (): JsonObject =>
  policy({
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      { ports: [tcp(PORTS.webhook)] },
      { from: [{ namespaceSelector: { matchLabels: METRICS_READERS } }], ports: [tcp(PORTS.metrics)] },
    ],
    egress: [
      { ports: DNS_PORTS.flatMap((port) => [udp(port), tcp(port)]) },
      { ports: API_SERVER_PORTS.map(tcp) },
      // A server listens on the port of its resource.
      { to: [{ namespaceSelector: {}, podSelector: { matchLabels: SERVERS } }] },
    ],
  });
