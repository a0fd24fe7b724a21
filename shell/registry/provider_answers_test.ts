import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import type { Answer } from "./lookup.ts";
import { answersTo } from "./provider_answers.ts";
import type { FoundProvider } from "./provider_image.ts";

const told = async (answer: Answer<FoundProvider> | undefined) => {
  const ask = () => answer === undefined ? Effect.never : Effect.succeed(answer);
  const { found } = await Effect.runPromise(answersTo(ask, new Map([["own", {} as ImageQuestion]]), 20));
  return found.get("own")?.kind;
};

Deno.test("labels that say nothing for all nodes are unknown, and not those of an image without labels", async () => {
  deepStrictEqual(await told({ kind: "found", found: { labels: {} } }), "read");
  deepStrictEqual(await told({ kind: "found", found: { labels: undefined } }), "unknown");
});

Deno.test("a failed lookup, and one without an answer in time, keep what was known", async () => {
  deepStrictEqual(await told({ kind: "failed", detail: "down" }), undefined);
  deepStrictEqual(await told(undefined), undefined);
});
