/** The condition MetricsAvailable: where the metrics of a server are, and who tells Prometheus. */
import { conditionFalse, conditionTrue, type Finding } from "../api/conditions.ts";
import { warningLine } from "../failure/warning.ts";
import type { Decided } from "./decided.ts";

/** None for a server without metrics. Ready does not depend on them. */
export const metricsFindings = ({ prepared }: Decided): ReadonlyArray<Finding> => {
  if (prepared === undefined) return [];
  const { metrics, platform, namespace, name } = prepared.blueprint;
  switch (metrics.kind) {
    case "off":
      return [];
    case "served": {
      const monitor = platform.served.includes("PodMonitor")
        ? `PodMonitor ${namespace}/${name}-metrics tells Prometheus`
        : "The API server has no PodMonitors (monitoring.coreos.com/v1), so that Prometheus has to be told in another way";
      return [
        conditionTrue(
          "MetricsAvailable",
          "MetricsServed",
          `Port ${metrics.port} of the pods serves metrics. ${monitor}`,
        ),
      ];
    }
    case "sent":
      return [conditionTrue("MetricsAvailable", "MetricsSent", "The server sends metrics to the OTLP endpoint")];
    case "unavailable":
      return [conditionFalse("MetricsAvailable", "MetricsUnavailable", warningLine(metrics.cause))];
  }
};
