/** `rollout`: requests the rollout of a held pod template by an annotation on the resource, and finds out which is held. */
import * as Result from "effect/Result";
import { type JsonObject } from "../data/json.ts";
import { decodeResource } from "../api/decode.ts";
import { statusOf } from "../api/status_of.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../data/image_digest_annotation.ts";
import { type LabelsNeeded, labelsNeeded } from "../plan/image_question.ts";
import type { Planned } from "../plan/plan.ts";
import { ROLLOUT_ANNOTATION } from "../snapshot/record.ts";
import { templateDigest } from "../plan/rollout/rollout.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { lines, type Outcome } from "./outcome.ts";
import { liveObject } from "../snapshot/live_object.ts";

export interface RolloutRequest {
  /** Undefined: nothing is to be written. */
  readonly write: Manifest | undefined;
  readonly outcome: Outcome;
}

/** `imageDigest`: what the tag of the image means from now on. */
export const rolloutCommand = (planned: Planned, imageDigest?: string): RolloutRequest => {
  const { snapshot } = planned;
  const { resource } = snapshot;
  const { name, namespace } = liveObject(resource);
  const label = `${name} in namespace ${namespace}`;
  const reply = (write: Manifest | undefined, text: string, ...more: ReadonlyArray<string>): RolloutRequest => ({
    write,
    outcome: { stdout: lines([`${label}: ${text}`, ...more]), stderr: "", code: 0 },
  });
  const problem = (text: string, ...more: ReadonlyArray<string>): RolloutRequest => ({
    write: undefined,
    outcome: { stdout: "", stderr: lines([`${label} ${text}`, ...more]), code: 1 },
  });
  const image = taggedImage(snapshot);
  const asked = askedDigest(image, imageDigest);
  if (imageDigest !== undefined && asked === undefined) {
    return problem("runs no image whose labels contain its base config and that it names by a tag");
  }
  const waiting = imageDigest === undefined ? waitingTemplate(planned) : Result.succeed(undefined);
  if (Result.isFailure(waiting) && asked?.isNew !== true) {
    return problem(
      "has errors; no new pods are created until they are fixed:",
      ...waiting.failure.map((text) => `  ${text}`),
      ...(asked?.isRequested === true
        ? [`the annotation ${IMAGE_DIGEST_ANNOTATION} requests ${asked.digest}; --image-digest requests another digest`]
        : []),
    );
  }
  const digest = Result.getOrUndefined(waiting);
  if (digest === undefined && asked?.isNew === true) {
    return reply(
      annotated(resource, IMAGE_DIGEST_ANNOTATION, `${asked.image}@${asked.digest}`),
      `requested ${asked.digest} of ${asked.image}; the operator reads its labels now`,
    );
  }
  if (digest === undefined) {
    return reply(undefined, "no rollout is held; the pods are up to date", ...tagAdvice(image, resource));
  }
  if (liveObject(resource).annotations[ROLLOUT_ANNOTATION] === digest) {
    return reply(
      undefined,
      `already requested; the operator applies template ${short(digest)} in the next reconciliation`,
    );
  }
  return reply(
    annotated(resource, ROLLOUT_ANNOTATION, digest),
    `requested the rollout of template ${short(digest)}; the operator replaces the pods now`,
  );
};

interface AskedDigest {
  readonly image: string;
  readonly digest: string;
  /** Neither running nor requested. */
  readonly isNew: boolean;
  /** The annotation of the resource asks for a digest already. */
  readonly isRequested: boolean;
}

/** The operator resolves a tag once, and does not see that it moves. */
const tagAdvice = (needed: LabelsNeeded | undefined, resource: JsonObject): ReadonlyArray<string> => {
  if (needed === undefined) return [];
  const { name, namespace } = liveObject(resource);
  return [
    ...(needed.digest === undefined
      ? []
      : [`  They run ${needed.digest}, which ${needed.image} meant when the operator read its labels.`]),
    `  \`llama-stack-operator image ${needed.image}\` prints its digest now, and \`llama-stack-operator rollout ${name} ` +
    `--namespace ${namespace} --image-digest sha256:DIGEST\` rolls a digest out`,
  ];
};

/** Undefined if the image has no tag, or nothing is known of it: its labels were never read. */
const taggedImage = (snapshot: ClusterSnapshot): LabelsNeeded | undefined => {
  const decoded = decodeResource(snapshot.resource, "lenient");
  const needed = Result.isFailure(decoded) ? undefined : labelsNeeded(snapshot, decoded.success);
  const isKnown = needed?.digest !== undefined || needed?.isHeld === true;
  return !isKnown || needed.image.includes("@") ? undefined : needed;
};

/** Undefined if nobody asks for a digest. */
const askedDigest = (needed: LabelsNeeded | undefined, wanted: string | undefined): AskedDigest | undefined => {
  const digest = wanted ?? (needed?.isRequested === true ? needed.digest : undefined);
  if (needed === undefined || digest === undefined) return undefined;
  const { image, isRequested } = needed;
  return { image, digest, isNew: needed.digest !== digest, isRequested };
};

/**
 * Digest of the held template; undefined if none is held. The status has precedence, because the release of the running operator
 * and its settings may differ from those of this program.
 */
export const waitingTemplate = (
  { snapshot, prepared, decision }: Planned,
): Result.Result<string | undefined, ReadonlyArray<string>> => {
  const recorded = statusOf(snapshot.resource).waitingTemplate;
  if (recorded !== undefined) return Result.succeed(recorded);
  if (Result.isFailure(prepared)) return Result.fail(prepared.failure.failures.map(({ message }) => message));
  if (decision.kind === "preserved") return Result.fail(decision.failures.map(({ message }) => message));
  const live = deploymentIn(snapshot);
  const digest = templateDigest(prepared.success.objects.deployment);
  return Result.succeed(live === undefined || live.record.template === digest ? undefined : digest);
};

/** Only the annotation; the uid prevents the apply from creating a resource that was deleted meanwhile. */
const annotated = (resource: JsonObject, annotation: string, value: string): Manifest => {
  const { apiVersion, kind, name, namespace, uid = "" } = liveObject(resource);
  return { apiVersion, kind, metadata: { name, namespace, uid, annotations: { [annotation]: value } } };
};

const short = (digest: string): string => digest.slice(0, 12);
