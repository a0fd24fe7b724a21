import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import type { JsonObject } from "../data/json.ts";
import { decoded, SURROUNDINGS } from "../../tests/given.ts";
import { derive, familyOf, warningsOf } from "./derive.ts";
import { metricsOf } from "./metrics.ts";

const on = (serverVersion: string, spec: JsonObject = {}, byDefault = false) => {
  const name = /^0\.[1-7]\./.test(serverVersion) ? "starter" : "ogx-starter";
  const resource = decoded({ distribution: { name, serverVersion }, ...spec });
  const derived = Result.getOrThrow(derive(resource, SURROUNDINGS));
  const warnings = warningsOf(derived).filter(({ code }) => code === "MetricsUnavailable");
  return { metrics: metricsOf(resource.spec, familyOf(derived), byDefault), warnings };
};
const ASKED = { monitoring: {} };
const COLLECTOR = { providers: { telemetry: [{ provider: "otlp", endpoint: "http://collector:4318" }] } };

for (
  const [version, kind, way] of [
    ["0.2.24", "unavailable", /use a provider in spec\.providers\.telemetry, or OGX 1\.2/],
    ["0.3.5", "unavailable", /OGX 1\.2/],
    ["0.4.4", "unavailable", /OGX 1\.2/],
    ["0.6.1", "unavailable", /OGX 1\.2/],
    ["0.7.1", "unavailable", /OTLP.*spec\.providers\.telemetry.*OGX 1\.2/],
    ["0.8.0", "unavailable", /OTLP.*spec\.providers\.telemetry/],
    ["1.1.3", "unavailable", /OTLP.*spec\.providers\.telemetry/],
    ["1.2.5", "served", undefined],
    ["1.5.0", "served", undefined],
  ] as const
) {
  Deno.test(`metricsOf() says what server ${version} can do, and the warning names the way`, () => {
    const { metrics, warnings } = on(version, ASKED);
    strictEqual(metrics.kind, kind);
    strictEqual(warnings.length, way === undefined ? 0 : 1);
    if (way !== undefined) match(warnings[0]?.message ?? "", way);
    // Who does not ask receives no warning.
    deepStrictEqual(on(version), { metrics: { kind: "off" }, warnings: [] });
    strictEqual(on(version, {}, true).metrics.kind, kind === "served" ? "served" : "off");
  });
}

Deno.test("metricsOf() counts metrics that a server sends to a collector", () => {
  for (const version of ["0.7.1", "0.8.0", "1.1.3"]) {
    deepStrictEqual(on(version, { ...ASKED, ...COLLECTOR }), { metrics: { kind: "sent" }, warnings: [] });
  }
  const env = [{ name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector:4318" }];
  strictEqual(on("1.1.3", { ...ASKED, workload: { overrides: { env } } }).metrics.kind, "sent");
  strictEqual(on("1.5.0", { ...ASKED, ...COLLECTOR, workload: { workers: 2 } }).metrics.kind, "sent");
  strictEqual(on("0.6.1", { ...ASKED, ...COLLECTOR }).metrics.kind, "unavailable");
});

Deno.test("metricsOf() opens no port that another worker, or the server itself, opens too", () => {
  const cases: ReadonlyArray<readonly [JsonObject, string]> = [
    [{ workload: { workers: 2 } }, "spec.workload.workers"],
    [{ networking: { port: 9464 } }, "spec.monitoring.port"],
    [{ networking: { port: 9000 }, monitoring: { port: 9000 } }, "spec.monitoring.port"],
    [{ workload: { overrides: { env: [{ name: "OGX_METRICS_PORT", value: "1" }] } } }, "spec.workload.overrides.env"],
  ];
  for (const [spec, path] of cases) {
    const { metrics, warnings } = on("1.5.0", { ...ASKED, ...spec });
    strictEqual(metrics.kind, "unavailable");
    deepStrictEqual(warnings.map((found) => found.path.join(".")), [path]);
    const { monitoring: _, ...unasked } = spec;
    strictEqual(
      on("1.5.0", unasked, true).metrics.kind,
      path === "spec.monitoring.port" && "monitoring" in spec ? "served" : "off",
    );
  }
});

Deno.test("metricsOf() leaves a server that the author starts as it is, unless metrics are asked for", () => {
  const own = { workload: { overrides: { command: ["server"] } } };
  strictEqual(on("1.5.0", own, true).metrics.kind, "off");
  deepStrictEqual(on("1.5.0", { ...own, monitoring: { port: 9000 } }).metrics, {
    kind: "served",
    port: 9000,
    variable: "OGX_METRICS_ENDPOINT_ENABLED",
  });
});

Deno.test("metricsOf() needs to know the server", () => {
  const resource = decoded({ distribution: { image: "registry.example/own:1" }, ...ASKED });
  const derived = Result.getOrThrow(derive(resource, SURROUNDINGS));
  deepStrictEqual(
    warningsOf(derived).filter(({ code }) => code === "MetricsUnavailable").map(({ message }) => message),
    ["the version of the server is not known; set spec.distribution.serverVersion"],
  );
});

Deno.test("metricsOf() keeps the port of the server, also where it is the default, and lets the author choose the address", () => {
  const { metrics, warnings } = on("1.5.0", { monitoring: { port: 8321 } });
  deepStrictEqual([metrics.kind, warnings.length], ["unavailable", 1]);
  const env = [{ name: "OGX_METRICS_HOST", value: "::" }];
  strictEqual(on("1.5.0", { ...ASKED, workload: { overrides: { env } } }).metrics.kind, "served");
});
