/**
 * No Secret's value in any output, in any encoding: one value for each field that names a Secret, a server that repeats all of
 * them in each of many forms as the end of its log, and every output of the operator on a real API server.
 */
import { tlsPair } from "../../tools/tls_pair.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";
import { deepStrictEqual, ok } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { startOperator } from "../cluster/operator.ts";
import { manifest } from "../given.ts";
import { eventually } from "../waiting.ts";

/** Letters that every encoding changes, and no word of any language. */
const canary = (index: number): string => `${index}q/K+v W${index}pL%41'é"${index}Zx#wT`;

const ref = (key: string): JsonObject => ({ secretKeyRef: { name: "secrets", key } });
/** Keys of the Secret by the field that names them. */
const FIELDS = ["apikey", "reference", "redis", "postgres", "variable", "all-variables", "certificate"] as const;
const CANARIES = Object.fromEntries(FIELDS.map((name, index) => [name, canary(index)]));

const valueOf = (field: typeof FIELDS[number]): string => {
  const value = CANARIES[field] ?? "";
  if (field === "postgres") return `postgresql://me:${encodeURIComponent(value)}@db.example:5432/x?sslmode=require`;
  if (field === "certificate") return `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----`;
  // As people write it, who know nothing of percent-encoding.
  return field === "variable" ? `amqp://me:${value}@queue.example/x` : value;
};

const SPEC: JsonObject = {
  providers: {
    inference: [
      { id: "one", provider: "vllm", endpoint: "http://vllm:8000/v1", apiKey: ref("apikey") },
      { id: "two", provider: "vllm", endpoint: "http://vllm:8000/v1", secretRefs: { api_token: ref("reference") } },
    ],
  },
  storage: {
    kv: { type: "redis", endpoint: "redis:6379", password: ref("redis") },
    sql: { type: "postgres", connectionString: ref("postgres") },
  },
  networking: { tls: { enabled: true, secretName: "serving" } },
  workload: {
    overrides: {
      env: [{ name: "V", valueFrom: ref("variable") }],
      envFrom: [{ secretRef: { name: "all" } }],
    },
  },
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const base64 = (text: string): string => bytes(text).toBase64();

const DISGUISES: Readonly<Record<string, (value: string) => string>> = {
  "as it is": (value) => value,
  trimmed: (value) => value.trim(),
  "percent-encoded": encodeURIComponent,
  "percent-decoded": (value) =>
    value.replaceAll(/%([0-9A-F]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16))),
  "in base64": base64,
  "within a connection string": (value) => `postgresql://me:${encodeURIComponent(value)}@db/x`,
  "as Python writes it": (value) => `ValueError: bad value '${value.replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`,
  "as Python writes bytes": (value) =>
    `b'${
      Array.from(bytes(value), (byte) => byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`).join("")
        .replaceAll("'", "\\'")
    }'`,
  "with every letter as \\xNN": (value) =>
    Array.from(bytes(value), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  "with every letter as \\uNNNN": (value) =>
    Array.from(value, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  "in HTML": (value) => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("'", "&#x27;"),
  "with every letter as an entity": (value) => Array.from(value, (letter) => `&#${letter.charCodeAt(0)};`).join(""),
  "cut to five letters at each end": (value) => `ValueError: bad value ${value.slice(0, 5)}...${value.slice(-5)}`,
  "cut by the kubelet": (value) => `ValueError: ${"x".repeat(280)}${value.slice(2)}`,
};

/**
 * Found by no code of the operator: pieces of ten characters, as they are and decoded from base64, percent-encoding, entities
 * and hex, and of five beside a cut.
 */
const revealed = (output: string): string | undefined => {
  const unescaped = output.replaceAll(/\\+u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll(/\\+x([0-9a-f]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll("&#x27;", "'").replaceAll("&quot;", '"')
    .replaceAll(/\\+(["'\\/])/g, "$1");
  const runs = output.match(/[A-Za-z0-9+/_-]{12,}/g) ?? [];
  const decoded = runs.flatMap((run) =>
    [0, 1, 2, 3].map((skip) => {
      const part = run.slice(skip).replaceAll("-", "+").replaceAll("_", "/");
      return atob(part.slice(0, part.length - part.length % 4));
    })
  );
  const percent = unescaped.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
  const hex = (output.match(/(?:[0-9a-f]{2}){8,}/g) ?? []).map((run) =>
    run.replaceAll(/../g, (code) => String.fromCharCode(parseInt(code, 16)))
  );
  const texts = [output, unescaped, percent, ...decoded, ...hex];
  for (const value of Object.values(CANARIES)) {
    for (const piece of [`${value.slice(0, 5)}...`, `...${value.slice(-5)}`]) {
      if (texts.some((text) => text.includes(piece))) return piece;
    }
    for (
      const form of new Set([
        value,
        String.fromCharCode(...bytes(value)),
        decodeURIComponent(encodeURIComponent(value).replaceAll("%2541", "%41")),
      ])
    ) {
      for (let start = 0; start + 10 <= form.length; start++) {
        const piece = form.slice(start, start + 10);
        if (texts.some((text) => text.includes(piece))) return piece;
      }
    }
  }
  return undefined;
};

const read = async (cluster: ControlPlane, path: string): Promise<JsonObject> =>
  await (await cluster.fetch(path)).json() as JsonObject;
const RESOURCE = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions/my";

const create = (cluster: ControlPlane, object: JsonObject) =>
  cluster.kubectl(["create", "-n", "default", "-f", "-"], JSON.stringify(object));

const secretOf = (name: string, stringData: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData,
});

/** A pod of the Deployment as the Deployment controller would make it; nothing here starts it. */
const failedPod = (deployment: JsonObject, message: string): JsonObject => ({
  ...objectAt(deployment, "spec", "template"),
  apiVersion: "v1",
  kind: "Pod",
  metadata: { ...objectAt(deployment, "spec", "template", "metadata"), name: "my-pod" },
  status: {
    phase: "Running",
    containerStatuses: [{
      name: "llama-stack",
      image: "i",
      imageID: "",
      ready: false,
      restartCount: 5,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1, message } },
    }],
  },
});

const cli = async (cluster: ControlPlane, args: ReadonlyArray<string>, stdin?: Json): Promise<string> => {
  const child = new Deno.Command(await compiledOperator(), {
    args: [...args, "--kubeconfig", cluster.kubeconfig],
    env: { ...RUNTIME_ENV, NO_COLOR: "1", POD_NAMESPACE: "default" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(bytes(stdin === undefined ? "" : JSON.stringify(stdin)));
  await writer.close();
  const { stdout, stderr } = await child.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
};

Deno.test("no output contains the value of a Secret, in any encoding", async (t) => {
  const cluster = await startControlPlane();
  const log: Array<string> = [];
  const console_log = console.log;
  console.log = (...words: ReadonlyArray<unknown>) => void log.push(words.join(" "));
  const [port] = freePorts(1) as [number];
  try {
    const running = await startOperator(cluster, { metricsAddress: `127.0.0.1:${port}`, metricsPlain: true });
    try {
      await create(cluster, secretOf("secrets", Object.fromEntries(FIELDS.map((field) => [field, valueOf(field)]))));
      await create(cluster, secretOf("all", { ALL: valueOf("all-variables") }));
      await create(cluster, secretOf("serving", { ...await tlsPair(["any"]), "tls.key": valueOf("certificate") }));
      await create(cluster, manifest(SPEC));
      const deployment = await eventually("the Deployment is made", async () => {
        const found = await read(cluster, "/apis/apps/v1/namespaces/default/deployments/my");
        return found.kind === "Deployment" ? found : undefined;
      });
      const pod = failedPod(deployment, "");
      await create(cluster, pod);
      for (const [index, [disguise, shown]] of Object.entries(DISGUISES).entries()) {
        await t.step(`a server repeats every value ${disguise}`, async () => {
          // The number of restarts tells that this very status was seen.
          const restarts = 10 + index;
          const words = FIELDS.map((field) => shown(CANARIES[field] ?? "")).join("\n");
          const status = objectAt(failedPod(deployment, `Traceback\nRuntimeError: cannot start\n${words}`), "status");
          const [container] = listAt(status, "containerStatuses");
          const answer = await cluster.fetch("/api/v1/namespaces/default/pods/my-pod/status", {
            method: "PATCH",
            headers: { "content-type": "application/merge-patch+json" },
            body: JSON.stringify({
              status: { ...status, containerStatuses: [{ ...container as JsonObject, restartCount: restarts }] },
            }),
          });
          ok(answer.ok, await answer.text());
          const told = await eventually("the status speaks of it", async () => {
            const found = await read(cluster, RESOURCE);
            return JSON.stringify(found.status).includes(`after ${restarts} restarts`) ? found : undefined;
          });
          const available = listAt(told, "status", "conditions").find((condition) =>
            stringAt(condition, "type") === "Available"
          );
          const sentence = stringAt(available, "message") ?? "";
          ok(sentence.includes("See kubectl logs my-pod"), sentence);
          deepStrictEqual(revealed(sentence), undefined, sentence);
        });
      }
      await t.step("the status says what the end of a server's log means", async () => {
        const status = objectAt(
          failedPod(deployment, "ValueError: Model gone is not available from provider one"),
          "status",
        );
        await cluster.fetch("/api/v1/namespaces/default/pods/my-pod/status", {
          method: "PATCH",
          headers: { "content-type": "application/merge-patch+json" },
          body: JSON.stringify({ status }),
        }).then((answer) => answer.text());
        await eventually("the status says what it means", async () => {
          const found = await read(cluster, RESOURCE);
          return JSON.stringify(found.status).includes("does not have the model named there") || undefined;
        });
      });
      await t.step("a rejected write that repeats values is reported without them", async () => {
        // What the API server says of an invalid object quotes it.
        const spec = { ...SPEC, workload: { ...objectAt(SPEC, "workload"), resources: { limits: { cpu: "-1" } } } };
        await cluster.kubectl(
          ["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"],
          JSON.stringify(manifest(spec)),
        );
        await eventually("it is rejected", async () => {
          const found = await read(cluster, RESOURCE);
          return JSON.stringify(found.status).includes("False") &&
              Number(at(found, "status", "observedGeneration")) >= Number(at(found, "metadata", "generation")) ||
            undefined;
        });
      });
      await t.step("objects, Events, log, metrics and every command", async () => {
        const outputs = new Map<string, string>();
        const paths = [
          "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions",
          "/apis/apps/v1/namespaces/default/deployments",
          "/api/v1/namespaces/default/configmaps",
          "/api/v1/namespaces/default/services",
          "/apis/events.k8s.io/v1/namespaces/default/events",
        ];
        for (const path of paths) outputs.set(path, JSON.stringify(await read(cluster, path)));
        outputs.set("log", log.join("\n"));
        outputs.set("metrics", await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
        for (
          const args of [["explain", "my"], ["explain", "my", "-o", "json"], ["diff", "my"], [
            "diff",
            "my",
            "-o",
            "json",
          ]]
        ) {
          outputs.set(args.join(" "), await cli(cluster, [...args, "-n", "default"]));
        }
        for (const [name, output] of outputs) {
          ok(output.length > 20, `${name}: ${output}`);
          deepStrictEqual(revealed(output), undefined, name);
        }
        ok(
          revealed(JSON.stringify(await read(cluster, "/api/v1/namespaces/default/secrets"))) !== undefined,
          "this test can find values",
        );
      });
    } finally {
      await running.stop();
    }
  } finally {
    console.log = console_log;
    await cluster.stop();
  }
});
