/** What the labels of images of external providers say, as far as registries answer in time. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { providerLabelsIn } from "../../core/image/provider_labels.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import type { ProviderAnswer } from "../../core/snapshot/cluster_snapshot.ts";
import type { Answer } from "./lookup.ts";
import type { FoundProvider } from "./provider_image.ts";

/** By id of the provider. */
export type ProviderAnswers = ReadonlyMap<string, ProviderAnswer>;
export type ProviderQuestions = ReadonlyMap<string, ImageQuestion>;

export interface AnswersInTime {
  readonly found: ProviderAnswers;
  /** Of their labels. */
  readonly characters: number;
}

export const answersTo = Effect.fnUntraced(function* (
  ask: (question: ImageQuestion) => Effect.Effect<Answer<FoundProvider>>,
  questions: ProviderQuestions,
  ms: number,
) {
  let characters = 0;
  const found = new Map<string, ProviderAnswer>();
  const one = Effect.fnUntraced(function* (id: string, question: ImageQuestion) {
    const answer = yield* Effect.timeoutOption(ask(question), Duration.millis(ms));
    if (Option.isNone(answer) || answer.value.kind === "failed") return;
    const { labels } = answer.value.found;
    if (labels === undefined) return void found.set(id, { kind: "unknown" });
    characters += Object.values(labels).join("").length;
    found.set(id, { kind: "read", labels: providerLabelsIn(labels) });
  });
  yield* Effect.forEach(questions, ([id, question]) => one(id, question), { concurrency: "unbounded", discard: true });
  const answers: AnswersInTime = { found, characters };
  return answers;
});
