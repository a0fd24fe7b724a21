import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Logger from "effect/Logger";
import * as SubscriptionRef from "effect/SubscriptionRef";
import type { JsonObject } from "../../core/data/json.ts";
import { Cluster, failedCall } from "./cluster.ts";
import { isKindGone, lookForKinds, ServedKinds, servedKinds, untilServed } from "./served_kinds.ts";

const error = (status: number | undefined) =>
  failedCall({ verb: "get", path: "/", status, reason: "", detail: "", retryAfterMs: undefined });

const MONITORING = "/apis/monitoring.coreos.com/v1";
const ROUTES = "/apis/route.openshift.io/v1";

/** An API server whose discovery a test changes: resources by path, or the status of the answer. */
type Discovery = Record<string, ReadonlyArray<JsonObject> | number | undefined>;

const kind = (name: string, verbs: ReadonlyArray<string> = ["get", "list", "patch", "watch"]): JsonObject => ({
  name,
  verbs,
});

const on = (discovery: Discovery): (typeof Cluster)["Service"] => ({
  read: (path: string) => {
    const found = discovery[path] ?? 404;
    return typeof found === "number" ? Effect.fail(error(found)) : Effect.succeed({ resources: found });
  },
} as unknown as (typeof Cluster)["Service"]);

const running = <A>(discovery: Discovery, groups: ReadonlyArray<string>, program: Effect.Effect<A, never, Cluster>) =>
  Effect.runPromise(program.pipe(
    Effect.provideServiceEffect(ServedKinds, servedKinds(groups)),
    Effect.provideService(Cluster, on(discovery)),
    Effect.provide(Logger.layer([])),
  ));
const now = Effect.flatMap(ServedKinds, SubscriptionRef.get);
const looked = Effect.andThen(lookForKinds, now);

Deno.test("servedKinds() looks for each kind in its version: a group may come without it", async () => {
  const discovery: Discovery = { [MONITORING]: [kind("podmonitors"), kind("servicemonitors")] };
  deepStrictEqual(await running(discovery, ["monitoring.coreos.com"], now), ["PodMonitor"]);
  deepStrictEqual(await running({ [MONITORING]: [kind("servicemonitors")] }, ["monitoring.coreos.com"], now), []);
  deepStrictEqual(await running({}, [], now), []);
});

Deno.test("lookForKinds() takes a kind as gone that can only be read, while its definition is being deleted", async () => {
  const discovery: Discovery = { [MONITORING]: [kind("podmonitors")] };
  const seen = await running(
    discovery,
    [],
    Effect.gen(function* () {
      const before = yield* now;
      discovery[MONITORING] = [kind("podmonitors", ["delete", "get", "list", "watch"])];
      return [before, yield* looked];
    }),
  );
  deepStrictEqual(seen, [["PodMonitor"], []]);
});

Deno.test("lookForKinds() keeps what it knew while the API server cannot answer", async () => {
  for (const status of [500, 503, 403, 429]) {
    deepStrictEqual(await running({ [ROUTES]: status }, ["route.openshift.io"], looked), ["Route"], String(status));
    deepStrictEqual(await running({ [ROUTES]: status }, [], looked), [], String(status));
  }
  deepStrictEqual(await running({ [ROUTES]: 404 }, ["route.openshift.io"], looked), []);
});

Deno.test("isKindGone() tells a deleted definition from a missing right", async () => {
  const gone = (status: number, after: ReadonlyArray<JsonObject> | undefined, name = "PodMonitor") => {
    const discovery: Discovery = { [MONITORING]: [kind("podmonitors")] };
    return running(
      discovery,
      [],
      Effect.suspend(() => {
        discovery[MONITORING] = after;
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
  const discovery: Discovery = {};
  await running(
    discovery,
    [],
    Effect.gen(function* () {
      yield* untilServed("PodMonitor", false);
      const waiting = yield* Effect.forkChild(untilServed("PodMonitor", true));
      discovery[MONITORING] = [kind("podmonitors")];
      yield* lookForKinds;
      yield* Fiber.join(waiting);
    }),
  );
});
