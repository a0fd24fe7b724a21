import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../core/data/json.ts";
import { HISTORIES_PER_KIND, HISTORY_BYTES_MAX, HISTORY_KEPT_PACKS } from "../limits.ts";
import { isLong, type Packed, packer, plain, unpacked } from "./packed.ts";

/** Text without repetitions, another one for each seed. */
const noise = (seed: number, length: number): string => {
  let state = seed + 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + state % 90);
  }).join("");
};
const configMap = (name: string, text: string): JsonObject => ({
  kind: "ConfigMap",
  metadata: { name },
  data: { text },
});
/** As the store does it, only at once. */
const packing = () => {
  const pack = packer();
  return (object: JsonObject): Packed => {
    const kept = plain(JSON.stringify(object));
    return isLong(kept) ? pack(String(object.kind), kept.rest) : kept;
  };
};
const isAlone = ({ history, shared }: Packed): boolean => history !== undefined && shared === 0;

Deno.test("packer() keeps every value, short or long, alone or after others of its kind", () => {
  const pack = packing();
  const texts = [
    "",
    "ü — 漢字 \u{1F999}",
    "x".repeat(100_000),
    noise(1, 5000),
    `ü${noise(1, 5000)} 漢`,
    noise(1, 40_000),
  ];
  for (const text of [...texts, ...texts]) {
    deepStrictEqual(unpacked(pack(configMap("a", text))), configMap("a", text));
  }
});

Deno.test("packer() keeps every value of a random sequence of objects that resemble each other", () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          kind: fc.constantFrom("ConfigMap", "Deployment", "Secret"),
          base: fc.nat(9),
          cut: fc.nat(4000),
          more: fc.string({ unit: "binary", maxLength: 200 }),
        }),
        { maxLength: 40 },
      ),
      (rows) => {
        const pack = packing();
        const objects = rows.map(({ kind, base, cut, more }) => {
          const text = noise(base, 4000);
          return { kind, text: text.slice(0, cut) + more + text.slice(cut) };
        });
        // All are packed before the first is unpacked: what one stands behind must stay.
        deepStrictEqual(objects.map(pack).map(unpacked), objects);
      },
    ),
    { numRuns: 100 },
  ));

Deno.test("packer() needs little for an object like one before it, and leaves short ones as they are", () => {
  const pack = packing();
  const first = pack(configMap("a", noise(7, 8000)));
  const second = pack(configMap("b", noise(7, 8000)));
  strictEqual(second.history, first.history);
  ok(second.rest.length < 200, `${second.rest.length} bytes`);
  strictEqual(pack(configMap("c", "short")).history, undefined);
});

Deno.test("packer() bounds what it remembers of a kind, and replaces only what nothing fitted for long", () => {
  const pack = packing();
  const histories = new Set(
    Array.from({ length: HISTORIES_PER_KIND }, (_, seed) => pack(configMap("a", noise(seed, 3000))).history),
  );
  strictEqual(histories.size, HISTORIES_PER_KIND);
  ok(isAlone(pack(configMap("a", noise(1000, 3000)))));
  // All but the first remain useful.
  for (let packs = 0; packs <= HISTORY_KEPT_PACKS; packs++) {
    pack(configMap("a", noise(1 + packs % (HISTORIES_PER_KIND - 1), 3000)));
  }
  ok(!isAlone(pack(configMap("a", noise(1000, 3000)))));
  ok(isAlone(pack(configMap("a", noise(0, 3000)))));
  ok(!isAlone(pack(configMap("a", noise(1, 3000)))));
});

Deno.test("packer() keeps nothing of a Secret for others", () => {
  const pack = packing();
  const secret = { ...configMap("a", noise(1, 4000)), kind: "Secret" };
  ok([pack(secret), pack(secret)].every(isAlone));
});

Deno.test("packer() compresses texts longer than zlib's window on their own", () => {
  const pack = packing();
  const long = configMap("a", noise(1, HISTORY_BYTES_MAX));
  ok([pack(long), pack(long)].every(isAlone));
});
