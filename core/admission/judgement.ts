/**
 * Validation of a resource by admission, for rules that the CRD cannot express.
 *
 * The same rules as in a reconciliation (decode, derive). Only changes are checked: an existing finding does not block
 * an edit, and an edit of labels is never rejected.
 */
import * as Result from "effect/Result";
import { decodeResource, isOversized } from "../api/decode.ts";
import { hasTooManyAnnotations, hiddenFromV1alpha1 } from "../api/guarded_conversion.ts";
import { inV1alpha1Paths, v1alpha1Path } from "../api/convert/v1alpha1_paths.ts";
import {
  INCOMPLETE_ANNOTATION,
  INCOMPLETE_CHARACTERS_MAX,
  leftoverPaths,
  LEFTOVERS_ANNOTATION,
  UNCONVERTED_ANNOTATION,
} from "../api/convert/annotation.ts";
import { same } from "../api/convert/leftovers.ts";
import { derive, type Surroundings, warningsOf } from "../config/derive.ts";
import { isReadLater } from "../failure/read_later.ts";
import { type FieldPath, formatPath, valueAt } from "../data/field_path.ts";
import { ANNOTATIONS_MAX } from "../data/limits.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { onOneLine, shortWord } from "../data/printable.ts";
import { keptFieldsAfter } from "../plan/kept_claim.ts";
import { restsOn } from "../plan/rests_on.ts";
import { missing, oncePerObject } from "../plan/reference_failures.ts";
import { runningServer } from "../snapshot/running_server.ts";
import { permitted, type Reference, referencesOf } from "../snapshot/references.ts";
import { type Warning, warningLine } from "../failure/warning.ts";
import type { Change, Judgement } from "./change.ts";
import { withChangeFindings } from "../api/change_rules.ts";

/** The content of a reference; undefined if it is unknown. */
export type Found = "Present" | "NoObject" | "NoKey" | undefined;

/** The ConfigMap whose content is judged together with the object. */
export const judgedConfigMap = ({ object }: Change): Reference | undefined =>
  hasTooManyAnnotations(object)
    ? undefined
    : referencesIn(object).find(({ path }) => ["spec.overrideConfig", "spec.baseConfig"].includes(formatPath(path)));

/** The references to check: those of the new object that the old one does not have. */
export const newReferences = (
  { object, before, namespace }: Change,
  surroundings: Surroundings,
): ReadonlyArray<Reference> => {
  if (hasTooManyAnnotations(object)) return [];
  const known = before === undefined ? [] : referencesIn(before).map(referenceName);
  return permitted(referencesIn(object), namespace, surroundings).filter((reference) =>
    !reference.optional && !known.includes(referenceName(reference))
  );
};

export const judge = (
  change: Change,
  surroundings: Surroundings,
  references: "Warn" | "Reject",
  /** By `referenceName`. */
  found: ReadonlyMap<string, Found>,
): Judgement => {
  const { object, before, namespace } = change;
  // As of one with too many values, nothing else is said of it.
  if (hasTooManyAnnotations(object)) {
    return inPathsOf(change, { rejections: [...incomplete(change), ...crowded(change)], warnings: [] });
  }
  const lacking = oncePerObject(
    newReferences(change, surroundings).flatMap((reference) => {
      const is = found.get(referenceName(reference));
      return is === "NoObject" || is === "NoKey" ? [missing(reference, is, namespace)] : [];
    }),
  );
  // The comparison recurses; the decoder rejects objects that are too large for it.
  const unchanged = before !== undefined && !isOversized(object) && !isOversized(before) &&
    same(object.spec, before.spec);
  const findings = (item: JsonObject | undefined): Findings => {
    if (unchanged || item === undefined) return NOTHING;
    const { rejections, warnings } = findingsOf(item, surroundings);
    return { rejections, warnings: [...warnings, ...hiddenFromV1alpha1(item).map(remark)] };
  };
  const [fresh, old] = [findings(object), findings(before)];
  const all = ({ rejections, warnings }: Findings) => [...rejections, ...warnings];
  const isNew = isNewIn(object, all(fresh), before, all(old));
  const rejects = references === "Reject";
  return inPathsOf(change, {
    rejections: [
      ...incomplete(change),
      ...fresh.rejections.filter(isNew),
      ...(rejects ? lacking : []),
    ],
    warnings: [
      ...(rejects ? [] : lacking.map(({ message }) => message)),
      ...fresh.warnings.filter(isNew).map(({ message }) => message),
      ...keptByClaim(change),
      ...lostBlocks(change),
      ...foreignConfig(change),
    ],
  });
};

/** What is wrong where; with the paths of v1alpha2. */
interface Placed {
  readonly path: FieldPath;
  readonly message: string;
}

interface Finding extends Placed {
  /** Its tag or code. */
  readonly of: string;
}

interface Findings {
  readonly rejections: ReadonlyArray<Finding>;
  readonly warnings: ReadonlyArray<Finding>;
}

const remark = (warning: Warning): Finding => ({
  of: warning.code,
  path: warning.path,
  message: warningLine(warning),
});

/**
 * Whether a finding of `object` is none of the `old` ones of `before`. Each of those excuses one: the same of the same item, wherever
 * that has moved; else the same words, as of an item that got another name.
 */
const isNewIn = (
  object: JsonObject,
  fresh: ReadonlyArray<Finding>,
  before: JsonObject | undefined,
  old: ReadonlyArray<Finding>,
): (finding: Finding) => boolean => {
  const excuses = old.map((finding) => ({ text: finding.message, place: whereverItIs(finding, before) }));
  const excused = new Set<Finding>();
  const excuse = (which: (excuse: typeof excuses[number], finding: Finding) => boolean): void => {
    for (const finding of fresh.filter((one) => !excused.has(one))) {
      const index = excuses.findIndex((one) => which(one, finding));
      if (index < 0) continue;
      excuses.splice(index, 1);
      excused.add(finding);
    }
  };
  excuse(({ place }, finding) => place === whereverItIs(finding, object));
  excuse(({ text }, { message }) => text === message);
  return (finding) => !excused.has(finding);
};

/** A finding whose items of lists are named by what they are, and not by their place. */
const whereverItIs = ({ of, path, message }: Finding, object: JsonObject | undefined): string =>
  JSON.stringify([
    of,
    path.map((step, index) => typeof step === "string" ? step : itemName(valueAt(object, path.slice(0, index + 1)))),
    message.replaceAll(/\[\d+\]/g, "[]"),
  ]);

const itemName = (item: Json | undefined): Json =>
  stringAt(item ?? null, "id") ?? stringAt(item ?? null, "name") ?? item ?? null;

/** A stored object keeps what it has. */
const crowded = ({ before }: Change): ReadonlyArray<Placed> => {
  const path = ["metadata", "annotations"];
  const message = `${
    formatPath(path)
  }: more than ${ANNOTATIONS_MAX} annotations, which no version of the API supports; remove some`;
  return before === undefined ? [{ path, message }] : [];
};

/** A write of an object that was converted incompletely, or one that could not be read completely in v1alpha1. */
const incomplete = ({ object }: Change): ReadonlyArray<Placed> => {
  const why = stringAt(object, "metadata", "annotations", UNCONVERTED_ANNOTATION);
  if (why !== undefined) {
    const path = ["metadata", "annotations", UNCONVERTED_ANNOTATION];
    return [{
      path,
      message:
        `${formatPath(path)}: this write would remove everything but the name: the object has ${
          shortWord(why)
        }, which cannot be ` +
        "converted to the other API version. Shorten or delete it in the version in which it can be read",
    }];
  }
  const missing = stringAt(object, "metadata", "annotations", INCOMPLETE_ANNOTATION);
  if (missing !== undefined) {
    const path = ["metadata", "annotations", INCOMPLETE_ANNOTATION];
    return [{
      path,
      message:
        `${formatPath(path)}: this object was read in an API version that could not hold all of it. It lacks ${
          onOneLine(missing, INCOMPLETE_CHARACTERS_MAX)
        }; a ` +
        "write would remove that. Read and write it in the other version",
    }];
  }
  return [];
};

/** Admission receives every object in v1alpha2; its messages use the version that the author wrote. */
const inPathsOf = (
  { writtenIn }: Change,
  { rejections, warnings }: { readonly rejections: ReadonlyArray<Placed>; readonly warnings: ReadonlyArray<string> },
): Judgement => {
  const [pathOf, words] = writtenIn === "v1alpha1"
    ? [v1alpha1Path, inV1alpha1Paths]
    : [(path: FieldPath) => path, (text: string) => text];
  return {
    rejections: rejections.map(({ path, message }) => ({ field: formatPath(pathOf(path)), message: words(message) })),
    warnings: warnings.map(words),
  };
};

const NOTHING: Findings = { rejections: [], warnings: [] };

const findingsOf = (resource: JsonObject, surroundings: Surroundings): Findings => {
  const decoded = decodeResource(resource, "lenient");
  const running = runningServer(resource, undefined);
  const derived = withChangeFindings(
    resource,
    Result.flatMap(
      Result.mapError(decoded, (failures) => ({ failures, warnings: [] })),
      (item) => derive(item, running === undefined ? surroundings : { ...surroundings, running }),
    ),
  );
  if (Result.isSuccess(derived)) return { rejections: [], warnings: warningsOf(derived.success).map(remark) };
  const { failures, warnings } = derived.failure;
  const found = (failure: typeof failures[number]): Finding => ({
    of: failure._tag,
    path: failure.path,
    message: failure.message,
  });
  return {
    // An edit cannot undo the others, or another release or setting of the operator may.
    rejections: failures.filter((item) => restsOn(item) === "resource").map(found),
    warnings: [
      ...failures.filter((item) => restsOn(item) !== "resource" && !isReadLater(item)).map(found),
      ...warnings.map(remark),
    ],
  };
};

const referencesIn = (resource: JsonObject): ReadonlyArray<Reference> =>
  Result.match(decodeResource(resource, "lenient"), {
    onSuccess: ({ spec }) => referencesOf(spec),
    onFailure: () => [],
  });

export const referenceName = ({ kind, namespace, name, key }: Reference): string =>
  [kind, namespace ?? "", name, key ?? ""].join("\n");

/** Edits that the claim of the resource does not follow. */
const keptByClaim = ({ object, before }: Change): ReadonlyArray<string> => {
  if (before === undefined) return [];
  const [old, fresh] = [before, object].map((item) => Result.getOrUndefined(decodeResource(item, "lenient"))?.spec);
  return keptFieldsAfter(old?.workload?.storage, fresh?.workload?.storage).map(warningLine);
};

const ONLY_NEW = ["baseConfig", "providers", "resources", "connectors", "vectorStores", "storage", "disabled"];

/** An update through v1alpha1 without the annotation removes what v1alpha1 cannot represent. */
const lostBlocks = ({ object, before, writtenIn }: Change): ReadonlyArray<string> => {
  if (writtenIn !== "v1alpha1" || before === undefined) return [];
  // What it replaces was read in v1alpha1 as well, and is not complete.
  const hidden = stringAt(before, "metadata", "annotations", INCOMPLETE_ANNOTATION);
  const lost = ONLY_NEW.filter((block) =>
    Object.hasOwn(objectAt(before, "spec"), block) && !Object.hasOwn(objectAt(object, "spec"), block)
  ).map((block) => `spec.${block}`).concat(hidden ?? []);
  return lost.length === 0 ? [] : [
    `this update through v1alpha1 removes ${
      lost.join(", ")
    }: keep the annotation ${LEFTOVERS_ANNOTATION}, or use v1alpha2`,
  ];
};

/** The server's own config is only looked up in the namespace of the resource. */
const foreignConfig = ({ object, namespace }: Change): ReadonlyArray<string> => {
  const place = "spec.server.userConfig.configMapNamespace";
  if (!leftoverPaths(object, "v1alpha1").includes(place)) return [];
  const named = stringAt(object, "spec", "overrideConfig", "configMapName");
  return named === undefined ? [] : [
    `${place}: ConfigMaps of other namespaces are not read; create ${named} in namespace ${namespace}`,
  ];
};
