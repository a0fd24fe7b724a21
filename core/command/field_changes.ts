/** What a write would change in a live object, field by field: only fields that our manifest names, or named before. */
import { isList, isObject, type Json, type JsonObject, member } from "../data/json.ts";
import { staysByDefault } from "./api_defaults.ts";
import { partsOf } from "../snapshot/field_set.ts";
import { liveObject } from "../snapshot/live_object.ts";
import { type Comparison, comparisonOf, itemLike, keyOfItems, matchesDesired } from "../plan/difference.ts";

export interface FieldChange {
  /** Members separated by dots, items of a list by their identifying name: `spec.containers[server].image`. */
  readonly path: string;
  /** Undefined: the field is new. */
  readonly before: Json | undefined;
  /** Undefined if the field is removed. */
  readonly after: Json | undefined;
}

/** In the order of the manifest; fields that go come last. */
export const fieldChanges = (wanted: JsonObject, live: JsonObject): ReadonlyArray<FieldChange> => [
  ...changesIn(wanted, live, ""),
  ...droppedFields(wanted, live).filter((change) => !staysByDefault(change)),
];

const changesIn = (
  wanted: Json,
  live: Json | undefined,
  path: string,
  of?: Comparison,
): ReadonlyArray<FieldChange> => {
  if (matchesDesired(wanted, live, of)) return [];
  if (of === "whole") return [{ path, before: live, after: wanted }];
  if (isObject(wanted) && isObject(live)) {
    return Object.entries(wanted).flatMap(([key, value]) =>
      changesIn(value, member(live, key), joined(path, key), of ?? comparisonOf(key))
    );
  }
  if (isList(wanted) && isList(live)) {
    const key = keyOfItems(wanted, KEYS);
    if (key === undefined) return [{ path, before: live, after: wanted }];
    return wanted.flatMap((item) =>
      changesIn(item, itemLike(live, item, key), `${path}[${shownKey(member(item, key))}]`)
    );
  }
  return [{ path, before: live, after: wanted }];
};

/** The names by which Kubernetes identifies items of a list, the most common first. */
const KEYS = ["name", "mountPath", "containerPort", "port", "topologyKey", "uid", "key", "type"];

const shownKey = (value: Json | undefined): string => typeof value === "string" ? value : JSON.stringify(value ?? null);

const joined = (path: string, key: string): string => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
};

/** Fields that an earlier apply of the operator set and this manifest lacks: the API server removes them. */
const droppedFields = (wanted: JsonObject, live: JsonObject): ReadonlyArray<FieldChange> =>
  liveObject(live).fieldSets.filter(({ isOwnApply }) => isOwnApply)
    .flatMap(({ fields }) => droppedIn(fields, wanted, live, ""));

const droppedIn = (
  fields: JsonObject,
  wanted: Json | undefined,
  live: Json | undefined,
  path: string,
): ReadonlyArray<FieldChange> => {
  if (live === undefined) return [];
  if (wanted === undefined) return [{ path, before: live, after: undefined }];
  return partsOf(fields).flatMap(([step, inner]) => {
    if (typeof step === "string") {
      return droppedIn(inner, member(wanted, step), member(live, step), joined(path, step));
    }
    // Keys such as a port's protocol have defaults, which our manifest need not name.
    const at = (list: Json | undefined, defaults: boolean): Json | undefined =>
      isList(list)
        ? list.find((item) =>
          Object.entries(step).every(([key, value]) =>
            member(item, key) === value || (defaults && member(item, key) === undefined)
          )
        )
        : undefined;
    const shown = shownKey(step["name"] ?? Object.values(step)[0]);
    return droppedIn(inner, at(wanted, true), at(live, false), `${path}[${shown}]`);
  });
};
