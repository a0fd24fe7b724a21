import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { readConfigYaml, readExactConfigYaml, readManifests, readYaml11, writeYaml } from "./yaml.ts";

Deno.test("writeYaml() quotes strings that YAML 1.1 reads as another type", () => {
  strictEqual(
    writeYaml({ a: "yes", b: "012", c: "1:30", d: "~", e: "0x_", f: "y", g: "null", h: "${env.X:=1}" }),
    'a: "yes"\nb: "012"\nc: "1:30"\nd: "~"\ne: "0x_"\nf: "y"\ng: "null"\nh: ${env.X:=1}\n',
  );
});

Deno.test("readYaml11() reads what writeYaml() writes", () => {
  const value = {
    s: "a\nb\n",
    n: 1.5,
    i: -3,
    t: true,
    z: null,
    l: [[], {}],
    "": "",
    "--- k": 1,
    __proto__x: { constructor: 1 },
  };
  deepStrictEqual(Result.getOrThrow(readYaml11(writeYaml(value))), value);
});

Deno.test("readYaml11() keeps __proto__ as data", () => {
  const read = Result.getOrThrow(readYaml11('__proto__: {polluted: true}\n"constructor": 1')) as object;
  ok(Object.hasOwn(read, "__proto__") && !("polluted" in {}));
});

Deno.test("readManifests() reads as kubectl does: on is a boolean, empty documents count for nothing", () => {
  deepStrictEqual(Result.getOrThrow(readManifests("a: on\n---\n---\nb: y\n...\n---\nnull\n")), [{ a: true }, {
    b: true,
  }]);
  deepStrictEqual(Result.getOrThrow(readManifests("")), []);
});

Deno.test("readManifests() reads numbers and booleans as kubectl does", () => {
  // Compared with `kubectl annotate --local -o json` of kubectl 1.36.
  const text =
    "[0400, 1_0, 0b11, y, n, 020101, 08, 0x1F, -07, 0o17, 1__0, +5, 1_000.5, _1, 10.0.0.1, '0400', 1e3, 1:30]";
  deepStrictEqual(Result.getOrThrow(readManifests(text)), [
    [256, 10, 3, true, false, 8257, 8, 31, -7, 15, 10, 5, 1000.5, "_1", "10.0.0.1", "0400", 1000, "1:30"],
  ]);
});

Deno.test("readManifests() reports location and reason of a mistake without the surrounding text", () => {
  const said = Result.match(readManifests("a: 1\npassword: hunter2\n b: [\n"), {
    onFailure: ({ message }) => message,
    onSuccess: () => "",
  });
  ok(/^Cannot read YAML: .*\(line \d+, column \d+\)$/.test(said), said);
  ok(!said.includes("hunter2"));
});

Deno.test("readManifests() refuses an integer that would be rounded, with its line, and keeps all others", () => {
  const detail = (text: string) =>
    Result.match(readManifests(text), { onSuccess: () => "", onFailure: (it) => it.detail });
  for (
    const text of [
      "9007199254740993",
      "-9007199254740993",
      "0x20000000000001",
      "123456789012345678901",
      "9".repeat(400),
    ]
  ) {
    match(detail(`a: 1\nb: {c: ${text}}\n`), /^the integer at line 2 has more than 53 bits/);
    match(detail(`{"a": ${text}}`), /^the integer at line 1/);
    strictEqual(detail(`a: "${text}"`), "");
  }
  deepStrictEqual(
    Result.getOrThrow(readManifests("[9007199254740991, -9007199254740992, 1e300, 1.5, 123456789012345680000]")),
    [
      [9007199254740991, -9007199254740992, 1e300, 1.5, 123456789012345680000],
    ],
  );
});

Deno.test("readManifests() minds only integers of documents that are written again", () => {
  const other = "apiVersion: v1\nkind: Pod\nspec: {maximum: 9223372036854775807}\n";
  ok(Result.isSuccess(readManifests(`${other}---\napiVersion: llamastack.io/v1alpha2\nspec: {a: 1}\n`)));
  ok(Result.isFailure(readManifests(`${other}---\napiVersion: llamastack.io/v1alpha2\nspec: {a: 9007199254740993}\n`)));
});

Deno.test("readExactConfigYaml() rejects integers that would become others, and reads all that stay", () => {
  for (const text of ["a: 9007199254740993", "a: [-9_223_372_036_854_775_807]", "a: 0x7fffffffffffffff"]) {
    ok(Result.isFailure(readExactConfigYaml(text)), text);
    ok(Result.isSuccess(readYaml11(text)), text);
  }
  deepStrictEqual(
    Result.getOrThrow(readExactConfigYaml("a: [9007199254740992, 1e30, 0777, '9007199254740993']")).tree,
    {
      a: [9007199254740992, "1e30", 511, "9007199254740993"],
    },
  );
});

Deno.test("of a key that one map of a config has twice the last counts, and each is found with its lines", () => {
  const text = [
    "a: &a {x: 1, y: 2}",
    "list:",
    "- b: 1",
    "  b: 2",
    "- {<<: *a, x: 3}",
    "c:",
    "  <<: *a",
    "  d: {e: 1}",
    "  'd': [{f: 1, g: 2, f: 3}]",
    "  d: 5",
  ].join("\n");
  for (const read of [readConfigYaml, readExactConfigYaml]) {
    deepStrictEqual(Result.getOrThrow(read(text)), {
      tree: { a: { x: 1, y: 2 }, list: [{ b: 2 }, { y: 2, x: 3 }], c: { x: 1, y: 2, d: 5 } },
      doubled: [
        { path: ["list", 0, "b"], lines: [3, 4] },
        { path: ["c", "d", 0, "f"], lines: [9, 9] },
        { path: ["c", "d"], lines: [8, 9, 10] },
      ],
    });
  }
  deepStrictEqual(Result.getOrThrow(readConfigYaml("a: {b: 1}\nc: {b: 1}")).doubled, []);
});

Deno.test("a manifest with a key twice is an error, as for the API server, and so is a setting of the operator", () => {
  for (const read of [readManifests, readYaml11]) {
    const found = read("kind: A\nspec: {a: 1, a: 2}");
    ok(Result.isFailure(found) && found.failure.detail.startsWith("duplicated mapping key"));
  }
});

Deno.test("a template that is not rendered is named beside the error of the parser", () => {
  for (const read of [readManifests, readYaml11]) {
    const found = read("version: 2\nimage_name: {{ .Values.name }}\n{{- if .x }}\n");
    ok(Result.isFailure(found));
    match(found.failure.detail, /; line 2 is a template of Helm, which has to be rendered before: helm template$/);
  }
  deepStrictEqual(Result.getOrThrow(readYaml11("prompt: 'Say {{ .name }}'")), { prompt: "Say {{ .name }}" });
});
