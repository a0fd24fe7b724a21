/** Whether a changed pod template is applied, queued, held or rolled back, depending on the cause of the change. */
import { imageOf, podTemplateOf, templateSpec } from "../../resources/pod_spec.ts";
import { sha256Hex } from "../../data/digest.ts";
import { type JsonObject, member, objectAt, stringAt } from "../../data/json.ts";
import type { Manifest } from "../../resources/blueprint.ts";
import * as Redacted from "effect/Redacted";
import { type NewerServer, newerServer } from "./newer_server.ts";
import { templateProof, upgradeProof } from "./keyed_digests.ts";
import { holdingSlots, isProven, keyOf, queueOf, stopperOf, type Waiting } from "./upgrade_slots.ts";
import { withLastOfEach, withoutDuplicates } from "../duplicates.ts";
import { inputsChanged } from "../inputs.ts";
import type { Prepared } from "../prepare.ts";
import {
  type Cause,
  CAUSE_ANNOTATION,
  GENERATION_ANNOTATION,
  LAST_GOOD_ANNOTATION,
  LAST_GOOD_PROOF_ANNOTATION,
  OPERATOR_VERSION_ANNOTATION,
  PINS_ANNOTATION,
  ROLLED_BACK_ANNOTATION,
  ROLLOUT_ANNOTATION,
  SECRET_KEY_ANNOTATION,
  SECRETS_INPUT_ANNOTATION,
  SERVER_ANNOTATION,
  TEMPLATE_ANNOTATION,
  UPGRADE_PROOF_ANNOTATION,
  UPGRADE_STARTED_ANNOTATION,
  USER_INPUTS_ANNOTATION,
} from "../../snapshot/record.ts";
import { type GoodTemplate, lastGoodOf, lastGoodTemplate, podCreationFailure, rolloutState } from "./rollout_state.ts";
import { isAllowedTemplate } from "../allowed_template.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";

export type Rollout =
  /** The desired template is applied. */
  | { readonly kind: "apply"; readonly why: string; readonly cause: Cause }
  /** Only the operator changed: the running Deployment is unchanged until a rollout is requested. */
  | { readonly kind: "hold"; readonly digest: string; readonly newer?: NewerServer | undefined }
  /**
   * New pins wait in the upgrade queue: for the failed upgrade `stoppedAt`, `namespace/name`, or else for a free slot; or it is not
   * known who has one.
   */
  | {
    readonly kind: "queue";
    readonly waiting: Waiting;
    readonly digest: string;
    readonly stoppedAt: string | undefined;
  }
  /** A rollout that never became ready is rolled back to the last good template. */
  | { readonly kind: "undo"; readonly good: GoodTemplate; readonly digest: string }
  /** Created by another operator: the template is kept, and its inputs are recorded. */
  | { readonly kind: "adopt" }
  /** The rollback is done; the change is not applied until the next edit. */
  | { readonly kind: "undone" };

export const templateDigest = (deployment: JsonObject): string =>
  sha256Hex(JSON.stringify(objectAt(deployment, "spec", "template")));

export const rolloutOf = (prepared: Prepared, live: JsonObject | undefined, snapshot: ClusterSnapshot): Rollout => {
  if (live === undefined) return { kind: "apply", why: "the Deployment does not exist yet", cause: "edit" };
  const recorded = (name: string) => stringAt(live, "metadata", "annotations", name);
  if (recorded(TEMPLATE_ANNOTATION) === undefined) {
    return isAllowedTemplate(podTemplateOf(live), snapshot)
      ? { kind: "adopt" }
      : { kind: "apply", why: "its pod template has more privileges than the operator would grant", cause: "edit" };
  }
  const digest = templateDigest(prepared.objects.deployment);
  const { byUser, byKey } = inputsChanged(prepared.inputs, recorded);
  const known = (recorded(CAUSE_ANNOTATION) ?? "edit") as Cause;
  if (recorded(TEMPLATE_ANNOTATION) === digest) {
    const good = wayBack(live, snapshot);
    if (
      good !== undefined && good.digest !== digest && stringAt(live, "spec", "strategy", "type") === "Recreate" &&
      hasFailed(live, snapshot) && !byUser
    ) return { kind: "undo", good, digest };
    const asked = stringAt(snapshot.resource, "metadata", "annotations", ROLLOUT_ANNOTATION) === digest;
    return { kind: "apply", why: "the pod template is unchanged", cause: byUser ? "edit" : asked ? "asked" : known };
  }
  if (!byUser && recorded(ROLLED_BACK_ANNOTATION) === digest) return { kind: "undone" };
  if (byUser) return { kind: "apply", why: "the resource or an object it references changed", cause: "edit" };
  if (stringAt(snapshot.resource, "metadata", "annotations", ROLLOUT_ANNOTATION) === digest) {
    return { kind: "apply", why: "the rollout was requested", cause: "asked" };
  }
  const newer = newerServer(prepared, live, snapshot);
  if (newer !== undefined) return { kind: "hold", digest, newer };
  const pinsChanged = recorded(PINS_ANNOTATION) !== prepared.pins;
  if (!pinsChanged && !byKey && snapshot.operator.rolloutOnUpgrade === "Held") return { kind: "hold", digest };
  // A restarted pod may come to a node that has no copy of the image, and cannot get one.
  if (prepared.derived.distribution.unpublishedSince !== undefined && isAvailable(live)) {
    return { kind: "hold", digest };
  }
  return paced(
    prepared,
    live,
    snapshot,
    pinsChanged ? "the image or base config of the distribution changed" : "the operator changed",
  );
};

/** If the former pods are gone and Kubernetes rejects the new ones, no pod runs: the rollout fails before its deadline. */
const hasFailed = (live: JsonObject, { pods, replicaSets }: ClusterSnapshot): boolean => {
  const state = rolloutState(live, pods, replicaSets);
  return state === "failed" || state === "progressing" && podCreationFailure(live, replicaSets) !== undefined;
};

/** The last good template, if its proof is valid and it requests nothing that the operator would not write. */
const wayBack = (live: JsonObject, snapshot: ClusterSnapshot): GoodTemplate | undefined => {
  const { hmacKey } = snapshot.operator;
  const good = lastGoodTemplate(live, snapshot.replicaSets, (template, digest) =>
    // Without a key (a read-only command) records are trusted.
    Redacted.value(hmacKey) === "" ||
    stringAt(live, "metadata", "annotations", LAST_GOOD_PROOF_ANNOTATION) ===
      templateProof(hmacKey, keyOf(snapshot.resource), digest, template));
  return good !== undefined && isAllowedTemplate(good.template, snapshot) ? good : undefined;
};

/** Changes caused by the operator are queued, unless no available pod could be lost. */
const paced = (prepared: Prepared, live: JsonObject, snapshot: ClusterSnapshot, why: string): Rollout => {
  const digest = templateDigest(prepared.objects.deployment);
  const asked = Number(member(objectAt(live, "spec"), "replicas") ?? 1);
  if (asked === 0 || !isAvailable(live)) {
    return { kind: "apply", why: `${why}; none of its pods is available`, cause: "edit" };
  }
  const waiting: Waiting = {
    namespace: stringAt(snapshot.resource, "metadata", "namespace") ?? "",
    queue: queueOf(snapshot.resource),
    pins: prepared.pins,
  };
  const { rollingUpgrades, nowMs, operator } = snapshot;
  const stoppedAt = stopperOf(rollingUpgrades ?? [], waiting)?.key;
  const isFree = rollingUpgrades !== undefined && stoppedAt === undefined &&
    holdingSlots(rollingUpgrades, nowMs).length < operator.upgradeParallelism;
  return isFree ? { kind: "apply", why, cause: "upgrade" } : { kind: "queue", waiting, digest, stoppedAt };
};

const isAvailable = (live: JsonObject): boolean =>
  Number(member(objectAt(live, "status"), "availableReplicas") ?? 0) > 0;

/** The Deployment with the record of what it was made from. */
export const recorded = (
  prepared: Prepared,
  snapshot: ClusterSnapshot,
  live: JsonObject | undefined,
  cause: Cause,
): Manifest => {
  const { deployment } = prepared.objects;
  const digest = templateDigest(deployment);
  return withRecord(deployment, {
    ...recordOf(prepared, snapshot, live),
    [TEMPLATE_ANNOTATION]: digest,
    ...lastGood(live, snapshot, { digest, template: podTemplateOf(deployment) }),
    [CAUSE_ANNOTATION]: cause,
    ...(cause === "upgrade" ? upgradeMarks(prepared, snapshot, upgradeStarted(live, snapshot, digest), undefined) : {}),
    ...(prepared.server === undefined ? {} : { [SERVER_ANNOTATION]: prepared.server }),
  });
};

/** The Deployment with the last template that became ready; everything else is as desired by the resource. */
export const undone = (
  prepared: Prepared,
  snapshot: ClusterSnapshot,
  live: JsonObject | undefined,
  { good, digest }: Extract<Rollout, { readonly kind: "undo" }>,
): Manifest => {
  const { deployment } = prepared.objects;
  const cause = stringAt(live, "metadata", "annotations", CAUSE_ANNOTATION);
  return withRecord(
    { ...deployment, spec: { ...objectAt(deployment, "spec"), template: withLastOfEach(good.template) } },
    {
      ...recordOf(prepared, snapshot, live),
      [TEMPLATE_ANNOTATION]: good.digest,
      [LAST_GOOD_ANNOTATION]: good.digest,
      ...recordedProof(live),
      [ROLLED_BACK_ANNOTATION]: digest,
      ...(cause === undefined ? {} : { [CAUSE_ANNOTATION]: cause }),
      ...(cause === "upgrade" ? upgradeMarks(prepared, snapshot, undefined, digest) : {}),
      ...(good.server === undefined ? {} : { [SERVER_ANNOTATION]: good.server }),
    },
  );
};

/**
 * The Deployment with its live template and selector. What occurs twice in the template is left out, and so stays: the pods
 * do not restart. The inputs are recorded now, so that later edits are detected; an
 * image that the operator does not pin is recorded as another pin, which is then upgraded in the queue.
 */
export const adopted = (prepared: Prepared, snapshot: ClusterSnapshot, live: JsonObject): Manifest => {
  const { deployment } = prepared.objects;
  const template = withoutDuplicates(objectAt(live, "spec", "template"));
  const image = (object: JsonObject) => imageOf(templateSpec(object)) ?? "";
  return withRecord(
    {
      ...deployment,
      spec: { ...objectAt(deployment, "spec"), template, selector: objectAt(live, "spec", "selector") },
    },
    {
      ...recordOf(prepared, snapshot, live),
      ...(image(live) === image(deployment) ? {} : { [PINS_ANNOTATION]: sha256Hex(image(live)) }),
      [TEMPLATE_ANNOTATION]: sha256Hex(JSON.stringify(template)),
      [CAUSE_ANNOTATION]: "edit",
    },
  );
};

const recordOf = (
  prepared: Prepared,
  snapshot: ClusterSnapshot,
  live: JsonObject | undefined,
): Readonly<Record<string, string>> => ({
  [USER_INPUTS_ANNOTATION]: prepared.inputs.user,
  [SECRETS_INPUT_ANNOTATION]: prepared.inputs.secrets,
  [SECRET_KEY_ANNOTATION]: prepared.inputs.secretKey,
  [PINS_ANNOTATION]: prepared.pins,
  [OPERATOR_VERSION_ANNOTATION]: snapshot.operator.version,
  [GENERATION_ANNOTATION]: generationOf(prepared, snapshot, live),
});

/** That of the last edit: one that writes a default, or pauses the resource, changes nothing. */
const generationOf = ({ inputs }: Prepared, { resource }: ClusterSnapshot, live: JsonObject | undefined): string => {
  const before = stringAt(live, "metadata", "annotations", GENERATION_ANNOTATION);
  const isEdited = stringAt(live, "metadata", "annotations", USER_INPUTS_ANNOTATION) !== inputs.user;
  return before !== undefined && !isEdited ? before : String(member(objectAt(resource, "metadata"), "generation") ?? 0);
};

/**
 * The running template becomes the rollback target if it is good and another one replaces it. The proof covers the
 * template with the defaults of the API server, as stored in the ReplicaSet; the applied template cannot be
 * reconstructed from it.
 */
const lastGood = (
  live: JsonObject | undefined,
  { operator: { hmacKey }, pods, replicaSets, resource }: ClusterSnapshot,
  next: Parameters<typeof lastGoodOf>[3],
): Readonly<Record<string, string>> => {
  const good = lastGoodOf(live, pods, replicaSets, next);
  if (live === undefined || good === undefined) return {};
  return {
    [LAST_GOOD_ANNOTATION]: good.digest,
    ...(good.isLive && Redacted.value(hmacKey) !== ""
      ? { [LAST_GOOD_PROOF_ANNOTATION]: templateProof(hmacKey, keyOf(resource), good.digest, podTemplateOf(live)) }
      : recordedProof(live)),
  };
};

const recordedProof = (live: JsonObject | undefined): Readonly<Record<string, string>> => {
  const proof = stringAt(live, "metadata", "annotations", LAST_GOOD_PROOF_ANNOTATION);
  return proof === undefined ? {} : { [LAST_GOOD_PROOF_ANNOTATION]: proof };
};

/** Start of the upgrade, unless it was rolled back, with the proof that the operator wrote both. */
const upgradeMarks = (
  { pins }: Prepared,
  { resource, operator }: ClusterSnapshot,
  started: string | undefined,
  rolledBack: string | undefined,
): Readonly<Record<string, string>> => ({
  ...(started === undefined ? {} : { [UPGRADE_STARTED_ANNOTATION]: started }),
  [UPGRADE_PROOF_ANNOTATION]: upgradeProof(operator.hmacKey, keyOf(resource), { pins, started, rolledBack }),
});

/** As recorded for the same template. If the record was changed, its slot expires: it could be held forever. */
const upgradeStarted = (
  live: JsonObject | undefined,
  { nowMs, resource, operator }: ClusterSnapshot,
  digest: string,
): string => {
  const recorded = (name: string) => stringAt(live, "metadata", "annotations", name);
  const isGoingOn = recorded(TEMPLATE_ANNOTATION) === digest && recorded(CAUSE_ANNOTATION) === "upgrade";
  if (live === undefined || !isGoingOn) return new Date(nowMs).toISOString();
  const started = recorded(UPGRADE_STARTED_ANNOTATION);
  return started !== undefined && isProven(live, keyOf(resource), operator.hmacKey) ? started : LONG_AGO;
};

const LONG_AGO = new Date(0).toISOString();

const withRecord = (deployment: Manifest, record: Readonly<Record<string, string>>): Manifest => ({
  ...deployment,
  metadata: { ...deployment.metadata, annotations: { ...objectAt(deployment.metadata, "annotations"), ...record } },
});
