/**
 * When texts of objects are compressed: not while there is work, but when few objects arrive, or when too many are queued.
 * During the reconciliation of 1,000 new resources, compressing their objects would take a twelfth of the main thread.
 */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { PACK_LOOK_MS, PACK_PAUSE_MS, PACKED_AT_ONCE, PLAIN_CHARACTERS_MAX, STILL_OBJECTS_MAX } from "../limits.ts";
import { deflated as compressed, isLong, type Packed } from "./packed.ts";

export interface PackedLater {
  /**
   * Replaces the previous entry of the same place; `kept` is changed when its text is compressed, and `deflated` is
   * called then.
   */
  readonly add: (place: string, kept: Packed, deflated?: () => void) => void;
  /** Drops the content of a deleted object. */
  readonly forget: (place: string) => void;
  /** Compresses queued entries whenever few are added, until it is interrupted. */
  readonly packing: Effect.Effect<never>;
}

export const packedLater = (): PackedLater => {
  const waiting = new Map<string, readonly [kept: Packed, deflated: () => void]>();
  // Of the queued entries.
  let characters = 0;
  let added = 0;
  const forget = (place: string): void => {
    const known = waiting.get(place);
    if (known === undefined) return;
    characters -= known[0].rest.length;
    waiting.delete(place);
  };
  const packOldest = (): void => {
    const [oldest] = waiting;
    if (oldest === undefined) return;
    const [place, [kept, deflated]] = oldest;
    forget(place);
    Object.assign(kept, compressed(kept.rest));
    deflated();
  };
  return {
    add: (place, kept, deflated = () => {}) => {
      added++;
      forget(place);
      if (!isLong(kept)) return;
      waiting.set(place, [kept, deflated]);
      characters += kept.rest.length;
      while (characters > PLAIN_CHARACTERS_MAX) packOldest();
    },
    forget,
    packing: Effect.gen(function* () {
      while (true) {
        added = 0;
        yield* Effect.sleep(Duration.millis(PACK_LOOK_MS));
        while (waiting.size > 0 && added <= STILL_OBJECTS_MAX) {
          for (let count = 0; count < PACKED_AT_ONCE; count++) packOldest();
          yield* Effect.sleep(Duration.millis(PACK_PAUSE_MS));
        }
      }
    }),
  };
};
