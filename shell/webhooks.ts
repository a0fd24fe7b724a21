/** What the webhooks answer: the reviews are read and written here, and decided in core/admission. */
import { Cause, Clock, Duration, Effect, Metric, Ref, Result } from "effect";
import { accepted, admissionAnswer, type Change, questionIn } from "../core/admission/admission_review.ts";
import { conversionAnswer } from "../core/admission/conversion_review.ts";
import { readReview, writeReview } from "../core/admission/exact_numbers.ts";
import { type Found, judge, newReferences, referenceName } from "../core/admission/judgement.ts";
import { CONVERT_PATH, VALIDATE_PATH } from "../core/own_objects.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../core/config/distributions.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../core/json.ts";
import { ADMISSION_BYTES_MAX, ADMISSION_LOOK_MS, CONVERSION_BYTES_MAX } from "../core/limits.ts";
import { readSettings, type Settings, SETTINGS_DEFAULT, settingsData } from "../core/settings.ts";
import { Cluster } from "./cluster.ts";
import { SETTINGS_FRESH_MS } from "./limits.ts";
import { counters } from "./metrics.ts";
import { SETTINGS_FIELDS } from "./operator_settings.ts";
import type { Answer, Route } from "./webhook_server.ts";

export interface WebhookFacts {
  readonly operatorNamespace: string;
  /** Resources of other namespaces are not ours to judge; empty: all are. */
  readonly namespaces: ReadonlyArray<string>;
  readonly relatedImages: ReadonlyMap<string, string>;
}

/** The routes of every replica, the leader or not. */
export const webhookRoutes = Effect.fnUntraced(function* (facts: WebhookFacts) {
  const settings = yield* freshSettings(facts.operatorNamespace);
  const routes: Readonly<Record<string, Route<Cluster>>> = {
    [CONVERT_PATH]: {
      bytesMax: CONVERSION_BYTES_MAX,
      answer: (text) => reviewed(CONVERT_PATH, text, (review) => Effect.sync(() => conversionAnswer(review))),
    },
    [VALIDATE_PATH]: {
      bytesMax: ADMISSION_BYTES_MAX,
      answer: (text) => reviewed(VALIDATE_PATH, text, (review) => admission(review, facts, settings)),
    },
  };
  return routes;
});

const reviewed = <R>(
  path: string,
  text: string,
  answer: (review: Json) => Effect.Effect<JsonObject, never, R>,
): Effect.Effect<Answer, never, R> =>
  Result.match(readReview(text), {
    onFailure: (detail) => Effect.succeed<Answer>({ status: 400, body: JSON.stringify({ message: detail }) }),
    onSuccess: ({ value, marked }) =>
      Effect.map(answer(value), (made): Answer => ({ status: 200, body: writeReview(made, marked) })),
  }).pipe(
    // Without an answer the API server goes on by its failurePolicy; here somebody should read why.
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError("review failed").pipe(Effect.annotateLogs({ path, cause: Cause.pretty(cause) })),
        { status: 500, body: JSON.stringify({ message: "internal error" }) } satisfies Answer,
      )
    ),
    Effect.tap(({ status }) => Metric.update(reviews({ path, code: String(status) }), 1)),
  );

const admission = Effect.fnUntraced(function* (
  review: Json,
  { namespaces, relatedImages }: WebhookFacts,
  settings: Effect.Effect<Settings, never, Cluster>,
) {
  const { uid, change } = questionIn(review);
  if (change === undefined || namespaces.length > 0 && !namespaces.includes(change.namespace)) return accepted(uid);
  const { imageOverrides, admissionReferences } = yield* settings;
  const surroundings = {
    distributions: EMBEDDED_DISTRIBUTIONS,
    overrides: { settings: imageOverrides, related: relatedImages },
  };
  const verdict = judge(change, surroundings, admissionReferences, yield* lookedFor(change));
  return admissionAnswer(uid, verdict, stringAt(change.object, "metadata", "name") ?? "");
});

/** What cannot be read in time, or not at all, is not known, and nothing is said of it. */
const lookedFor = Effect.fnUntraced(function* (change: Change) {
  const cluster = yield* Cluster;
  const found = new Map<string, Found>();
  yield* Effect.forEach(newReferences(change), (reference) =>
    cluster.get({
      apiVersion: "v1",
      kind: reference.kind,
      namespace: reference.namespace ?? change.namespace,
      name: reference.name,
    }).pipe(
      Effect.map((object) => void found.set(referenceName(reference), presence(object, reference.key))),
      Effect.ignore,
    ), { concurrency: 8, discard: true }).pipe(Effect.timeoutOption(Duration.millis(ADMISSION_LOOK_MS)));
  return found;
});

const presence = (object: JsonObject | undefined, key: string | undefined): Found => {
  if (object === undefined) return "NoObject";
  return key === undefined || Object.hasOwn(objectAt(object, "data"), key) ||
      Object.hasOwn(objectAt(object, "binaryData"), key)
    ? "Present"
    : "NoKey";
};

/** Read again when they are older than a few seconds; a replica that is not the leader follows nothing. */
const freshSettings = Effect.fnUntraced(function* (namespace: string) {
  const kept = yield* Ref.make({ settings: SETTINGS_DEFAULT, readAtMs: Number.NEGATIVE_INFINITY });
  return Effect.gen(function* () {
    const { settings, readAtMs } = yield* Ref.get(kept);
    const nowMs = yield* Clock.currentTimeMillis;
    if (nowMs - readAtMs < SETTINGS_FRESH_MS) return settings;
    const cluster = yield* Cluster;
    const listed = yield* cluster.list({
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      fields: SETTINGS_FIELDS,
    }).pipe(Effect.timeoutOption(Duration.millis(ADMISSION_LOOK_MS)), Effect.option);
    if (listed._tag === "None" || listed.value._tag === "None") return settings;
    const [map] = listed.value.value.items;
    const data = map === undefined ? undefined : settingsData(map);
    const next = readSettings(data, settings, [...EMBEDDED_DISTRIBUTIONS.keys()]).settings;
    yield* Ref.set(kept, { settings: next, readAtMs: nowMs });
    return next;
  });
});

const reviews = counters("llama_stack_operator_webhook_requests_total", "Reviews answered by path and status code");
