/** The cluster in memory does what the real API server does: one script on both, and the same answers. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import type { Manifest } from "../../core/resources/blueprint.ts";
import { Patch, type Precondition } from "../../core/plan/patch.ts";
import { FIELD_MANAGER } from "../../core/snapshot/field_manager.ts";
import { keyOf } from "../../core/snapshot/object_key.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { pathOf } from "../../shell/kubernetes/object_path.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { MemoryCluster } from "../memory/cluster.ts";

const meta = (name: string, more: JsonObject = {}) => ({ name, namespace: "default", ...more });

const deployment = (container: JsonObject, spec: JsonObject = {}, labels: JsonObject = { a: "1" }): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: meta("my", { labels }),
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "my" } },
    template: {
      metadata: { labels: { app: "my" } },
      spec: { containers: [{ name: "one", image: "a:1", ...container }] },
    },
    ...spec,
  },
});

const service = (ports: ReadonlyArray<JsonObject>): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: meta("my"),
  spec: { selector: { app: "my" }, ports },
});

const configMap = (data: JsonObject, annotations: JsonObject = {}): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: meta("my", { annotations }),
  data,
});

const env = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, value: name }));

/** `from`: the version of the object after so many steps. */
type Step =
  | { readonly apply: Manifest; readonly precondition?: Precondition | { readonly from: number } }
  | { readonly update: Manifest; readonly change: (object: JsonObject) => JsonObject }
  | { readonly delete: Manifest };

const PORT = { name: "http", port: 80, protocol: "TCP", targetPort: 80 };

const SCRIPT: ReadonlyArray<Step> = [
  { apply: configMap({ a: "1", b: "2" }), precondition: "must not exist" },
  { apply: configMap({ a: "1", b: "2" }), precondition: "must not exist" },
  { apply: configMap({ a: "1", c: "3" }), precondition: { from: 0 } },
  { apply: configMap({ a: "2" }), precondition: { from: 0 } },
  {
    update: configMap({}),
    change: (object) => put(put(object, ["data", "a"], "by hand"), ["data", "own"], "x") as JsonObject,
  },
  { apply: configMap({ a: "1" }, { note: "n" }), precondition: "any" },
  { apply: configMap({ a: "1" }, { note: "n" }), precondition: "any" },
  { apply: service([PORT, { ...PORT, name: "more", port: 81 }]) },
  { apply: service([PORT]) },
  { apply: deployment({ env: env("A", "B"), ports: [{ containerPort: 80, protocol: "TCP" }] }) },
  { apply: deployment({ env: env("B", "C"), ports: [{ containerPort: 81, protocol: "TCP" }] }) },
  {
    update: deployment({}),
    change: (object) => {
      const [container] = listAt(object, "spec", "template", "spec", "containers") as ReadonlyArray<JsonObject>;
      const changed = { ...container, image: "by-hand:1", env: [...listAt(container ?? null, "env"), ...env("HAND")] };
      return put(object, ["spec", "template", "spec", "containers"], [changed]) as JsonObject;
    },
  },
  { apply: deployment({ env: env("B") }, {}, { a: "2", b: "3" }) },
  { apply: deployment({ env: env("B"), resources: { limits: { cpu: "1" } } }, { replicas: 3 }, {}) },
  { apply: deployment({}, {}, {}) },
  { delete: deployment({}) },
  { delete: deployment({}) },
  { apply: deployment({}), precondition: "must not exist" },
];

interface Answered {
  readonly step: number;
  readonly outcome: string;
  /** What each manager owns, by its name. */
  readonly owned: Readonly<Record<string, Json>>;
  readonly object: JsonObject;
}

/** `update` writes an object as kubectl edit does. */
const played = (update: (path: string, object: JsonObject) => Promise<void>) =>
  Effect.gen(function* () {
    const cluster = yield* Cluster;
    const answers: Array<Answered> = [];
    const versions: Array<string> = [];
    for (const [step, what] of SCRIPT.entries()) {
      const target = "apply" in what ? what.apply : "update" in what ? what.update : what.delete;
      const found = yield* cluster.get(keyOf(target));
      let outcome = "ok";
      if ("update" in what) yield* Effect.promise(() => update(pathOf(keyOf(target)) ?? "", what.change(found ?? {})));
      else {
        const { precondition = "any" } = "apply" in what ? what : {};
        const patch = "apply" in what
          ? Patch.ServerSideApply({
            object: what.apply,
            fieldManager: FIELD_MANAGER,
            precondition: typeof precondition === "object" && "from" in precondition
              ? { version: versions[precondition.from] ?? "" }
              : precondition,
          })
          : Patch.Delete({
            key: keyOf(target),
            uid: stringAt(found ?? null, "metadata", "uid") ?? "none",
            version: "",
          });
        const result = yield* Effect.result(cluster.send(patch));
        if (Result.isFailure(result)) outcome = String(result.failure.status);
      }
      const object = (yield* cluster.get(keyOf(target))) ?? {};
      const isSame =
        stringAt(object, "metadata", "resourceVersion") === stringAt(found ?? null, "metadata", "resourceVersion");
      versions.push(stringAt(object, "metadata", "resourceVersion") ?? "");
      const managers = listAt(object, "metadata", "managedFields").filter((entry) =>
        ["editor", FIELD_MANAGER].includes(stringAt(entry, "manager") ?? "")
      );
      const owned = Object.fromEntries(
        managers.map((entry) => [stringAt(entry, "manager") ?? "", sorted(unmarked(objectAt(entry, "fieldsV1")))]),
      );
      answers.push({ step, outcome: isSame && outcome === "ok" ? "nothing changed" : outcome, owned, object });
    }
    return answers;
  });

/** A map has a mark of its own where it was updated, and none where it was applied. */
const unmarked = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(([key]) => key !== ".").map(([key, inner]) => [key, unmarked(inner as JsonObject)]),
  );

const sorted = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(
      Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1).map(([key, inner]) => [key, sorted(inner)]),
    )
    : value;

/** Whether the real object has everything of the one in memory; defaults are more. */
const has = (real: Json | undefined, memory: Json): boolean =>
  isObject(memory)
    ? Object.entries(memory).every(([key, inner]) => isObject(real ?? null) && has((real as JsonObject)[key], inner))
    : isList(memory)
    ? isList(real ?? null) && (real as ReadonlyArray<Json>).length === memory.length &&
      memory.every((item, index) => has((real as ReadonlyArray<Json>)[index], item))
    : JSON.stringify(real) === JSON.stringify(memory);

Deno.test("the cluster in memory answers a script of writes as a real API server does", async () => {
  const memory = new MemoryCluster(() => 0);
  const inMemory = await Effect.runPromise(
    played((path, object) => Promise.resolve(memory.write(path, object, "editor"))).pipe(
      Effect.provideService(Cluster, memory.door),
    ),
  );
  const cluster = await startControlPlane();
  try {
    const update = async (path: string, object: JsonObject) => {
      const answer = await cluster.fetch(`${path}?fieldManager=editor`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(object),
      });
      ok(answer.ok, await answer.text());
    };
    const connection = {
      url: cluster.url,
      caPem: () => cluster.caPem,
      clientCertificate: undefined,
      token: () => cluster.adminToken,
    };
    const real = await Effect.runPromise(played(update).pipe(Effect.provide(Cluster.layer(connection)), Effect.scoped));
    deepStrictEqual(
      inMemory.map(({ step, outcome, owned }) => ({ step, outcome, owned })),
      real.map(({ step, outcome, owned }) => ({ step, outcome, owned })),
    );
    for (const [step, { object }] of inMemory.entries()) {
      const { metadata: _metadata, ...rest } = object;
      ok(has(real[step]?.object, rest), `${step}: ${JSON.stringify(rest)}\n${JSON.stringify(real[step]?.object)}`);
    }
  } finally {
    await cluster.stop();
  }
});
