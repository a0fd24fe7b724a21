import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { after, converged, edited, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { BASES } from "../config/servers/bases.ts";
import { decodeResource } from "../api/decode.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { type ImageLabels, recordedIn } from "../image/image_labels.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { IMAGE_DIGEST_ANNOTATION, labelsNeeded } from "./image_question.ts";

const IMAGE = "registry.example.com/ai/mine:1";
const [FIRST, SECOND] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];
const BASE = `${BASES["starter-1.5.yaml"]}`;
const SPEC: JsonObject = {
  distribution: { image: IMAGE },
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
};
const asking = { ...OPERATOR, surroundings: { ...OPERATOR.surroundings, imageLabels: "Auto" as const } };
const answer = (digest: string, content = BASE): ImageLabels => ({
  kind: "read",
  read: {
    image: IMAGE,
    digest,
    wanted: undefined,
    config: { file: "config.yaml", base: { origin: `config.yaml of image ${IMAGE}`, content }, serverVersion: "1.5.0" },
  },
});
const given = (spec: JsonObject, labels?: ImageLabels): ClusterSnapshot => snapshot(spec, { operator: asking, labels });
const needed = (from: ClusterSnapshot) =>
  labelsNeeded(from, Result.getOrThrow(decodeResource(from.resource, "lenient")));
/** As the next reconciliation sees it: the configs of the resource among its objects, and labels only from their record. */
const seen = (from: ClusterSnapshot): ClusterSnapshot => {
  const configs = [...from.live.values()].filter(({ kind, metadata }) =>
    kind === "ConfigMap" && stringAt(metadata, "labels", "app.kubernetes.io/component") === "generated-config"
  );
  const found = needed({ ...from, configs });
  const labels: ImageLabels | undefined = found?.recorded === undefined
    ? found?.meanwhile
    : { kind: "read", read: found.recorded };
  return { ...from, configs, labels };
};
const image = (from: ClusterSnapshot): string | undefined =>
  stringAt(listAt(from.live.get("Deployment/my"), "spec", "template", "spec", "containers")[0], "image");

Deno.test("a resource whose labels are awaited writes no Deployment, and says why", () => {
  const { snapshot: waiting } = converged(given(SPEC, { kind: "awaited" }));
  strictEqual(waiting.live.get("Deployment/my"), undefined);
  ok(JSON.stringify(waiting.resource.status).includes("ImageLabelsAwaited"));
});

Deno.test("the config keeps what it was made from, so that the next reconciliation asks nobody and writes nothing", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  strictEqual(image(settled), `registry.example.com/ai/mine@${FIRST}`);
  const again = seen(settled);
  deepStrictEqual(needed(again)?.recorded, (answer(FIRST) as Extract<ImageLabels, { kind: "read" }>).read);
  deepStrictEqual(planOf(again).steps, []);
});

Deno.test("an edit that needs no other base goes through on the record", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const changed = seen(edited(settled, { ...SPEC, resources: { models: [{ name: "m1" }] } }));
  const done = after(changed, planOf(changed));
  strictEqual(image(done), `registry.example.com/ai/mine@${FIRST}`);
  strictEqual(at(done.resource, "status", "configGeneration", "resourceCount"), 1);
});

Deno.test("another image, file or requested digest is asked for, and the running Deployment is unchanged until the answer", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const changes = [
    { image: "registry.example.com/ai/mine:2" },
    { image: IMAGE, config: "other.yaml" },
  ];
  for (const distribution of changes) {
    const changed = seen(edited(settled, { ...SPEC, distribution }));
    strictEqual(needed(changed)?.recorded, undefined);
    const done = after(changed, planOf(changed));
    deepStrictEqual(done.live.get("Deployment/my"), settled.live.get("Deployment/my"));
  }
  const asked = put(settled.resource, ["metadata", "annotations"], { [IMAGE_DIGEST_ANNOTATION]: `${IMAGE}@${SECOND}` });
  const found = needed(seen({ ...settled, resource: asked }));
  strictEqual(found?.recorded, undefined);
  strictEqual(found?.question().reference, `registry.example.com/ai/mine@${SECOND}`);
  const other = put(settled.resource, ["metadata", "annotations"], { [IMAGE_DIGEST_ANNOTATION]: `other:1@${SECOND}` });
  ok(needed(seen({ ...settled, resource: other }))?.recorded !== undefined);
});

Deno.test("a requested digest is rolled out as an edit, with a config of its own", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const asked = put(settled.resource, ["metadata", "annotations"], { [IMAGE_DIGEST_ANNOTATION]: `${IMAGE}@${SECOND}` });
  const before = { ...settled, resource: asked as JsonObject, labels: answer(SECOND) };
  const done = after(before, planOf(before));
  strictEqual(image(done), `registry.example.com/ai/mine@${SECOND}`);
  const records = [...done.live.values()].flatMap((object) => recordedIn(object) ?? []).map(({ digest }) => digest);
  deepStrictEqual(records.toSorted(), [FIRST, SECOND]);
});

Deno.test("the tag is looked at again after an edit, and not otherwise", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  strictEqual(needed(seen(settled))?.checksTag, false);
  strictEqual(needed(seen(edited(settled, { ...SPEC, suspend: false })))?.checksTag, true);
});

Deno.test("nothing is asked without need: no generated config, an embedded base, or the setting Never", () => {
  strictEqual(needed(given({ distribution: { image: IMAGE } })), undefined);
  strictEqual(needed(given({ ...SPEC, distribution: { name: "starter" } })), undefined);
  const override = { distribution: { image: IMAGE }, overrideConfig: { configMapName: "own" } };
  strictEqual(needed(given(override)), undefined);
  strictEqual(needed(snapshot(SPEC)), undefined);
});

Deno.test("a server on the embedded base is not disturbed while the labels of its overridden image are read", () => {
  const overrides = { settings: new Map([["ogx-starter", "mirror.example/ogx:mine"]]), related: new Map() };
  const operator = { ...asking, surroundings: { ...asking.surroundings, overrides } };
  const spec = { ...SPEC, distribution: { name: "ogx-starter" } };
  const { snapshot: settled } = converged(snapshot(spec));
  const deployment = put(settled.live.get("Deployment/my") ?? {}, ["spec", "template", "spec", "containers"], [
    { name: "llama-stack", image: "mirror.example/ogx:mine" },
  ]) as JsonObject;
  const live = new Map([...settled.live, ["Deployment/my", deployment]]);
  strictEqual(needed({ ...settled, operator, live })?.meanwhile, undefined);
  deepStrictEqual(needed({ ...settled, operator, live: new Map() })?.meanwhile, { kind: "awaited" });
});

Deno.test("a record that others changed does not count", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const [config] = [...settled.live.values()].filter((object) => recordedIn(object) !== undefined);
  ok(config !== undefined);
  const annotation = ["metadata", "annotations", "llamastack.io/image-labels"];
  for (const text of ["", "[]", "{", JSON.stringify({ image: IMAGE, digest: "latest" })]) {
    strictEqual(recordedIn(put(config, annotation, text) as JsonObject), undefined);
  }
  strictEqual(recordedIn(put(config, ["data", "base.yaml"], undefined) as JsonObject), undefined);
});
