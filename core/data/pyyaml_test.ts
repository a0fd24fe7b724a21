import { deepStrictEqual, match, ok } from "node:assert/strict";
import { pyYamlReading } from "./pyyaml.ts";
import { readYaml11 } from "./yaml.ts";
import * as Result from "effect/Result";

const reading = (text: string) => {
  ok(Result.isSuccess(readYaml11(text)), `not YAML for the parser here: ${JSON.stringify(text)}`);
  return pyYamlReading(text, 64);
};

Deno.test("pyYamlReading() finds the tabs that PyYAML rejects", () => {
  for (
    const text of [
      "version:\t2",
      "version: 2\t",
      "version: 2\n\t\nimage_name: a",
      "image_name: a\t# of the team",
      "image_name: a\tb",
      'image_name: "a"\t',
      "apis: [a, b]\t",
      "# a\u2028b\nimage_name: a",
      "prompt: |\n  a\u2028b\n",
    ]
  ) {
    match(reading(text).rejection ?? "", /^line \d has a tab or a line separator/, JSON.stringify(text));
  }
});

Deno.test("pyYamlReading() takes the tabs that PyYAML takes", () => {
  for (
    const text of [
      'prompt: "a\tb"',
      "prompt: 'a\tb'",
      "prompt: |\n  a\tb\n  \tc\n",
      "image_name: a # b\tc",
      "# a\tb\nimage_name: a#b",
      'prompt: "a\u2028b"\n',
      "prompt: >-\n  a\n  # b\tc\n",
    ]
  ) {
    deepStrictEqual(reading(text).rejection, undefined, JSON.stringify(text));
  }
});

Deno.test("pyYamlReading() finds doubled anchors, a lone equals sign and dates that do not exist", () => {
  match(reading("a: &x 1\nb: &x 2").rejection ?? "", /^line 2 defines an anchor/);
  match(reading("a: =").rejection ?? "", /^line 1 has "="/);
  match(reading("a: 1\nb: 2024-02-30").rejection ?? "", /^line 2 has a date that does not exist/);
  match(reading("a: 2024-01-01 25:00:00").rejection ?? "", /^line 1 has a date/);
  deepStrictEqual(reading("a: &x 1\nb: *x\nc: '='\nd: a=b").rejection, undefined);
});

Deno.test("pyYamlReading() finds question marks between braces, and no others", () => {
  match(reading("a: {url: http://h/p?x=1}").rejection ?? "", /^line 1 has "\?" between braces/);
  match(reading("a: 1\nb: [{c: what?}]").rejection ?? "", /^line 2 has "\?"/);
  deepStrictEqual(reading("url: http://h/p?x=1\na: {url: 'http://h/p?x=1'}").rejection, undefined);
});

Deno.test("pyYamlReading() names the lines of dates without quotes", () => {
  deepStrictEqual(reading("version: 2\napi_version: 2024-10-21\nb: 2024-1-2T10:00:00Z").dates, [2, 3]);
  deepStrictEqual(
    reading("a: '2024-10-21'\nb: 2024-10-21-preview\nc: 2024-1-2\nd: !!str 2024-10-21\ne: >-\n  2024-10-21").dates,
    [],
  );
});

Deno.test("pyYamlReading() names the lines of keys that are no texts for PyYAML", () => {
  deepStrictEqual(reading("a: 1\n1: a\nb: {yes: 1, n: 2, null: 3}\nc:\n  - on: 1\n    1.5: 2").keys, [2, 3, 3, 5, 6]);
  deepStrictEqual(reading("'1': a\nb: yes\nc: [1, null]\nd: {'yes': 1}\n1a: 2\n<<: {x: 1}").keys, []);
  match(reading("a: <<").rejection ?? "", /^line 1 has "<<" without quotes/);
});
