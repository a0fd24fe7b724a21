/**
 * Reads labels of images of external providers for resources that do not run them yet, independently of reconciliations. A
 * registry that does not answer in time says nothing: the pods then judge the images.
 */
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as FiberMap from "effect/FiberMap";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";
import { sha256Hex } from "../../core/data/digest.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";
import type { ProviderAnswer } from "../../core/snapshot/cluster_snapshot.ts";
import {
  ANSWER_AWAITED_MS,
  LOOKUP_RETRY_MS_MAX,
  PROVIDER_AGAIN_MS,
  PROVIDERS_AWAITED_MS,
  PROVIDERS_KEPT_MAX,
  TAG_FRESH_MS,
} from "../registry/limits.ts";
import { answersTo, type ProviderAnswers, type ProviderQuestions } from "../registry/provider_answers.ts";
import { beyondLength } from "../registry/remembered_lookups.ts";
import { newSeats } from "../registry/seats.ts";
import { SharedRegistries } from "../registry/shared_answers.ts";

export interface ProviderReader {
  /**
   * The answers, which are asked for from now on until no question is passed. The first call for the same questions waits a
   * moment for them. An edit asks again: somebody may have pushed the image meanwhile. `isKnown`: the
   * status has what was found for this generation; of these, one resource of a namespace asks at a time.
   */
  readonly answers: (
    key: string,
    questions: ProviderQuestions,
    generation: number,
    isKnown: boolean,
  ) => Effect.Effect<ProviderAnswers>;
  readonly forget: (key: string) => Effect.Effect<void>;
  /** Waits for a resource `namespace/name` for which an answer came. */
  readonly changed: Effect.Effect<string>;
}

/** For commands. */
export const noProviderAsked: ProviderReader = {
  answers: () => Effect.succeed(new Map()),
  forget: () => Effect.void,
  changed: Effect.never,
};

export const ProviderReader: Context.Reference<ProviderReader> = Context.Reference(
  "llama-stack-operator/shell/ProviderReader",
  { defaultValue: () => noProviderAsked },
);

/** Needs `SharedRegistries`. */
export const providerReaderLayer = Layer.effect(ProviderReader, Effect.suspend(() => reading));

interface Asked {
  /** Digest of the questions. */
  readonly text: string;
  answers: ProviderAnswers;
  /** Of the labels in the answers. */
  characters: number;
  readonly first: Deferred.Deferred<void>;
  /** By the reconciliation that asked. */
  isAwaited: boolean;
}

const reading = Effect.gen(function* () {
  const registries = yield* SharedRegistries;
  if (registries === undefined) return noProviderAsked;
  const askWithin = (ageMs: number) => (question: ImageQuestion) =>
    Effect.map(registries.provider(question, ageMs), ({ answer }) => answer);
  const changes = yield* Queue.unbounded<string>();
  const askers = yield* FiberMap.make<string>();
  const asked = new Map<string, Asked>();
  const repeated = newSeats(1);
  const forget = (key: string) => Effect.suspend(() => asked.delete(key) ? FiberMap.remove(askers, key) : Effect.void);

  const take = Effect.fnUntraced(function* (
    mine: Asked,
    questions: ProviderQuestions,
    ageMs: number,
    otherwise: ProviderAnswers,
  ) {
    const { found, characters } = yield* answersTo(askWithin(ageMs), questions, PROVIDERS_AWAITED_MS);
    const before = JSON.stringify([...mine.answers]);
    mine.answers = new Map([...questions.keys()].map((id) => [id, found.get(id) ?? otherwise.get(id) ?? UNKNOWN]));
    mine.characters = Math.max(characters, found.size < questions.size ? mine.characters : 0);
    // They are asked for again by the next reconciliation. Those without an answer take no place, and somebody waits for it.
    for (const key of beyondLength(asked, mine, PROVIDERS_KEPT_MAX, heldBy)) yield* forget(key);
    return JSON.stringify([...mine.answers]) !== before;
  });

  const follow = (key: string, mine: Asked, questions: ProviderQuestions, ageMs: number, isKnown: boolean) =>
    Effect.gen(function* () {
      const first = take(mine, questions, ageMs, new Map());
      yield* isKnown ? repeated.within(namespaceOf(key), first) : first;
      if (mine.isAwaited) yield* Deferred.succeed(mine.first, undefined);
      else yield* Queue.offer(changes, key);
      // As long as they are asked for, nothing is rolled out: whoever corrects the image need not edit the resource.
      for (let pauseMs = PROVIDER_AGAIN_MS;; pauseMs = Math.min(pauseMs * 2, LOOKUP_RETRY_MS_MAX)) {
        yield* Effect.sleep(Duration.millis(pauseMs));
        const again = take(mine, questions, Infinity, mine.answers);
        if (yield* repeated.within(namespaceOf(key), again)) yield* Queue.offer(changes, key);
      }
    });

  const reader: ProviderReader = {
    answers: Effect.fnUntraced(function* (key, questions, generation, isKnown) {
      if (questions.size === 0) {
        yield* forget(key);
        return new Map();
      }
      const text = textOf(questions, generation);
      const current = asked.get(key);
      if (current?.text === text) return current.answers;
      const mine: Asked = {
        text,
        answers: new Map([...questions.keys()].map((id) => [id, AWAITED])),
        characters: 0,
        first: yield* Deferred.make<void>(),
        isAwaited: true,
      };
      asked.delete(key);
      asked.set(key, mine);
      yield* FiberMap.run(
        askers,
        key,
        follow(key, mine, questions, current === undefined ? TAG_FRESH_MS : 0, isKnown),
      );
      yield* Deferred.await(mine.first).pipe(
        Effect.timeoutOption(Duration.millis(ANSWER_AWAITED_MS)),
        Effect.ensuring(Effect.sync(() => mine.isAwaited = false)),
      );
      return mine.answers;
    }),
    forget,
    changed: Queue.take(changes),
  };
  return reader;
});

const heldBy = (asked: Asked) => ({ held: asked, characters: asked.characters });

const AWAITED: ProviderAnswer = { kind: "awaited" };
const UNKNOWN: ProviderAnswer = { kind: "unknown" };

/** All questions of a resource differ in the image alone; authorities may be long. */
const textOf = (questions: ProviderQuestions, generation: number): string => {
  const [question] = [...questions.values()];
  const mirrors = [...question?.registries.mirrors ?? []];
  const shared = { ...question, image: "", reference: "", registries: { ...question?.registries, mirrors } };
  return sha256Hex(JSON.stringify([generation, shared, [...questions].map(([id, { image }]) => [id, image])]));
};
