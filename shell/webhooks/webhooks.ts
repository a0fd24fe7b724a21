/** What the webhooks answer: the reviews are read and written here, and decided in core/admission. */
import * as Cause from "effect/Cause";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Option from "effect/Option";
import * as Ref from "effect/Ref";
import * as Result from "effect/Result";
import * as Semaphore from "effect/Semaphore";
import type { Change } from "../../core/admission/change.ts";
import { accepted, admissionAnswer, oversizedAnswer, questionIn } from "../../core/admission/admission_review.ts";
import { conversionAnswer, type StoredName } from "../../core/admission/conversion_review.ts";
import type { Reference } from "../../core/snapshot/references.ts";
import { type ConfigMapContent, contentOf } from "../../core/config/config_map_content.ts";
import { type Found, judge, judgedConfigMap, newReferences, referenceName } from "../../core/admission/judgement.ts";
import { CONVERT_PATH, VALIDATE_PATH } from "../../core/api/own_objects.ts";
import { surroundingsIn } from "../../core/snapshot/operator.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import type { Surroundings } from "../../core/config/derive.ts";
import type { Json, JsonObject } from "../../core/data/json.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";
import { readJson } from "../../core/data/json_text.ts";
import {
  ADMISSION_BYTES_MAX,
  ADMISSION_LOOK_MS,
  ADMISSION_REFERENCES_MAX,
  CONVERSION_BYTES_MAX,
  REVIEW_DEPTH_MAX,
  REVIEW_VALUES_MAX,
  UNPROVEN_BYTES_MAX,
} from "../../core/data/limits.ts";
import {
  readSettings,
  type Settings,
  SETTINGS_DEFAULT,
  settingsData,
  type ValidTexts,
} from "../../core/operator/settings.ts";
import { ownSecret, validTextsIn } from "../../core/operator/own_secret.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { storedResource } from "../kubernetes/stored_resource.ts";
import { CONVERSION_SLICE_MS, LARGE_REVIEW_BYTES, SETTINGS_FRESH_MS, SETTINGS_RETRY_MS } from "../limits.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";
import { counters } from "../runtime/metrics.ts";
import { SETTINGS_FIELDS } from "../controller/operator_settings.ts";
import type { Answer, Caller, Route } from "./webhook_server.ts";

export interface WebhookFacts {
  readonly operatorNamespace: string;
  /** Resources of other namespaces are not validated; empty: all are. */
  readonly namespaces: ReadonlyArray<string>;
  readonly relatedImages: ReadonlyMap<string, string>;
}

/**
 * The routes of every replica, the leader or not. `isProvable`: whether the API server can show who it is; where it cannot, it
 * is served like anybody else, and everybody may send what it sends.
 */
export const webhookRoutes = Effect.fnUntraced(function* (facts: WebhookFacts, isProvable: () => boolean = () => true) {
  const settings = yield* freshSettings(facts.operatorNamespace);
  const unproven = yield* Semaphore.make(1);
  const large = yield* Semaphore.make(1);
  /**
   * The values of a review take up to twenty times the memory of its text. Callers who may be anybody wait for each other, and
   * never keep the API server waiting; of what the API server sends, which users write, large reviews wait for each other.
   */
  const withSlot = <R>(
    bytes: number,
    caller: Caller,
    answer: Effect.Effect<Answer, never, R>,
  ): Effect.Effect<Answer, never, R> => {
    if (caller === "anybody") return Semaphore.withPermits(unproven, 1)(answer);
    return bytes > LARGE_REVIEW_BYTES ? Semaphore.withPermits(large, 1)(answer) : answer;
  };
  const bytesMax = (most: number) => ({
    "API server": most,
    get anybody() {
      return isProvable() ? Math.min(most, UNPROVEN_BYTES_MAX) : most;
    },
  });
  const conversion: Route<Cluster> = {
    bytesMax: bytesMax(CONVERSION_BYTES_MAX),
    // Objects are converted one after the other, so that only those of unproven callers add up.
    answer: (body, caller) => withSlot(0, caller, counted(CONVERT_PATH, conversionOf(body, caller))),
  };
  const validation: Route<Cluster> = {
    bytesMax: bytesMax(ADMISSION_BYTES_MAX),
    answer: (body, caller) =>
      withSlot(
        body.length,
        caller,
        counted(VALIDATE_PATH, admissionOf(body, (review) => admission(review, facts, settings, caller))),
      ),
  };
  const routes: Readonly<Record<string, Route<Cluster>>> = {
    [CONVERT_PATH]: conversion,
    [VALIDATE_PATH]: validation,
  };
  return routes;
});

/** One object at a time; others are processed in between. */
const conversionOf = (body: Uint8Array, caller: Caller): Effect.Effect<Answer, never, Cluster> =>
  // Nothing is read before its slot is free.
  Effect.suspend(() =>
    Result.match(conversionAnswer(body), {
      onFailure: (detail) => Effect.succeed(badRequest(detail)),
      onSuccess: (answer) =>
        Effect.gen(function* () {
          const { before, count, object, incomplete, after } = answer;
          const within = yield* withinOne(ADMISSION_LOOK_MS);
          const parts: Array<Uint8Array | string> = [before];
          let sinceMs = performance.now();
          for (let index = 0; index < count; index++) {
            // Anybody else would learn what a namespace stores.
            const name = caller === "API server" ? incomplete(index) : undefined;
            const stored = name === undefined ? undefined : yield* readWithin(within, name);
            parts.push(...(index === 0 ? [] : [","]), object(index, stored));
            if (performance.now() - sinceMs < CONVERSION_SLICE_MS) continue;
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 0)));
            sinceMs = performance.now();
          }
          return { status: 200, body: [...parts, after] } satisfies Answer;
        }),
    })
  );

/** Undefined too if it cannot be read in time: admission then rejects the write. */
const readWithin = (within: Within, { namespace, name }: StoredName) =>
  within(storedResource(namespace, name)).pipe(
    Effect.map(Option.getOrUndefined),
    Effect.orElseSucceed(() => undefined),
  );

const admissionOf = <R>(
  body: Uint8Array,
  answer: (review: Json) => Effect.Effect<JsonObject, never, R>,
): Effect.Effect<Answer, never, R> =>
  Effect.suspend(() =>
    Result.match(readJson(body, REVIEW_BOUNDS), {
      onFailure: ({ message, exceeds }) => {
        const oversized = exceeds === "values" ? oversizedAnswer(body) : undefined;
        return Effect.succeed(oversized === undefined ? badRequest(message) : reviewed(oversized));
      },
      onSuccess: (review) => Effect.map(answer(review), reviewed),
    })
  );

/** The API server itself reads no JSON that is nested deeper (encoding/json of Go), so it does not send any. */
const REVIEW_BOUNDS = { depth: REVIEW_DEPTH_MAX, values: REVIEW_VALUES_MAX };

const reviewed = (answer: JsonObject): Answer => ({ status: 200, body: [JSON.stringify(answer)] });

const badRequest = (detail: string): Answer => ({ status: 400, body: [JSON.stringify({ message: detail })] });

const counted = <R>(path: string, answer: Effect.Effect<Answer, never, R>): Effect.Effect<Answer, never, R> =>
  answer.pipe(
    // Without a response the API server continues according to its failurePolicy; the log contains the reason.
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError("review failed").pipe(Effect.annotateLogs({ path, cause: Cause.pretty(cause) })),
        { status: 500, body: [JSON.stringify({ message: "internal error" })] } satisfies Answer,
      )
    ),
    Effect.tap(({ status }) => Metric.update(reviews({ path, code: String(status) }), 1)),
  );

const admission = Effect.fnUntraced(function* (
  review: Json,
  { namespaces, relatedImages }: WebhookFacts,
  settings: (within: Within) => Effect.Effect<Settings, never, Cluster>,
  caller: Caller,
) {
  const { uid, change } = questionIn(review);
  if (change === undefined || namespaces.length > 0 && !namespaces.includes(change.namespace)) return accepted(uid);
  const within = yield* withinOne(ADMISSION_LOOK_MS);
  const now = yield* settings(within);
  const surroundings = { distributions: EMBEDDED_DISTRIBUTIONS, ...surroundingsIn(now, relatedImages) };
  const { found, configMaps } = yield* lookedFor(change, surroundings, caller, within);
  const verdict = judge(change, { ...surroundings, configMaps }, now.admissionReferences, found);
  return admissionAnswer(uid, verdict, liveObject(change.object).name);
});

/** What all reads of one review share: none is waited for longer than until their one deadline. */
type Within = <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>;

const withinOne = (ms: number): Effect.Effect<Within> =>
  Effect.map(monotonicMs, (startMs) => (read) =>
    Effect.flatMap(monotonicMs, (nowMs) => {
      const leftMs = startMs + ms - nowMs;
      return leftMs <= 0 ? Effect.succeedNone : Effect.timeoutOption(read, Duration.millis(leftMs));
    }));

/**
 * Objects that cannot be read in time, or at all, are unknown, and nothing is reported about them. Only the API server
 * receives findings on existing objects: any other caller would learn which Secrets a namespace has.
 */
const lookedFor = Effect.fnUntraced(function* (
  change: Change,
  surroundings: Surroundings,
  caller: Caller,
  within: Within,
) {
  const cluster = yield* Cluster;
  const found = new Map<string, Found>();
  const configMaps = new Map<string, ConfigMapContent>();
  const judged = judgedConfigMap(change);
  const references = caller === "API server"
    ? [
      ...(judged === undefined ? [] : [judged]),
      ...newReferences(change, surroundings).filter((reference) => !isSameReference(reference, judged))
        .slice(0, ADMISSION_REFERENCES_MAX),
    ]
    : [];
  const looking = Effect.forEach(references, (reference) =>
    cluster.get({
      apiVersion: "v1",
      kind: reference.kind,
      namespace: reference.namespace ?? change.namespace,
      name: reference.name,
    }).pipe(
      Effect.map((object) => {
        found.set(referenceName(reference), presence(object, reference));
        if (reference === judged && object !== undefined) {
          configMaps.set(`${change.namespace}/${reference.name}`, contentOf(object));
        }
      }),
      Effect.ignore,
    ), { concurrency: 8, discard: true });
  yield* within(looking);
  return { found, configMaps };
});

const isSameReference = (reference: Reference, other: Reference | undefined): boolean =>
  other !== undefined && referenceName(reference) === referenceName(other);

const presence = (object: JsonObject | undefined, { key, orKey }: Reference): Found => {
  if (object === undefined) return "NoObject";
  const { data, binaryData } = contentOf(object);
  const has = (name: string) => Object.hasOwn(data, name) || Object.hasOwn(binaryData, name);
  return key === undefined || has(key) || orKey !== undefined && has(orKey) ? "Present" : "NoKey";
};

/** Read again when they are older than a few seconds; a replica that is not the leader follows nothing. */
const freshSettings = Effect.fnUntraced(function* (namespace: string) {
  const kept = yield* Ref.make({
    settings: SETTINGS_DEFAULT,
    valid: {} as ValidTexts,
    freshUntilMs: Number.NEGATIVE_INFINITY,
  });
  return (within: Within) =>
    Effect.gen(function* () {
      const { settings, valid: last, freshUntilMs } = yield* Ref.get(kept);
      const nowMs = yield* monotonicMs;
      if (nowMs < freshUntilMs) return settings;
      const cluster = yield* Cluster;
      const listed = yield* within(cluster.list({
        path: `/api/v1/namespaces/${namespace}/configmaps`,
        fields: SETTINGS_FIELDS,
      })).pipe(Effect.orElseSucceed(() => Option.none()));
      if (Option.isNone(listed)) {
        // The next review does not wait for it again.
        yield* Ref.update(kept, (before) => ({ ...before, freshUntilMs: nowMs + SETTINGS_RETRY_MS }));
        return settings;
      }
      const [map] = listed.value.items;
      const data = map === undefined ? undefined : settingsData(map);
      const readWith = (texts: ValidTexts) => readSettings(data, texts, [...EMBEDDED_DISTRIBUTIONS.keys()]);
      const read = readWith(last);
      // What the leader has stored counts, since it has seen every change.
      const stored = read.complaints.length === 0
        ? Option.none()
        : yield* within(cluster.get(ownSecret(namespace))).pipe(Effect.orElseSucceed(() => Option.none()));
      const next = Option.isNone(stored) ? read : readWith(validTextsIn(stored.value));
      yield* Ref.set(kept, { settings: next.settings, valid: next.valid, freshUntilMs: nowMs + SETTINGS_FRESH_MS });
      return next.settings;
    });
});

const reviews = counters("llama_stack_operator_webhook_requests_total", "Answered reviews by path and status code");
