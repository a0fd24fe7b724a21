import { ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { load } from "js-yaml";
import type { Json } from "./json.ts";
import { excessOf } from "./tree_size.ts";
import { writeYaml } from "./yaml.ts";
import { mayExceed } from "./yaml_size.ts";

Deno.test("mayExceed() counts at least a third of the values of a text without a literal text in it", () => {
  const json = fc.jsonValue();
  fc.assert(fc.property(json, fc.boolean(), (value, isFlow) => {
    const text = isFlow ? JSON.stringify(value) : writeYaml(JSON.parse(JSON.stringify(value)));
    const tree = load(text) as Json;
    for (let values = 0; values < 40; values++) {
      if (excessOf(tree, { depth: 1000, values: values + 1 }) !== undefined && !mayExceed(text, values / 3)) {
        throw new Error(`${values}: ${text}`);
      }
    }
  }));
});

Deno.test("mayExceed() counts lines and flow, and neither comments nor literal texts", () => {
  const counts = (text: string, values: number) => ok(mayExceed(text, values - 1) && !mayExceed(text, values), text);
  counts("a: 1\nb: 2\n\n# c, d, e\nf: [1, 2]\n", 4);
  counts("data:\n  a: |\n    x, y, z [\n\n    {},{},\n  b: 1\n", 3);
  counts("- |-\n  x, y, z\n- a: >2\r\n    x, y, z\n- {}", 6);
  counts("- - - ? - 1\n", 6);
  strictEqual(mayExceed("{},".repeat(100_000), 99_999), true);
});

Deno.test("mayExceed() lets nothing hide behind what looks like a literal text", () => {
  const many = `  ${"{},".repeat(1000)}\n`;
  for (const head of ["a: [ x |", "a: x |", '"a: |', "a: '|", "{ b: |", "a: [1, |", "# a: |", "a |"]) {
    ok(mayExceed(`${head}\n${many}`, 900), head);
  }
});
