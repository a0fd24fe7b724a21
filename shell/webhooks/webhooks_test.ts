import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { TestClock } from "effect/testing";
import { VALIDATE_PATH } from "../../core/api/own_objects.ts";
import { ADMISSION_LOOK_MS } from "../../core/data/limits.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { manifest, secret } from "../../tests/given.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { SETTINGS_RETRY_MS } from "../limits.ts";
import { webhookRoutes } from "./webhooks.ts";

const REVIEW = new TextEncoder().encode(JSON.stringify({
  request: {
    uid: "u",
    namespace: "default",
    object: manifest({
      providers: { inference: [{ provider: "vllm", endpoint: "http://v/v1", apiKey: secret("s", "k") }] },
    }),
    oldObject: null,
    requestKind: { version: "v1alpha2" },
  },
}));

/** Statuses of so many reviews one after the other, each after its deadline, and what they read. */
const reviewed = (count: number, settings: Effect.Effect<JsonObject> | undefined, pauseMs = 0) =>
  Effect.gen(function* () {
    const asked: Array<string> = [];
    const never = (what: string) => Effect.andThen(Effect.sync(() => asked.push(what)), Effect.never);
    const cluster = {
      list: () =>
        settings === undefined
          ? never("settings")
          : Effect.map(settings, (map) => ({ items: [map], resourceVersion: "1" })),
      get: ({ name }: { readonly name: string }) => never(name),
    } as unknown as typeof Cluster.Service;
    const routes = yield* webhookRoutes({ operatorNamespace: "o", namespaces: [], relatedImages: new Map() });
    const statuses: Array<number | undefined> = [];
    for (let done = 0; done < count; done++) {
      const answer = routes[VALIDATE_PATH]?.answer(REVIEW, "API server") ?? Effect.die("no route");
      const running = yield* Effect.forkChild(Effect.provideService(answer, Cluster, cluster));
      yield* TestClock.adjust(ADMISSION_LOOK_MS);
      statuses.push(running.pollUnsafe() === undefined ? undefined : (yield* Fiber.join(running)).status);
      yield* TestClock.adjust(pauseMs);
    }
    return { statuses, asked };
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise);

Deno.test("admission answers by one deadline, whatever the API server does not answer", async () => {
  const invalid = Effect.succeed({ data: { "admission-references": "nonsense" } });
  deepStrictEqual((await reviewed(1, undefined)).statuses, [200]);
  const { statuses, asked } = await reviewed(1, invalid);
  deepStrictEqual([statuses, asked.length], [[200], 1]);
});

Deno.test("admission does not wait again at once for settings that could not be read", async () => {
  deepStrictEqual((await reviewed(2, undefined)).asked, ["settings", "s"]);
  const { asked } = await reviewed(2, undefined, SETTINGS_RETRY_MS);
  strictEqual(asked.filter((what) => what === "settings").length, 2);
});
