import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { Effect } from "effect";
import type { JsonObject } from "../core/json.ts";
import { packed, unpacked } from "./packed.ts";
import { Store } from "./store.ts";

const run = <A>(program: Effect.Effect<A, never, Store>): Promise<A> =>
  Effect.runPromise(Effect.provide(program, Store.layer));
const own = (kind: string, name: string, more: JsonObject = {}): JsonObject => ({
  kind,
  metadata: { name, namespace: "a", labels: { "app.kubernetes.io/instance": "my" } },
  ...more,
});
const RESOURCE: JsonObject = { kind: "LlamaStackDistribution", metadata: { name: "my", namespace: "a" }, spec: {} };

Deno.test("packed() keeps every value, short or long", () => {
  for (const data of ["", "ü — 漢字 \u{1F999}", "x".repeat(100_000)]) {
    deepStrictEqual(unpacked(packed({ data })), { data });
  }
  ok(packed({ data: "x".repeat(100_000) }).length < 2000);
});

Deno.test("Store keeps what was put, and forgets a resource with its last object", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE);
    yield* store.put(own("Deployment", "my"));
    yield* store.put(own("Pod", "my-1"));
    const { objects, pods } = yield* store.shelf("a/my");
    deepStrictEqual([[...objects.keys()], pods.length, yield* store.knows("a/my")], [["Deployment/my"], 1, true]);
    for (const one of [own("Pod", "my-1"), own("Deployment", "my"), RESOURCE]) yield* store.drop(one);
    deepStrictEqual([yield* store.resource("a/my"), yield* store.keys], [undefined, []]);
  })));

Deno.test("Store.retain() forgets what a list did not show, of that kind and scope only", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE);
    for (const name of ["x", "y"]) yield* store.put(own("ConfigMap", name));
    yield* store.put(own("Service", "x"));
    deepStrictEqual(yield* store.retain("ConfigMap", () => false, new Set()), []);
    deepStrictEqual(yield* store.retain("ConfigMap", () => true, new Set(["a/x"])), ["a/my"]);
    deepStrictEqual([...(yield* store.shelf("a/my")).objects.keys()], ["ConfigMap/x", "Service/x"]);
  })));

Deno.test("Store keeps of a Deployment's managed fields only whether its number of pods is ours", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    const entry = (manager: string) => ({
      manager,
      operation: "Apply",
      fieldsV1: { "f:spec": { "f:replicas": {}, "f:x": {} } },
    });
    const metadata = {
      ...own("Deployment", "my").metadata as JsonObject,
      managedFields: [entry("kubectl"), entry("llama-stack-operator")],
    };
    yield* store.put(own("Deployment", "my", { metadata }));
    const kept = (yield* store.shelf("a/my")).objects.get("Deployment/my")?.metadata as JsonObject;
    deepStrictEqual(kept.managedFields, [
      { manager: "llama-stack-operator", operation: "Apply", fieldsV1: { "f:spec": { "f:replicas": {} } } },
    ]);
  })));

Deno.test("Store.away follows a Deployment that an upgrade rolls", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE);
    const rolled = (available: number): JsonObject =>
      own("Deployment", "my", {
        metadata: {
          ...own("Deployment", "my").metadata as JsonObject,
          annotations: { "llamastack.io/rollout-cause": "upgrade" },
        },
        spec: { replicas: 1 },
        status: { replicas: 1, updatedReplicas: 1, availableReplicas: available },
      });
    yield* store.put(rolled(0));
    const first = yield* store.away;
    deepStrictEqual(first.list.map(({ state }) => state), ["rolling"]);
    const crashed = { containerStatuses: [{ ready: false, restartCount: 3 }] };
    yield* store.put(own("Pod", "my-1", { status: crashed }));
    deepStrictEqual((yield* store.away).list.map(({ state }) => state), ["failed"]);
    yield* store.put(rolled(1));
    const last = yield* store.away;
    strictEqual(last.list.length, 0);
    ok(last.version > first.version);
  })));
