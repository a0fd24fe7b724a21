import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { after, converged, edited, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { BASES } from "../config/servers/bases.ts";
import { decodeResource } from "../api/decode.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../data/image_digest_annotation.ts";
import type { ImageLabels } from "../config/servers/image_labels.ts";
import { recordedIn } from "../resources/labels_record.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { type LabelsAnswer, labelsIn, labelsNeeded, reportedLabels } from "./image_question.ts";

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

const configIn = (from: ClusterSnapshot): JsonObject => {
  const [config] = [...from.live.values()].filter((object) => recordedIn(object) !== undefined);
  ok(config !== undefined);
  return config;
};

Deno.test("a record that others changed does not count", () => {
  const config = configIn(converged(given(SPEC, answer(FIRST))).snapshot);
  const annotation = ["metadata", "annotations", "llamastack.io/image-labels"];
  for (const text of ["", "[]", "{", JSON.stringify({ image: IMAGE, digest: "latest" })]) {
    strictEqual(recordedIn(put(config, annotation, text) as JsonObject), undefined);
  }
  strictEqual(recordedIn(put(config, ["data", "base.yaml"], undefined) as JsonObject)?.read, undefined);
});

Deno.test("a record without the proof of the operator, for this resource and this content, does not count", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const config = configIn(settled);
  const without = { ...settled, configs: [config] };
  strictEqual(needed(without)?.recorded?.digest, FIRST);
  const text = stringAt(config, "metadata", "annotations", "llamastack.io/image-labels") ?? "";
  const changes: ReadonlyArray<readonly [ReadonlyArray<string>, string | undefined]> = [
    [["metadata", "annotations", "llamastack.io/image-labels"], text.replace(FIRST, SECOND)],
    [["metadata", "annotations", "llamastack.io/image-labels-proof"], undefined],
    [["data", "base.yaml"], `${BASE}# changed\n`],
    [["data", "config.yaml"], "changed"],
  ];
  for (const [path, value] of changes) {
    const changed = needed({ ...settled, configs: [put(config, path, value) as JsonObject] });
    deepStrictEqual([changed?.recorded, changed?.digest], [undefined, FIRST]);
  }
  const other = put(settled.resource, ["metadata", "name"], "other") as JsonObject;
  strictEqual(needed({ ...without, resource: other })?.recorded, undefined);
});

Deno.test("the digest of an unchanged image is kept without a record: by the status, or by the Deployment without a status", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const restored = put(settled.resource, ["status"], undefined) as JsonObject;
  const file = edited(settled, { ...SPEC, distribution: { image: IMAGE, config: "other.yaml" } });
  for (const from of [{ ...settled, configs: [] }, { ...settled, configs: [], resource: restored }, seen(file)]) {
    const found = needed(from);
    strictEqual(found?.recorded, undefined);
    strictEqual(found?.question().reference, `registry.example.com/ai/mine@${FIRST}`);
  }
  const other = edited({ ...settled, configs: [] }, { ...SPEC, distribution: { image: IMAGE.replace(":1", ":2") } });
  strictEqual(needed(other)?.question().reference, IMAGE.replace(":1", ":2"));
});

Deno.test("a base that is too long to be kept leaves its digest in the record; the limit is in bytes", () => {
  const long = answer(FIRST, `${BASE}# ${"\u00e4".repeat(500 * 1024)}\n`);
  const { snapshot: settled } = converged(given(SPEC, long));
  const config = configIn(settled);
  strictEqual(stringAt(config, "data", "base.yaml"), undefined);
  deepStrictEqual([recordedIn(config)?.digest, recordedIn(config)?.read], [FIRST, undefined]);
  const found = needed({ ...settled, resource: put(settled.resource, ["status"], undefined) as JsonObject });
  strictEqual(found?.question().reference, `registry.example.com/ai/mine@${FIRST}`);
});

const OVERRIDE = "mirror.example/ogx:mine";
const overriding = {
  ...asking,
  surroundings: {
    ...asking.surroundings,
    overrides: { settings: new Map([["ogx-starter", OVERRIDE]]), related: new Map() },
  },
};
const NAMED: JsonObject = { ...SPEC, distribution: { name: "ogx-starter" } };
const overridden = (digest: string): ImageLabels => {
  const labels = answer(digest) as Extract<ImageLabels, { kind: "read" }>;
  return { ...labels, read: { ...labels.read, image: OVERRIDE } };
};
/** What the decision is given when the registry answers so. */
const told = (from: ClusterSnapshot, answer: LabelsAnswer): ClusterSnapshot => {
  const found = needed(from);
  ok(found !== undefined);
  return { ...from, labels: labelsIn(found, answer) };
};
const DOWN: LabelsAnswer = { kind: "unreadable", detail: "registry mirror.example cannot be reached" };

Deno.test("a registry that fails changes no server that runs on labels, and the condition says why", () => {
  const { snapshot: settled } = converged(snapshot(NAMED, { operator: overriding, labels: overridden(FIRST) }));
  strictEqual(image(settled), `mirror.example/ogx@${FIRST}`);
  const other = edited(settled, { ...NAMED, distribution: { name: "ogx-starter", config: "other.yaml" } });
  for (const from of [{ ...settled, configs: [] }, { ...other, configs: [] }]) {
    const done = after(told(from, DOWN), planOf(told(from, DOWN)));
    deepStrictEqual(done.live.get("Deployment/my"), settled.live.get("Deployment/my"));
    const status = JSON.stringify(done.resource.status);
    ok(/"ImageLabelsUnread"/.test(status) && /ConfigMap .* is missing/.test(status), status);
    ok(/registry mirror.example cannot be reached/.test(status) && !/change of the operator/.test(status), status);
  }
});

Deno.test("a server that started on the embedded base is not rolled until an edit, or a requested digest", () => {
  const fresh = snapshot(NAMED, { operator: overriding });
  const { snapshot: settled } = converged({ ...fresh, labels: DOWN });
  strictEqual(image(settled), OVERRIDE);
  const later = told(settled, overridden(FIRST));
  const done = after(later, planOf(later));
  strictEqual(image(done), OVERRIDE);
  ok(JSON.stringify(at(done.resource, "status", "configGeneration", "warnings")).includes("can be read now"));
  const change = edited(done, { ...NAMED, resources: { models: [{ name: "m1" }] } });
  const next = told(change, overridden(FIRST));
  strictEqual(image(after(next, planOf(next))), `mirror.example/ogx@${FIRST}`);
  const asked = put(done.resource, ["metadata", "annotations"], { [IMAGE_DIGEST_ANNOTATION]: `${OVERRIDE}@${FIRST}` });
  const rolled = told({ ...done, resource: asked as JsonObject }, overridden(FIRST));
  strictEqual(image(after(rolled, planOf(rolled))), `mirror.example/ogx@${FIRST}`);
});

Deno.test("a requested digest that cannot be used leaves what runs, and the error says how to request another", () => {
  const { snapshot: settled } = converged(given(SPEC, answer(FIRST)));
  const asked = put(settled.resource, ["metadata", "annotations"], { [IMAGE_DIGEST_ANNOTATION]: `${IMAGE}@${SECOND}` });
  const { read } = answer(SECOND) as Extract<ImageLabels, { kind: "read" }>;
  const version = read.config === undefined ? undefined : { ...read.config, serverVersion: "7.7.7" };
  for (
    const labels of [DOWN, { kind: "read", read: { ...read, config: version } }, {
      kind: "read",
      read: { ...read, config: undefined },
    }] as ReadonlyArray<ImageLabels>
  ) {
    const from = told({ ...settled, resource: asked as JsonObject }, labels);
    const done = after(from, planOf(from));
    deepStrictEqual(done.live.get("Deployment/my"), settled.live.get("Deployment/my"));
    const status = JSON.stringify(done.resource.status);
    ok(status.includes(IMAGE_DIGEST_ANNOTATION) && status.includes("rollout NAME --image-digest"), status);
  }
});

Deno.test("reportedLabels() has the reason that the status of an unread image has, until it is read", () => {
  const unread: ImageLabels = { kind: "unreadable", detail: "registry r.example (a mirror) does not have it" };
  const told = converged(given(SPEC, unread)).snapshot;
  deepStrictEqual(reportedLabels(told.resource), unread);
  strictEqual(reportedLabels(converged({ ...told, labels: answer(FIRST) }).snapshot.resource), undefined);
});
