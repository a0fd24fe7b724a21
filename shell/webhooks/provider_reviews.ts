/** Labels of images of external providers for a review, within a short time; without an answer nothing is said about an image. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Semaphore from "effect/Semaphore";
import type { ReviewedProvider } from "../../core/admission/reviewed_providers.ts";
import type { LabelsOfProvider } from "../../core/config/unfit_providers.ts";
import { answersTo } from "../registry/provider_answers.ts";
import { REVIEWED_IMAGES_MAX, REVIEWED_IMAGES_MS, REVIEWS_MAX } from "../registry/limits.ts";
import { SharedRegistries } from "../registry/shared_answers.ts";

export type ProviderReviews = (reviewed: ReadonlyArray<ReviewedProvider>) => Effect.Effect<LabelsOfProvider>;

/**
 * A review may be a dry run, which leaves nothing behind that limits how many of them there are: few may ask at the same time,
 * and the others are admitted without.
 */
export const providerReviews = Effect.gen(function* () {
  const registries = yield* SharedRegistries;
  const places = yield* Semaphore.make(REVIEWS_MAX);
  const reviews: ProviderReviews = Effect.fnUntraced(function* (reviewed) {
    if (registries === undefined || reviewed.length === 0) return () => undefined;
    const questions = new Map(
      reviewed.slice(0, REVIEWED_IMAGES_MAX).map((provider) => [keyOf(provider), provider.question]),
    );
    const asked = yield* Semaphore.withPermitsIfAvailable(places, 1)(
      answersTo(registries.providerNow, questions, REVIEWED_IMAGES_MS),
    );
    return (entry) => {
      const answer = Option.isNone(asked) ? undefined : asked.value.found.get(keyOf(entry));
      return answer?.kind === "read" ? answer.labels : undefined;
    };
  });
  return reviews;
});

const keyOf = ({ id, image }: { readonly id: string; readonly image: string }): string => JSON.stringify([id, image]);
