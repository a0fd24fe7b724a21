/**
 * Order of what is reported about an object: watch events and responses to the operator's own writes overtake each
 * other.
 */
import type { JsonObject } from "../../core/data/json.ts";
import { versionOf } from "../../core/data/newest_first.ts";
import { DELETED_REMEMBERED } from "../limits.ts";
import { uidOf } from "./cache_entry.ts";

export interface WriteBarrier {
  /** A write of the object at this place begins. */
  readonly begin: (place: string) => void;
  /** It ended: the newest watch event since, which is now due. */
  readonly end: (place: string) => JsonObject | undefined;
  /** Whether the event has to wait for the end of a write; `undefined` is a deletion. */
  readonly defers: (place: string, object: JsonObject | undefined) => boolean;
  readonly deleted: (object: JsonObject) => void;
  /** Whether the object was deleted in this version or a later one. */
  readonly isDeleted: (object: JsonObject) => boolean;
}

export const writeBarrier = (): WriteBarrier => {
  // The version of each deletion, by uid. An object that left the selection of a watch is reported as deleted as well;
  // any later event shows that it exists.
  const deletions = new Map<string, number>();
  // Objects with a write in progress, with the newest watch event since; bounded by the number of workers.
  const writes = new Map<string, JsonObject | undefined>();
  return {
    begin: (place) => void writes.set(place, undefined),
    end: (place) => {
      const meanwhile = writes.get(place);
      writes.delete(place);
      return meanwhile;
    },
    defers: (place, object) => {
      if (!writes.has(place)) return false;
      writes.set(place, object);
      return true;
    },
    deleted: (object) => {
      const uid = uidOf(object);
      if (uid === "") return;
      deletions.delete(uid);
      deletions.set(uid, versionOf(object));
      // The oldest is forgotten: no write takes that long.
      const [oldest] = deletions.keys();
      if (deletions.size > DELETED_REMEMBERED && oldest !== undefined) deletions.delete(oldest);
    },
    isDeleted: (object) => versionOf(object) <= (deletions.get(uidOf(object)) ?? -1),
  };
};
