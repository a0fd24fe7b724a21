/** What we write is what PyYAML reads, the library with which every server reads its config. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decodeResource } from "../../core/api/decode.ts";
import { derive } from "../../core/config/derive.ts";
import { readManifests, readYaml11, writeYaml } from "../../core/data/yaml.ts";
import { SURROUNDINGS } from "../given.ts";
import { readWithPyYaml } from "./yaml_reader.ts";

const STRINGS = 10_000;
const SEED = 20260101;

/** Strings that some YAML reader or writer takes for something else. */
const NASTY = [
  ..."yes no on off y n true false null ~ Null NULL TRUE Yes ON . .. ... --- - ? : , [ ] { } # & * ! | > ' \" % @ ` = <<"
    .split(" "),
  ..."012 0o7 0x1F 0b101 0x_ 0b_ 1_000 1:30 190:20:30 1e3 1e21 1E+7 .5 5. -.5 +1 .inf -.INF .nan 2024-01-01 2024-01-01T00:00:00Z 08 09 0_"
    .split(" "),
  "",
  " ",
  "\n",
  "\t",
  " a",
  "a ",
  "a\tb",
  "a\nb",
  "\na",
  "a\n",
  "a\n\n",
  "a: b",
  "a #b",
  "- a",
  "? a",
  "--- a",
  "... a",
  "a\r\nb",
  "\u0085",
  "\u2028",
  "\u2029",
  "\ufeff",
  "\u00a0",
  "\u007f",
  "\u0001",
  "\u001b[31m",
  "é",
  "日本語",
  "😀",
  "${env.X:=y}",
  "${env.X:+}",
  "!!str a",
  "&a b",
  "*a",
  "'",
  '"',
  "\\",
  "\\n",
  "{{ x }}",
  "key: [",
  "%YAML 1.1",
  "a".repeat(300),
  "word ".repeat(60),
];

/** A small generator with a seed, so that a failure can be repeated. */
const chance = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
  return (seed >>> 0) / 2 ** 32;
};

const hostileStrings = (): ReadonlyArray<string> => {
  const random = chance(SEED);
  const pick = () => NASTY[Math.floor(random() * NASTY.length)] ?? "";
  const all = new Set<string>(NASTY);
  while (all.size < STRINGS) {
    const [a, b] = [pick(), pick()];
    // By letters, not by UTF-16 units: half an emoji is no text and cannot come through JSON.
    const letters = [...a];
    const cut = Math.floor(random() * (letters.length + 1));
    const ways = [
      a + b,
      b + a + b,
      letters.slice(0, cut).join("") + b,
      letters.slice(cut).join("") + b,
      `${a} ${b}`,
      `${a}\n${b}`,
      a.toUpperCase() + b,
      [...a].reverse().join("") + b,
    ];
    all.add(ways[Math.floor(random() * ways.length)] ?? "");
  }
  return [...all];
};

Deno.test(`writeYaml() preserves ${STRINGS} hostile strings for PyYAML, as value, as key and in a list`, async () => {
  const strings = hostileStrings();
  strictEqual(strings.length, STRINGS);
  // In bundles, since one document per string would take PyYAML minutes.
  const size = 250;
  const bundles = Array.from({ length: STRINGS / size }, (_, index) => strings.slice(index * size, (index + 1) * size));
  const documents = bundles.map((bundle) => ({
    values: Object.fromEntries(bundle.map((text, index) => [`k${index}`, text])),
    keys: bundle.map((text) => ({ [text]: 1 })),
    nested: bundle.map((text) => [[text], { inner: { deeper: [text] } }]),
    top: bundle,
  }));
  // A key at top level has rules of its own (document markers), so each string stands there once, too.
  const tops = bundles.map((bundle) => Object.fromEntries(bundle.map((text) => [text, text])));
  const read = await readWithPyYaml([...documents, ...tops].map(writeYaml));
  strictEqual(read.length, documents.length + tops.length);
  [...documents, ...tops].forEach((document, index) =>
    deepStrictEqual(read[index], document, `seed ${SEED}, bundle ${index}`)
  );
});

Deno.test("generated configs of the samples are the same tree to PyYAML and to us", async () => {
  const folder = new URL("../../deploy/samples/", import.meta.url);
  const texts: Array<string> = [];
  for await (const { name } of Deno.readDir(folder)) {
    for (const document of Result.getOrThrow(readManifests(await Deno.readTextFile(new URL(name, folder))))) {
      const derived = Result.flatMap(
        decodeResource(document, "strict"),
        (resource) => Result.mapError(derive(resource, SURROUNDINGS), () => []),
      );
      if (Result.isSuccess(derived) && derived.success._tag === "Generated") texts.push(derived.success.config.yaml);
    }
  }
  ok(texts.length >= 6);
  const read = await readWithPyYaml(texts);
  texts.forEach((text, index) => deepStrictEqual(read[index], Result.getOrThrow(readYaml11(text))));
});
