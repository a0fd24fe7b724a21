import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import fc from "fast-check";
import type { JsonObject } from "../../core/data/json.ts";
import { upgradeProof } from "../../core/plan/rollout/keyed_digests.ts";
import type { PackedLater } from "./packed_later.ts";
import { KEPT_OBJECT_MAX, KEPT_OBJECTS_MAX, KEPT_RESOURCE_MAX } from "../limits.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { operatorFacts } from "../process/run.ts";
import { standingOf } from "../../core/snapshot/standing.ts";
import { Store } from "./store.ts";

const KEY = "a key of tests";
const FACTS = operatorFacts({ operatorNamespace: "operator-system", relatedImages: new Map() }, [], KEY);
const run = <A>(program: Effect.Effect<A, never, Store>, layer = Store.layer): Promise<A> =>
  Effect.runPromise(program.pipe(Effect.provide(layer), Effect.provideService(OperatorFacts, FACTS)));
const own = (kind: string, name: string, more: JsonObject = {}): JsonObject => ({
  kind,
  metadata: { name, namespace: "a", labels: { "app.kubernetes.io/instance": "my" } },
  ...more,
});
const RESOURCE: JsonObject = { kind: "LlamaStackDistribution", metadata: { name: "my", namespace: "a" }, spec: {} };

Deno.test("Store keeps what was put, and forgets a resource with its last object", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    yield* store.put(own("Deployment", "my"), "list");
    yield* store.put(own("Pod", "my-1"), "list");
    const { objects, pods } = yield* store.objectsOf("a/my");
    deepStrictEqual([[...objects.keys()], pods.length, yield* store.knows("a/my")], [["Deployment/my"], 1, true]);
    for (const object of [own("Pod", "my-1"), own("Deployment", "my"), RESOURCE]) yield* store.drop(object);
    deepStrictEqual([yield* store.resource("a/my"), yield* store.keys], [undefined, []]);
  })));

Deno.test("Store.retain() forgets what a list did not show, of that kind and scope only", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    for (const name of ["x", "y"]) yield* store.put(own("ConfigMap", name), "list");
    yield* store.put(own("Service", "x"), "list");
    deepStrictEqual(yield* store.retain("ConfigMap", () => false, new Set()), []);
    deepStrictEqual(yield* store.retain("ConfigMap", () => true, new Set(["a/x"])), ["a/my"]);
    deepStrictEqual([...(yield* store.objectsOf("a/my")).objects.keys()], ["ConfigMap/x", "Service/x"]);
  })));

Deno.test("Store.retain() forgets a resource that is gone with its last object", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    yield* store.put(own("ConfigMap", "x"), "list");
    yield* store.drop(RESOURCE);
    yield* store.retain("ConfigMap", () => true, new Set());
    // There is no place left that a doubt could be noted at.
    yield* store.markStale(RESOURCE);
    strictEqual(yield* store.isStale("a/my"), false);
  })));

Deno.test("Store removes postponed entries of deleted and unlisted objects", () => {
  const waiting = new Set<string>();
  const later: PackedLater = {
    add: (place) => void waiting.add(place),
    forget: (place) => void waiting.delete(place),
    packing: Effect.never,
  };
  const kinds = ["Deployment", "ConfigMap", "Pod", "ReplicaSet"];
  const objects = [RESOURCE, ...kinds.map((kind) => own(kind, "my"))];
  return run(
    Effect.gen(function* () {
      const store = yield* Store;
      const putAll = Effect.forEach(objects, (object) => store.put(object, "list"));
      yield* putAll;
      strictEqual(waiting.size, objects.length);
      for (const object of objects.toReversed()) yield* store.drop(object);
      deepStrictEqual([...waiting], []);
      yield* putAll;
      yield* store.drop(RESOURCE);
      deepStrictEqual([...waiting], []);
      yield* putAll;
      for (const kind of kinds) yield* store.retain(kind, () => true, new Set());
      // The resource: whoever lists resources drops it.
      strictEqual(waiting.size, 1);
    }),
    Store.layerWith(() => later),
  );
});

Deno.test("Store keeps of a Deployment's managed fields only whether the operator manages the number of pods", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    const entry = (manager: string) => ({
      manager,
      operation: "Apply",
      fieldsV1: { "f:spec": { "f:replicas": {}, "f:x": {} } },
    });
    const metadata = {
      ...own("Deployment", "my").metadata as JsonObject,
      managedFields: [entry("kubectl"), entry("llama-stack-operator")],
    };
    yield* store.put(own("Deployment", "my", { metadata }), "list");
    const kept = (yield* store.objectsOf("a/my")).objects.get("Deployment/my")?.metadata as JsonObject;
    deepStrictEqual(kept.managedFields, [
      { manager: "llama-stack-operator", operation: "Apply", fieldsV1: { "f:spec": { "f:replicas": {} } } },
    ]);
  })));

const rolled = (available: number, more: JsonObject = {}): JsonObject =>
  own("Deployment", "my", {
    metadata: {
      ...own("Deployment", "my").metadata as JsonObject,
      annotations: {
        "llamastack.io/rollout-cause": "upgrade",
        "llamastack.io/upgrade-proof": upgradeProof(FACTS.hmacKey, "a/my", {}),
      },
    },
    spec: { replicas: 1 },
    status: { replicas: 1, updatedReplicas: 1, availableReplicas: available },
    ...more,
  });

Deno.test("Store.rollingUpgrades keeps the slot of a Deployment that there is no room for", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    yield* store.put(rolled(0, { text: "x".repeat(KEPT_OBJECT_MAX) }), "list");
    yield* store.put(own("Pod", "my-1"), "list");
    deepStrictEqual((yield* store.rollingUpgrades).list.map(({ state }) => state), ["rolling"]);
    yield* store.retain("Deployment", () => true, new Set());
    deepStrictEqual((yield* store.rollingUpgrades).list, []);
  })));

Deno.test("Store.rollingUpgrades follows a Deployment during its upgrade", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    yield* store.put(rolled(0), "list");
    const first = yield* store.rollingUpgrades;
    deepStrictEqual(first.list.map(({ state }) => state), ["rolling"]);
    const crashed = { containerStatuses: [{ ready: false, restartCount: 3 }] };
    yield* store.put(own("Pod", "my-1", { status: crashed }), "list");
    deepStrictEqual((yield* store.rollingUpgrades).list.map(({ state }) => state), ["failed"]);
    yield* store.put(rolled(1), "list");
    const last = yield* store.rollingUpgrades;
    deepStrictEqual(last.list.map(({ state }) => state), ["complete"]);
    ok(last.version > first.version);
  })));

const at = (version: number, more: JsonObject = {}): JsonObject => {
  const service = own("Service", "my", more);
  return { ...service, metadata: { ...service.metadata as JsonObject, uid: "1", resourceVersion: String(version) } };
};

Deno.test("Store.put() drops what was overtaken, wherever it comes from, and believes every list", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    const kept = Effect.map(
      store.objectsOf("a/my"),
      ({ objects }) => (objects.get("Service/my")?.metadata as JsonObject).resourceVersion,
    );
    yield* store.put(RESOURCE, "list");
    yield* store.put(at(9), "watch");
    yield* store.writing(at(8), Effect.succeed(at(8)));
    strictEqual(yield* kept, "9");
    yield* store.writing(at(10), Effect.succeed(at(10)));
    yield* store.put(at(9), "watch");
    strictEqual(yield* kept, "10");
    // The versions of an API server whose database was restored begin lower.
    yield* store.put(at(4), "list");
    strictEqual(yield* kept, "4");
  })));

Deno.test("Store.put() ignores the watch event of its own write, and reports every other change", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    yield* store.writing(at(7), Effect.succeed(at(7)));
    deepStrictEqual(
      [
        yield* store.put(at(7), "watch"),
        yield* store.put(at(6), "watch"),
        yield* store.put(at(8), "watch"),
        yield* store.put(at(8), "list"),
      ],
      [false, false, true, true],
    );
  })));

Deno.test("Store.writing() defers watch events during a write, and reports those of other clients", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    const disturbed = yield* Effect.forkChild(Effect.forever(
      Effect.flatMap(store.conflictingWrites, (key) => Effect.sync(() => told.push(key))),
    ));
    const told: Array<string> = [];
    const during = (version: number, ...meanwhile: ReadonlyArray<number>) =>
      store.writing(
        at(version),
        Effect.gen(function* () {
          for (const item of meanwhile) strictEqual(yield* store.put(at(item), "watch"), false);
          return yield* version === FAILS ? Effect.fail("refused") : Effect.succeed(at(version));
        }),
      ).pipe(Effect.ignore, Effect.andThen(Effect.yieldNow));
    const kept = Effect.map(
      store.objectsOf("a/my"),
      ({ objects }) => (objects.get("Service/my")?.metadata as JsonObject).resourceVersion,
    );
    const FAILS = 15;

    yield* during(7, 6, 7);
    deepStrictEqual([yield* kept, told], ["7", []]);
    yield* during(9, 9, 10);
    deepStrictEqual([yield* kept, told], ["10", ["a/my"]]);
    // Of a write that failed nothing is known: whatever came is news.
    yield* during(FAILS, 12);
    deepStrictEqual([yield* kept, told], ["12", ["a/my", "a/my"]]);
    strictEqual(yield* store.put(at(13), "watch"), true);
    yield* Fiber.interrupt(disturbed);
  })));

Deno.test("Store.put() does not restore an object that was deleted during its write", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    yield* store.put(at(9), "watch");
    yield* store.drop(at(11));
    yield* store.writing(at(10), Effect.succeed(at(10)));
    strictEqual((yield* store.objectsOf("a/my")).objects.size, 0);
  })));

Deno.test("Store.drop() keeps an object that was created again under the name of the deleted one", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    const anew = at(12);
    const other = { ...anew, metadata: { ...anew.metadata as JsonObject, uid: "2" } };
    yield* store.writing(other, Effect.succeed(other));
    yield* store.drop(at(11));
    strictEqual((yield* store.objectsOf("a/my")).objects.size, 1);
  })));

const sized = (kind: string, name: string, characters: number): JsonObject =>
  own(kind, name, { data: { text: "x".repeat(characters) } });

Deno.test("Store ignores objects with the operator's labels that belong to no resource", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    strictEqual(yield* store.put(own("ConfigMap", "stray"), "list"), false);
    yield* store.put(RESOURCE, "watch");
    strictEqual((yield* store.objectsOf("a/my")).objects.size, 0);
    strictEqual(yield* store.mayBeIncomplete("a/my"), true);
  })));

Deno.test("Store keeps the essential part of a large resource and of a large ConfigMap, and nothing of other large objects", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    const large = { ...RESOURCE, spec: { text: "x".repeat(KEPT_RESOURCE_MAX) } };
    yield* store.put(large, "list");
    const kept = yield* store.resource("a/my");
    deepStrictEqual([kept?.whole, JSON.stringify(kept?.object).length < 1000], [false, true]);
    yield* store.put(sized("ConfigMap", "c", KEPT_OBJECT_MAX), "list");
    yield* store.put(sized("Deployment", "my", KEPT_OBJECT_MAX), "list");
    const { objects, partial } = yield* store.objectsOf("a/my");
    deepStrictEqual([[...objects.keys()], partial.length], [[], 1]);
    // A change of a field that is not cached is detected anyway.
    const before = yield* store.resourceNow("a/my");
    deepStrictEqual(
      [before(large), before({ ...large, status: { phase: "Ready" } }), before({ ...large, spec: { other: 1 } })],
      [true, true, false],
    );
  })));

Deno.test("Store finds a resource changed when its conditions were removed, and not when they were written", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    const conditions = [{ type: "Ready", status: "True" }];
    yield* store.put({ ...RESOURCE, status: { conditions } }, "list");
    const before = yield* store.resourceNow("a/my");
    deepStrictEqual(
      [
        before({ ...RESOURCE, status: {} }),
        before({ ...RESOURCE, status: { conditions: [{ type: "Ready", status: "False" }] } }),
      ],
      [false, true],
    );
  })));

Deno.test("Store accepts a resource that is nested too deeply to be written", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    let deep: JsonObject = {};
    for (let level = 0; level < 20_000; level++) deep = { a: deep };
    yield* store.put({ ...RESOURCE, spec: deep }, "list");
    strictEqual((yield* store.resource("a/my"))?.whole, false);
  })));

Deno.test("Store says which resource lacks an object that there is no room for", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    strictEqual(yield* store.mayBeIncomplete("a/my"), false);
    for (const kind of ["Ingress", "Pod", "ReplicaSet"]) {
      const large = sized(kind, "x", KEPT_OBJECT_MAX);
      yield* store.put(large, "watch");
      deepStrictEqual([yield* store.mayBeIncomplete("a/my"), yield* store.lacks(large)], [true, true], kind);
      yield* store.markComplete("a/my");
    }
    // The essential part of it is enough.
    const config = sized("ConfigMap", "x", KEPT_OBJECT_MAX);
    yield* store.put(config, "watch");
    deepStrictEqual([yield* store.mayBeIncomplete("a/my"), yield* store.lacks(config)], [false, false]);
  })));

Deno.test("Store keeps a bounded number of objects for one resource", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    for (let index = 0; index < KEPT_OBJECTS_MAX + 50; index++) yield* store.put(own("Pod", `p${index}`), "list");
    strictEqual((yield* store.objectsOf("a/my")).pods.length, KEPT_OBJECTS_MAX);
  })));

Deno.test("Store.standings counts what a recount would", () =>
  fc.assert(fc.asyncProperty(
    fc.array(
      fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("Ready", "Failed", undefined, "gone", "missing")),
      {
        maxLength: 30,
      },
    ),
    (events) =>
      run(Effect.gen(function* () {
        const store = yield* Store;
        let version = 0;
        for (const [name, what] of events) {
          version++;
          const object: JsonObject = {
            ...RESOURCE,
            metadata: { name, namespace: "a", uid: `${name}-${version}`, resourceVersion: String(version) },
            ...(what === undefined ? {} : { status: { phase: what } }),
          };
          if (what === "gone") yield* store.drop(object);
          else yield* store.put(object, what === "missing" ? "list" : "watch");
        }
        const counts = new Map<string, number>();
        for (const key of yield* store.keys) {
          const standing = standingOf((yield* store.resource(key))?.object ?? {});
          counts.set(standing, (counts.get(standing) ?? 0) + 1);
        }
        deepStrictEqual(yield* store.standings, counts);
      })),
  )));

Deno.test("Store caches an object again when its labels match again and came back", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    const at = (resourceVersion: string) => ({
      metadata: { ...own("Deployment", "my").metadata as JsonObject, uid: "u", resourceVersion },
    });
    yield* store.put(own("Deployment", "my", at("10")), "watch");
    yield* store.drop(own("Deployment", "my", at("12")));
    strictEqual(yield* store.put(own("Deployment", "my", at("11")), "watch"), false);
    strictEqual(yield* store.put(own("Deployment", "my", at("13")), "watch"), true);
    strictEqual((yield* store.objectsOf("a/my")).objects.has("Deployment/my"), true);
  })));

Deno.test("Store.moved() forgets what now belongs to another resource by its labels, or to none", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(RESOURCE, "list");
    const pod = own("Pod", "my-1");
    const labelled = (labels: JsonObject): JsonObject => ({
      ...pod,
      metadata: { ...pod.metadata as JsonObject, labels },
    });
    yield* store.put(pod, "list");
    deepStrictEqual(yield* store.moved(pod), []);
    deepStrictEqual(yield* store.moved(labelled({ "app.kubernetes.io/instance": "other" })), ["a/my"]);
    deepStrictEqual((yield* store.objectsOf("a/my")).pods, []);
    yield* store.put(pod, "list");
    deepStrictEqual(yield* store.moved(labelled({})), ["a/my"]);
  })));
