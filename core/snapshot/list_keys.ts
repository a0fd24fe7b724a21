/** The keys by which the API server knows the items of the lists of a pod. */
import { isList, type Json, type JsonObject, member } from "../data/json.ts";
import type { FieldStep } from "./field_set.ts";

/** By the name of the list. Other lists are replaced as a whole. Source: the `x-kubernetes-list-map-keys` of its OpenAPI. */
const LIST_KEYS = new Map<FieldStep | undefined, ReadonlyArray<string>>([
  ...["containers", "initContainers", "env", "volumes", "imagePullSecrets", "resourceClaims", "claims"]
    .map((list) => [list, ["name"]] satisfies [string, ReadonlyArray<string>]),
  ["volumeMounts", ["mountPath"]],
  ["volumeDevices", ["devicePath"]],
  ["ports", ["containerPort", "protocol"]],
  ["topologySpreadConstraints", ["topologyKey", "whenUnsatisfiable"]],
  ["hostAliases", ["ip"]],
]);

export interface KeyedItem {
  readonly item: Json;
  readonly keys: JsonObject;
}

/** Undefined for what is no list, or one without keys. `list` is its name. */
export const keyedItems = (
  list: FieldStep | undefined,
  value: Json | undefined,
): ReadonlyArray<KeyedItem> | undefined => {
  const names = LIST_KEYS.get(list);
  if (names === undefined || value === undefined || !isList(value)) return undefined;
  return value.map((item) => ({
    item,
    keys: Object.fromEntries(names.map((name) => [name, member(item, name) ?? null])),
  }));
};

/** The first item of a list with these keys. */
export const itemWith = (keys: JsonObject, list: Json | undefined): Json | undefined =>
  list === undefined || !isList(list)
    ? undefined
    : list.find((item) => Object.entries(keys).every(([key, value]) => (member(item, key) ?? null) === value));
