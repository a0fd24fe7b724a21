/** The condition GatewayAccepted: what the controllers of the Gateways say about the objects of an exposed server. */
import { conditionFalse, conditionTrue, conditionUnknown, type Finding } from "../api/conditions.ts";
import { exposedUntilRouted } from "../plan/kept_exposure.ts";
import { routingOf } from "../plan/routing.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import type { Decided } from "./decided.ts";
import { liveObject } from "../snapshot/live_object.ts";

const TYPE = "GatewayAccepted";

type Cluster = Pick<ClusterSnapshot, "live" | "resource">;

const POLICY_UNANSWERED =
  ". No controller has answered for the BackendTLSPolicy yet: one that does not support this kind sends requests to the " +
  "server without TLS, and they fail";

/** None for a server without a gateway. Ready does not depend on it: others answer for Gateways. */
export const gatewayFindings = (
  { live }: Cluster,
  { prepared }: Pick<Decided, "prepared">,
): ReadonlyArray<Finding> => {
  if (prepared === undefined) return [];
  const { name, namespace } = prepared.blueprint;
  const routing = routingOf({ live }, prepared.blueprint);
  switch (routing?.kind) {
    case undefined:
      return [];
    case "unavailable":
      return [conditionFalse(TYPE, "GatewayUnavailable", routing.why)];
    case "refused":
      return [conditionFalse(TYPE, "GatewayRefused", routing.why)];
    case "unanswered":
      return [conditionUnknown(TYPE, "Waiting", routing.why)];
    case "accepted": {
      const message = `HTTPRoute ${namespace}/${name} is accepted by ${routing.parents.join(", ")}${
        routing.isPolicyUnanswered ? POLICY_UNANSWERED : ""
      }. Whether requests arrive, only a request shows`;
      return [conditionTrue(TYPE, "GatewayAccepted", message)];
    }
  }
};

/** To a field that its HTTPRoute does not have, the API server answers as to a failure of its own. */
export const withNeededVersion = (finding: Finding): Finding =>
  finding.reason === "WriteFailed"
    ? { ...finding, message: `${finding.message}. If the message names an undeclared field, ${NEWER}` }
    : finding;

const NEWER = "install the Gateway API 1.2 or newer, and 1.4 or newer for a server with spec.networking.tls";

/** With the Ingress or Route by which the server is reached meanwhile. */
export const withKeptExposure =
  (cluster: Cluster, { prepared }: Pick<Decided, "prepared">) => (finding: Finding): Finding => {
    const kept = prepared === undefined ? undefined : exposedUntilRouted(cluster, prepared.blueprint);
    if (kept === undefined) return finding;
    const { kind, name } = liveObject(kept);
    const message = `${finding.message}. Until the HTTPRoute is accepted, ${kind} ${name} exposes the server`;
    return { ...finding, message };
  };
