import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Cause, Effect, Exit, Result, Stream } from "effect";
import { makeAuthority, makeLeaf } from "./certificate_maker.ts";
import { Cluster, type ClusterError, type Connection } from "./cluster.ts";
import { Fence } from "./fence.ts";

const EVENT = JSON.stringify({ type: "ADDED", object: { metadata: { name: "a", resourceVersion: "5" } } });

const connectionTo = ({ addr }: Deno.HttpServer<Deno.NetAddr>): Connection => ({
  url: `http://127.0.0.1:${addr.port}`,
  caPem: undefined,
  clientCertificate: undefined,
  token: () => undefined,
});

/** Events of a watch whose answer is this text, and how it ended. */
const watched = async (text: string): Promise<string> => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response(text));
  const events: Array<string> = [];
  const program = Effect.flatMap(
    Cluster,
    ({ watch }) =>
      Stream.runForEach(watch({ path: "/api/v1/pods" }, "1"), ({ type }) => Effect.sync(() => void events.push(type))),
  );
  const exit = await Effect.runPromiseExit(program.pipe(Effect.provide(Cluster.layer(connectionTo(server)))));
  await server.shutdown();
  const end = Exit.isSuccess(exit) ? "end" : Cause.hasDies(exit.cause) ? "died" : "failed";
  return [...events, end].join(" ");
};

Deno.test("watch() ends with the answer", async () => {
  strictEqual(await watched(`${EVENT}\n${EVENT}\n`), "ADDED ADDED end");
});

Deno.test("watch() fails, and does not die, when it is cut in the middle of an event", async () => {
  strictEqual(await watched(`${EVENT}\n${EVENT.slice(0, 20)}`), "ADDED failed");
});

Deno.test("watch() fails when the API server says that the version is too old", async () => {
  strictEqual(await watched(`{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"m"}}\n`), "failed");
});

Deno.test("no write leaves a replica whose lease ran out between the fence and the end of its turn", async () => {
  let seen = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    seen++;
    return Response.json({});
  });
  const attempt = (leadsAfter: boolean) => {
    let leads = true;
    return Effect.runPromise(
      Effect.flatMap(Cluster, (cluster) =>
        Effect.raceFirst(
          Effect.map(Effect.result(cluster.create("/x", {})), Result.isSuccess),
          // What a pass beside it does before the runtime sends: the process may sleep in there.
          Effect.andThen(Effect.sync(() => leads = leadsAfter), Effect.never),
        )).pipe(
          Effect.provideService(Fence, { mayWrite: () => leads }),
          Effect.provide(Cluster.layer(connectionTo(server))),
        ),
    );
  };
  deepStrictEqual([await attempt(true), seen], [true, 1]);
  deepStrictEqual([await attempt(false), seen], [false, 1]);
  await server.shutdown();
});

Deno.test("no write leaves a replica that may not write, and every read does", async () => {
  const seen: Array<string> = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ method }) => {
    seen.push(method);
    return Response.json({ kind: "List", metadata: {}, items: [] });
  });
  const key = { apiVersion: "v1", kind: "ConfigMap", namespace: "a", name: "a" };
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "a", labels: {} } };
  const reasons = await Effect.runPromise(
    Effect.gen(function* () {
      const cluster = yield* Cluster;
      const writes: ReadonlyArray<Effect.Effect<unknown, ClusterError>> = [
        cluster.apply(manifest, "m", "nothing"),
        cluster.applyAt("/x", {}, "m"),
        cluster.replaceManagers(key, "1", []),
        cluster.touch(key, "1"),
        cluster.remove(key, "u", "1"),
        cluster.writeStatus({ ...manifest }, {}, "m"),
        cluster.create("/x", {}),
        cluster.replace("/x", {}),
      ];
      yield* cluster.get(key);
      yield* cluster.list({ path: "/api/v1/pods" });
      return yield* Effect.forEach(writes, (write) => Effect.map(Effect.flip(write), ({ reason }) => reason));
    }).pipe(
      Effect.provideService(Fence, { mayWrite: () => false }),
      Effect.provide(Cluster.layer(connectionTo(server))),
    ),
  );
  await server.shutdown();
  deepStrictEqual([seen, [...new Set(reasons)], reasons.length], [["GET", "GET"], ["NotLeading"], 8]);
});

Deno.test("Cluster trusts the authority of its connection alone, whatever the process trusts", async () => {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const [own, other] = [await makeAuthority(validity), await makeAuthority(validity)];
  const folder = await Deno.makeTempDir();
  const leaf = await makeLeaf(own, ["127.0.0.1"], validity);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...leaf },
    () => Response.json({ a: 1 }),
  );
  try {
    // The process that asks has the authority of the server in its own store of authorities.
    await Deno.writeTextFile(`${folder}/known.pem`, own.certificate);
    const asked = async (caPem: string | undefined) => {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--quiet",
          "--allow-all",
          "tests/one_call.ts",
          JSON.stringify({ url: `https://127.0.0.1:${server.addr.port}`, caPem }),
        ],
        cwd: new URL("../", import.meta.url),
        env: { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: `${folder}/known.pem` },
      }).output();
      return new TextDecoder().decode(stdout).trim();
    };
    deepStrictEqual([await asked(undefined), await asked(own.certificate), await asked(other.certificate)], [
      "answered",
      "answered",
      "failed",
    ]);
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});
