/** Where the metrics of a server are: the one judgement behind its pod, its objects, its condition and the warnings. */
import { PORT_DEFAULT, type Spec } from "../api/v1alpha2.ts";
import type { FieldPath } from "../data/field_path.ts";
import { type Warning, warning } from "../failure/warning.ts";
import type { ServerFamily } from "./servers/families/family.ts";
import { isStartedByAuthor } from "./source.ts";

export type Metrics =
  | { readonly kind: "off" }
  /** On a port of their own, for Prometheus, which the server opens if this variable is set. */
  | { readonly kind: "served"; readonly port: number; readonly variable: string }
  /** By the server itself, to a collector. */
  | { readonly kind: "sent" }
  | { readonly kind: "unavailable"; readonly cause: Warning };

/** The port that the server opens if none is named. Source: ogx/telemetry. */
export const METRICS_PORT_DEFAULT = 9464;

export const METRICS_PORT_NAME = "metrics";

const metricsPort = ({ monitoring }: Spec): number => monitoring?.port ?? METRICS_PORT_DEFAULT;

/** `byDefault` is whether a resource that says nothing has them. */
export const metricsOf = (spec: Spec, family: ServerFamily | undefined, byDefault: boolean): Metrics => {
  const { monitoring } = spec;
  if (monitoring === undefined ? !byDefault || isStartedByAuthor(spec) : monitoring.enabled === false) {
    return { kind: "off" };
  }
  const variable = family?.process.metricsSwitch;
  const cause = obstacle(spec, family);
  if (cause === undefined && variable !== undefined) return { kind: "served", port: metricsPort(spec), variable };
  if (monitoring === undefined || cause === undefined) return { kind: "off" };
  return family !== undefined && sends(family) && hasCollector(spec)
    ? { kind: "sent" }
    : { kind: "unavailable", cause };
};

/** Of a resource that asks for metrics and gets none. */
export const metricsWarnings = (spec: Spec, family: ServerFamily | undefined): ReadonlyArray<Warning> => {
  const metrics = metricsOf(spec, family, false);
  return metrics.kind === "unavailable" ? [metrics.cause] : [];
};

const obstacle = (spec: Spec, family: ServerFamily | undefined): Warning | undefined => {
  const at = (path: FieldPath, message: string) => warning("MetricsUnavailable", ["spec", ...path], message);
  if (family === undefined) {
    return at(["monitoring"], "the version of the server is not known; set spec.distribution.serverVersion");
  }
  if (family.process.metricsSwitch === undefined) return at(["monitoring"], older(family));
  const { workers = 1, overrides } = spec.workload ?? {};
  if (workers > 1) {
    return at(
      ["workload", "workers"],
      `${family.servers} serves metrics with one worker only; use spec.workload.replicas instead, or ${BY_OTLP}`,
    );
  }
  const own = overrides?.env?.find(({ name }) => METRICS_VARIABLES.test(name))?.name;
  if (own !== undefined) {
    return at(["workload", "overrides", "env"], `remove ${own}: spec.monitoring sets it, and makes Prometheus read it`);
  }
  return (spec.networking?.port ?? PORT_DEFAULT) === metricsPort(spec)
    ? at(["monitoring", "port"], "the server itself listens there (spec.networking.port); choose another port")
    : undefined;
};

/** The address is the author's, as on a cluster with IPv6 alone. */
const METRICS_VARIABLES = /^OGX_METRICS_(?!HOST$)/;

const BY_OTLP = "send them by OTLP: add a provider of type otlp, with the endpoint of a collector, to " +
  "spec.providers.telemetry";

const older = (family: ServerFamily): string => {
  const lack = `${family.servers} has no port for metrics; `;
  if (sends(family)) return `${lack}${BY_OTLP}; or use OGX 1.2 or newer`;
  return family.telemetryProviders
    ? `${lack}use a provider in spec.providers.telemetry, or OGX 1.2 or newer`
    : `${lack}use OGX 1.2 or newer, or Llama Stack 0.7 and OTLP`;
};

const sends = ({ process }: ServerFamily): boolean => process.sendsMetrics;

const hasCollector = ({ providers, workload }: Spec): boolean =>
  providers?.telemetry?.some(({ endpoint }) => endpoint !== undefined) === true ||
  workload?.overrides?.env?.some(({ name }) => name === "OTEL_EXPORTER_OTLP_ENDPOINT") === true;
