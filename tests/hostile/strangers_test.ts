/**
 * Strangers against the program as it is installed: its own flags, its own memory limit. Whoever reaches its ports, and whatever a
 * registry that a tenant names sends, the process neither ends nor falls silent.
 */
import { ok, strictEqual } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type JsonObject, put, stringAt } from "../../core/data/json.ts";
import { ADMISSION_BYTES_MAX, MANIFEST_BYTES_MAX, UNPROVEN_BYTES_MAX } from "../../core/data/limits.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { IMAGE_CONFIG_BYTES_MAX } from "../../shell/registry/limits.ts";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { type OperatorProcess, startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { figure } from "../../tools/soak_lengths.ts";
import { paceMs } from "../measured.ts";
import { eventually } from "../waiting.ts";
import { digestOf } from "../cluster/protected_registry.ts";
import { condition, read } from "../cluster/settled.ts";
import { validatingConfiguration } from "../cluster/webhooks.ts";
import { manifest } from "../given.ts";
import { pulse, servingAuthority } from "./around.ts";

const MIB = 1024 * 1024;
/** The limit of the installed Deployment (tools/package/program.ts), which judges memory: how high it rises depends on the collector. */
const MEMORY_BYTES = 512 * MIB;
/** A request may cost so many times what it takes to receive, decrypt and answer one of that size that is refused at its first byte. */
const REQUEST_COSTS_MAX = 12;

/** Milliseconds that it takes to parse the text here. */
const parseMs = (text: string): number => {
  const startedMs = performance.now();
  JSON.parse(text);
  return performance.now() - startedMs;
};

const filled = (bytes: number, start: string, part: string, end: string): string =>
  start + part.repeat(Math.max(0, Math.floor((bytes - start.length - end.length) / part.length))) + end;

/** Texts of about so many bytes that become a hundred times that, or that take a parser long. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  "empty maps and a long integer": (bytes) => filled(bytes, "[", "{},", "12345678901234567]"),
  "empty maps": (bytes) => filled(bytes, "[", "{},", "1]"),
  "long integers": (bytes) => filled(bytes, "[", "12345678901234567,", "1]"),
  "levels": (bytes) => "[".repeat(bytes),
  "a string": (bytes) => filled(bytes, '"', "a", '"'),
  "a string without an end": (bytes) => filled(bytes, '"', '\\"', ""),
  "objects to convert": (bytes) =>
    filled(bytes, '{"request":{"uid":"u","desiredAPIVersion":"llamastack.io/v1alpha2","objects":[', "{},", "1]}}"),
  "one object of empty maps to convert": (bytes) =>
    filled(
      bytes,
      '{"request":{"desiredAPIVersion":"llamastack.io/v1alpha1","objects":[{"apiVersion":"llamastack.io/v1alpha2",' +
        '"kind":"LlamaStackDistribution","metadata":{"name":"x"},"spec":[',
      "{},",
      "12345678901234567]}]}}",
    ),
  "an object of empty maps to judge": (bytes) =>
    filled(
      bytes,
      '{"request":{"uid":"u","namespace":"n","object":{"apiVersion":"llamastack.io/v1alpha2",' +
        '"kind":"LlamaStackDistribution","metadata":{"name":"x"},"spec":{"providers":[',
      "{},",
      "12345678901234567]}}}}",
    ),
};

/** A request whose body comes as parts of one byte each. */
const postInBytes = async (url: URL, caPem: string, count: number): Promise<string> => {
  using connection = await Deno.connectTls({
    hostname: url.hostname,
    port: Number(url.port),
    caCerts: [caPem],
  });
  const writer = connection.writable.getWriter();
  const text = (value: string) => writer.write(new TextEncoder().encode(value));
  await text(`POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ntransfer-encoding: chunked\r\n\r\n`);
  const part = "1\r\n[\r\n".repeat(64 * 1024);
  for (let sent = 0; sent < count; sent += 64 * 1024) await text(part).catch(() => {});
  await text("0\r\n\r\n").catch(() => {});
  const answer = new Uint8Array(64);
  const length = await connection.read(answer).catch(() => null);
  writer.releaseLock();
  return new TextDecoder().decode(answer.subarray(0, length ?? 0)).split("\r\n")[0] ?? "";
};

const tls = (port: number, caPem: string): Promise<Deno.Conn> =>
  Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [caPem] });

/** Sends requests until the connection is ended, some hundred thousand at most. */
const unread = async (connection: Deno.Conn): Promise<void> => {
  const requests = new TextEncoder().encode("GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n".repeat(500));
  for (let sent = 0; sent < 600; sent++) {
    if (!await connection.write(requests).then(() => true, () => false)) break;
  }
  connection.close();
};

const watched = (operator: OperatorProcess, beat: ReturnType<typeof pulse>) => ({
  /** Processor time of the main thread, in milliseconds, and bytes above those before. */
  cost: async (run: () => Promise<unknown>) => {
    await operator.restartPeak();
    const [ms, bytes] = [await operator.mainThreadMs(), await operator.residentBytes()];
    await run();
    return { ms: await operator.mainThreadMs() - ms, bytes: await operator.peakBytes() - bytes };
  },
  /** The longest answer of `/livez` depends on what else the machine does, and is a figure only; the cost is judged. */
  isWell: async (what: string) => {
    const { events, isRunning } = await operator.memoryEvents();
    ok(isRunning && events === 0, `${what}: the process ended or was killed`);
    figure(
      `${what}: the longest answer of /livez`,
      `${(await beat.longest()).ms.toFixed(0)} ms of the main thread`,
      "",
      "",
    );
  },
});

const shown = ({ ms, bytes }: { readonly ms: number; readonly bytes: number }): string =>
  `${ms.toFixed(0)} ms of the main thread, ${(bytes / MIB).toFixed(0)} MiB`;

/** Every shape in two sizes, by anybody, to both webhooks. */
const attack = async (url: string, caPem: string, most: number, look: ReturnType<typeof watched>): Promise<void> => {
  const client = Deno.createHttpClient({ caCerts: [caPem] });
  const post = async (path: string, body: string) =>
    await fetch(`${url}${path}`, { method: "POST", body, client }).then(async (answer) => {
      await answer.body?.cancel();
      return answer.status;
    }, () => 0);
  try {
    for (const path of ["/validate", "/convert"]) {
      for (const [name, shape] of Object.entries(SHAPES)) {
        const largest = path === "/validate" ? Math.min(most, ADMISSION_BYTES_MAX) : most;
        for (const bytes of [largest / 4, largest - 1]) {
          const base = await look.cost(() => post(path, `x${" ".repeat(bytes - 1)}`));
          const text = shape(bytes);
          let status = 0;
          const cost = await look.cost(async () => void (status = await post(path, text)));
          figure(`${path}, ${name}, ${(bytes / MIB).toFixed(0)} MiB: ${status}`, shown(cost), "", "");
          await look.isWell(`${path}: ${name}`);
          ok(status === 200 || status === 400, `${path}: ${name}: ${status}`);
          ok(
            cost.ms <= paceMs() + REQUEST_COSTS_MAX * base.ms,
            `${path}, ${name}: ${shown(cost)}; base ${shown(base)}`,
          );
        }
      }
      let status = "";
      const cost = await look.cost(async () =>
        void (status = await postInBytes(new URL(`${url}${path}`), caPem, 2 * MIB))
      );
      figure(`${path}, parts of one byte, 2 MiB: ${status}`, shown(cost), "", "");
      await look.isWell(`${path}: parts of one byte`);
    }
  } finally {
    client.close();
  }
};

const ready = ({ healthPort }: OperatorProcess) =>
  eventually("ready", async () => {
    const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.ok || undefined;
  });

const create = async (cluster: ControlPlane, path: string, body: string | JsonObject): Promise<Response> =>
  await cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

Deno.test("strangers neither end nor silence the operator through its webhooks", async (t) => {
  const cluster = await startControlPlane();
  const [port] = freePorts(1) as [number];
  const url = `https://127.0.0.1:${port}`;
  const webhookFlags = [`--webhook-address=127.0.0.1:${port}`, "--webhook-name=127.0.0.1"];
  const started: Array<OperatorProcess> = [];
  const beats: Array<ReturnType<typeof pulse>> = [];
  const start = async (flags: ReadonlyArray<string>) => {
    const operator = await startCompiledOperator(cluster, await compiledOperator(), {
      memoryBytes: MEMORY_BYTES,
      flags,
    });
    started.push(operator);
    const beat = pulse(operator);
    beats.push(beat);
    await ready(operator);
    await beat.longest();
    return { operator, look: watched(operator, beat) };
  };
  const folder = await Deno.makeTempDir();
  try {
    const definition = put(customResourceDefinition(), ["spec", "conversion", "webhook", "clientConfig"], {
      url: `${url}/convert`,
    });
    await installDefinition(cluster, definition as unknown as Definition);
    const { operator, look } = await start(webhookFlags);
    const caPem = await eventually(
      "the CA is published",
      async () => await servingAuthority(cluster).catch(() => "") || undefined,
    );
    await t.step("any pod, without credentials", () => attack(url, caPem, UNPROVEN_BYTES_MAX, look));
    await t.step("any pod that sends requests on one connection and reads no answer", async () => {
      for (
        const open of [() => tls(port, caPem), () => Deno.connect({ hostname: "127.0.0.1", port: operator.healthPort })]
      ) {
        // Where answers are kept, all of the memory that the process may have is taken within seconds.
        await unread(await open());
      }
      await look.isWell("answers that nobody reads");
    });
    await t.step("a tenant through the API server", async () => {
      const configuration = validatingConfiguration(url, undefined, "Fail");
      await (await create(
        cluster,
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        configuration,
      ))
        .body?.cancel();
      const path =
        "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions?dryRun=All&fieldValidation=Ignore";
      const start =
        '{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","metadata":{"name":"bad"},' +
        '"spec":{"distribution":{"name":"starter"},"providers":{"inference":[{"provider":"vllm","settings":{"a":[';
      const text = filled(2.9 * 1000 * 1000, start, "{},", "12345678901234567]}}]}}}");
      const denied = /admission webhook .*validate.llamastack.io.* denied the request: .*more than 100000 values/;
      await eventually(
        "admission is called",
        async () => denied.test(await (await create(cluster, path, text)).text()) || undefined,
      );
      let answer = "";
      const cost = await look.cost(async () => void (answer = await (await create(cluster, path, text)).text()));
      figure("2.9 MB of empty maps by a tenant", shown(cost), "250 ms, 64 MiB", "");
      ok(denied.test(answer), answer.slice(0, 500));
      // It is received, checked by the schema and sent on by the API server; the operator reads it twice.
      ok(cost.ms <= paceMs() + 2 * parseMs(text), shown(cost));
      const names = Array.from({ length: 90_000 }, (_, index) => `"name-${index}":0`).join();
      const ofNamesText = `${start.replace(/\[$/, "{")}${names}}}}]}}}`;
      const ofNames = await look.cost(async () =>
        void (answer = await (await create(cluster, path, ofNamesText)).text())
      );
      figure("90,000 names by a tenant", shown(ofNames), "250 ms, 64 MiB", "");
      ok(/Too many values: a spec may have at most 20000/.test(answer), answer.slice(0, 500));
      ok(ofNames.ms <= paceMs() + 4 * parseMs(ofNamesText), shown(ofNames));
      await look.isWell("a tenant");
    });
    strictEqual(await operator.stop(), 0);
    started.pop();

    await t.step("any pod, where the API server cannot show who it is", async () => {
      const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
      const authority = await makeAuthority(validity);
      const leaf = await makeLeaf(authority, ["127.0.0.1"], validity);
      await Deno.writeTextFile(`${folder}/tls.crt`, leaf.cert);
      await Deno.writeTextFile(`${folder}/tls.key`, leaf.key);
      const { look } = await start([...webhookFlags, `--certificate-directory=${folder}`]);
      await attack(url, authority.certificate, 16 * MIB, look);
    });
  } finally {
    for (const beat of beats) beat.stop();
    for (const operator of started) await operator.stop().catch(() => undefined);
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("registries that tenants name neither end nor silence the operator", async () => {
  const cluster = await startControlPlane();
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  const kept = async (bytes: Uint8Array<ArrayBuffer>) => {
    const digest = await digestOf(bytes);
    blobs.set(digest, bytes);
    return digest;
  };
  const dripping = `sha256:${"0".repeat(64)}`;
  const labels = JSON.stringify({
    "io.llamastack.config.layer": dripping,
    "io.llamastack.config.path": "config.yaml",
    "io.llamastack.config.version": "1.5.0",
  });
  const config = (more: string) =>
    kept(bytesOf(`{"architecture":"amd64","config":{"Labels":${labels}},"history":${more}}`));
  const most = IMAGE_CONFIG_BYTES_MAX - 1000;
  const images: Readonly<Record<string, string>> = {
    maps: await config(filled(most, "[", "{},", "1]")),
    text: await config(filled(most, '"', "ä", '"').slice(0, most / 2) + '"'),
  };
  const decoder = new TextDecoder();
  // By hand: the server of the runtime would send the parts of a body together.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answer = async (connection: Deno.Conn) => {
    const buffer = new Uint8Array(16 * 1024);
    const length = await connection.read(buffer).catch(() => null);
    const [, path = ""] = /^GET (\S+)/.exec(decoder.decode(buffer.subarray(0, length ?? 0))) ?? [];
    const writer = connection.writable.getWriter();
    const send = (part: Uint8Array) => writer.write(part);
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (name === dripping) {
      await send(bytesOf("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"));
      const parts = bytesOf("1\r\nx\r\n".repeat(4096));
      for (;;) await send(parts);
    }
    const [, image = ""] = /^\/v2\/([^/]+)\//.exec(path) ?? [];
    const body = blobs.get(name) ?? bytesOf(JSON.stringify({
      config: { digest: images[image.replace(/-.*/, "")] },
      layers: [{ digest: dripping }],
    }));
    await send(bytesOf(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`));
    await send(body);
    await writer.close();
  };
  const serving = (async () => {
    for await (const connection of listener) answer(connection).catch(() => {});
  })().catch(() => {});
  const host = `127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
  await (await create(cluster, "/api/v1/namespaces/default/configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: SETTINGS_CONFIG_MAP },
    data: { "registries.plainHttp": `[${host}]`, "registries.internal": `[${host}]` },
  })).body?.cancel();
  const operator = await startCompiledOperator(cluster, await compiledOperator(), { memoryBytes: MEMORY_BYTES });
  const beat = pulse(operator);
  const look = watched(operator, beat);
  try {
    await ready(operator);
    await beat.longest();
    const path = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions";
    for (const kind of Object.keys(images)) {
      const cost = await look.cost(async () => {
        for (const index of [1, 2, 3, 4]) {
          const spec = {
            distribution: { image: `${host}/${kind}-${index}:1` },
            providers: { inference: [{ provider: "vllm" }] },
          };
          const made = await create(cluster, path, manifest(spec, `${kind}-${index}`));
          strictEqual(made.status, 201, await made.text());
        }
        for (const index of [1, 2, 3, 4]) {
          await eventually(`${kind}-${index} has a status`, async () => {
            const found = condition(await read(cluster, `${path}/${kind}-${index}`), "ConfigGenerated");
            return /registry/.test(stringAt(found, "message") ?? "") || undefined;
          });
        }
      });
      figure(`four images whose config is 8 MiB of ${kind}`, shown(cost), "", "");
      ok(cost.ms <= paceMs() + 8 * parseMs(filled(most, "[", "{},", "1]")), shown(cost));
      await look.isWell(kind);
    }
  } finally {
    beat.stop();
    await operator.stop();
    await cluster.stop();
    listener.close();
    await serving;
  }
});

Deno.test("manifests do not end the command line", async () => {
  const program = await compiledOperator();
  const folder = await Deno.makeTempDir();
  try {
    const most = MANIFEST_BYTES_MAX - 1;
    const files: Readonly<Record<string, string>> = {
      "maps in a list": filled(most, '{"kind":"LlamaStackDistribution","spec":[', "{},", "1]}"),
      "lines of maps": filled(most, "a:\n", "- {}\n", ""),
      "lists within lists": filled(most, "a:\n", `${"- ".repeat(60)}1\n`, ""),
      "keys": filled(most, "", "? [a]\n: 1\n", ""),
    };
    for (const [name, text] of Object.entries(files)) {
      const file = `${folder}/manifest.yaml`;
      await Deno.writeTextFile(file, text);
      const { code, stdout } = await new Deno.Command(program, { args: ["lint", "-f", file], stderr: "null" }).output();
      const output = new TextDecoder().decode(stdout);
      strictEqual(code, 1, `${name}: ${output.slice(0, 300)}`);
      ok(/more than 400000 values/.test(output), `${name}: ${output.slice(0, 300)}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
