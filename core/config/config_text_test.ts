import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import * as Result from "effect/Result";
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { readYaml11, writeYaml } from "../data/yaml.ts";
import { textOf } from "./config_text.ts";

const word = fc.string({ unit: "binary", maxLength: 8 }).map((text) => text.toWellFormed());
const value = fc.jsonValue({ maxDepth: 3, depthSize: "small" }).map((found) => wellFormed(plain(found as Json)));
const entry = fc.dictionary(word, value, { maxKeys: 3 });
const providers = fc.dictionary(
  fc.constantFrom("inference", "vector_io", "safety", "yes"),
  fc.array(entry, { maxLength: 3 }),
);

/** Parts that several trees share, and trees made of them and of their own. */
const trees = fc.record({
  entries: fc.array(entry, { minLength: 1, maxLength: 3 }),
  sections: fc.array(value, { minLength: 1, maxLength: 3 }),
}).chain(({ entries, sections }) =>
  fc.array(
    fc.record({
      section: fc.dictionary(word, fc.oneof(fc.constantFrom(...sections), value), { maxKeys: 4 }),
      providers: fc.oneof(
        providers,
        value,
        fc.dictionary(fc.constantFrom("inference", "safety"), fc.shuffledSubarray([...entries, ...entries])),
      ),
    }).map(({ section, providers }) => ({ ...section, providers }) as JsonObject),
    { minLength: 2, maxLength: 4 },
  )
);

Deno.test("textOf() equals the plain serialization, whatever parts are cached", () => {
  fc.assert(
    fc.property(trees, (all) => {
      for (const tree of all) {
        const text = textOf(tree);
        // In the order of the text.
        const read = Result.getOrThrow(readYaml11(text));
        deepStrictEqual(read, plain(tree));
        strictEqual(text, textOf(structuredClone(tree)));
        strictEqual(text, writeYaml(read));
      }
    }),
    { numRuns: 500 },
  );
});

/** Without prototypes of another kind and without a minus before zero. */
const plain = (tree: Json): Json => JSON.parse(JSON.stringify(tree));

const wellFormed = (found: Json): Json => {
  if (typeof found === "string") return found.toWellFormed();
  if (isList(found)) return found.map(wellFormed);
  if (!isObject(found)) return found;
  return Object.fromEntries(Object.entries(found).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]));
};
