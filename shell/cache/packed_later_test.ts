import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { TestClock } from "effect/testing";
import { PACK_LOOK_MS, PACKED_AT_ONCE, PLAIN_CHARACTERS_MAX, STILL_OBJECTS_MAX } from "../limits.ts";
import { type PackedLater, packedLater } from "./packed_later.ts";
import { type Packed, plain, unpacked } from "./packed.ts";

const object = (length: number) => ({ kind: "ConfigMap", metadata: { name: "a" }, data: { text: "x".repeat(length) } });
const isDeflated = ({ isDeflated }: Packed): boolean => isDeflated;

const run = (program: (later: PackedLater) => Effect.Effect<void>): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(Effect.gen(function* () {
      const later = packedLater();
      yield* Effect.forkScoped(later.packing);
      yield* Effect.yieldNow;
      yield* program(later);
    })).pipe(Effect.provide(TestClock.layer())),
  );

/** The last place is `a <count - 1>`. */
const many = (later: PackedLater, count: number): ReadonlyArray<Packed> =>
  Array.from({ length: count }, (_, index) => {
    const kept = plain(JSON.stringify(object(5000)));
    later.add(`a ${index}`, kept);
    return kept;
  });

Deno.test("packedLater() compresses a few at a time when few arrive, without changing the object", () =>
  run((later) =>
    Effect.gen(function* () {
      const kept = many(later, STILL_OBJECTS_MAX);
      strictEqual(kept.filter(isDeflated).length, 0);
      yield* TestClock.adjust(PACK_LOOK_MS);
      deepStrictEqual(kept.map(isDeflated), kept.map((_, index) => index < PACKED_AT_ONCE));
      yield* TestClock.adjust(PACK_LOOK_MS);
      ok(kept.every(isDeflated));
      deepStrictEqual(kept.map(unpacked), kept.map(() => object(5000)));
    })
  ));

Deno.test("packedLater() waits while much is added", () =>
  run((later) =>
    Effect.gen(function* () {
      for (let look = 0; look < 5; look++) {
        const kept = many(later, STILL_OBJECTS_MAX + 1);
        yield* TestClock.adjust(PACK_LOOK_MS);
        strictEqual(kept.filter(isDeflated).length, 0);
      }
    })
  ));

Deno.test("packedLater() forgets what was replaced or deleted, and leaves short objects as they are", () =>
  run((later) =>
    Effect.gen(function* () {
      const long = () => plain(JSON.stringify(object(5000)));
      const [first, second, deleted, short] = [long(), long(), long(), plain(JSON.stringify(object(5)))];
      later.add("a 1", first);
      later.add("a 1", second);
      later.add("a 2", deleted);
      later.forget("a 2");
      later.add("a 3", short);
      yield* TestClock.adjust(PACK_LOOK_MS);
      deepStrictEqual([first, second, deleted, short].map(isDeflated), [false, true, false, false]);
    })
  ));

Deno.test("packedLater() deflates the oldest at once when too much waits", () =>
  run((later) =>
    Effect.sync(() => {
      const kept = Array.from({ length: 4 }, () => plain(JSON.stringify(object(PLAIN_CHARACTERS_MAX / 3))));
      kept.forEach((packed, index) => later.add(`a ${index}`, packed));
      deepStrictEqual(kept.map(isDeflated), [true, true, false, false]);
    })
  ));
