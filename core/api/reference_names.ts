/**
 * Names and keys in `workload.overrides` that the operator itself reads. Kubernetes validates the format of such names
 * only when a pod is created; the operator requests these objects before that.
 */
import { type Json, listAt, objectAt, stringAt } from "../data/json.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isDataKey, isObjectName } from "./object_names.ts";

export interface NameFinding {
  readonly path: FieldPath;
  readonly detail: string;
}

export const referenceNameFindings = (resource: Json): ReadonlyArray<NameFinding> => {
  const base: FieldPath = ["spec", "workload", "overrides"];
  const lists = objectAt(resource, "spec", "workload", "overrides");
  const env = listAt(lists, "env").flatMap((entry, index) =>
    ["secretKeyRef", "configMapKeyRef"].flatMap((field) =>
      findings(objectAt(entry, "valueFrom"), field, [...base, "env", index, "valueFrom"], true)
    )
  );
  const envFrom = listAt(lists, "envFrom").flatMap((entry, index) =>
    ["secretRef", "configMapRef"].flatMap((field) => findings(entry, field, [...base, "envFrom", index], false))
  );
  return [...env, ...envFrom];
};

const findings = (parent: Json, field: string, path: FieldPath, keyed: boolean): ReadonlyArray<NameFinding> => {
  const reference = objectAt(parent, field);
  if (Object.keys(reference).length === 0) return [];
  const name = stringAt(reference, "name") ?? "";
  const key = stringAt(reference, "key") ?? "";
  return [
    ...(isObjectName(name) ? [] : [{
      path: [...path, field, "name"],
      detail: 'Expected a name of lower-case letters, digits, "-" and "."',
    }]),
    ...(!keyed || isDataKey(key) ? [] : [{
      path: [...path, field, "key"],
      detail: 'Expected a key of letters, digits, "-", "_" and "."',
    }]),
  ];
};
