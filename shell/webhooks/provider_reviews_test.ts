import { strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { REGISTRIES_DEFAULT } from "../../core/operator/registries.ts";
import type { ReviewedProvider } from "../../core/admission/reviewed_providers.ts";
import { REVIEWS_PER_NAMESPACE_MAX } from "../registry/limits.ts";
import { type RegistriesService, SharedRegistries } from "../registry/shared_answers.ts";
import { providerReviews } from "./provider_reviews.ts";
import { aTick } from "../../tests/waiting.ts";

const reviewed = (namespace: string): ReadonlyArray<ReviewedProvider> => {
  const image = "registry.example.com/own:1";
  return [{
    id: "own",
    image,
    question: {
      image,
      reference: image,
      wanted: undefined,
      namespace,
      serviceAccount: undefined,
      pullSecrets: [],
      authorities: "",
      registries: REGISTRIES_DEFAULT,
    },
  }];
};
const tick = () => aTick();

Deno.test("few reviews of one namespace ask registries at a time, and those of others are not affected", async () => {
  let asking = 0;
  const silent = {
    providerNow: () =>
      Effect.suspend(() => {
        asking++;
        return Effect.ensuring(Effect.never, Effect.sync(() => asking--));
      }),
  } as unknown as RegistriesService;
  const reviews = await Effect.runPromise(Effect.provideService(providerReviews, SharedRegistries, silent));
  const begin = (namespace: string) => Effect.runFork(reviews(reviewed(namespace)));
  const waiting = Array.from({ length: REVIEWS_PER_NAMESPACE_MAX }, () => begin("one"));
  await tick();
  strictEqual(asking, REVIEWS_PER_NAMESPACE_MAX);
  const labelsOf = await Effect.runPromise(reviews(reviewed("one")));
  strictEqual(labelsOf({ id: "own", image: "registry.example.com/own:1" }, []), undefined);
  waiting.push(begin("two"));
  await tick();
  strictEqual(asking, REVIEWS_PER_NAMESPACE_MAX + 1);
  await Effect.runPromise(Effect.forEach(waiting, Fiber.interrupt));
  // Nothing remains of reviews that are over.
  strictEqual(asking, 0);
  const again = begin("one");
  await tick();
  strictEqual(asking, 1);
  await Effect.runPromise(Fiber.interrupt(again));
});

Deno.test("no registry is asked where there is none to ask", async () => {
  const reviews = await Effect.runPromise(providerReviews);
  const labelsOf = await Effect.runPromise(reviews(reviewed("one")));
  strictEqual(labelsOf({ id: "own", image: "registry.example.com/own:1" }, []), undefined);
});
