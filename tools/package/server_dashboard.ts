/**
 * The dashboard of the servers. Histograms of the server's own begin at five seconds, so that they give means; the histogram of
 * its web framework, which the images of OGX 1.4 and newer have, gives quantiles.
 */
import type { JsonObject } from "../../core/data/json.ts";
import { NAME } from "./names.ts";
import { dashboardMap, DATASOURCE, DATASOURCE_VARIABLE, type Panel } from "./dashboards.ts";

const CHOSEN = 'namespace=~"$namespace",app_kubernetes_io_instance=~"$instance"';
const BY = "namespace, app_kubernetes_io_instance";
const SERVER = "{{namespace}}/{{app_kubernetes_io_instance}}";

const rate = (metric: string, by: string, more = ""): string =>
  `sum by (${BY}${by === "" ? "" : `, ${by}`}) (rate(${metric}{${CHOSEN}${more}}[5m]))`;

const mean = (metric: string, by: string, more = ""): string =>
  `${rate(`${metric}_sum`, by, more)} / ${rate(`${metric}_count`, by, more)}`;

/** Requests of the probes are no traffic. */
const TRAFFIC = ',api!="inspect"';

const one = (title: string, unit: string, expression: string, legend: string): Panel => ({
  title,
  unit,
  queries: [{ expression, legend: `${SERVER} ${legend}`.trim() }],
});

const PANELS: ReadonlyArray<Panel> = [
  one("Requests by API", "reqps", rate("ogx_requests_total", "api", TRAFFIC), "{{api}}"),
  one("Errors by status", "reqps", rate("ogx_requests_total", "status_code", ',status="error"'), "{{status_code}}"),
  one("Requests in progress", "short", `sum by (${BY}, api) (ogx_concurrent_requests{${CHOSEN}})`, "{{api}}"),
  one("Mean duration of a request by API", "s", mean("ogx_request_duration_seconds", "api", TRAFFIC), "{{api}}"),
  {
    title: "Duration of HTTP requests (OGX 1.4 and newer)",
    unit: "s",
    queries: [0.5, 0.95].map((share) => ({
      expression: `histogram_quantile(${share}, ${
        rate("http_server_request_duration_seconds_bucket", "le", ',http_route!~".*/health"')
      })`,
      legend: `${SERVER} p${share * 100}`,
    })),
  },
  one("Mean answer to a health check", "s", mean("ogx_request_duration_seconds", "", ',api="inspect"'), ""),
  one(
    "Inference by model",
    "reqps",
    rate("ogx_inference_duration_seconds_count", "model, status"),
    "{{model}} {{status}}",
  ),
  one("Mean duration of an inference", "s", mean("ogx_inference_duration_seconds", "model"), "{{model}}"),
  one("Mean tokens per second of an inference", "short", mean("ogx_inference_tokens_per_second", "model"), "{{model}}"),
  one(
    "Mean time to the first token of a stream",
    "s",
    mean("ogx_inference_time_to_first_token_seconds", "model"),
    "{{model}}",
  ),
  one("CPU of the server", "short", rate("process_cpu_seconds_total", "pod"), "{{pod}}"),
  one(
    "Resident memory",
    "bytes",
    `sum by (${BY}, pod) (process_resident_memory_bytes{${CHOSEN}})`,
    "{{pod}}",
  ),
];

const choice = (name: string, label: string, query: string): JsonObject => ({
  name,
  label,
  type: "query",
  datasource: DATASOURCE,
  query,
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: ".*",
  current: { text: "All", value: "$__all" },
});

/** Of every server that Prometheus reads, or of those that are chosen. */
export const serverDashboard = (): JsonObject =>
  dashboardMap({
    name: `${NAME}-servers`,
    title: "Llama Stack servers",
    panels: PANELS,
    variables: [
      DATASOURCE_VARIABLE,
      choice("namespace", "Namespace", "label_values(ogx_requests_total, namespace)"),
      choice(
        "instance",
        "Server",
        'label_values(ogx_requests_total{namespace=~"$namespace"}, app_kubernetes_io_instance)',
      ),
    ],
  });
