/** Events of resources whose status cannot be written, in virtual time. */
import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { UNCONVERTED_ANNOTATION } from "../../core/api/convert/annotation.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { failedCall } from "../../shell/kubernetes/cluster.ts";
import { manifest } from "../given.ts";
import { MemoryCluster } from "./cluster.ts";
import { operatorOn, pass, storeOwnSecret } from "./operator.ts";

const WRONG: JsonObject = { providers: { inference: [{ provider: "nonsense", endpoint: "http://x" }] } };

/** Reasons of the Events while writes of the status are answered so, and of all once they are carried out. */
const events = (status: number, annotations: JsonObject = {}) =>
  Effect.gen(function* () {
    const cluster = new MemoryCluster(() => 5);
    storeOwnSecret(cluster);
    const resource = manifest(WRONG);
    cluster.write(
      "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions/my",
      { ...resource, metadata: { ...objectAt(resource, "metadata"), annotations } },
      "kubectl",
    );
    cluster.fault = (verb, path) =>
      path.includes("/my/status")
        ? failedCall({ verb, path, status, reason: "injected", detail: "", retryAfterMs: undefined })
        : undefined;
    const reasons = () =>
      listAt(cluster.read("/apis/events.k8s.io/v1/namespaces/default/events"), "items")
        .map((event) => stringAt(event, "reason"));
    const running = yield* Effect.forkChild(operatorOn(cluster));
    yield* pass(cluster, 60);
    const before = reasons();
    cluster.fault = () => undefined;
    yield* pass(cluster, 120);
    yield* Fiber.interrupt(running);
    return [before, reasons()];
  }).pipe(
    Effect.provide(TestClock.layer()),
    Effect.runPromise,
  );

Deno.test("a failure is reported once, however often its status could not be written", async () => {
  for (const status of [409, 403, 500]) deepStrictEqual(await events(status), [[], ["ConfigGenerationFailed"]]);
});

Deno.test("nothing is reported of a resource whose status is never written", async () => {
  deepStrictEqual(await events(200, { [UNCONVERTED_ANNOTATION]: "a long name" }), [[], []]);
});
