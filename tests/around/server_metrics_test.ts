/**
 * A real Prometheus reads a real OGX server that runs with the environment of its pod: its dashboard has data, and its alerts
 * fire in their situation. The Prometheus Operator is not there: the test selects targets and sets labels as its PodMonitor says.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { NOWHERE } from "../../core/resources/of_resource.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { serverDashboard } from "../../tools/package/server_dashboard.ts";
import { boot, type Booted, POD_NAME } from "../../tools/server/boot.ts";
import { inFolder } from "../folder.ts";
import { manifest, SURROUNDINGS } from "../given.ts";
import { objectOf } from "../objects.ts";
import { eventually } from "../waiting.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

const OPERATED = { platform: { ...NOWHERE.platform, served: ["PodMonitor", "PrometheusRule"] } } as const;

/** Of PodMonitor and Prometheus Operator: what they make of the labels of the pod. */
const LABELS = { namespace: "default", app_kubernetes_io_instance: "my", pod: "my-1" };

/** In minutes, what fires after a quarter of an hour. */
const hastened = (rule: JsonObject | undefined): JsonObject => ({
  groups: listAt(rule, "spec", "groups").map((group) => ({
    name: stringAt(group, "name") ?? "",
    rules: listAt(group, "rules").map((alert) =>
      put(
        put(alert as JsonObject, ["for"], "2s"),
        ["expr"],
        (stringAt(alert, "expr") ?? "").replaceAll("[5m]", "[15s]"),
      )
    ),
  })),
});

const chat = (stack: Booted, model: string, stream = false) =>
  stack.post("/v1/chat/completions", { model, stream, messages: [{ role: "user", content: "hello" }] })
    .then((answer) => answer.status);

for (const [version, hasQuantiles] of [["1.5.0", true], ["1.2.5", false]] as const) {
  Deno.test(`Prometheus reads ogx ${version}: every panel and alert has data, and alerts fire`, (t) =>
    inFolder(async (folder) => {
      const models = startModelServer();
      const broken = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        () => new Response("broken", { status: 500 }),
      );
      const [port] = freePorts(1) as [number];
      const spec: JsonObject = {
        distribution: { name: "ogx-starter", serverVersion: version },
        providers: {
          inference: [
            { id: "vllm", provider: "vllm", endpoint: models.baseUrl },
            { id: "broken", provider: "vllm", endpoint: `http://127.0.0.1:${broken.addr.port}/v1` },
          ],
        },
        resources: { models: [{ name: "test-model", provider: "vllm" }, { name: "gone", provider: "broken" }] },
        monitoring: { port },
      };
      const stack = await boot(manifest(spec));
      let prometheus: Prometheus | undefined;
      try {
        const monitor = objectOf("PodMonitor", spec, OPERATED);
        deepStrictEqual(listAt(monitor, "spec", "podTargetLabels"), ["app.kubernetes.io/instance"]);
        prometheus = await startPrometheus(
          folder,
          [{ job_name: "default/my-metrics", static_configs: [{ targets: [`127.0.0.1:${port}`], labels: LABELS }] }],
          hastened(objectOf("PrometheusRule", spec, OPERATED)),
        );
        const { query, firing } = prometheus;
        const traffic = async () => {
          await Promise.all([
            chat(stack, "vllm/test-model"),
            chat(stack, "vllm/test-model", true),
            chat(stack, "nothing"),
            stack.get("/v1/models"),
            stack.get("/v1/health"),
          ]);
        };

        await t.step("every query of the dashboard has data", async () => {
          const [text = ""] = Object.values(objectAt(serverDashboard(), "data")).map(String);
          const queries = listAt(JSON.parse(text), "panels").flatMap((panel) => listAt(panel, "targets"))
            .map((target) => stringAt(target, "expr") ?? "")
            .filter((expression) => hasQuantiles || !expression.includes("http_server_"));
          ok(queries.length >= 11);
          const missing = new Set(queries);
          await eventually(`data for ${[...missing].join("; ")}`, async () => {
            await traffic();
            for (const expression of missing) {
              const asked = expression.replaceAll("$namespace", "default").replaceAll("$instance", "my|other")
                .replaceAll("[5m]", "[15s]");
              if ((await query(asked)).some(({ value }) => Number.isFinite(value))) missing.delete(expression);
            }
            return missing.size === 0 || undefined;
          });
        });

        await t.step("every alert has data, of this server alone, and none fires", async () => {
          for (const rule of listAt(listAt(objectOf("PrometheusRule", spec, OPERATED), "spec", "groups")[0], "rules")) {
            const [measured = ""] = (stringAt(rule, "expr") ?? "").split(/ (?:==|>) /);
            // The share of failed requests has data once one failed.
            if (measured.includes("5..")) continue;
            const found = await query(measured.replaceAll("[5m]", "[15s]"));
            strictEqual(found.length, 1, measured);
            deepStrictEqual(
              [found[0]?.labels.namespace, found[0]?.labels.app_kubernetes_io_instance],
              ["default", "my"],
            );
          }
          deepStrictEqual(await firing(), []);
        });

        await t.step("requests that a model server breaks make LlamaStackServerErrors fire", async () => {
          ok(await chat(stack, "broken/gone") >= 500);
          await eventually("the alert fires", async () => {
            await chat(stack, "broken/gone");
            return (await firing()).includes("LlamaStackServerErrors") || undefined;
          });
        });

        await t.step("a server that is gone makes LlamaStackServerUnreachable fire", async () => {
          await stack.stop();
          await eventually(
            "the alert fires",
            async () => (await firing()).includes("LlamaStackServerUnreachable") || undefined,
          );
        });
      } finally {
        await prometheus?.stop();
        await stack.stop();
        await models.stop();
        await broken.shutdown();
      }
    }));
}

for (const [version, name, prefix] of [["1.1.3", "ogx-starter", "ogx"], ["0.7.3", "starter", "llama_stack"]] as const) {
  Deno.test(`server ${version} sends its metrics to a collector, and each pod names itself`, async () => {
    const models = startModelServer();
    const received: Array<string> = [];
    const collector = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      if (new URL(request.url).pathname === "/v1/metrics") received.push(await textOf(request));
      else await request.body?.cancel();
      return new Response();
    });
    const stack = await boot(
      manifest({
        distribution: { name, serverVersion: version },
        monitoring: {},
        providers: {
          inference: [{ id: "vllm", provider: "vllm", endpoint: models.baseUrl }],
          telemetry: [{
            provider: "otlp",
            endpoint: `http://127.0.0.1:${collector.addr.port}`,
            settings: { OTEL_METRIC_EXPORT_INTERVAL: "1000" },
          }],
        },
        resources: { models: [{ name: "test-model", provider: "vllm" }] },
      }),
      { surroundings: SURROUNDINGS },
    );
    try {
      strictEqual(await chat(stack, "vllm/test-model"), 200);
      const sent = await eventually(
        "the request is counted",
        () => received.find((text) => text.includes(`${prefix}.requests_total`)),
      );
      ok(sent.includes("service.instance.id") && sent.includes(POD_NAME));
    } finally {
      await stack.stop();
      await models.stop();
      await collector.shutdown();
    }
  });
}

/** Of a message of protobuf, whose strings are in it as they are. */
const textOf = async (request: Request): Promise<string> => {
  const body = request.headers.get("content-encoding") === "gzip"
    ? request.body?.pipeThrough(new DecompressionStream("gzip"))
    : request.body;
  return new TextDecoder("latin1").decode(await new Response(body).arrayBuffer());
};
