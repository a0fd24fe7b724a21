/** The objects of every sample on a real API server: accepted as they are, applied again nothing is written, over anything else refused. */
import * as Redacted from "effect/Redacted";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { decodeResource } from "../../core/api/decode.ts";
import { derive } from "../../core/config/derive.ts";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import type { Manifest } from "../../core/resources/blueprint.ts";
import { listed, objectsOf } from "../../core/resources/objects.ts";
import { keyOf } from "../../core/snapshot/object_key.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { pathOf } from "../../shell/kubernetes/object_path.ts";
import { connectionOf } from "../../shell/kubernetes/kubeconfig.ts";
import { blueprintOf, configContentOf, NOWHERE } from "../../core/resources/of_resource.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { SURROUNDINGS } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { Patch, type Precondition } from "../../core/plan/patch.ts";

const SAMPLES = new URL("../../deploy/samples/", import.meta.url);
const UID = "00000000-0000-0000-0000-000000000000";

const apply = async (cluster: ControlPlane, manifest: Manifest): Promise<JsonObject> => {
  const { kind, metadata } = manifest;
  const path = pathOf(keyOf(manifest)) ?? "";
  const answer = await cluster.fetch(`${path}?fieldManager=llama-stack-operator&force=true&fieldValidation=Strict`, {
    method: "PATCH",
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(manifest),
  });
  const body = await answer.json() as JsonObject;
  ok(answer.ok, `${kind} ${metadata.name}: ${body.message}`);
  return body;
};

/** The status of each apply by somebody else over what is said to have been seen; 200 where it was made. */
const appliedOver = (
  cluster: ControlPlane,
  all: ReadonlyArray<Manifest>,
  precondition: (index: number) => Precondition,
): Promise<ReadonlyArray<number | undefined>> =>
  Effect.runPromise(
    Effect.flatMap(Cluster, (door) =>
      Effect.forEach(all, (manifest, index) =>
        Effect.match(
          door.send(
            Patch.ServerSideApply({ object: manifest, fieldManager: "somebody", precondition: precondition(index) }),
          ),
          {
            onSuccess: () => 200,
            onFailure: ({ status }) => status,
          },
        )))
      .pipe(Effect.provide(Cluster.layer(connectionOf(cluster.kubeconfig, undefined)))),
  );

Deno.test("the objects of every sample on a real API server", async (t) => {
  const cluster = await startControlPlane();
  try {
    let samples = 0;
    for await (const { name } of Deno.readDir(SAMPLES)) {
      await t.step(
        `${name} is accepted with strict field validation, applying it again writes nothing, and an apply over nothing or over an older version is refused`,
        async () => {
          const documents = Result.getOrThrow(readManifests(await Deno.readTextFile(new URL(name, SAMPLES))));
          const resource = Result.getOrThrow(decodeResource(documents[0] ?? null, "strict"));
          const derived = Result.getOrThrow(derive(resource, SURROUNDINGS));
          const place = { ...NOWHERE, uid: UID };
          const contents = {
            config: configContentOf(derived),
            connections: { sql: { LLSD_SQL_HOST: Redacted.make("h") }, kv: { LLSD_KV_USERINFO: Redacted.make(":p@") } },
            caBundlePem: "pem",
          };
          const all = listed(objectsOf(blueprintOf(resource, derived, place), contents));
          await Promise.all(all.map((manifest) => apply(cluster, manifest)));
          // The API server itself writes a claim once more on the next apply, whatever is in it; from then on it is quiet.
          const first = await Promise.all(all.map((manifest) => apply(cluster, manifest)));
          const second = await Promise.all(all.map((manifest) => apply(cluster, manifest)));
          const versions = (list: ReadonlyArray<JsonObject>) =>
            list.map((object) => stringAt(object, "metadata", "resourceVersion"));
          const changed = all.filter((_, index) => versions(second)[index] !== versions(first)[index]);
          deepStrictEqual(changed.map(({ kind, metadata }) => `${kind} ${metadata.name}`), []);
          const version = (index: number) => Number(versions(second)[index]);
          deepStrictEqual(new Set(await appliedOver(cluster, all, () => "must not exist")), new Set([409]));
          const stale = await appliedOver(cluster, all, (index) => ({ version: String(version(index) - 1) }));
          deepStrictEqual(new Set(stale), new Set([409]));
          const third = await Promise.all(all.map((manifest) => apply(cluster, manifest)));
          deepStrictEqual(versions(third), versions(second));
          const seen = await appliedOver(cluster, all, (index) => ({ version: String(version(index)) }));
          deepStrictEqual(new Set(seen), new Set([200]));
          samples++;
        },
      );
    }
    strictEqual(samples >= 9, true);
  } finally {
    await cluster.stop();
  }
});
