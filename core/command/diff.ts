/**
 * `diff`: what the operator would change in a cluster for some resources. The same decision as in `run`, printed
 * instead of performed.
 */
import { DIFF_VALUE_CHARACTERS_MAX } from "../data/limits.ts";
import { wordsFor } from "../api/convert/v1alpha1_paths.ts";
import * as Result from "effect/Result";
import { isObject, type Json, type JsonObject, put } from "../data/json.ts";
import { keptFields } from "../plan/kept_claim.ts";
import type { Planned } from "../plan/plan.ts";
import { takenOver } from "../plan/takeover.ts";
import { mountedClaim } from "../resources/claim.ts";
import { warningLine } from "../failure/warning.ts";
import type { ObjectKey } from "../snapshot/object_key.ts";
import { report } from "../report/report.ts";
import type { WriteStep } from "../plan/step.ts";
import { type ClusterSnapshot, liveKey, liveOf } from "../snapshot/cluster_snapshot.ts";
import { liveConfig } from "../snapshot/live_config.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { valuesRead } from "../plan/secret_values.ts";
import { withoutSecrets } from "../data/redaction.ts";
import { type FieldChange, fieldChanges } from "./field_changes.ts";
import { lineChanges } from "./line_changes.ts";
import { lines, type Outcome, type Printing, type Style } from "./outcome.ts";
import { waitingTemplate } from "./rollout.ts";
import { liveObject, textsIn } from "../snapshot/live_object.ts";
import { liveResource } from "../snapshot/live_resource.ts";

/** One resource as it would be in the cluster, or why it cannot be there. */
export interface DiffSubject {
  /** File and resource, or namespace and resource. */
  readonly label: string;
  readonly planned: Result.Result<Planned, ReadonlyArray<string>>;
  /** Whether the StorageClass of its claim can expand it; undefined if that is not asked for, or not known. */
  readonly canExpand?: boolean | undefined;
}

export const diffCommand = (
  subjects: ReadonlyArray<DiffSubject>,
  notes: ReadonlyArray<string>,
  { format, style }: Printing,
): Outcome => {
  const differences = subjects.map(differencesOf);
  const different = differences.some(({ steps, errors }) => steps.length > 0 || errors.length > 0);
  const code = different || subjects.length === 0 ? 1 : 0;
  if (format === "json") {
    return { stdout: `${JSON.stringify({ resources: differences }, null, 2)}\n`, stderr: lines(notes), code };
  }
  const errors = differences.flatMap(({ resource, errors: all }) =>
    all.map((text) => `${style.name(resource)}: ${style.error("error:")} ${text}`)
  );
  return {
    stdout: lines(differences.flatMap((item) => textOf(item, style))),
    stderr: lines([...notes, ...errors]),
    code,
  };
};

/** The JSON form; stable for scripts. */
export interface Differences {
  readonly resource: string;
  readonly steps: ReadonlyArray<DiffStep>;
  /** Errors of the resource; only scaling is possible then. */
  readonly errors: ReadonlyArray<string>;
  /** Further remarks: suspended, being deleted, held. */
  readonly remarks: ReadonlyArray<string>;
}

export interface DiffStep {
  readonly action: "create" | "change" | "delete" | "scale";
  readonly kind: string;
  readonly name: string;
  readonly why: string;
  /** True when a new pod template starts new pods. */
  readonly replacesPods: boolean;
  readonly changes: ReadonlyArray<ReportedChange>;
  /** Lines of the changes to the running config.yaml. */
  readonly config: ReadonlyArray<string>;
}

export interface ReportedChange {
  readonly path: string;
  readonly what: "added" | "changed" | "removed";
  /** Omitted if they may be secret, or are digests without meaning for a reader. */
  readonly before?: Json;
  readonly after?: Json;
}

export const differencesOf = ({ label, planned, canExpand }: DiffSubject): Differences => {
  if (Result.isFailure(planned)) return { resource: label, steps: [], errors: planned.failure, remarks: [] };
  const { snapshot: seen, decision } = planned.success;
  const { failures } = report(seen, decision, { live: seen.live, rejectedWrites: [] });
  const words = wordsFor(seen.resource);
  return {
    resource: label,
    steps: stepsOf(planned.success),
    errors: failures.map(({ message }) => words(withoutSecrets(message, valuesRead(seen)))),
    remarks: [...remarksOf(planned.success), ...claimRemarks(planned.success, canExpand)].map(words),
  };
};

/** Somebody may have copied a secret into any field; values of known Secrets are never printed. */
export const cleaned = <A>(value: A, snapshot: ClusterSnapshot): A => {
  const values = valuesRead(snapshot);
  const clean = (part: unknown): unknown => {
    if (typeof part === "string") return withoutSecrets(part, values);
    if (Array.isArray(part)) return part.map(clean);
    return isObject(part) ? Object.fromEntries(Object.entries(part).map(([key, one]) => [key, clean(one)])) : part;
  };
  return clean(value) as A;
};

/** Of objects that are taken over, the fields of their former manager go unless the operator sets them. */
const stepsOf = ({ snapshot, decision: { steps } }: Planned): ReadonlyArray<DiffStep> => {
  const live = new Map(snapshot.live);
  for (const step of steps) {
    const key = step._tag === "TakeOver" ? liveKey(step.key.kind, step.key.name) : "";
    const found = live.get(key);
    if (step._tag !== "TakeOver" || found === undefined) continue;
    const managedFields = takenOver(found, snapshot.resource, step.claims);
    live.set(key, put(found, ["metadata", "managedFields"], managedFields) as JsonObject);
  }
  return steps.flatMap((step) => stepOf(step, { ...snapshot, live })).map((step) => cleaned(step, snapshot));
};

const stepOf = (step: WriteStep, snapshot: ClusterSnapshot): ReadonlyArray<DiffStep> => {
  switch (step._tag) {
    case "Apply":
      return [applied(step.manifest, step.why, snapshot)];
    case "Prune":
      return [bare("delete", step.key, step.why, [])];
    case "Scale": {
      const before = deploymentIn(snapshot)?.wantedReplicas ?? null;
      const change = { path: "spec.replicas", what: "changed", before, after: step.replicas } as const;
      return [bare("scale", step.key, step.why, [change])];
    }
    case "TakeOver":
      return [];
  }
};

const bare = (
  action: DiffStep["action"],
  { kind, name }: ObjectKey,
  why: string,
  changes: ReadonlyArray<ReportedChange>,
): DiffStep => ({ action, kind, name, why, replacesPods: false, changes, config: [] });

const applied = (manifest: Manifest, why: string, snapshot: ClusterSnapshot): DiffStep => {
  const { kind, metadata: { name } } = manifest;
  const live = liveOf(snapshot, manifest);
  const changes = live === undefined ? [] : fieldChanges(manifest, live);
  return {
    action: live === undefined ? "create" : "change",
    kind,
    name,
    why,
    replacesPods: changes.some(({ path }) => path.startsWith("spec.template.")),
    changes: changes.filter(({ path }) => !RECORDS.test(path)).flatMap((change) => reportedChanges(kind, change)),
    config: configLines(manifest, snapshot),
  };
};

/** Annotations in which the operator records what an object was generated from. */
const RECORDS = /^metadata\.annotations\["llamastack\.io\//;

const DIGESTS = /\["llamastack\.io\/(secrets|ca-bundle)-digest"\]$/;

export const reportedChanges = (kind: string, { path, before, after }: FieldChange): ReadonlyArray<ReportedChange> => {
  const what = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const isSecret = kind === "Secret" && /^(data|stringData)\b/.test(path);
  if (isSecret && path === "data") {
    const keys = [before, after].flatMap((data) => Object.keys(textsIn(data)));
    return [...new Set(keys)].map((key) => ({ path: `data.${key}`, what }));
  }
  return isSecret || DIGESTS.test(path)
    ? [{ path, what }]
    : [{ path, what, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
};

/** Only generated configs: a user-provided config may contain anything, and `kubectl get configmap` shows it. */
const configLines = (manifest: Manifest, snapshot: ClusterSnapshot): ReadonlyArray<string> => {
  const isConfig = textsIn(manifest.metadata.labels)["app.kubernetes.io/component"] === "generated-config";
  if (!isConfig || liveResource(snapshot.resource).overrideConfig !== undefined) return [];
  const [running] = (deploymentIn(snapshot)?.configMaps ?? []).flatMap((name) => {
    const config = snapshot.live.get(liveKey("ConfigMap", name));
    return config === undefined ? [] : liveConfig(config).text ?? [];
  });
  return running === undefined ? [] : lineChanges(running, textsIn(manifest.data)["config.yaml"] ?? "");
};

const remarksOf = (planned: Planned): ReadonlyArray<string> => {
  const { snapshot: { resource }, decision: { steps } } = planned;
  const going = liveObject(resource).isGoing;
  const suspended = liveResource(resource).isSuspended;
  const writesDeployment = steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment");
  const waiting = going || suspended || writesDeployment ? Result.succeed(undefined) : waitingTemplate(planned);
  const held = Result.getOrElse(waiting, () => undefined);
  return [
    ...(going ? ["the resource is being deleted; its objects are not changed"] : []),
    ...(suspended ? ["spec.suspend is true; its objects are not changed"] : []),
    ...(held === undefined ? [] : [
      `a new pod template is held (${
        held.slice(0, 12)
      }): the running Deployment is unchanged until the resource changes, an upgrade slot is free, or \`rollout\` applies it`,
    ]),
  ];
};

/** What the claim does not follow, and so no step shows. */
const claimRemarks = ({ snapshot, decision }: Planned, canExpand: boolean | undefined): ReadonlyArray<string> => {
  const prepared = "prepared" in decision ? decision.prepared : undefined;
  const storage = prepared?.resource.spec.workload?.storage;
  const name = prepared === undefined ? undefined : mountedClaim(prepared.blueprint);
  const claim = name === undefined ? undefined : snapshot.live.get(liveKey("PersistentVolumeClaim", name));
  return storage === undefined || claim === undefined ? [] : keptFields(storage, claim, canExpand).map(warningLine);
};

const textOf = ({ resource, steps, errors, remarks }: Differences, style: Style): ReadonlyArray<string> => {
  if (steps.length === 0 && errors.length > 0) return [];
  const total = steps.length === 0 ? "no differences" : `${steps.length} difference${steps.length === 1 ? "" : "s"}`;
  return [
    `${style.name(resource)}: ${total}`,
    ...remarks.map((remark) => `  ${remark}`),
    ...steps.flatMap((step) => stepText(step, style)),
  ];
};

const MARKS = { create: "+", change: "~", delete: "-", scale: "~" } as const;

export const stepText = ({ action, kind, name, why, replacesPods, changes, config }: DiffStep, style: Style) => {
  const colour = { create: style.good, change: style.warning, delete: style.error, scale: style.warning }[action];
  const onlyRecords = action === "change" && changes.length === 0;
  return [
    `  ${colour(`${MARKS[action]} ${kind}/${name}`)}: ${why}${replacesPods ? "; the pods are replaced" : ""}`,
    ...(onlyRecords ? ["      only bookkeeping annotations of the operator"] : []),
    ...changes.map((reportedChange) => `      ${changeText(reportedChange, style)}`),
    ...(config.length === 0 ? [] : ["      changes to the running config.yaml:"]),
    ...config.map((line) =>
      `        ${line.startsWith("+") ? style.good(line) : line.startsWith("-") ? style.error(line) : line}`
    ),
  ];
};

export const changeText = ({ path, what, before, after }: ReportedChange, style: Style): string => {
  const named = DIGESTS.test(path) ? `${path} (content of referenced Secrets and ConfigMaps)` : path;
  if (before === undefined && after === undefined) return `${named}: ${what}`;
  if (before === undefined) return style.good(`+ ${named}: ${shown(after)}`);
  if (after === undefined) return style.error(`- ${named}: ${shown(before)}`);
  return `${named}: ${style.error(shown(before))} → ${style.good(shown(after))}`;
};

const shown = (value: Json | undefined): string => {
  const text = JSON.stringify(value ?? null);
  return text.length <= DIFF_VALUE_CHARACTERS_MAX
    ? text
    : `${text.slice(0, DIFF_VALUE_CHARACTERS_MAX)}… (${text.length} characters)`;
};
