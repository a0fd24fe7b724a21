/** Any object as the API server has it: what decisions and reports read of its metadata. */
import { at, isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { type FieldSet, fieldSetOf } from "./field_set.ts";
import type { ObjectKey } from "./object_key.ts";

/** Absent names, labels and annotations read as empty. */
export interface LiveObject extends ObjectKey {
  readonly uid: string | undefined;
  /** Its resourceVersion. */
  readonly version: string;
  readonly generation: number;
  readonly isGoing: boolean;
  /** What its deletion waits for. */
  readonly finalizers: ReadonlyArray<string>;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly owners: ReadonlyArray<Owner>;
  /** The one of its owners that controls it. */
  readonly controller: Owner | undefined;
  /** Who set which of its fields. */
  readonly fieldSets: ReadonlyArray<FieldSet>;
}

export type Texts = Readonly<Record<string, string>>;

export interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string | undefined;
}

export const liveObject = onceForEach((object: JsonObject): LiveObject => {
  const metadata = objectAt(object, "metadata");
  const owners = listAt(metadata, "ownerReferences");
  const controller = owners.find((owner) => member(owner, "controller") === true);
  return {
    apiVersion: stringAt(object, "apiVersion") ?? "",
    kind: stringAt(object, "kind") ?? "",
    namespace: stringAt(metadata, "namespace") ?? "",
    name: stringAt(metadata, "name") ?? "",
    uid: stringAt(metadata, "uid"),
    version: stringAt(metadata, "resourceVersion") ?? "",
    generation: Number(at(metadata, "generation") ?? 0),
    isGoing: stringAt(metadata, "deletionTimestamp") !== undefined,
    finalizers: listAt(metadata, "finalizers").map(String),
    labels: textsIn(metadata.labels),
    annotations: textsIn(metadata.annotations),
    owners: owners.map(ownerOf),
    controller: controller === undefined ? undefined : ownerOf(controller),
    fieldSets: listAt(metadata, "managedFields").filter(isObject).map(fieldSetOf),
  };
});

/** `namespace/name`. */
export const resourceKey = (resource: JsonObject): string => {
  const { namespace, name } = liveObject(resource);
  return `${namespace}/${name}`;
};

/** Without a prototype: `constructor` is a key like any other. */
export const textsIn = (object: Json | undefined): Texts =>
  Object.assign(
    Object.create(null),
    Object.fromEntries(
      Object.entries(isObject(object) ? object : {}).filter(([, value]) => typeof value === "string"),
    ),
  );

const ownerOf = (owner: Json): Owner => ({
  kind: stringAt(owner, "kind") ?? "",
  name: stringAt(owner, "name") ?? "",
  uid: stringAt(owner, "uid"),
});
