import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { isSameTexts, validTextsIn, withValidTexts } from "./own_secret.ts";

const SECRET: JsonObject = { metadata: { name: "s", resourceVersion: "7" }, data: { key: "a2V5" } };

Deno.test("withValidTexts() keeps the rest of the Secret, and validTextsIn() reads what it wrote", () => {
  const texts = { featureFlags: "enableNetworkPolicy: {enabled: true}\n", "allow.volumes": "[secret] # für alle" };
  const { data, ...rest } = withValidTexts(SECRET, texts);
  deepStrictEqual(rest, { metadata: SECRET.metadata });
  strictEqual((data as JsonObject).key, "a2V5");
  deepStrictEqual(validTextsIn({ data } as JsonObject), texts);
});

Deno.test("validTextsIn() knows nothing where there is no Secret, or something else in it", () => {
  for (const text of [undefined, "", "*", btoa("no JSON"), btoa("[]"), btoa("null")]) {
    const data = text === undefined ? {} : { "valid-settings": text };
    deepStrictEqual(validTextsIn({ data }), {});
  }
  deepStrictEqual(validTextsIn(undefined), {});
  deepStrictEqual(validTextsIn({ data: { "valid-settings": btoa('{"a":1,"b":"2"}') } }), { b: "2" });
});

Deno.test("isSameTexts() compares both ways", () => {
  strictEqual(isSameTexts({ a: "1" }, { a: "1" }), true);
  for (const [one, other] of [[{ a: "1" }, {}], [{}, { a: "1" }], [{ a: "1" }, { a: "2" }]]) {
    strictEqual(isSameTexts(one ?? {}, other ?? {}), false);
  }
});
