/** The condition GatewayAccepted: what the controllers of the Gateways say about the objects of an exposed server. */
import { conditionFalse, conditionTrue, conditionUnknown, type Finding } from "../api/conditions.ts";
import { stringAt } from "../data/json.ts";
import { exposedUntilRouted } from "../plan/kept_exposure.ts";
import { routingOf } from "../plan/routing.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import type { Decided } from "./decided.ts";

const TYPE = "GatewayAccepted";

type Cluster = Pick<ClusterSnapshot, "live" | "resource">;

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
    case "unanswered": {
      const message =
        `No controller has answered for ${routing.parent} yet: there is no such Gateway or listener, or nothing that ` +
        "implements it";
      return [conditionUnknown(TYPE, "Waiting", message)];
    }
    case "accepted": {
      const message = `HTTPRoute ${namespace}/${name} is accepted by ${
        routing.parents.join(", ")
      }. Whether requests arrive, only a request shows`;
      return [conditionTrue(TYPE, "GatewayAccepted", message)];
    }
  }
};

/** With the Ingress or Route by which the server is reached meanwhile. */
export const withKeptExposure =
  (cluster: Cluster, { prepared }: Pick<Decided, "prepared">) => (finding: Finding): Finding => {
    const kept = prepared === undefined ? undefined : exposedUntilRouted(cluster, prepared.blueprint);
    if (kept === undefined) return finding;
    const object = `${kept.kind} ${stringAt(kept, "metadata", "name")}`;
    return { ...finding, message: `${finding.message}. Until the HTTPRoute is accepted, ${object} exposes the server` };
  };
