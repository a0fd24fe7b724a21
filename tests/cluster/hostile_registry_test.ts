/** Registries that mean harm, on a real API server: each has a typed failure, and disturbs nobody else. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { manifest } from "../given.ts";
import { serveIndex } from "../../tools/cluster/index_server.ts";
import { digestOf, hugeArchive } from "./protected_registry.ts";
import { condition, read } from "./settled.ts";
import { eventually, pause } from "../waiting.ts";

const STARTER = await Deno.readTextFile(new URL("../../configs/bases/starter-1.5.yaml", import.meta.url));
const MIB = 1024 * 1024;
const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const blob = async (bytes: Uint8Array<ArrayBuffer>) => ({ bytes, digest: await digestOf(bytes) });

/** An image of one platform with these labels and layers; everything that it serves, by digest. */
const imageOf = async (
  labels: Readonly<Record<string, string>>,
  layers: ReadonlyArray<Uint8Array<ArrayBuffer>> = [],
) => {
  const config = await blob(bytesOf({ architecture: "amd64", os: "linux", config: { Labels: labels } }));
  const parts = await Promise.all(layers.map(blob));
  const image = { config: { digest: config.digest }, layers: parts.map(({ digest }) => ({ digest })) };
  return { first: bytesOf(image), blobs: new Map([config, ...parts].map(({ digest, bytes }) => [digest, bytes])) };
};
const inline = (text: string) => ({
  "com.ogx.config.config.yaml": bytesOf(text).toBase64(),
  "com.ogx.distribution.version": "1.5.0",
});

interface Row {
  /** Answers a request below the repository. */
  readonly serve: (path: string, request: Request) => Response | Promise<Response>;
  readonly message: RegExp;
}

const served = ({ first, blobs }: Awaited<ReturnType<typeof imageOf>>) => (path: string): Response => {
  const found = path === "/manifests/1" ? first : blobs.get(path.slice(path.lastIndexOf("/") + 1));
  return found === undefined ? new Response("", { status: 404 }) : new Response(found);
};

/** Between two parts of an answer that drips. */
const DRIP_MS = 1000;

const endless = (pauseMs: number): Response =>
  new Response(
    new ReadableStream({
      pull: async (controller) => {
        await pause(pauseMs);
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    }),
  );

const rowsOf = async (thief: string, cluster: ControlPlane): Promise<Readonly<Record<string, Row>>> => {
  const redirecting = (location: string) => () => new Response("", { status: 307, headers: { location } });
  const challenge = (realm: string) => () =>
    new Response("", { status: 401, headers: { "www-authenticate": `Bearer realm="${realm}"` } });
  const layer = { "io.llamastack.config.path": "config.yaml", "io.llamastack.config.version": "1.5.0" };
  const bomb = new Uint8Array(gzipSync(hugeArchive(200 * MIB)));
  const archive = new Uint8Array(gzipSync(new Uint8Array(10 * 1024).fill(65)));
  const lists = `a: &a [x, x]\n${
    Array.from({ length: 60 }, (_, index) => `b${index}: &b${index} [${"*a, ".repeat(9)}*a]\n`).join("")
  }`;
  const child = await blob((await imageOf(inline("version: 2"))).first);
  return {
    hangs: { serve: () => new Promise(() => {}), message: /no response within 15 s/ },
    drips: { serve: () => endless(DRIP_MS), message: /no response within 15 s/ },
    endless: { serve: () => endless(0), message: /a response has more than 4194304 bytes/ },
    metadata: { serve: redirecting("https://169.254.169.254/latest"), message: /its address is loopback, link-local/ },
    loopback: { serve: redirecting(`https://${thief}/`), message: /its address is loopback, link-local/ },
    "api-server": {
      serve: redirecting(`${cluster.url}/api/v1/secrets`),
      message: /its address is loopback, link-local/,
    },
    plain: { serve: redirecting(`http://${thief}/`), message: /it is asked without TLS/ },
    realm: { serve: challenge(`http://${thief}/token`), message: /it is asked without TLS/ },
    around: { serve: redirecting("/v2/around/manifests/1"), message: /redirects more than 5 times/ },
    digest: {
      serve: (path) =>
        path === "/manifests/1"
          ? Response.json({ manifests: [{ digest: child.digest, platform: { os: "linux", architecture: "amd64" } }] })
          : new Response("{}"),
      message: /what it sends for sha256:\w+ has the digest sha256:/,
    },
    layers: {
      serve: () =>
        Response.json({ config: { digest: child.digest }, layers: Array(10_000).fill({ digest: child.digest }) }),
      message: /it has 10000 layers/,
    },
    nested: {
      serve: () => new Response(`${"[".repeat(100_000)}`),
      message: /sends JSON that has more than 200 levels/,
    },
    bomb: {
      serve: served(await imageOf({ ...layer, "io.llamastack.config.layer": await digestOf(bomb) }, [bomb])),
      message: /it unpacks to more than 67108864 bytes/,
    },
    archive: {
      serve: served(await imageOf({ ...layer, "io.llamastack.config.layer": await digestOf(archive) }, [archive])),
      message: /it is not an archive of tar/,
    },
    climbs: {
      serve: served(
        await imageOf({ "io.llamastack.config.layer": child.digest, "io.llamastack.config.path": "../../etc/passwd" }),
      ),
      message: /expected the path of a file, without \.\./,
    },
    long: {
      serve: served(await imageOf({ a: "x".repeat(9 * MIB) })),
      message: /a response has more than 8388608 bytes/,
    },
    aliases: { serve: served(await imageOf(inline(lists))), message: /config\.yaml of image \S+/ },
    busy: {
      serve: () => new Response("", { status: 429, headers: { "retry-after": "86400" } }),
      message: /it is busy \(status 429\), and asks to come back in 86400 s/,
    },
  };
};

Deno.test("a hostile registry gets a typed failure for each trick, and disturbs no other resource", async (t) => {
  const cluster = await startControlPlane();
  const stolen: Array<string> = [];
  const thief = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    stolen.push(request.url);
    return new Response("");
  });
  const rows = await rowsOf(`127.0.0.1:${thief.addr.port}`, cluster);
  const asked = new Set<string>();
  const ending = new AbortController();
  let hanging = 0;
  const registry = Deno.serve(
    // Every address of loopback.
    { hostname: "0.0.0.0", port: 0, onListen: () => {}, signal: ending.signal },
    (request) => {
      const [, name = "", path = ""] = /^\/v2\/([^/]+)(\/.*)$/.exec(new URL(request.url).pathname) ?? [];
      asked.add(name);
      if (name === "hangs") hanging++;
      return rows[name]?.serve(path, request) ?? new Response("", { status: 404 });
    },
  );
  const host = `127.0.0.1:${registry.addr.port}`;
  const apply = (namespace: string, object: JsonObject) =>
    cluster.kubectl(
      ["apply", "--server-side", "-f", "-"],
      JSON.stringify({
        ...object,
        metadata: { ...object.metadata as JsonObject, namespace },
      }),
    );
  const resource = (name: string, distribution: JsonObject) =>
    manifest({
      distribution,
      providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
    }, name);
  await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
  const settings = (hosts: string): JsonObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: SETTINGS_CONFIG_MAP },
    data: { "registries.plainHttp": hosts, "registries.internal": hosts },
  });
  await apply("default", settings(`[${host}]`));
  const operator = await startCompiledOperator(cluster, await compiledOperator(), { memoryBytes: 512 * MIB });
  try {
    // Each in a namespace of its own, so that a slow one delays no other.
    for (const name of Object.keys(rows)) {
      await cluster.kubectl(["create", "namespace", `of-${name}`]);
      await apply(`of-${name}`, resource("mine", { image: `${host}/${name}:1` }));
    }

    await t.step("another resource is reconciled while registries do not answer", async () => {
      await eventually("they are asked", () => Promise.resolve(hanging > 0 || undefined));
      await apply("default", resource("other", { name: "starter" }));
      await eventually("the Deployment", async () => {
        const found = await read(cluster, "/apis/apps/v1/namespaces/default/deployments/other");
        return stringAt(found, "kind") === "Deployment" || undefined;
      });
    });

    await t.step("labels are read while registries of forty namespaces do not answer", async () => {
      const places = Array.from({ length: 40 }, (_, index) => `slow-${index}`);
      const items = places.flatMap((namespace, index) => [
        { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
        ...["a", "b"].map((name) => {
          const slow = resource(name, { image: `127.0.1.${index + 1}:${registry.addr.port}/hangs/${name}:1` });
          return { ...slow, metadata: { name, namespace } };
        }),
      ]);
      await cluster.kubectl(
        ["apply", "--server-side", "-f", "-"],
        JSON.stringify({ apiVersion: "v1", kind: "List", items }),
      );
      await using honest = await serveIndex({ amd64: inline(STARTER) });
      const hosts = JSON.stringify([
        host,
        honest.host,
        ...places.map((_, index) => `127.0.1.${index + 1}:${registry.addr.port}`),
      ]);
      await apply("default", settings(hosts));
      await eventually("they are asked", () => Promise.resolve(hanging >= 60 || undefined));
      await apply("default", resource("honest", { image: `${honest.host}/ai/honest:1` }));
      await eventually("the Deployment", async () => {
        const found = await read(cluster, "/apis/apps/v1/namespaces/default/deployments/honest");
        return stringAt(found, "kind") === "Deployment" || undefined;
      });
    });

    for (const [name, { message }] of Object.entries(rows)) {
      await t.step(`${name}: ${message.source}`, async () => {
        let last = "";
        await eventually(name, async () => {
          const path = `/apis/llamastack.io/v1alpha2/namespaces/of-${name}/llamastackdistributions/mine`;
          last = stringAt(condition(await read(cluster, path), "ConfigGenerated"), "message") ?? "";
          return message.test(last) || undefined;
        }).catch((cause) => Promise.reject(new Error(`${cause.message}; last seen: ${last}`)));
        ok(asked.has(name));
        const deployment = await read(cluster, `/apis/apps/v1/namespaces/of-${name}/deployments/mine`);
        ok(stringAt(deployment, "kind") !== "Deployment");
      });
    }

    await t.step("nothing was sent to where registries pointed, and the operator is well", async () => {
      deepStrictEqual(stolen, []);
      const { events, isRunning } = await operator.memoryEvents();
      deepStrictEqual({ events, isRunning }, { events: 0, isRunning: true });
    });
  } finally {
    await operator.stop();
    await cluster.stop();
    ending.abort();
    await registry.finished;
    await thief.shutdown();
    // Whoever asked has gone, and the last pauses of answers that drip are still to end.
    await pause(2 * DRIP_MS);
  }
});
