/**
 * Reads the labels of images from their registries, independently of reconciliations: a slow registry only delays its
 * own answer. Nothing is asked of a registry for a resource whose config already exists.
 */
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as FiberMap from "effect/FiberMap";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";
import { originOf, type ReadLabels } from "../../core/config/servers/image_labels.ts";
import { REGISTRY_SECRET } from "../../core/api/own_objects.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";
import type { ImageQuestion, LabelsAnswer } from "../../core/plan/image_question.ts";
import { type FoundConfig, readImageConfig } from "../registry/image_config.ts";
import { LongLookups } from "../registry/long_lookups.ts";
import { beyondLength, type Lookup } from "../registry/remembered_lookups.ts";
import { newRegistries, type RegistriesOptions, sharedAnswers } from "../registry/shared_answers.ts";
import { configsKept } from "../registry/configs_kept.ts";
import {
  ANSWER_AWAITED_MS,
  CONFIGS_KEPT_MAX,
  LOOKUP_MS,
  LOOKUP_RETRY_MS,
  SECRETS_SETTLE_MS,
  TAG_FRESH_MS,
} from "../registry/limits.ts";
import { signals } from "../registry/signals.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";
import { Store } from "../cache/store.ts";

export interface ReadsLabels {
  /**
   * The answer, if there is one; it is asked for from now on, until `undefined` is passed. The first call for a question waits a
   * moment for it. An edit asks again: somebody may have pushed the image meanwhile.
   */
  readonly labels: (
    key: string,
    question: ImageQuestion | undefined,
    generation: number,
  ) => Effect.Effect<LabelsAnswer>;
  /** Recorded labels with the one copy of their base that all resources share. */
  readonly shared: (read: ReadLabels) => ReadLabels;
  /** A Secret `namespace/name` was written: with it, registries may answer that have refused to so far. */
  readonly secretChanged: (name: string) => Effect.Effect<void>;
  readonly forget: (key: string) => Effect.Effect<void>;
  /** Waits for a resource `namespace/name` for which an answer came. */
  readonly changed: Effect.Effect<string>;
}

/** For commands: a single read of the cluster waits for no registry. */
export const nobodyAsked: ReadsLabels = {
  labels: () => Effect.succeed({ kind: "unknown" }),
  shared: (read) => read,
  secretChanged: () => Effect.void,
  forget: () => Effect.void,
  changed: Effect.never,
};

export class LabelReader
  extends Context.Service<LabelReader, ReadsLabels>()("llama-stack-operator/shell/LabelReader") {}

export const labelReaderLayer = (options: RegistriesOptions) => Layer.effect(LabelReader, reading(options));

interface Known {
  readonly question: string;
  readonly generation: number;
  answer: LabelsAnswer;
  readonly first: Deferred.Deferred<void>;
  isAwaited: boolean;
}

/** Needs a scope, in which resources wait for answers. */
const reading = Effect.fnUntraced(function* (options: RegistriesOptions) {
  const store = yield* Store;
  const registries = yield* newRegistries(options);
  const changes = yield* Queue.unbounded<string>();
  const askers = yield* FiberMap.make<string>();
  const kept = configsKept();
  const longLookups = yield* LongLookups.make;
  const answerOf = sharedAnswers(registries, {
    read: (name, access, question) =>
      Effect.provideService(
        readImageConfig(name, access, question.wanted, (digest) => kept.of(question, digest), registries.withNodes),
        LongLookups,
        longLookups,
      ),
    ms: LOOKUP_MS,
    charactersOf: ({ config }) => config?.text.length ?? 0,
    keep: kept.keep,
  });
  const known = new Map<string, Known>();
  const secretChanges = signals();

  const follow = Effect.fnUntraced(function* (key: string, question: ImageQuestion, firstAgeMs: number) {
    let ageMs = firstAgeMs;
    let changedAtMs: number | undefined;
    const mine = known.get(key);
    if (mine === undefined) return;
    const attempt = Effect.fnUntraced(function* (secretChange: Effect.Effect<void>) {
      const { lookup, answer } = yield* answerOf(question, ageMs);
      ageMs = Infinity;
      const before = JSON.stringify(mine.answer);
      mine.answer = answer.kind === "failed"
        ? { kind: "unreadable", detail: answer.detail }
        : { kind: "read", read: kept.shared(readLabels(question, answer.found)) };
      for (const oldest of beyondLength(known, mine, CONFIGS_KEPT_MAX, heldBy)) known.delete(oldest);
      // The reconciliation that asked may still be waiting for it.
      if (mine.isAwaited) yield* Deferred.succeed(mine.first, undefined);
      else if (JSON.stringify(mine.answer) !== before) yield* Queue.offer(changes, key);
      if (answer.kind === "found") return true;
      // With the same credentials, the answer stays that of the lookup until it is stale. A ServiceAccount, which is not
      // watched, may name the Secret later. Whoever creates one Secret often creates more.
      const change = secretChange.pipe(
        Effect.andThen(Effect.sleep(Duration.millis(SECRETS_SETTLE_MS))),
        Effect.andThen(monotonicMs),
      );
      const nowMs = yield* monotonicMs;
      const again = changedAtMs === undefined
        ? Effect.never
        : Effect.sleep(Duration.millis(Math.max(LOOKUP_RETRY_MS, nowMs - changedAtMs)));
      changedAtMs = (yield* Effect.raceAll([
        Effect.as(stale(lookup), undefined),
        Effect.as(again, undefined),
        change,
      ])) ?? changedAtMs;
      return false;
    });
    while (known.get(key) === mine) {
      // Asked for by a reconciliation that outlived its resource: one of the same name asks anew.
      if (!(yield* store.knows(key))) {
        known.delete(key);
        yield* Deferred.succeed(mine.first, undefined);
        return;
      }
      // From before the credentials are read.
      if (yield* secretChanges.during(question.namespace, attempt)) return;
    }
  });

  const reader: ReadsLabels = {
    labels: (key, question, generation) =>
      Effect.gen(function* () {
        const current = known.get(key);
        if (question === undefined) {
          if (current !== undefined) yield* reader.forget(key);
          return { kind: "unknown" } as const;
        }
        const text = questionText(question);
        if (current?.question === text && current.generation === generation) return current.answer;
        const isEdit = current?.question === text;
        const mine: Known = {
          question: text,
          generation,
          answer: isEdit ? current.answer : { kind: "awaited" },
          first: yield* Deferred.make<void>(),
          isAwaited: true,
        };
        known.set(key, mine);
        yield* FiberMap.run(askers, key, follow(key, question, isEdit ? TAG_FRESH_MS : Infinity));
        yield* Deferred.await(mine.first).pipe(
          Effect.timeoutOption(Duration.millis(ANSWER_AWAITED_MS)),
          Effect.ensuring(Effect.sync(() => mine.isAwaited = false)),
        );
        return mine.answer;
      }),
    shared: kept.shared,
    secretChanged: (name) =>
      name === `${options.operatorNamespace}/${REGISTRY_SECRET}`
        ? secretChanges.all
        : secretChanges.of(namespaceOf(name)),
    forget: (key) =>
      Effect.gen(function* () {
        known.delete(key);
        yield* FiberMap.remove(askers, key);
      }),
    changed: Queue.take(changes),
  };
  return reader;
});

/**
 * Answers are held until the config is written. Where other failures keep many resources from that, the oldest answers are
 * asked for again.
 */
const heldBy = ({ answer }: Known) => {
  const base = answer.kind === "read" ? answer.read.config?.base : undefined;
  return base === undefined ? undefined : { held: base, characters: base.content.length };
};

/** Waits until the answer may be asked for again. */
const stale = ({ freshUntilMs = 0 }: Pick<Lookup<FoundConfig>, "freshUntilMs">) =>
  Effect.flatMap(monotonicMs, (nowMs) => Effect.sleep(Duration.millis(Math.max(1, freshUntilMs - nowMs))));

const questionText = (question: ImageQuestion): string =>
  JSON.stringify({
    ...question,
    registries: { ...question.registries, mirrors: [...question.registries.mirrors] },
  });

const readLabels = ({ image, wanted }: ImageQuestion, { digest, config }: FoundConfig): ReadLabels => ({
  image,
  digest,
  wanted,
  config: config === undefined ? undefined : {
    file: config.file,
    base: { origin: originOf(image, config.file), content: config.text },
    serverVersion: config.serverVersion,
  },
});
