/** Whether a changed pod template is applied, queued, held or rolled back, depending on the cause of the change. */
import { imageOf, podTemplateOf, templateSpec } from "../../resources/pod_spec.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import type { LiveReplicaSet } from "../../snapshot/live_replica_set.ts";
import { sha256Hex } from "../../data/digest.ts";
import { isObject, type JsonObject } from "../../data/json.ts";
import type { Manifest } from "../../resources/blueprint.ts";
import * as Redacted from "effect/Redacted";
import { type NewerServer, newerServer } from "./newer_server.ts";
import { templateProof, upgradeProof } from "./keyed_digests.ts";
import { hasProof, holdingSlots, stopperOf, type Waiting } from "./upgrade_slots.ts";
import { withLastOfEach, withoutDuplicates } from "../duplicates.ts";
import { inputsChanged } from "../inputs.ts";
import type { Prepared } from "../prepare.ts";
import { annotationsOf, type Cause, ROLLOUT_ANNOTATION, type RolloutRecord } from "../../snapshot/record.ts";
import { isAllowedTemplate } from "../allowed_template.ts";
import { lastGoodReplicaSet } from "./last_good.ts";
import { becomesLastGood, podCreationFailure, rolloutState } from "./rollout_state.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";
import { liveResource } from "../../snapshot/live_resource.ts";
import { liveObject, resourceKey, textsIn } from "../../snapshot/live_object.ts";

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
  /** A rollout that never became ready under Recreate, where no former pod runs, is rolled back to the last good template. */
  | { readonly kind: "rollBack"; readonly good: LiveReplicaSet; readonly digest: string }
  /** Created by another operator: the template is kept, and its inputs are recorded. */
  | { readonly kind: "adopt" }
  /** The rollback is done; the change is not applied until the next edit. */
  | { readonly kind: "rolledBack" };

export const templateDigest = (deployment: JsonObject): string =>
  sha256Hex(JSON.stringify(specOf(deployment).template));

export const rolloutOf = (prepared: Prepared, live: LiveDeployment | undefined, snapshot: ClusterSnapshot): Rollout => {
  if (live === undefined) return { kind: "apply", why: "the Deployment does not exist yet", cause: "edit" };
  const { record } = live;
  if (record.template === undefined) {
    return isAllowedTemplate(live.template, snapshot)
      ? { kind: "adopt" }
      : { kind: "apply", why: "its pod template has more privileges than the operator would grant", cause: "edit" };
  }
  const digest = templateDigest(prepared.objects.deployment);
  const { byUser, byKey } = inputsChanged(prepared.inputs, record);
  if (record.template === digest) {
    const good = lastGoodReplicaSet(live, snapshot);
    if (
      good !== undefined && good.record.template !== digest && live.isRecreated && hasFailed(live, snapshot) && !byUser
    ) return { kind: "rollBack", good, digest };
    const asked = liveObject(snapshot.resource).annotations[ROLLOUT_ANNOTATION] === digest;
    const cause = byUser ? "edit" : asked ? "asked" : record.cause ?? "edit";
    return { kind: "apply", why: "the pod template is unchanged", cause };
  }
  if (!byUser && record.rolledBack === digest) return { kind: "rolledBack" };
  if (byUser) return { kind: "apply", why: "the resource or an object it references changed", cause: "edit" };
  if (liveObject(snapshot.resource).annotations[ROLLOUT_ANNOTATION] === digest) {
    return { kind: "apply", why: "the rollout was requested", cause: "asked" };
  }
  const newer = newerServer(prepared, live, snapshot);
  if (newer !== undefined) return { kind: "hold", digest, newer };
  const pinsChanged = record.pins !== prepared.pins;
  if (!pinsChanged && !byKey && snapshot.operator.rolloutOnUpgrade === "Held") return { kind: "hold", digest };
  // A restarted pod may come to a node that has no copy of the image, and cannot get one.
  if (prepared.derived.distribution.unpublishedSince !== undefined && live.availableReplicas > 0) {
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
const hasFailed = (live: LiveDeployment, seen: ClusterSnapshot): boolean => {
  const state = rolloutState(live, seen);
  return state === "failed" || state === "progressing" && podCreationFailure(live, seen) !== undefined;
};

/** Changes caused by the operator are queued, unless no available pod could be lost. */
const paced = (prepared: Prepared, live: LiveDeployment, snapshot: ClusterSnapshot, why: string): Rollout => {
  const digest = templateDigest(prepared.objects.deployment);
  if (live.wantedReplicas === 0 || live.availableReplicas === 0) {
    return { kind: "apply", why: `${why}; none of its pods is available`, cause: "edit" };
  }
  const waiting: Waiting = {
    namespace: liveObject(snapshot.resource).namespace,
    queue: liveResource(snapshot.resource).distribution,
    pins: prepared.pins,
  };
  const { rollingUpgrades, nowMs, operator } = snapshot;
  // Its own former upgrade is replaced, and would be waited for in vain.
  const others = rollingUpgrades?.filter(({ key }) => key !== resourceKey(snapshot.resource));
  const stoppedAt = stopperOf(rollingUpgrades ?? [], waiting)?.key;
  const isFree = others !== undefined && stoppedAt === undefined &&
    holdingSlots(others, nowMs).length < operator.upgradeParallelism;
  return isFree ? { kind: "apply", why, cause: "upgrade" } : { kind: "queue", waiting, digest, stoppedAt };
};

/** The Deployment with the record of what it was made from. */
export const recorded = (
  prepared: Prepared,
  snapshot: ClusterSnapshot,
  live: LiveDeployment | undefined,
  cause: Cause,
): Manifest => {
  const { deployment } = prepared.objects;
  const digest = templateDigest(deployment);
  return withRecord(deployment, {
    ...newRecord(prepared, snapshot, live),
    template: digest,
    ...goodMarks(live, snapshot, { digest, template: podTemplateOf(deployment) }),
    cause,
    ...(cause === "upgrade"
      ? upgradeMarks(prepared, snapshot, { upgradeStarted: upgradeStarted(live, snapshot, digest) })
      : {}),
    server: prepared.server,
  });
};

const specOf = (workload: JsonObject | Manifest): JsonObject => {
  const { spec = null } = workload as JsonObject;
  return isObject(spec) ? spec : {};
};

/** The Deployment with the last template that became ready; everything else is as desired by the resource. */
export const rolledBackDeployment = (
  prepared: Prepared,
  snapshot: ClusterSnapshot,
  live: LiveDeployment | undefined,
  { good, digest }: Extract<Rollout, { readonly kind: "rollBack" }>,
): Manifest => {
  const { deployment } = prepared.objects;
  const { cause, lastGoodProof } = live?.record ?? {};
  return withRecord(
    { ...deployment, spec: { ...specOf(deployment), template: withLastOfEach(good.template) } },
    {
      ...newRecord(prepared, snapshot, live),
      template: good.record.template,
      lastGood: good.record.template,
      lastGoodProof,
      rolledBack: digest,
      cause,
      ...(cause === "upgrade" ? upgradeMarks(prepared, snapshot, { rolledBack: digest }) : {}),
      server: good.record.server,
    },
  );
};

/**
 * The Deployment with its live template and selector. What occurs twice in the template is left out, and so stays: the pods
 * do not restart. The inputs are recorded now, so that later edits are detected; an image that the operator does not pin is
 * recorded as another pin, which is then upgraded in the queue.
 */
export const adopted = (prepared: Prepared, snapshot: ClusterSnapshot, live: LiveDeployment): Manifest => {
  const { deployment } = prepared.objects;
  const template = withoutDuplicates(live.kept.template);
  const { image = "" } = live;
  return withRecord(
    {
      ...deployment,
      spec: { ...specOf(deployment), template, selector: live.kept.selector },
    },
    {
      ...newRecord(prepared, snapshot, live),
      ...(image === (imageOf(templateSpec(deployment)) ?? "") ? {} : { pins: sha256Hex(image) }),
      template: sha256Hex(JSON.stringify(template)),
      cause: "edit",
    },
  );
};

const newRecord = (
  prepared: Prepared,
  snapshot: ClusterSnapshot,
  live: LiveDeployment | undefined,
): RolloutRecord => ({
  userInputs: prepared.inputs.user,
  secretsInput: prepared.inputs.secrets,
  secretKey: prepared.inputs.secretKey,
  pins: prepared.pins,
  operatorVersion: snapshot.operator.version,
  generation: generationOf(prepared, snapshot, live),
});

/** That of the last edit: one that writes a default, or pauses the resource, changes nothing. */
const generationOf = (
  { inputs }: Prepared,
  { resource }: ClusterSnapshot,
  live: LiveDeployment | undefined,
): string => {
  const { generation, userInputs } = live?.record ?? {};
  return generation !== undefined && userInputs === inputs.user ? generation : String(liveObject(resource).generation);
};

/**
 * The running template becomes the rollback target if it is good and another one replaces it. The proof covers the
 * template with the defaults of the API server, as stored in the ReplicaSet; the applied template cannot be
 * reconstructed from it.
 */
const goodMarks = (
  live: LiveDeployment | undefined,
  snapshot: ClusterSnapshot,
  next: Parameters<typeof becomesLastGood>[2],
): RolloutRecord => {
  const { operator: { hmacKey }, resource } = snapshot;
  const { template: now = "", lastGood, lastGoodProof } = live?.record ?? {};
  if (live === undefined || !becomesLastGood(live, snapshot, next)) {
    return lastGood === undefined ? {} : { lastGood, lastGoodProof };
  }
  const isKnown = Redacted.value(hmacKey) !== "";
  return {
    lastGood: now,
    lastGoodProof: isKnown ? templateProof(hmacKey, resourceKey(resource), now, live.template) : lastGoodProof,
  };
};

/** Start of the upgrade, unless it was rolled back, with the proof that the operator wrote both. */
const upgradeMarks = (
  { pins }: Prepared,
  { resource, operator }: ClusterSnapshot,
  { upgradeStarted, rolledBack }: RolloutRecord,
): RolloutRecord => ({
  upgradeStarted,
  upgradeProof: upgradeProof(operator.hmacKey, resourceKey(resource), { pins, upgradeStarted, rolledBack }),
});

/** As recorded for the same template. If the record was changed, its slot expires: it could be held forever. */
const upgradeStarted = (
  live: LiveDeployment | undefined,
  { nowMs, resource, operator }: ClusterSnapshot,
  digest: string,
): string => {
  const { record = {} } = live ?? {};
  if (record.template !== digest || record.cause !== "upgrade") return new Date(nowMs).toISOString();
  const { upgradeStarted: started } = record;
  return started !== undefined && hasProof(record, resourceKey(resource), operator.hmacKey) ? started : LONG_AGO;
};

const LONG_AGO = new Date(0).toISOString();

const withRecord = (deployment: Manifest, record: RolloutRecord): Manifest => {
  const annotations = { ...textsIn(deployment.metadata.annotations), ...annotationsOf(record) };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
};
