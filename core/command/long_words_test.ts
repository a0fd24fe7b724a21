/** Keys and values of a manifest that are longer than any real one: no output repeats them, and none writes control characters. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { SURROUNDINGS } from "../../tests/given.ts";
import { admissionAnswer } from "../admission/admission_review.ts";
import { judge } from "../admission/judgement.ts";
import { INCOMPLETE_ANNOTATION, UNCONVERTED_ANNOTATION } from "../api/convert/annotation.ts";
import { decodeResource } from "../api/decode.ts";
import { isList, isObject, type Json, type JsonObject, put } from "../data/json.ts";
import { readYaml11 } from "../data/yaml.ts";
import { lintCommand } from "./lint.ts";
import { PLAIN } from "./outcome.ts";
import { renderCommand } from "./render.ts";

const FULL = Result.getOrThrow(
  readYaml11(await Deno.readTextFile(new URL("../../deploy/samples/full.yaml", import.meta.url))),
) as JsonObject;

/** Characters of a word, and of all output for an object with one of them. */
const WORD = 12_000;
const OUTPUT_MAX = (3 * WORD) / 4;
const WORDS = [
  "k".repeat(WORD),
  "1".repeat(WORD),
  "x/".repeat(WORD / 2),
  `\u001b[2J${"\n::add-mask::".repeat(WORD / 10)}`,
];

/** Each value of the tree replaced by one of the words, and each map with a key more, or with one renamed. */
const variants = function* (value: Json, around: (inner: Json) => Json, path: string): Generator<[string, Json]> {
  if (isList(value)) {
    for (const [index, inner] of value.entries()) {
      yield* variants(
        inner,
        (made) => around(value.map((old, other) => other === index ? made : old)),
        `${path}[${index}]`,
      );
    }
  } else if (isObject(value)) {
    for (const word of [WORDS[0], WORDS[3]]) yield [`${path} with a key`, around({ ...value, [word ?? ""]: "x" })];
    for (const [key, inner] of Object.entries(value)) {
      yield* variants(inner, (made) => around({ ...value, [key]: made }), `${path}.${key}`);
    }
  } else for (const word of WORDS) yield [path, around(word)];
};

/** All that is said of an object. */
const said = (object: Json): string => {
  const file = { name: "f.yaml", text: JSON.stringify(object) };
  const { stderr, code, stdout } = renderCommand([file], SURROUNDINGS, {
    only: undefined,
    format: "yaml",
    style: PLAIN,
  });
  const lint = lintCommand([file], SURROUNDINGS, { format: "text", style: PLAIN });
  const review = isObject(object)
    ? judge(
      { namespace: "default", object, before: undefined, writtenIn: "v1alpha2" },
      SURROUNDINGS,
      "Reject",
      new Map(),
    )
    : { rejections: [], warnings: [] };
  const { response } = admissionAnswer("u", review, "n");
  return `${lint.stdout}${lint.stderr}${stderr}${code === 0 ? "" : stdout}${JSON.stringify(response)}`;
};

Deno.test("no command and no admission repeats a key or a value that is longer than any real one", () => {
  const long: Array<string> = [];
  for (const [path, object] of variants(FULL, (made) => made, "")) {
    const text = said(object);
    if (text.length > OUTPUT_MAX) long.push(`${path}: ${text.length} characters: ${text.slice(0, 200)}`);
  }
  deepStrictEqual(long, []);
});

Deno.test("admission shows neither the length nor the control characters of a marker that the author wrote himself", () => {
  for (const key of [UNCONVERTED_ANNOTATION, INCOMPLETE_ANNOTATION]) {
    const object = put(FULL, ["metadata", "annotations"], { [key]: `\u001b[2J\u202e${"x".repeat(200_000)}` });
    const { rejections } = judge(
      { namespace: "default", object, before: undefined, writtenIn: "v1alpha2" },
      SURROUNDINGS,
      "Warn",
      new Map(),
    );
    for (const { message } of rejections) {
      ok(message.length < 2000, String(message.length));
      // deno-lint-ignore no-control-regex
      ok(!/[\u001b\u202e]/.test(message), message);
    }
    ok(rejections.length > 0);
  }
});

Deno.test("decodeResource() rejects a quantity that is longer than any real one", () => {
  const cpu = (text: string) => put(FULL, ["spec", "workload", "resources"], { requests: { cpu: text } });
  ok(Result.isSuccess(decodeResource(cpu("1".repeat(19)), "strict")));
  ok(Result.isFailure(decodeResource(cpu("1".repeat(1_000_000)), "strict")));
});
