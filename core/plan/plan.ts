/**
 * START HERE: what was observed of a resource → either a question, on whose answer the decision depends, or the decision.
 *
 * A question carries what follows from its answer (`resume`), so that only what depends on the answer is computed again, and
 * the number of questions is bounded. The operator, the commands and the tests answer the same questions. Read next: decide.ts.
 */
import * as Result from "effect/Result";
import type { DecodeFailure, Resource } from "../api/decode.ts";
import { isConnectionSecret } from "../config/stages/storage.ts";
import { type JsonObject } from "../data/json.ts";
import { autoscales, isScaledElsewhere } from "../resources/autoscaler.ts";
import { allOf } from "../resources/objects.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import type { Contest, ForeignField } from "../snapshot/contest.ts";
import { keyOf, type ObjectKey } from "../snapshot/object_key.ts";
import type { RollingUpgrade } from "../snapshot/rolling_upgrade.ts";
import type { Scaled } from "../snapshot/scalers.ts";
import { repairsIn } from "./contest.ts";
import { decide, withoutContested } from "./decide.ts";
import type { Decision } from "./decision.ts";
import { askedForOwners } from "./field_owners.ts";
import { type LabelsAnswer, labelsIn, labelsNeeded, type LabelsQuestion, NO_LABELS } from "./image_question.ts";
import { isWatched } from "./ownership.ts";
import { prepare, type Prepared, type Unprepared } from "./prepare.ts";
import { neededByServer } from "./restore_missing.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** What is known without a question. */
export interface Facts {
  /** Without the answers. */
  readonly snapshot: ClusterSnapshot;
  readonly decoded: Result.Result<Resource, ReadonlyArray<DecodeFailure>>;
  /** The resource is new, so that no object of it exists. */
  readonly isFresh: boolean;
  /** Secrets may be read by name only, so that what is known of those that the operator has written may be out of date. */
  readonly pollsSecrets: boolean;
}

export type Plan = Ask | Planned;

export interface Planned {
  readonly _tag: "Planned";
  /** With all answers. */
  readonly snapshot: ClusterSnapshot;
  /** What the decision rests on, also where it takes nothing of it. */
  readonly prepared: Result.Result<Prepared, Unprepared>;
  readonly decision: Decision;
}

/** One row for each question: what is asked, and what the answer is. */
interface Questions {
  /** Objects at these names; undefined for one that does not exist. Objects without the operator's label are not watched. */
  readonly Objects: readonly [ReadonlyArray<ObjectKey>, ReadonlyArray<JsonObject | undefined>];
  /** Names of the HorizontalPodAutoscalers that set the number of pods of this Deployment. */
  readonly Scalers: readonly [Scaled, ReadonlyArray<string>];
  /** What the labels of the image say; also asked where that is known or does not count, so that no registry is asked any longer. */
  readonly Labels: readonly [LabelsQuestion, LabelsAnswer];
  /** The same objects with their field managers, which the cache does not contain. */
  readonly Owners: readonly [ReadonlyArray<ObjectKey>, ReadonlyArray<JsonObject | undefined>];
  /** Which of these fields are overwritten repeatedly, after they are counted; undefined if none begins to wait. */
  readonly Contests: readonly [ReadonlyArray<ForeignField>, ReadonlyArray<Contest> | undefined];
}

type Asks = {
  readonly [Tag in keyof Questions]: {
    readonly _tag: Tag;
    readonly question: Questions[Tag][0];
    readonly resume: (answer: Questions[Tag][1]) => Plan;
  };
};

/**
 * The upgrades of all resources, to a decision that takes a slot; undefined where none can be taken. The slot is to be taken
 * in the same instant.
 */
interface AskSlots {
  readonly _tag: "Slots";
  readonly resume: (
    holders: ReadonlyArray<RollingUpgrade> | undefined,
  ) => { readonly value: Plan; readonly slot: RollingUpgrade | undefined };
}

export type Ask = Asks[keyof Asks] | AskSlots;

export const plan = (facts: Facts): Plan => {
  const { decoded } = facts;
  const deployment = deploymentOf(facts.snapshot);
  // Which image a name means depends on what runs, also under a Deployment that is not watched.
  return withObjects(
    facts.snapshot,
    [deployment],
    (seen) =>
      withScalers(seen, decoded, deployment, (scaled) =>
        withLabels(scaled, decoded, (labelled) => {
          const prepared = prepare(labelled, decoded);
          const [known, keys] = objectsAsked(labelled, prepared, facts);
          return withObjects(known, keys, (whole) => withOwners(whole, prepared));
        })),
  );
};

type Next = (snapshot: ClusterSnapshot) => Plan;

const deploymentOf = ({ resource }: ClusterSnapshot): ObjectKey => {
  const { namespace, name } = liveObject(resource);
  return { apiVersion: "apps/v1", kind: "Deployment", namespace, name };
};

const withScalers = (
  snapshot: ClusterSnapshot,
  decoded: Facts["decoded"],
  { namespace, name }: ObjectKey,
  next: Next,
): Plan =>
  Result.isFailure(decoded) || !isScaledElsewhere(decoded.success) ? next(snapshot) : {
    _tag: "Scalers",
    question: { namespace, name, readsReplicas: autoscales(decoded.success) },
    resume: (scalers) => next({ ...snapshot, scalers }),
  };

const withLabels = (snapshot: ClusterSnapshot, decoded: Facts["decoded"], next: Next): Plan => {
  const needed = Result.isFailure(decoded) ? undefined : labelsNeeded(snapshot, decoded.success);
  if (needed === undefined) return { _tag: "Labels", question: NO_LABELS, resume: () => next(snapshot) };
  const { recorded } = needed;
  return {
    _tag: "Labels",
    question: recorded === undefined ? { kind: "asked", of: needed.question() } : { kind: "recorded", read: recorded },
    resume: (answer) => {
      const labels = labelsIn(needed, answer);
      return next(labels === undefined ? snapshot : { ...snapshot, labels });
    },
  };
};

/** With the objects at `keys`; those that are watched are known. */
const withObjects = (snapshot: ClusterSnapshot, keys: ReadonlyArray<ObjectKey>, next: Next): Plan => {
  const { live } = snapshot;
  const { name } = deploymentOf(snapshot);
  const isKnown = (found: JsonObject | undefined) => found !== undefined && isWatched(found, name);
  const question = keys.filter((key) => !isKnown(live.get(liveKey(key.kind, key.name))));
  return question.length === 0
    ? next(snapshot)
    : { _tag: "Objects", question, resume: (found) => next(withFound(snapshot, question, found)) };
};

/** `found`: at each key, undefined for an object that does not exist. */
export const withFound = (
  snapshot: ClusterSnapshot,
  keys: ReadonlyArray<ObjectKey>,
  found: ReadonlyArray<JsonObject | undefined>,
): ClusterSnapshot => {
  const live = new Map(snapshot.live);
  for (const [index, { kind, name }] of keys.entries()) {
    const object = found[index];
    if (object === undefined) live.delete(liveKey(kind, name));
    else live.set(liveKey(kind, name), object);
  }
  return { ...snapshot, live };
};

/**
 * Objects that may exist under a required name, and the snapshot without those that may be out of date. For a new resource only the
 * Deployment was looked up: a conflict there would make all writes before it useless, and the other writes are rejected if a name is
 * taken.
 */
const objectsAsked = (
  snapshot: ClusterSnapshot,
  prepared: Result.Result<Prepared, Unprepared>,
  { isFresh, pollsSecrets }: Facts,
): readonly [ClusterSnapshot, ReadonlyArray<ObjectKey>] => {
  if (Result.isFailure(prepared)) {
    return [snapshot, neededByServer(snapshot, prepared.failure.resource?.spec).map(keyOf)];
  }
  const { namespace } = deploymentOf(snapshot);
  const wanted = isFresh ? [] : allOf(prepared.success.objects).map(keyOf).filter(({ kind }) => kind !== "Deployment");
  if (!pollsSecrets) return [snapshot, wanted];
  const secrets = secretsNeeded(snapshot, prepared.success)
    .map((secret) => ({ apiVersion: "v1", kind: "Secret", namespace, name: secret }));
  const live = new Map([...snapshot.live].filter(([key]) => !key.startsWith("Secret/")));
  return [{ ...snapshot, live }, [...secrets, ...wanted.filter(({ kind }) => kind !== "Secret")]];
};

/** Of the desired template, and of those that there are: the Secrets that the operator made of the user's. */
const secretsNeeded = (snapshot: ClusterSnapshot, { objects }: Prepared): ReadonlyArray<string> => {
  const { name } = deploymentOf(snapshot);
  const inPods = [deploymentIn(snapshot), ...snapshot.replicaSets].flatMap((workload) => workload?.secrets ?? []);
  return [
    ...new Set([
      ...allOf(objects).filter(({ kind }) => kind === "Secret").map(({ metadata }) => metadata.name),
      ...inPods.filter((secret) => isConnectionSecret(secret, name)),
    ]),
  ];
};

type Informed = Omit<Planned, "_tag">;

/** As if every upgrade slot were free; only a decision that takes one depends on them. */
const decided = (snapshot: ClusterSnapshot, prepared: Informed["prepared"]): Informed => {
  const informed: ClusterSnapshot = { ...snapshot, rollingUpgrades: [] };
  return { snapshot: informed, prepared, decision: decide(informed, prepared) };
};

/** Who owns the fields that differ, if objects were changed by others, which is rare. */
const withOwners = (snapshot: ClusterSnapshot, prepared: Informed["prepared"]): Plan => {
  const informed = decided(snapshot, prepared);
  const question = askedForOwners(informed.decision.steps, informed.snapshot);
  if (question.length === 0) return onSlots(informed);
  return {
    _tag: "Owners",
    question,
    resume: (found) => onSlots(decided(withFound(snapshot, question, found), prepared)),
  };
};

/** Last of what may change the decision: a slot that is taken is used. */
const onSlots = (informed: Informed): Plan =>
  slotIn(informed.decision) === undefined ? onContests(informed) : {
    _tag: "Slots",
    resume: (rollingUpgrades) => {
      const snapshot: ClusterSnapshot = { ...informed.snapshot, rollingUpgrades };
      const decision = decide(snapshot, informed.prepared);
      return { value: onContests({ ...informed, snapshot, decision }), slot: slotIn(decision) };
    },
  };

const slotIn = (decision: Decision): RollingUpgrade | undefined =>
  decision.kind === "rollout" ? decision.slot : undefined;

/** Fields that are repeatedly overwritten wait: this very snapshot may be the one that shows it. */
const onContests = (informed: Informed): Plan => {
  const { snapshot, decision } = informed;
  const planned: Planned = { _tag: "Planned", ...informed };
  if (decision.kind !== "rollout" && decision.kind !== "preserved") return planned;
  const question = repairsIn(decision.steps, snapshot);
  if (question.length === 0) return planned;
  return {
    _tag: "Contests",
    question,
    resume: (contests) => {
      if (contests === undefined) return planned;
      const counted = { ...snapshot, contests };
      return { ...planned, snapshot: counted, decision: withoutContested(decision, counted) };
    },
  };
};
