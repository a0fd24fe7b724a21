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
import { BaseConfigRequired } from "../failure/failures.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { ANNOTATIONS_MAX } from "../data/limits.ts";
import { type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { onOneLine, shortWord } from "../data/printable.ts";
import { keptFieldsAfter } from "../plan/kept_claim.ts";
import { missing, oncePerObject } from "../plan/reference_failures.ts";
import { runningServer } from "../snapshot/running_server.ts";
import { permitted, type Reference, referencesOf } from "../snapshot/references.ts";
import { warningLine } from "../failure/warning.ts";
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
  const fresh = unchanged ? NOTHING : findingsOf(object, surroundings);
  const old = unchanged || before === undefined ? NOTHING : findingsOf(before, surroundings);
  const known = new Set([...old.rejections.map(({ message }) => message), ...old.warnings]);
  const rejects = references === "Reject";
  const hiddenBefore = before === undefined || unchanged ? [] : hiddenFromV1alpha1(before).map(warningLine);
  return inPathsOf(change, {
    rejections: [
      ...incomplete(change),
      ...fresh.rejections.filter(({ message }) => !known.has(message)),
      ...(rejects ? lacking : []),
    ],
    warnings: [
      ...(rejects ? [] : lacking.map(({ message }) => message)),
      ...fresh.warnings.filter((text) => !known.has(text)),
      ...(unchanged ? [] : hiddenFromV1alpha1(object).map(warningLine).filter((text) => !hiddenBefore.includes(text))),
      ...keptByClaim(change),
      ...lostBlocks(change),
      ...foreignConfig(change),
    ],
  });
};

/** What is wrong where; with the paths of v1alpha2. */
interface Findings {
  readonly rejections: ReadonlyArray<{ readonly path: FieldPath; readonly message: string }>;
  readonly warnings: ReadonlyArray<string>;
}

/** A stored object keeps what it has. */
const crowded = ({ before }: Change): Findings["rejections"] => {
  const path = ["metadata", "annotations"];
  const message = `${
    formatPath(path)
  }: more than ${ANNOTATIONS_MAX} annotations, which no version of the API supports; remove some`;
  return before === undefined ? [{ path, message }] : [];
};

/** A write of an object that was converted incompletely, or one that could not be read completely in v1alpha1. */
const incomplete = ({ object }: Change): Findings["rejections"] => {
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
const inPathsOf = ({ writtenIn }: Change, { rejections, warnings }: Findings): Judgement => {
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
  if (Result.isSuccess(derived)) return { rejections: [], warnings: warningsOf(derived.success).map(warningLine) };
  const { failures, warnings } = derived.failure;
  return {
    rejections: failures.filter(isAuthors),
    warnings: [
      ...failures.filter((item) => !isAuthors(item) && !isReadLater(item)).map(({ message }) => message),
      ...warnings.map(warningLine),
    ],
  };
};

/**
 * Whether the author can fix it in the resource. Other findings depend on the operator's version, its settings, labels of an image,
 * or the content of a ConfigMap.
 */
const isAuthors = (failure: { readonly _tag: string }): boolean => !OPERATORS.has(failure._tag);
/** What the operator finds out when it reads the labels of the image, or the ConfigMap of the base config. */
const isReadLater = (failure: unknown): boolean => failure instanceof BaseConfigRequired && failure.isReadLater;
const OPERATORS: ReadonlySet<string> = new Set([
  "BaseConfigRequired",
  "BaseUnreadable",
  "ImageLabelsAwaited",
  "ImageLabelsUnread",
  "OverrideConfigInvalid",
  "OverrideForOtherServerFamily",
  "UnsupportedConfigVersion",
  "UnsupportedImageVersion",
  "UnsupportedServer",
]);

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
