import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { readDefaultInstance } from "./default_instance.ts";

const read = (text: string): string =>
  Result.match(readDefaultInstance(text), { onFailure: (end) => end, onSuccess: () => "" });

Deno.test("readDefaultInstance() reads namespace, name and spec", () => {
  deepStrictEqual(
    readDefaultInstance("namespace: team\nname: llama\nspec:\n  distribution: {name: starter}\n"),
    Result.succeed({ namespace: "team", name: "llama", spec: { distribution: { name: "starter" } } }),
  );
});

for (
  const [text, part] of [
    ["[]", "expected a map"],
    ["name: a\nspec: {}", ".namespace"],
    ["namespace: a\nname: a", ".spec"],
    ["namespace: a\nname: a\nspecs: {}", ".specs: unknown key"],
    ["namespace: a\nname: a\nspec: {distribution: {name: starter}, replicas: 2}", "spec.replicas"],
  ] as const
) {
  Deno.test(`readDefaultInstance() rejects ${JSON.stringify(text)}`, () => ok(read(text).includes(part), read(text)));
}
