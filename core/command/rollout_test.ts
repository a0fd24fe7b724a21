import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { secret } from "../../tests/given.ts";
import { BASES } from "../config/servers/bases.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../data/image_digest_annotation.ts";
import { converged, edited, OPERATOR, planned, snapshot, UID } from "../../tests/snapshots.ts";
import { type JsonObject, objectAt, put, stringAt } from "../data/json.ts";
import { prepare } from "../plan/prepare.ts";
import { ROLLOUT_ANNOTATION } from "../snapshot/record.ts";
import { templateDigest } from "../plan/rollout/rollout.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { rolloutCommand } from "./rollout.ts";

const settled = converged(snapshot({ storage: { kv: {} } })).snapshot;

/** The Deployment was made from another template. */
const held = (): ClusterSnapshot => {
  const key = liveKey("Deployment", "my");
  const live = new Map(settled.live);
  live.set(key, put(live.get(key) ?? {}, ["metadata", "annotations", "llamastack.io/template-digest"], "0".repeat(64)));
  return { ...settled, live };
};

const annotated = (seen: ClusterSnapshot, digest: string): ClusterSnapshot => ({
  ...seen,
  resource: put(seen.resource, ["metadata", "annotations", ROLLOUT_ANNOTATION], digest),
});

const asked = (seen: ClusterSnapshot, imageDigest?: string) => rolloutCommand(planned(seen), imageDigest);

Deno.test("rolloutCommand() rolls out a held template by its digest", () => {
  const seen = held();
  const digest = templateDigest(Result.getOrThrow(prepare(seen)).objects.deployment);
  const { write, outcome } = asked(seen);
  deepStrictEqual(write?.metadata, {
    name: "my",
    namespace: "default",
    uid: UID,
    annotations: { [ROLLOUT_ANNOTATION]: digest },
  });
  match(outcome.stdout, /^my in namespace default: requested the rollout of template [0-9a-f]{12}/);
  strictEqual(outcome.code, 0);
});

Deno.test("rolloutCommand() uses the digest reported by the running operator", () => {
  const said = "ab".repeat(32);
  const resource = put(settled.resource, ["status", "waitingTemplate"], said);
  strictEqual(
    stringAt(asked({ ...settled, resource }).write ?? null, "metadata", "annotations", ROLLOUT_ANNOTATION),
    said,
  );
});

Deno.test("rolloutCommand() reports if no rollout is held, or if it was already requested", () => {
  const none = asked(settled);
  deepStrictEqual([none.write, none.outcome.code], [undefined, 0]);
  ok(none.outcome.stdout.includes("no rollout is held"));
  const digest = stringAt(
    objectAt(asked(held()).write ?? null, "metadata", "annotations"),
    ROLLOUT_ANNOTATION,
  );
  const again = asked(annotated(held(), digest ?? ""));
  deepStrictEqual([again.write, again.outcome.code], [undefined, 0]);
  ok(again.outcome.stdout.includes("already requested"), again.outcome.stdout);
});

Deno.test("rolloutCommand() fails for a resource whose template cannot be made", () => {
  const broken: JsonObject = {
    providers: { inference: [{ provider: "vllm", endpoint: "x", apiKey: secret("s", "k") }] },
  };
  const { write, outcome } = asked(edited(settled, broken));
  deepStrictEqual([write, outcome.code, outcome.stdout], [undefined, 1, ""]);
  ok(outcome.stderr.includes('Secret "s" not found'), outcome.stderr);
});

const IMAGE = "registry.example.com/ai/mine:1";
const [FIRST, SECOND] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

/** A server that runs on the labels of its image. */
const labelled = (): ClusterSnapshot => {
  const operator = { ...OPERATOR, surroundings: { ...OPERATOR.surroundings, imageLabels: "Auto" as const } };
  const spec = {
    distribution: { image: IMAGE },
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
  };
  const config = {
    file: "config.yaml",
    base: { origin: "config.yaml", content: `${BASES["starter-1.5.yaml"]}` },
    serverVersion: "1.5.0",
  };
  const labels = {
    kind: "read",
    read: { image: IMAGE, digest: FIRST, wanted: undefined, config },
  } as const;
  const { snapshot: seen } = converged(snapshot(spec, { operator, labels }));
  return { ...seen, configs: [...seen.live.values()].filter(({ kind }) => kind === "ConfigMap") };
};

Deno.test("rolloutCommand() says what a tag meant when the operator read its labels, and how to roll out what it means now", () => {
  const { write, outcome } = asked(labelled());
  deepStrictEqual([write, outcome.code], [undefined, 0]);
  match(
    outcome.stdout,
    new RegExp(`no rollout is held; .*\\n.*${FIRST}, which ${IMAGE} meant .*\\n.*--image-digest sha256:`),
  );
  strictEqual(asked(settled).outcome.stdout.trimEnd().split("\n").length, 1);
});

Deno.test("rolloutCommand() requests a digest that the caller names, where the image is named by a tag", () => {
  const { write } = asked(labelled(), SECOND);
  deepStrictEqual(objectAt(write ?? null, "metadata", "annotations"), {
    [IMAGE_DIGEST_ANNOTATION]: `${IMAGE}@${SECOND}`,
  });
  strictEqual(asked(labelled(), FIRST).write, undefined);
  const other = asked(settled, SECOND);
  deepStrictEqual([other.write, other.outcome.code], [undefined, 1]);
});

Deno.test("rolloutCommand() replaces a requested digest that cannot be used", () => {
  const before = labelled();
  const resource = put(before.resource, ["metadata", "annotations"], {
    [IMAGE_DIGEST_ANNOTATION]: `${IMAGE}@${SECOND}`,
  }) as JsonObject;
  const stuck: ClusterSnapshot = { ...before, resource, labels: { kind: "unreadable", detail: "registry is down" } };
  const other = `sha256:${"c".repeat(64)}`;
  for (const digest of [FIRST, other]) {
    deepStrictEqual(objectAt(asked(stuck, digest).write ?? null, "metadata", "annotations"), {
      [IMAGE_DIGEST_ANNOTATION]: `${IMAGE}@${digest}`,
    });
  }
  const again = asked(stuck);
  strictEqual(again.write, undefined);
  ok(again.outcome.stderr.includes("--image-digest requests another digest"), again.outcome.stderr);
});
