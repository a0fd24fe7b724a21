/**
 * Objects that a former operator created for the same resource: they have the resource as owner, but their fields still
 * belong to its field managers, so fields that the operator does not set would stay forever. Once, the operator takes
 * ownership of those fields; the following apply then removes what it does not contain.
 */
import { isObject, type Json, type JsonObject, member, omit, withMember } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { duplicatesIn } from "./duplicates.ts";
import { FIELD_MANAGER } from "../snapshot/field_manager.ts";
import { keyOf } from "../snapshot/object_key.ts";
import { Step, type WriteStep } from "./step.ts";
import {
  allFields,
  type FieldSet,
  type FieldSteps,
  onlyField,
  ownsField,
  withoutField,
} from "../snapshot/field_set.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Nothing where no former operator is left. */
export const takeOvers = (
  manifest: Manifest,
  live: JsonObject | undefined,
  resource: JsonObject,
  claims: ReadonlyArray<FieldSteps> = [],
): ReadonlyArray<WriteStep> => {
  const fieldSets = live === undefined ? [] : liveObject(live).fieldSets;
  const managers = fieldSets.filter((fieldSet) => isFormer(fieldSet, resource)).map(({ manager }) => manager);
  return managers.length === 0 && claims.length === 0 ? [] : [
    Step.TakeOver({
      key: keyOf(manifest),
      managers: [...new Set(managers)],
      claims,
      why: managers.length > 0
        ? "created for this resource by another operator"
        : "fields of other managers conflict with the resource, or are left over from an earlier template",
    }),
  ];
};

/**
 * The desired `metadata.managedFields` of an object: the fields of the former operator belong to the apply of this one.
 */
export const takenOver = (
  live: JsonObject,
  resource: JsonObject,
  claims: ReadonlyArray<FieldSteps> = [],
): ReadonlyArray<Json> => {
  const { fieldSets, kind, apiVersion } = liveObject(live);
  const unclaimed = fieldSets.map((fieldSet) =>
    fieldSet.isOwnApply || fieldSet.isOfSubresource
      ? fieldSet
      : { ...fieldSet, fields: claims.reduce((left, claim) => withoutField(left, claim)[0], fieldSet.fields) }
  );
  const claimed = claims.reduce((all, claim) => allFields(all, onlyField(claim)), {} as JsonObject);
  const former = unclaimed.filter((fieldSet) => isFormer(fieldSet, resource));
  const ours = unclaimed.find(({ isOwnApply }) => isOwnApply);
  // The apply that adopts a template cannot contain what occurs twice in it: nobody owns it, so that it stays.
  const left = duplicatesIn(live.spec, ["spec"]);
  const all = former.map(({ fields }) => movable(fields, kind))
    .map((value) => left.reduce((kept, path) => withoutField(kept, path)[0], value))
    .reduce(allFields, allFields(ours?.fields ?? {}, claimed));
  const entry: JsonObject = {
    ...ours?.entry,
    manager: FIELD_MANAGER,
    operation: "Apply",
    apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: all,
  };
  const others = unclaimed.filter((fieldSet) =>
    fieldSet !== ours && !former.includes(fieldSet) && Object.keys(fieldSet.fields).length > 0
  );
  return [...others.map(({ entry, fields }) => ({ ...entry, fieldsV1: fields })), entry];
};

/**
 * The Go operators apply under the name of the resource and update under the name of their program. Who wrote the owner
 * reference to the resource is its operator, whatever it is called.
 */
const isFormer = (fieldSet: FieldSet, resource: JsonObject): boolean => {
  const { name, uid = "" } = liveObject(resource);
  if (fieldSet.isOwnApply || fieldSet.isOfSubresource) return false;
  return fieldSet.isApply && fieldSet.manager === name ||
    ownsField(fieldSet, "f:metadata", "f:ownerReferences", `k:{"uid":"${uid}"}`);
};

/** Fields that the API server filled in at creation and does not allow to remove. */
const SPEC_STAYS: ReadonlySet<string> = new Set(["PersistentVolumeClaim", "Service"]);

/** Not the number of pods: an apply that leaves it to an autoscaler would set it back to one. */
const movable = (fields: JsonObject, kind: string): JsonObject => {
  if (SPEC_STAYS.has(kind)) return omit(fields, "f:spec");
  const spec = member(fields, "f:spec");
  return isObject(spec ?? null) ? withMember(fields, "f:spec", omit(spec as JsonObject, "f:replicas")) : fields;
};
