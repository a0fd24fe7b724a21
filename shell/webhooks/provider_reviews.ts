/** Labels of images of external providers for a review, within a short time; without an answer nothing is said about an image. */
import * as Effect from "effect/Effect";
import type { ReviewedProvider } from "../../core/admission/reviewed_providers.ts";
import type { LabelsOfProvider } from "../../core/config/unfit_providers.ts";
import { REVIEWED_IMAGES_MAX, REVIEWED_IMAGES_MS, REVIEWS_MAX, REVIEWS_PER_NAMESPACE_MAX } from "../registry/limits.ts";
import { answersTo } from "../registry/provider_answers.ts";
import { SharedRegistries } from "../registry/shared_answers.ts";

export type ProviderReviews = (reviewed: ReadonlyArray<ReviewedProvider>) => Effect.Effect<LabelsOfProvider>;

/** Reviews beyond the limits are answered without the labels: the operator judges the images when it rolls them out. */
export const providerReviews = Effect.gen(function* () {
  const registries = yield* SharedRegistries;
  /** The namespace of each review that asks now. */
  const asking: Array<string> = [];
  const reviews: ProviderReviews = Effect.fnUntraced(function* (reviewed) {
    const namespace = reviewed[0]?.question.namespace;
    if (registries === undefined || namespace === undefined) return () => undefined;
    const own = asking.filter((other) => other === namespace);
    if (asking.length >= REVIEWS_MAX || own.length >= REVIEWS_PER_NAMESPACE_MAX) return () => undefined;
    const questions = new Map(
      reviewed.slice(0, REVIEWED_IMAGES_MAX).map((provider) => [keyOf(provider), provider.question]),
    );
    const { found } = yield* Effect.acquireUseRelease(
      Effect.sync(() => asking.push(namespace)),
      () => answersTo(registries.providerNow, questions, REVIEWED_IMAGES_MS),
      () => Effect.sync(() => void asking.splice(asking.indexOf(namespace), 1)),
    );
    return (entry) => {
      const answer = found.get(keyOf(entry));
      return answer?.kind === "read" ? answer.labels : undefined;
    };
  });
  return reviews;
});

const keyOf = ({ id, image }: { readonly id: string; readonly image: string }): string => JSON.stringify([id, image]);
