/** The environment variables of a server with metrics (config/metrics.ts). */
import type { EnvVar } from "../api/embedded.ts";
import type { Blueprint } from "./blueprint.ts";

export const metricsEnv = ({ metrics, env }: Blueprint): ReadonlyArray<EnvVar> => {
  switch (metrics.kind) {
    case "served":
      return [
        { name: metrics.variable, value: "1" },
        // Others than the pod itself read it.
        ...(env.some(({ name }) => name === HOST) ? [] : [{ name: HOST, value: "0.0.0.0" }]),
        { name: "OGX_METRICS_PORT", value: String(metrics.port) },
      ];
    case "sent":
      // Of two pods that send the same series a collector keeps one, unless something tells them apart.
      return env.some(({ name }) => name === RESOURCE_ATTRIBUTES) ? [] : [
        { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: RESOURCE_ATTRIBUTES, value: `service.instance.id=$(${POD_NAME})` },
      ];
    case "off":
    case "unavailable":
      return [];
  }
};

const HOST = "OGX_METRICS_HOST";
const RESOURCE_ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES";
const POD_NAME = "LLAMA_STACK_POD_NAME";
