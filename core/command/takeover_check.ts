/**
 * `takeover-check`: what the first reconciliation by this operator would change for servers of the Go operator, what follows
 * later, and whether pods would restart or connections close. The decisions are those of `run`, and nothing is written.
 */
import * as Result from "effect/Result";
import { type JsonObject, put } from "../data/json.ts";
import { decide } from "../plan/decide.ts";
import type { RolloutDecision } from "../plan/decision.ts";
import { PEERS_ANNOTATION } from "../plan/kept_network.ts";
import { isNotAdopted } from "../plan/ownership.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { liveObject, textsIn } from "../snapshot/live_object.ts";
import { allowedClients } from "../snapshot/live_policy.ts";
import { isHostless } from "../snapshot/live_route.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { RECORD_ANNOTATIONS, recordIn } from "../snapshot/record.ts";
import { type ClusterSnapshot, liveKey, liveOf } from "../snapshot/cluster_snapshot.ts";
import { takenOver } from "../plan/takeover.ts";
import {
  changeText,
  cleaned,
  differencesOf,
  type DiffStep,
  type DiffSubject,
  type ReportedChange,
  reportedChanges,
  stepText,
} from "./diff.ts";
import { fieldChanges } from "./field_changes.ts";
import { lines, type Outcome, type Printing, type Style } from "./outcome.ts";

/** The JSON form; stable for scripts. */
export interface TakeOver {
  readonly resource: string;
  /** `refused`: it has errors, and its server keeps running as it is; `not readable`: nothing is known of it. */
  readonly state: "adopted" | "refused" | "taken over already" | "without a Deployment" | "not readable";
  readonly podsRestart: boolean;
  readonly connectionsClose: boolean;
  /** Why, one sentence each; empty if neither happens. */
  readonly causes: ReadonlyArray<string>;
  /** What the first reconciliation writes. */
  readonly now: ReadonlyArray<DiffStep>;
  /** Fields of the pod template that change with the next edit of the resource, or with the upgrade of its image. */
  readonly later: ReadonlyArray<ReportedChange>;
  readonly errors: ReadonlyArray<string>;
  readonly remarks: ReadonlyArray<string>;
}

export const takeOverCheckCommand = (
  subjects: ReadonlyArray<DiffSubject>,
  { format, style }: Printing,
): Outcome => {
  const all = subjects.map(takeOverOf);
  const code =
    all.some(({ podsRestart, connectionsClose, state }) => podsRestart || connectionsClose || state === "not readable")
      ? 1
      : 0;
  if (format === "json") {
    return { stdout: `${JSON.stringify({ resources: all }, null, 2)}\n`, stderr: "", code };
  }
  const text = all.length === 0
    ? ["There is no LlamaStackDistribution."]
    : [...all.flatMap((one) => textOf(one, style)), total(all)];
  return { stdout: lines(text), stderr: "", code };
};

export const takeOverOf = (subject: DiffSubject): TakeOver => {
  const { resource, steps: now, errors, remarks } = differencesOf(subject);
  const refused = {
    resource,
    state: "refused",
    podsRestart: false,
    connectionsClose: false,
    causes: [],
    now,
    later: [],
  } as const;
  if (Result.isFailure(subject.planned)) return { ...refused, state: "not readable", errors, remarks };
  const { snapshot: seen, decision } = subject.planned.success;
  if (decision.kind !== "rollout") return { ...refused, errors, remarks };
  const live = liveOf(seen, decision.prepared.objects.deployment);
  const isOthers = isNotAdopted(deploymentIn(seen), seen.resource);
  const upgrade = isOthers && live !== undefined && isUpgradedNext(seen, decision, live)
    ? [
      "the pods are replaced once this operator has an upgrade slot for them: their image has a floating tag, or is another one than this operator ships for the distribution",
    ]
    : [];
  const restarts = [...now.flatMap(restartBy), ...upgrade];
  const closures = now.flatMap((step) => closureBy(step, seen));
  return {
    resource,
    state: live === undefined ? "without a Deployment" : isOthers ? "adopted" : "taken over already",
    podsRestart: restarts.length > 0,
    connectionsClose: closures.length > 0,
    causes: [...restarts, ...closures],
    now,
    later: isOthers && live !== undefined && decision.rollout.kind === "adopt"
      ? laterChanges(decision, live, seen)
      : [],
    errors,
    remarks: [...remarks, ...policyRemarks(decision)],
  };
};

/** What the reconciliation after the adoption decides, when every upgrade slot is free. */
const isUpgradedNext = (seen: ClusterSnapshot, { steps, rollout }: RolloutDecision, live: JsonObject): boolean => {
  if (rollout.kind !== "adopt") return false;
  const { kind, name, annotations } = liveObject(live);
  const [written] = steps.flatMap((step) =>
    step._tag === "Apply" && step.manifest.kind === kind ? [step.manifest] : []
  );
  const recorded = { ...annotations, ...textsIn(written?.metadata.annotations) };
  const adopted = put(live, ["metadata", "annotations"], recorded) as JsonObject;
  const key = liveKey(kind, name);
  const next = decide({ ...seen, live: new Map([...seen.live, [key, adopted]]), rollingUpgrades: [] });
  return next.kind === "rollout" && next.rollout.kind === "apply" && recordIn(adopted).template !== undefined;
};

const laterChanges = (
  { prepared }: RolloutDecision,
  live: JsonObject,
  seen: ClusterSnapshot,
): ReadonlyArray<ReportedChange> => {
  const { deployment } = prepared.objects;
  const owned = put(live, ["metadata", "managedFields"], takenOver(live, seen.resource)) as JsonObject;
  return fieldChanges(deployment, owned).filter(({ path }) => path.startsWith("spec.template."))
    .flatMap((change) => reportedChanges("Deployment", change)).map((change) => cleaned(change, seen));
};

const policyRemarks = ({ prepared: { objects } }: RolloutDecision): ReadonlyArray<string> => {
  const annotated = ({ metadata }: Manifest, name: string) => Object.hasOwn(textsIn(metadata.annotations), name);
  return [
    ...(annotated(objects.deployment, RECORD_ANNOTATIONS.open)
      ? ["no NetworkPolicy is created before the next edit of spec.network, since there is none now"]
      : []),
    ...(objects.after.some((manifest) => annotated(manifest, PEERS_ANNOTATION))
      ? ["NetworkPolicy keeps the peers that the resource does not name until the next edit of spec.network"]
      : []),
  ];
};

const restartBy = ({ action, kind, name, changes }: DiffStep): ReadonlyArray<string> => {
  if (kind !== "Deployment") return [];
  const paths = changes.map(({ path }) => path).filter((path) => /^spec\.(template|selector)\b/.test(path));
  const replicas = changes.find(({ path }) => path === "spec.replicas");
  const isFewer = replicas !== undefined && Number(replicas.after ?? 1) < Number(replicas.before ?? 1);
  return [
    ...(action === "delete" ? [`Deployment ${name} is deleted`] : []),
    ...(action === "change" && paths.length > 0 ? [`the pods are replaced: ${paths.join(", ")}`] : []),
    ...(isFewer ? [`pods stop: ${replicas.before ?? 1} → ${replicas.after ?? 1} replicas`] : []),
  ];
};

/** Clients that are connected now, or that could connect. */
const closureBy = ({ action, kind, name, changes }: DiffStep, seen: ClusterSnapshot): ReadonlyArray<string> => {
  const live = seen.live.get(liveKey(kind, name));
  const isChanged = changes.some(({ path }) => path.startsWith("spec."));
  switch (kind) {
    case "NetworkPolicy":
      if (action === "create") return [`NetworkPolicy ${name} is created: clients that it does not allow are cut off`];
      return action === "change" && isChanged && isNarrower(changes)
        ? [`NetworkPolicy ${name} allows fewer clients`]
        : [];
    case "Service":
      if (action === "delete") return [`Service ${name} is deleted`];
      return action === "change" && isChanged ? [`Service ${name} changes: ${pathsOf(changes)}`] : [];
    case "Ingress":
    case "Route":
      // The router of OpenShift ignores an Ingress without host names.
      if (
        action === "delete" && kind === "Ingress" && seen.operator.platform.served.includes("Route") && isHostless(live)
      ) return [];
      if (action === "delete") return [`${kind} ${name} is deleted`];
      return action === "change" && isChanged ? [`${kind} ${name} changes: ${pathsOf(changes)}`] : [];
    default:
      return [];
  }
};

const pathsOf = (changes: ReadonlyArray<ReportedChange>): string => changes.map(({ path }) => path).join(", ");

/** More peers for the same ports disturb nobody. */
const isNarrower = (changes: ReadonlyArray<ReportedChange>): boolean =>
  changes.filter(({ path }) => path.startsWith("spec.")).some((change) => {
    if (change.path !== "spec.ingress") return true;
    const [before, after] = [allowedClients(change.before), allowedClients(change.after)];
    return before.ports !== after.ports || before.peers.some((peer) => !after.peers.includes(peer));
  });

const textOf = (one: TakeOver, style: Style): ReadonlyArray<string> => [
  `${style.name(one.resource)}: ${stateText(one, style)}`,
  ...one.causes.map((cause) => `  ${style.error("!")} ${cause}`),
  ...one.errors.map((text) => `  ${style.error("error:")} ${text}`),
  ...one.remarks.map((remark) => `  ${remark}`),
  ...(one.now.length === 0 ? [] : ["  at once:"]),
  ...one.now.flatMap((step) => stepText(step, style)).map((line) => `  ${line}`),
  ...(one.later.length === 0 ? [] : ["  in the pod template, with the next edit of the resource:"]),
  ...one.later.map((change) => `    ${changeText(change, style)}`),
];

const stateText = ({ state, podsRestart, connectionsClose }: TakeOver, style: Style): string => {
  switch (state) {
    case "refused":
      return style.warning("not adopted, because of errors; its server keeps running as it is");
    case "not readable":
      return style.error("not readable, so that nothing is known of its take-over");
    case "taken over already":
    case "without a Deployment":
      return state;
    case "adopted": {
      const harm = [...(podsRestart ? ["pods restart"] : []), ...(connectionsClose ? ["connections close"] : [])];
      return harm.length === 0
        ? style.good("adopted; no pod restarts, no connection closes")
        : style.error(`adopted; ${harm.join(", ")}`);
    }
  }
};

const total = (all: ReadonlyArray<TakeOver>): string => {
  const count = (is: (one: TakeOver) => boolean) => all.filter(is).length;
  const unread = count(({ state }) => state === "not readable");
  return `${all.length} ${all.length === 1 ? "resource" : "resources"}: pods of ${
    count(({ podsRestart }) => podsRestart)
  } restart, connections of ${count(({ connectionsClose }) => connectionsClose)} close, ${
    count(({ state }) => state === "refused")
  } not adopted${unread === 0 ? "" : `, ${unread} not readable`}`;
};
