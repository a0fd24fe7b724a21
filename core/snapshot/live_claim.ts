/** A PersistentVolumeClaim as the API server has it: what decisions and reports read of it. */
import { at, type Json, type JsonObject, listAt, member, stringAt } from "../data/json.ts";

export interface LiveClaim {
  readonly phase: string | undefined;
  readonly isBound: boolean;
  /** The size that is asked for, and that of its volume. */
  readonly size: Json | undefined;
  readonly capacity: Json | undefined;
  readonly accessModes: ReadonlyArray<Json>;
  /** Of its StorageClass. */
  readonly className: string | undefined;
}

export const liveClaim = (object: JsonObject): LiveClaim => {
  const phase = stringAt(object, "status", "phase");
  return {
    phase,
    isBound: phase === "Bound",
    size: at(object, ...CLAIM_SIZE),
    capacity: at(object, "status", "capacity", "storage"),
    accessModes: listAt(object, "spec", "accessModes"),
    className: stringAt(object, ...CLAIM_CLASS),
  };
};

/** Whether claims of a StorageClass can grow. */
export const allowsExpansion = (storageClass: Json): boolean => member(storageClass, "allowVolumeExpansion") === true;

/** Paths of fields that a manifest of a claim has, too. */
export const CLAIM_SIZE = ["spec", "resources", "requests", "storage"] as const;
export const CLAIM_CLASS = ["spec", "storageClassName"] as const;
