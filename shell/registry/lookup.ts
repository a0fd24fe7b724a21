/** The labels of one image, from its registry or a mirror of it, in one of the few places that lookups have. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as PartitionedSemaphore from "effect/PartitionedSemaphore";
import { type ImageName, imageName, isImageReference, repositoryOf } from "../../core/data/image_reference.ts";
import { AddressNotAllowed, RegistryUnreachable } from "../../core/image/registry_failure.ts";
import { placesOf } from "../../core/operator/registries.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import type { ClusterAddresses } from "./cluster_addresses.ts";
import { guardedFetch, isListed } from "./guarded_fetch.ts";
import type { PlaceCredentials } from "./pull_credentials.ts";
import type { ImageFailure } from "./image_config.ts";
import type { RegistryAccess } from "./registry.ts";
import { newSeats } from "./seats.ts";
import { LOOKUPS_MAX, LOOKUPS_PER_HOST_MAX, LOOKUPS_PER_NAMESPACE_MAX } from "./limits.ts";

export type Answer<A> =
  | { readonly kind: "found"; readonly found: A }
  | { readonly kind: "failed"; readonly detail: string };

/** What is read of an image, and how long it may take, in milliseconds. */
export interface Reading<A> {
  readonly read: (
    name: ImageName,
    access: RegistryAccess,
    question: ImageQuestion,
  ) => Effect.Effect<A, ImageFailure>;
  readonly ms: number;
}

/** Namespaces alternate, and neither one of them nor one registry takes all of the few places. */
export const lookupLimits = Effect.gen(function* () {
  const seats = yield* PartitionedSemaphore.make<string>({ permits: LOOKUPS_MAX });
  const perNamespace = newSeats(LOOKUPS_PER_NAMESPACE_MAX);
  const perHost = newSeats(LOOKUPS_PER_HOST_MAX);
  const perHostOfNamespace = newSeats(LOOKUPS_PER_HOST_MAX);
  return <A>({ namespace, image }: ImageQuestion, run: Effect.Effect<A>): Effect.Effect<A> => {
    const host = imageName(image).registry;
    const placed = perHost.within(host, seats.withPermit(namespace)(run));
    return perHostOfNamespace.within(`${namespace} ${host}`, perNamespace.within(namespace, placed));
  };
});

/** Nothing is asked for a text that no container runtime would pull, or whose digest nobody here can verify. */
const rejectionOf = (reference: string): Answer<never> | undefined => {
  if (!isImageReference(reference)) return { kind: "failed", detail: "it is not a reference that can be pulled" };
  const { digest } = imageName(reference);
  return digest === undefined || digest.startsWith("sha256:")
    ? undefined
    : { kind: "failed", detail: "only digests of the kind sha256 can be verified" };
};

const failed = (detail: string): Answer<never> => ({ kind: "failed", detail });

export interface Surroundings {
  /** Hosts of the API server. */
  readonly forbidden: ReadonlyArray<string>;
  readonly addresses: ClusterAddresses;
}

/** Whatever happened: who names hosts must not learn from the answers which of them listen on which ports. */
const unreachable = (host: string): string =>
  new RegistryUnreachable({ host, detail: "no usable answer; the log of the operator has the reason" }).message;

const isSilent = (failure: ImageFailure): failure is RegistryUnreachable | AddressNotAllowed =>
  failure instanceof RegistryUnreachable || failure instanceof AddressNotAllowed && failure.isOfCluster;

/** From the first place that has the image; the failure of the last one, which is its own registry. */
export const lookedUp = <A>(
  question: ImageQuestion,
  credentials: PlaceCredentials,
  { forbidden, addresses }: Surroundings,
  { read, ms }: Reading<A>,
): Effect.Effect<Answer<A>> =>
  Effect.gen(function* () {
    const { authorities, registries } = question;
    const rejection = rejectionOf(question.reference);
    if (rejection !== undefined) return rejection;
    const named = imageName(question.reference);
    const taken = yield* Effect.option(addresses);
    // Rather not at all than to an address that nobody may choose.
    if (taken._tag === "None") return failed("the addresses of the nodes could not be read");
    const send = guardedFetch({ authorities, registries, forbidden, taken: taken.value });
    let detail = "";
    for (const place of placesOf(repositoryOf(named), registries)) {
      const target = imageName(place);
      const name = { ...named, registry: target.registry, repository: target.repository };
      const plainHttp = isListed(registries.plainHttp, `http://${name.registry}`);
      const isOfAuthor = repositoryOf(target) === repositoryOf(named) &&
        !isListed(registries.internal, `https://${name.registry}`);
      const found = yield* Effect.matchEffect(
        read(
          name,
          {
            credentials: credentials.get(repositoryOf(target)) ?? [],
            authorities: [],
            plainHttp,
            send,
            namespace: question.namespace,
          },
          question,
        ),
        {
          onSuccess: (value) => Effect.succeed<Answer<A>>({ kind: "found", found: value }),
          onFailure: (failure) =>
            isOfAuthor && isSilent(failure)
              ? Effect.as(
                Effect.logInfo("registry cannot be reached").pipe(
                  Effect.annotateLogs({ namespace: question.namespace, host: failure.host, detail: failure.detail }),
                ),
                failed(unreachable(name.registry)),
              )
              : Effect.succeed<Answer<A>>(failed(failure.message)),
        },
      );
      if (found.kind === "found") return found;
      detail = found.detail;
    }
    return failed(detail);
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.millis(ms),
      orElse: () =>
        Effect.succeed<Answer<A>>({
          kind: "failed",
          detail: `registry ${imageName(question.image).registry} did not send them within ${ms / 1000} s`,
        }),
    }),
    // A defect is a failure of this image, not of the operator.
    Effect.catchDefect((defect) =>
      Effect.as(
        Effect.logError("labels of an image could not be read").pipe(Effect.annotateLogs({ cause: String(defect) })),
        { kind: "failed", detail: "its labels could not be read" } satisfies Answer<A>,
      )
    ),
  );
