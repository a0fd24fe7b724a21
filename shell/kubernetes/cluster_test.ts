import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import type { Authority } from "../../core/certificates/authority.ts";
import { makeAuthority, makeLeaf } from "../webhooks/certificate_maker.ts";
import { Cluster, type ClusterError, type Connection } from "./cluster.ts";
import { Fence } from "./fence.ts";
import { creation, Patch, replacement } from "../../core/plan/patch.ts";

const EVENT = JSON.stringify({ type: "ADDED", object: { metadata: { name: "a", resourceVersion: "5" } } });

const connectionTo = ({ addr }: Deno.HttpServer<Deno.NetAddr>): Connection => ({
  url: `http://127.0.0.1:${addr.port}`,
  caPem: () => undefined,
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

Deno.test("watch() fails if the API server reports that the version is too old", async () => {
  strictEqual(await watched(`{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"m"}}\n`), "failed");
});

Deno.test("no write leaves a replica whose lease expired between the fence and the end of the event loop turn", async () => {
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
          Effect.map(Effect.result(cluster.send(creation("/x", {}))), Result.isSuccess),
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
        cluster.send(
          Patch.ServerSideApply({ object: manifest, fieldManager: "m", precondition: "must not exist" }),
        ),
        cluster.send(Patch.ClusterApply({ path: "/x", part: {}, fieldManager: "m" })),
        cluster.send(Patch.ManagedFields({ key, version: "1", managedFields: [] })),
        cluster.send(Patch.Touch({ key, version: "1" })),
        cluster.send(Patch.Delete({ key, uid: "u", version: "1" })),
        cluster.send(Patch.UpdateStatus({ resource: { ...manifest }, status: {}, fieldManager: "m" })),
        cluster.send(creation("/x", {})),
        cluster.send(replacement("/x", {})),
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

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };

/** An API server on the same port, whose certificate is signed by this authority. */
const startServer = async (authority: Authority, port = 0) =>
  Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {}, ...await makeLeaf(authority, ["127.0.0.1"], validity) },
    () => Response.json({ a: 1 }),
  );

Deno.test("Cluster follows the API server to a new CA, and explains why it does not trust an unknown one", async () => {
  const [before, after] = [await makeAuthority(validity), await makeAuthority(validity)];
  const read = Effect.flatMap(Cluster, (cluster) => Effect.result(cluster.read("/")));
  let server = await startServer(before);
  const { port } = server.addr;
  const restart = async (authority: Authority) => {
    await server.shutdown();
    server = await startServer(authority, port);
  };
  let caPem: string | undefined = before.certificate;
  const connection: Connection = { ...connectionTo(server), url: `https://127.0.0.1:${port}`, caPem: () => caPem };
  const program = Effect.gen(function* () {
    ok(Result.isSuccess(yield* read), "the first CA");
    yield* Effect.promise(() => restart(after));
    const refused = yield* read;
    ok(Result.isFailure(refused));
    match(refused.failure.message, /invalid peer certificate: UnknownIssuer/);
    // A file that is written just now, and one that is away for a moment.
    for (const moment of ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", undefined]) {
      caPem = moment;
      ok(Result.isFailure(yield* read));
    }
    caPem = after.certificate;
    ok(Result.isSuccess(yield* read), "the second CA");
    yield* Effect.promise(() => restart(before));
    ok(Result.isFailure(yield* read), "the first CA is trusted no more");
  });
  await Effect.runPromise(program.pipe(Effect.provide(Cluster.layer(connection))));
  await server.shutdown();
});
