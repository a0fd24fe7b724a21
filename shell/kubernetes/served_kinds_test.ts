import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Logger from "effect/Logger";
import type { JsonObject } from "../../core/data/json.ts";
import { Cluster, failedCall } from "./cluster.ts";
import { isKindGone, kindsNow, lookForKinds, ServedKinds, servedKinds, untilServed } from "./served_kinds.ts";

const error = (status: number | undefined) =>
  failedCall({ verb: "get", path: "/", status, reason: "", detail: "", retryAfterMs: undefined });

const MONITORING = "monitoring.coreos.com";
const ROUTES = "route.openshift.io";

/** An API server whose discovery a test changes: resources by group, `Stale`, or the status of the answer. */
interface Api {
  groups: Record<string, ReadonlyArray<JsonObject> | "Stale">;
  status?: number;
  /** ETags of the questions. */
  readonly asked: Array<string | undefined>;
}

const api = (groups: Api["groups"] = {}): Api => ({ groups, asked: [] });

const kind = (resource: string, verbs: ReadonlyArray<string> = ["get", "list", "patch", "watch"]): JsonObject => ({
  resource,
  verbs,
});

const on = (api: Api): (typeof Cluster)["Service"] => ({
  discover: (known: string | undefined) => {
    api.asked.push(known);
    if (api.status !== undefined) return Effect.fail(error(api.status));
    const etag = JSON.stringify(api.groups);
    if (etag === known) return Effect.succeed(undefined);
    const groups = Object.entries(api.groups).map(([name, resources]): JsonObject => ({
      metadata: { name },
      versions: [
        { version: "v0", resources: [kind("routes"), kind("podmonitors")] },
        resources === "Stale" ? { version: "v1", freshness: "Stale" } : { version: "v1", resources },
      ],
    }));
    return Effect.succeed({ groups, etag });
  },
} as unknown as (typeof Cluster)["Service"]);

const running = <A>(api: Api, groups: ReadonlyArray<string>, program: Effect.Effect<A, never, Cluster | ServedKinds>) =>
  Effect.runPromise(program.pipe(
    Effect.provideServiceEffect(ServedKinds, servedKinds(groups)),
    Effect.provideService(Cluster, on(api)),
    Effect.provide(Logger.layer([])),
  ));
const looked = Effect.andThen(lookForKinds, kindsNow);

Deno.test("servedKinds() looks for each kind in its version: a group may come without it", async () => {
  const found = (resources: ReadonlyArray<JsonObject>) =>
    running(api({ [MONITORING]: resources }), [MONITORING], kindsNow);
  deepStrictEqual(await found([kind("podmonitors"), kind("servicemonitors")]), ["PodMonitor"]);
  deepStrictEqual(await found([kind("servicemonitors")]), []);
  deepStrictEqual(await running(api(), [MONITORING], kindsNow), []);
});

Deno.test("lookForKinds() takes a kind as gone that can only be read, while its definition is being deleted", async () => {
  const server = api({ [MONITORING]: [kind("podmonitors")] });
  const seen = await running(
    server,
    [],
    Effect.gen(function* () {
      const before = yield* kindsNow;
      server.groups = { [MONITORING]: [kind("podmonitors", ["delete", "get", "list", "watch"])] };
      return [before, yield* looked];
    }),
  );
  deepStrictEqual(seen, [["PodMonitor"], []]);
});

Deno.test("lookForKinds() keeps what it knew while the API server cannot answer, or not for this API", async () => {
  const kept = async (server: Api) => {
    deepStrictEqual(await running(server, [ROUTES], looked), ["Route"]);
    deepStrictEqual(await running(server, [], looked), []);
  };
  for (const status of [406, 500, 503, 403, 429]) await kept({ ...api(), status });
  await kept(api({ [ROUTES]: "Stale" }));
});

Deno.test("lookForKinds() asks for what changed since the last answer", async () => {
  const server = api({ [ROUTES]: [kind("routes")] });
  deepStrictEqual(await running(server, [], Effect.andThen(looked, looked)), ["Route"]);
  const etag = JSON.stringify(server.groups);
  deepStrictEqual(server.asked, [undefined, etag, etag]);
});

Deno.test("isKindGone() tells a deleted definition from a missing right", async () => {
  const gone = (status: number, after: ReadonlyArray<JsonObject> | undefined, name = "PodMonitor") => {
    const server = api({ [MONITORING]: [kind("podmonitors")] });
    return running(
      server,
      [],
      Effect.suspend(() => {
        server.groups = after === undefined ? {} : { [MONITORING]: after };
        return isKindGone(name, error(status));
      }),
    );
  };
  strictEqual(await gone(404, undefined), true);
  strictEqual(await gone(405, undefined), true);
  strictEqual(await gone(403, [kind("podmonitors", ["get"])]), true);
  strictEqual(await gone(403, [kind("podmonitors")]), false);
  strictEqual(await gone(422, undefined), false);
  strictEqual(await gone(404, undefined, "Service"), false);
});

Deno.test("untilServed() ends when the kind is served, and again when it is not", async () => {
  const server = api();
  await running(
    server,
    [],
    Effect.gen(function* () {
      yield* untilServed("PodMonitor", false);
      const waiting = yield* Effect.forkChild(untilServed("PodMonitor", true));
      server.groups = { [MONITORING]: [kind("podmonitors")] };
      yield* lookForKinds;
      yield* Fiber.join(waiting);
    }),
  );
});
