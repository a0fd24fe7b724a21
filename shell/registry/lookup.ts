/** The labels of one image, from its registry or a mirror of it, in one of the few places that lookups have. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as PartitionedSemaphore from "effect/PartitionedSemaphore";
import * as Semaphore from "effect/Semaphore";
import { credentialsFor, type Keyring } from "../../core/image/credentials.ts";
import { imageName, repositoryOf } from "../../core/image/image_name.ts";
import { placesOf } from "../../core/operator/registries.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { guardedFetch } from "./guarded_fetch.ts";
import { type FoundConfig, readImageConfig } from "./image_config.ts";
import { CREDENTIALS_MAX, LOOKUP_MS, LOOKUPS_MAX, LOOKUPS_PER_HOST_MAX, LOOKUPS_PER_NAMESPACE_MAX } from "./limits.ts";

export type Answer =
  | { readonly kind: "found"; readonly found: FoundConfig }
  | { readonly kind: "failed"; readonly detail: string };

/** As many as are used or waited for now. */
type Seats = Map<string, { readonly free: Semaphore.Semaphore; users: number }>;

/** Namespaces alternate, and neither one of them nor one registry takes all of the few places. */
export const lookupLimits = Effect.gen(function* () {
  const seats = yield* PartitionedSemaphore.make<string>({ permits: LOOKUPS_MAX });
  const perNamespace: Seats = new Map();
  const perHost: Seats = new Map();
  const within = <A>(all: Seats, name: string, permits: number, run: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.suspend(() => {
      const seat = all.get(name) ?? { free: Semaphore.makeUnsafe(permits), users: 0 };
      all.set(name, seat);
      seat.users++;
      return Effect.ensuring(
        seat.free.withPermits(1)(run),
        Effect.sync(() => {
          seat.users--;
          if (seat.users === 0) all.delete(name);
        }),
      );
    });
  return <A>({ namespace, image }: ImageQuestion, run: Effect.Effect<A>): Effect.Effect<A> =>
    within(
      perNamespace,
      namespace,
      LOOKUPS_PER_NAMESPACE_MAX,
      within(perHost, imageName(image).registry, LOOKUPS_PER_HOST_MAX, seats.withPermit(namespace)(run)),
    );
});

/** From the first place that has the image; the failure of the last one, which is its own registry. */
export const lookedUp = (
  question: ImageQuestion,
  keyring: Keyring,
  /** Hosts of the API server. */
  forbidden: ReadonlyArray<string>,
  known: (question: ImageQuestion, digest: string) => FoundConfig | undefined,
): Effect.Effect<Answer> =>
  Effect.gen(function* () {
    const { authorities, registries, wanted } = question;
    const named = imageName(question.reference);
    const send = guardedFetch({ authorities, registries, forbidden });
    let detail = "";
    for (const place of placesOf(repositoryOf(named), registries)) {
      const target = imageName(place);
      const name = { ...named, registry: target.registry, repository: target.repository };
      const credentials = credentialsFor(repositoryOf(name), keyring).slice(0, CREDENTIALS_MAX);
      const plainHttp = registries.plainHttp.includes(name.registry);
      const found = yield* Effect.match(
        readImageConfig(
          name,
          { credentials, authorities: [], plainHttp, send },
          wanted,
          (digest) => known(question, digest),
        ),
        {
          onSuccess: (config): Answer => ({ kind: "found", found: config }),
          onFailure: ({ message }): Answer => ({ kind: "failed", detail: message }),
        },
      );
      if (found.kind === "found") return found;
      detail = found.detail;
    }
    const failed: Answer = { kind: "failed", detail };
    return failed;
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.millis(LOOKUP_MS),
      orElse: () =>
        Effect.succeed<Answer>({
          kind: "failed",
          detail: `registry ${imageName(question.image).registry} did not send them within ${LOOKUP_MS / 1000} s`,
        }),
    }),
    // A defect is a failure of this image, not of the operator.
    Effect.catchDefect((defect) =>
      Effect.as(
        Effect.logError("labels of an image could not be read").pipe(Effect.annotateLogs({ cause: String(defect) })),
        { kind: "failed", detail: "its labels could not be read" } satisfies Answer,
      )
    ),
  );
