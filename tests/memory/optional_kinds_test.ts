/** Servers while the API server does not list an optional kind, in virtual time. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { listAt } from "../../core/data/json.ts";
import { failedCall } from "../../shell/kubernetes/cluster.ts";
import { manifest } from "../given.ts";
import { MemoryCluster } from "./cluster.ts";
import { operatorOn, pass, storeOwnSecret } from "./operator.ts";

/** Numbers of Deployments while lists of HTTPRoutes are answered so, and once they are carried out; virtual time. */
const deployments = (status: number | undefined) =>
  Effect.gen(function* () {
    const cluster = new MemoryCluster(() => 5);
    storeOwnSecret(cluster);
    cluster.write(
      "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions/my",
      manifest({}),
      "kubectl",
    );
    cluster.fault = (verb, path) =>
      path.includes("httproutes")
        ? failedCall({ verb, path, status, reason: "", detail: "", retryAfterMs: undefined })
        : undefined;
    const made = () => listAt(cluster.read("/apis/apps/v1/namespaces/default/deployments"), "items").length;
    const running = yield* Effect.forkChild(operatorOn(cluster, ["HTTPRoute"]));
    yield* pass(cluster, 60);
    const before = made();
    cluster.fault = () => undefined;
    yield* pass(cluster, 120);
    yield* Fiber.interrupt(running);
    return [before, made()];
  }).pipe(
    Effect.provide(TestClock.layer()),
    Effect.runPromise,
  );

Deno.test("nothing is decided before the objects of the optional kinds that are served are known", async () => {
  deepStrictEqual(await deployments(undefined), [0, 1]);
});

Deno.test("an optional kind that the API server does not list stops no server", async () => {
  for (const status of [403, 404, 500]) strictEqual((await deployments(status))[0], 1, String(status));
});
