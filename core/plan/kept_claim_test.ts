import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { converged, edited, type Plan, planned, planOf, snapshot } from "../../tests/snapshots.ts";
import { manifest, SURROUNDINGS } from "../../tests/given.ts";
import { judge } from "../admission/judgement.ts";
import { diffCommand } from "../command/diff.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { ObjectRefused } from "../failure/failures.ts";
import { rowOf } from "../report/failure_table.ts";
import { growingClass } from "./kept_claim.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import * as Result from "effect/Result";

const CLAIM = "PersistentVolumeClaim/my-pvc";
const PLAIN = { name: (text: string) => text, good: (text: string) => text } as never;

const spec = (storage: JsonObject): JsonObject => ({
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
  workload: { replicas: 1, storage },
});
const { snapshot: TEN } = converged(snapshot(spec({ size: "10Gi", storageClassName: "fast" })));
const withClaim = (
  before: ClusterSnapshot,
  path: ReadonlyArray<string>,
  value: JsonObject | string,
): ClusterSnapshot => ({
  ...before,
  live: new Map([...before.live, [CLAIM, put(before.live.get(CLAIM) ?? {}, path, value)]]),
});

const claims = ({ steps }: Plan) =>
  steps.flatMap((step) => step._tag === "Apply" && step.manifest.kind === "PersistentVolumeClaim" ? [step] : []);
const storageReady = ({ steps }: Plan): string =>
  steps.flatMap((step) => step._tag === "SetStatus" ? listAt(step.status as never, "conditions") : [])
    .filter((item) => stringAt(item, "type") === "StorageReady")
    .map((item) => ["status", "reason", "message"].map((field) => stringAt(item, field)).join(" "))[0] ?? "";
const SIZE = ["spec", "resources", "requests", "storage"];

const KEPT: ReadonlyArray<readonly [what: string, storage: JsonObject, sentence: RegExp]> = [
  [
    "a smaller size",
    { size: "5Gi", storageClassName: "fast" },
    /storage\.size: the claim keeps 10Gi.*set size to 10Gi/,
  ],
  ["another class", { size: "10Gi", storageClassName: "slow" }, /storageClassName: the claim keeps class "fast"/],
  [
    "another access mode",
    { size: "10Gi", storageClassName: "fast", accessMode: "ReadWriteMany" },
    /accessMode: the claim keeps ReadWriteOnce/,
  ],
];

Deno.test("a claim of somebody else, which nobody reads, is not reported as missing", () => {
  match(storageReady(planOf(snapshot(spec({})))), /my-pvc is bound/);
  strictEqual(storageReady(planOf(snapshot(spec({ existingClaim: "theirs" })))), "");
});

for (const [what, storage, sentence] of KEPT) {
  Deno.test(`a claim that keeps its own in place of ${what} is not written, and status, diff and admission say so`, () => {
    const seen = edited(TEN, spec(storage));
    const plan = planOf(seen);
    deepStrictEqual(claims(plan), []);
    match(storageReady(plan), /^True StorageReady/);
    match(storageReady(plan), sentence);
    const shown = diffCommand([{ label: "my", planned: Result.succeed(planned(seen)) }], [], {
      format: "json",
      style: PLAIN,
    });
    match(shown.stdout, new RegExp(sentence.source.replaceAll('"', '\\\\"')));
    const change = {
      namespace: "default",
      object: manifest(spec(storage)),
      before: manifest(spec({ size: "10Gi", storageClassName: "fast" })),
      writtenIn: "v1alpha2",
    };
    const { warnings, rejections } = judge(change, SURROUNDINGS, "Warn", new Map());
    deepStrictEqual(rejections, []);
    ok(warnings.some((text) => sentence.test(text)), warnings.join("\n"));
  });
}

Deno.test("a size that was written otherwise, and one that was never chosen, are not remarked on", () => {
  for (const storage of [{ size: "10240Mi", storageClassName: "fast" }, { storageClassName: "fast" }]) {
    strictEqual(storageReady(planOf(edited(TEN, spec(storage)))).includes("keeps"), false);
  }
});

Deno.test("a claim keeps its class when the resource no longer names it, and the default class is not written", () => {
  const unnamed = edited(TEN, spec({ size: "20Gi" }));
  deepStrictEqual(claims(planOf(unnamed)).map(({ manifest }) => at(manifest, "spec", "storageClassName")), ["fast"]);
  const { snapshot: plain } = converged(snapshot(spec({ size: "10Gi" })));
  deepStrictEqual(planOf(withClaim(plain, ["spec", "storageClassName"], "default")).steps, []);
});

Deno.test("a claim that is not bound grows once it is bound", () => {
  const seen = edited(
    withClaim(TEN, ["status"], { phase: "Pending" }),
    spec({ size: "20Gi", storageClassName: "fast" }),
  );
  deepStrictEqual(claims(planOf(seen)), []);
  match(storageReady(planOf(seen)), /^Unknown Waiting .*is Pending.*the claim keeps 10Gi/);
  const bound = withClaim(seen, ["status"], { phase: "Bound" });
  deepStrictEqual(claims(planOf(bound)).map(({ manifest }) => at(manifest, ...SIZE)), ["20Gi"]);
});

Deno.test("a claim that may not grow blocks nothing, and its advice is about claims", () => {
  const seen = edited(TEN, spec({ size: "20Gi", storageClassName: "fast" }));
  const [step] = claims(planOf(seen));
  strictEqual(step?.blocks, false);
  const refused = new ObjectRefused({
    setBy: [],
    path: ["metadata", "name"],
    kind: "PersistentVolumeClaim",
    name: "my-pvc",
    detail: "only dynamically provisioned pvc can be resized",
    blocks: step?.blocks ?? true,
  });
  const plan = planOf(seen, { live: TEN.live, rejectedWrites: [refused] });
  match(storageReady(plan), /^False ClaimUpdateFailed .*only dynamically provisioned/);
  match(rowOf(refused).advice(refused, seen.resource).action, /allowVolumeExpansion/);
  // One that does not exist yet is needed.
  deepStrictEqual(claims(planOf(snapshot(spec({})))).map(({ blocks }) => blocks), [true]);
});

Deno.test("diff says that a class cannot expand the claim, and admission that it has to", () => {
  const before = spec({ size: "10Gi", storageClassName: "fast" });
  const seen = edited(TEN, spec({ size: "20Gi", storageClassName: "fast" }));
  const shown = (canExpand: boolean | undefined, subject = seen) =>
    diffCommand([{ label: "my", planned: Result.succeed(planned(subject)), canExpand }], [], {
      format: "json",
      style: PLAIN,
    })
      .stdout;
  match(
    shown(false),
    /storage\.size: the claim keeps 10Gi, because its StorageClass \\"fast\\" cannot expand volumes; set size back/,
  );
  for (const canExpand of [true, undefined]) ok(!shown(canExpand).includes("the claim keeps"), shown(canExpand));
  deepStrictEqual([growingClass(seen), growingClass(TEN)], ["fast", undefined]);
  const change = (size: string) => ({
    namespace: "default",
    object: manifest(spec({ size, storageClassName: "fast" })),
    before: manifest(before),
    writtenIn: "v1alpha2" as const,
  });
  const warned = (size: string) => judge(change(size), SURROUNDINGS, "Warn", new Map()).warnings.join("\n");
  match(warned("20Gi"), /storage\.size: the claim grows to 20Gi only if its StorageClass can expand volumes/);
  ok(!warned("10Gi").includes("grows"));
});

Deno.test("a claim whose volume has not grown yet says so", () => {
  const grown = withClaim(withClaim(TEN, SIZE, "20Gi"), ["status", "capacity"], { storage: "10Gi" });
  const seen = edited(grown, spec({ size: "20Gi", storageClassName: "fast" }));
  match(storageReady(planOf(seen, { live: seen.live, rejectedWrites: [] })), /grows from 10Gi to 20Gi/);
});
