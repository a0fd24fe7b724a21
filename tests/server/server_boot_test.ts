import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { CA_BUNDLE_FILE } from "../../core/config/environment.ts";
import { type JsonObject, listAt } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { objectOf } from "../objects.ts";
import { inFolder } from "../folder.ts";
import { listedProviders } from "./asked.ts";
import { boot, type Booted, bootWorkers } from "../../tools/server/boot.ts";
import { until } from "../waiting.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { sideBySide } from "./side_by_side.ts";
import { withModels } from "./stored_state.ts";
import { onEveryServer, type TestedServer } from "./tested_servers.ts";

interface SwitchedOff {
  readonly disabled: readonly string[];
  /** APIs without a provider then: the disabled ones, and what cannot do without them. */
  readonly withoutProviders: readonly string[];
  /** A route of each API that is not served any more. */
  readonly gone: readonly string[];
  readonly stays: readonly string[];
}

const FILES: SwitchedOff = {
  disabled: ["vector_io", "files"],
  withoutProviders: ["vector_io", "files", "file_processors", "responses", "batches"],
  gone: ["/v1/vector_stores", "/v1/files", "/v1/responses", "/v1/batches"],
  stays: ["/v1/models"],
};
const INFERENCE: SwitchedOff = {
  disabled: ["inference"],
  withoutProviders: ["inference", "vector_io", "responses", "batches"],
  gone: ["/v1/models", "/v1/responses", "/v1/batches"],
  stays: ["/v1/files"],
};
const ON_0_7: readonly SwitchedOff[] = [FILES, INFERENCE, {
  disabled: ["eval", "scoring", "datasetio", "safety"],
  withoutProviders: ["eval", "scoring", "datasetio", "safety"],
  gone: ["/v1alpha/eval/benchmarks", "/v1/scoring-functions", "/v1beta/datasets", "/v1/shields"],
  stays: ["/v1/models", "/v1/responses", "/v1/files", "/v1/tools", "/v1/vector_stores"],
}, {
  disabled: ["toolRuntime"],
  withoutProviders: ["tool_runtime", "responses", "eval"],
  gone: ["/v1/tools", "/v1/responses"],
  stays: ["/v1/models", "/v1/files", "/v1/vector_stores", "/v1/shields"],
}];
const ON_OGX: readonly SwitchedOff[] = [FILES, INFERENCE, {
  // OGX has no eval: that name is ignored.
  disabled: ["toolRuntime", "eval"],
  withoutProviders: ["tool_runtime", "responses"],
  gone: ["/v1/responses"],
  stays: ["/v1/models", "/v1/files", "/v1/vector_stores"],
}];

const chat = { model: "vllm/test-model", messages: [{ role: "user", content: "hello" }] };

const resource = ({ distribution }: TestedServer, spec: JsonObject): JsonObject =>
  manifest({ distribution: { name: distribution }, ...spec });

Deno.test("disabled APIs are gone from every server, with what cannot do without them", () =>
  onEveryServer(async (server) => {
    const rows = server.isOgx ? ON_OGX : ON_0_7;
    await sideBySide(rows, async ({ disabled, withoutProviders, gone, stays }) => {
      await using stack = await boot(resource(server, { disabled }), server.options);
      const provided = (await listedProviders(stack)).map(({ api }) => api);
      deepStrictEqual(withoutProviders.filter((api) => provided.includes(api)), [], `without ${disabled}`);
      // One after the other: Llama Stack makes its tables at the first request and stumbles over two of these at once.
      for (const path of gone) strictEqual((await stack.get(path)).status, 404, `${path} without ${disabled}`);
      for (const path of stays) strictEqual((await stack.get(path)).status, 200, `${path} without ${disabled}`);
    });
  }));

Deno.test("two workers of every server serve HTTPS on the port of the resource", () =>
  onEveryServer((server) =>
    inFolder(async (folder) => {
      const models = startModelServer();
      try {
        const certificate = await makeServerCertificate(folder);
        const spec = { networking: { tls: { enabled: true, secretName: "tls" } }, workload: { workers: 2 } };
        const wanted = resource(server, withModels(spec, models.baseUrl));
        await using stack = await bootWorkers(wanted, { ...server.options, certificate, folder });
        match(stack.url, /^https:/);
        strictEqual((await stack.post("/v1/chat/completions", chat)).status, 200);
        // One worker is enough to be healthy; the other one may still be on its way.
        await until("two workers", async () => await workersStarted(stack) >= 2);
        const outcome = (url: string) =>
          fetch(url).then((answer) => answer.body?.cancel(), (error) => `${error} ${error.cause}`);
        match(await outcome(`${stack.url}/v1/health`) ?? "it answered", /certificate/i);
        match(await outcome(`${stack.url.replace("https:", "http:")}/v1/health`) ?? "it answered", /error/i);
      } finally {
        await models.stop();
      }
    })
  ));

Deno.test("caBundle adds its CA to the public ones, or replaces them, on every server", () =>
  onEveryServer((server) =>
    inFolder(async (folder) => {
      const names = ["private", "public", "other"] as const;
      const [own, known, other] = await Promise.all(names.map((name) => startTlsModelServer(folder, name)));
      if (own === undefined || known === undefined || other === undefined) throw new Error("three model servers");
      const asked = async (exclusive: boolean) => {
        const spec: JsonObject = {
          providers: {
            inference: [own, known, other].map(({ models }, index) => ({
              id: names[index] ?? "",
              provider: "vllm",
              endpoint: models.baseUrl,
            })),
          },
          networking: { tls: { caBundle: { configMapName: "ca", ...(exclusive ? { exclusive } : {}) } } },
        };
        const file = exclusive ? own.caBundle : await authoritiesFile(folder, spec, own.caBundle, known.caBundle);
        await using stack = await boot(resource(server, spec), {
          ...server.options,
          files: { [CA_BUNDLE_FILE]: file },
        });
        const statuses: Array<string> = [];
        for (const name of names) {
          const { status } = await stack.post("/v1/chat/completions", { ...chat, model: `${name}/test-model` });
          if (status === 200) statuses.push(name);
          else ok(status >= 500, `${name}: ${status}`);
        }
        return statuses;
      };
      try {
        deepStrictEqual(await asked(false), ["private", "public"]);
        deepStrictEqual(await asked(true), ["private"]);
        deepStrictEqual(other.models.requests, []);
      } finally {
        await Promise.all([own, known, other].map(({ models }) => models.stop()));
      }
    })
  ));

/** What the init container makes of the bundle, in an image whose certifi trusts this public authority. */
const authoritiesFile = async (folder: string, spec: JsonObject, bundle: string, known: string): Promise<string> => {
  const place = await Deno.makeTempDir({ dir: folder });
  await Deno.writeTextFile(join(place, "public.pem"), known);
  await Deno.writeTextFile(join(place, "certifi.py"), `def where(): return "${place}/public.pem"\n`);
  await Deno.writeTextFile(join(place, "ca-bundle.crt"), bundle);
  const [container] = listAt(objectOf("Deployment", spec), "spec", "template", "spec", "initContainers");
  const [shell = "", flag = "", script = ""] = listAt(container, "command").map(String);
  const target = join(place, "trusted.crt");
  const { success, stderr } = await new Deno.Command(shell, {
    args: [flag, script.replaceAll(CA_BUNDLE_FILE, target).replaceAll("/ca-bundle/", `${place}/`)],
    env: { PYTHONPATH: place },
  }).output();
  ok(success, new TextDecoder().decode(stderr));
  return await Deno.readTextFile(target);
};

Deno.test("every server reports to its collector and lists its MCP servers", () =>
  onEveryServer(async (server) => {
    // It records what it does not know, too: that is all a collector has to do here.
    const collector = startModelServer();
    try {
      const mcp = (id: string) => ({ id, provider: "model-context-protocol", endpoint: `http://${id}.tools:8000/mcp` });
      const spec = {
        providers: {
          toolRuntime: [mcp("weather"), mcp("stocks")],
          telemetry: [{
            provider: "otel",
            endpoint: `http://127.0.0.1:${collector.port}`,
            settings: { OTEL_BSP_SCHEDULE_DELAY: 100 },
          }],
        },
        resources: { tools: ["mcp::weather", "mcp::stocks"] },
      };
      await using stack = await boot(resource(server, spec), server.options);
      const { body } = await stack.get(server.isOgx ? "/v1alpha/admin/connectors" : "/v1beta/connectors");
      const listed = body.data.map((object: JsonObject) => [object.connector_id, object.connector_type, object.url]);
      deepStrictEqual(listed.sort(), [
        ["stocks", "mcp", "http://stocks.tools:8000/mcp"],
        ["weather", "mcp", "http://weather.tools:8000/mcp"],
      ]);
      const hasTraces = () => collector.requests.some(({ path }) => path === "/v1/traces");
      // Spans leave in batches, the first of them a moment after its request.
      await until("traces arrive", hasTraces);
    } finally {
      await collector.stop();
    }
  }));

const startTlsModelServer = async (folder: string, name: string) => {
  const own = join(folder, name);
  await Deno.mkdir(own);
  const { certificateFile, keyFile, caFile } = await makeServerCertificate(own);
  const tls = { cert: await Deno.readTextFile(certificateFile), key: await Deno.readTextFile(keyFile) };
  return { models: startModelServer({ tls }), caBundle: await Deno.readTextFile(caFile) };
};

/** Uvicorn replaces a worker that does not answer its ping in time, so a busy machine may see more than two. */
const workersStarted = async (stack: Booted): Promise<number> => {
  const log = await stack.log();
  // Those before are of an earlier start with the same data.
  const lastStart = log.slice(log.lastIndexOf("Started parent process"));
  return new Set([...lastStart.matchAll(/Started server process \[(\d+)\]/g)].map(([, id]) => id)).size;
};
