/** Lookups of images, one for all who ask the same with the same credentials; their answers are shared for a short time. */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import * as PartitionedSemaphore from "effect/PartitionedSemaphore";
import { answerKey, askerKey, type ImageQuestion } from "../../core/plan/image_question.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";
import { ANSWER_FRESH_MS, CREDENTIALS_READ_MAX, LOOKUP_RETRY_MS, LOOKUP_RETRY_MS_MAX } from "./limits.ts";
import { clusterAddresses } from "./cluster_addresses.ts";
import { type Answer, lookedUp, lookupLimits, type Reading, type Surroundings } from "./lookup.ts";
import { nodeArchitectures, type WithNodes } from "./node_architectures.ts";
import {
  credentialsDigest,
  credentialsIn,
  type Keyrings,
  keyringsFor,
  keyringsKey,
  type PlaceCredentials,
} from "./pull_credentials.ts";
import { forgetLongest, forgetOldest, keepNewest, type Lookup } from "./remembered_lookups.ts";

export interface RegistriesOptions {
  readonly operatorNamespace: string;
  /** Hosts of the API server. */
  readonly forbidden: ReadonlyArray<string>;
  /** An operator that watches only some namespaces may not: all architectures of an image then count, and no address of a node. */
  readonly mayListNodes: boolean;
}

/** What all lookups of the process share. */
export interface RegistriesService {
  readonly scope: Scope.Scope;
  readonly surroundings: Surroundings;
  readonly credentialsFor: (question: ImageQuestion) => Effect.Effect<PlaceCredentials>;
  readonly limits: Effect.Success<typeof lookupLimits>;
  readonly withNodes: WithNodes;
}

/** For the scope in which the lookups live. */
export const newRegistries = Effect.fnUntraced(function* (options: RegistriesOptions) {
  const cluster = yield* Cluster;
  const scope = yield* Effect.scope;
  const reads = new Map<string, Deferred.Deferred<Keyrings>>();
  const reading = yield* PartitionedSemaphore.make<string>({ permits: CREDENTIALS_READ_MAX });
  /** Those who ask at the same time share the reads, for all of their images; afterwards nothing of them is kept. */
  const keyringsOf = Effect.fnUntraced(function* (question: ImageQuestion) {
    const id = keyringsKey(question);
    const before = reads.get(id);
    if (before !== undefined) return yield* Deferred.await(before);
    const read = yield* Deferred.make<Keyrings>();
    reads.set(id, read);
    yield* Effect.forkIn(
      Effect.gen(function* () {
        // Namespaces alternate, however many reads one of them wants.
        const found = yield* reading.withPermit(question.namespace)(keyringsFor(question, options.operatorNamespace));
        reads.delete(id);
        yield* Deferred.succeed(read, found);
      }),
      scope,
    );
    return yield* Deferred.await(read);
  }, Effect.provideService(Cluster, cluster));
  const credentialsFor = (question: ImageQuestion) =>
    Effect.map(keyringsOf(question), (keyrings) => credentialsIn(keyrings, question));
  const surroundings: Surroundings = {
    forbidden: options.forbidden,
    addresses: options.mayListNodes ? yield* clusterAddresses : Effect.succeed(new Set<string>()),
  };
  const shared: RegistriesService = {
    scope,
    surroundings,
    credentialsFor,
    limits: yield* lookupLimits,
    withNodes: options.mayListNodes ? yield* nodeArchitectures : Effect.succeed,
  };
  return shared;
});

export interface SharedAnswer<A> {
  readonly lookup: Lookup<A>;
  readonly answer: Answer<A>;
}

/** `ageMs`: how old the answer to another question may be. */
export type Asking<A> = (question: ImageQuestion, ageMs?: number) => Effect.Effect<SharedAnswer<A>>;

/** The lookups live in the scope of the registries, and not in that of those who happened to ask first. */
export const sharedAnswers = <A>(
  { scope, surroundings, credentialsFor, limits }: RegistriesService,
  reading: Reading<A> & {
    /** Of the texts in it. */
    readonly charactersOf: (found: A) => number;
    readonly keep?: (question: ImageQuestion, found: A) => void;
  },
): Asking<A> => {
  const lookups = new Map<string, Lookup<A>>();
  /** The lookup that each asker was referred to. */
  const allowed = new Map<string, string>();
  return Effect.fnUntraced(function* (question: ImageQuestion, ageMs = Infinity) {
    const isFreshAt = (nowMs: number) => ({ freshUntilMs, answeredAtMs }: Lookup<A>) =>
      freshUntilMs === undefined || nowMs < freshUntilMs && nowMs - answeredAtMs <= ageMs;
    // Resources of one namespace that name the same pull Secrets: what one of them has read, the others may read.
    const asker = askerKey(question);
    const earlier = lookups.get(allowed.get(asker) ?? "");
    if (earlier?.failures === 0 && isFreshAt(yield* monotonicMs)(earlier)) {
      return { lookup: earlier, answer: yield* Deferred.await(earlier.answer) };
    }
    const credentials = yield* credentialsFor(question);
    const id = answerKey(question, yield* Effect.promise(() => credentialsDigest(credentials)));
    keepNewest(allowed, asker, id);
    const nowMs = yield* monotonicMs;
    const before = lookups.get(id);
    if (before !== undefined && isFreshAt(nowMs)(before)) {
      return { lookup: before, answer: yield* Deferred.await(before.answer) };
    }
    const lookup: Lookup<A> = {
      answer: yield* Deferred.make<Answer<A>>(),
      failures: before?.failures ?? 0,
      freshUntilMs: undefined,
      answeredAtMs: nowMs,
      characters: 0,
    };
    forgetOldest(lookups, nowMs);
    lookups.delete(id);
    lookups.set(id, lookup);
    yield* Effect.forkIn(
      Effect.gen(function* () {
        const answer = yield* limits(question, lookedUp(question, credentials, surroundings, reading));
        const failed = answer.kind === "failed";
        if (!failed) reading.keep?.(question, answer.found);
        lookup.failures = failed ? lookup.failures + 1 : 0;
        lookup.answeredAtMs = yield* monotonicMs;
        lookup.freshUntilMs = lookup.answeredAtMs + (failed ? pauseMs(lookup.failures) : ANSWER_FRESH_MS);
        lookup.characters = failed ? 0 : reading.charactersOf(answer.found);
        forgetLongest(lookups, lookup);
        yield* Deferred.succeed(lookup.answer, answer);
      }),
      scope,
    );
    return { lookup, answer: yield* Deferred.await(lookup.answer) };
  });
};

const pauseMs = (failures: number): number => Math.min(LOOKUP_RETRY_MS * 2 ** (failures - 1), LOOKUP_RETRY_MS_MAX);
