/** The operator's ConfigMap, watched at run time: the settings of every decision. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import { type JsonObject } from "../../core/data/json.ts";
import {
  readSettings,
  type Settings,
  SETTINGS_CONFIG_MAP,
  SETTINGS_DEFAULT,
  settingsData,
  type ValidTexts,
} from "../../core/operator/settings.ts";
import { isSameTexts, ownSecret, validTextsIn, withValidTexts } from "../../core/operator/own_secret.ts";
import { replacement } from "../../core/plan/patch.ts";
import { Cluster, warned } from "../kubernetes/cluster.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import * as events from "../../core/api/events.ts";
import { LiveFigures } from "../runtime/metrics.ts";
import { createDefaultInstance } from "./default_instance.ts";
import { announceIfPossible } from "./perform.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";

/** Defaults until the ConfigMap is read. */
export class LiveSettings extends Context.Service<LiveSettings, Ref.Ref<Settings>>()(
  "llama-stack-operator/shell/LiveSettings",
) {}

/** The last valid text of each entry, also of those that a former leader read. */
export class ValidSettings extends Context.Service<ValidSettings, Ref.Ref<ValidTexts>>()(
  "llama-stack-operator/shell/ValidSettings",
) {}

/**
 * Applies the current content of the ConfigMap; undefined if it was deleted. Invalid entries are reported in the log
 * and in an Event.
 */
const applySettings = Effect.fn("applySettings")(function* (map: JsonObject | undefined) {
  const known = yield* ValidSettings;
  const last = yield* Ref.get(known);
  const { surroundings, platform } = yield* OperatorFacts;
  const { settings, complaints, valid } = readSettings(
    map === undefined ? undefined : settingsData(map),
    last,
    [...surroundings.distributions.keys()],
  );
  yield* Ref.set(yield* LiveSettings, settings);
  yield* Ref.set(known, valid);
  if (!isSameTexts(last, valid)) yield* remember(platform.operatorNamespace, valid);
  (yield* LiveFigures).invalidSettings = complaints.length;
  yield* Effect.logInfo("settings loaded").pipe(
    Effect.annotateLogs({
      version: map === undefined ? "none" : liveObject(map).version,
      complaints: complaints.length,
    }),
  );
  if (map === undefined) return;
  yield* createDefaultInstance(map, settings);
  if (complaints.length === 0) return;
  yield* Effect.logWarning("invalid settings").pipe(Effect.annotateLogs({ complaints: complaints.join("; ") }));
  yield* announceIfPossible(events.settingsUnreadable(complaints.join("; ")), map);
});

/** The reactions of a watch of the ConfigMap; `again` is run after each change. */
export const followedSettings = Effect.fnUntraced(function* (again: Effect.Effect<void>) {
  const context = yield* Effect.context<Cluster | LiveSettings | ValidSettings | OperatorFacts>();
  const taken = (map: JsonObject | undefined) =>
    Effect.andThen(Effect.provideContext(applySettings(map), context), again);
  const live = Context.get(context, LiveSettings);
  const valid = Context.get(context, ValidSettings);
  return {
    changed: (object: JsonObject, how: string) => taken(how === "gone" ? undefined : object),
    // Deleted without a watch event, or while nobody watched.
    listed: (seen: ReadonlySet<string>) =>
      Effect.gen(function* () {
        const isKnown = (yield* Ref.get(live)) !== SETTINGS_DEFAULT || Object.keys(yield* Ref.get(valid)).length > 0;
        if (seen.size === 0 && isKnown) yield* taken(undefined);
      }),
  };
});

/** For the next leader. It compares with what is there, so that nothing is lost if a former write failed. */
const remember = (namespace: string, valid: ValidTexts) =>
  Effect.gen(function* () {
    const cluster = yield* Cluster;
    const key = ownSecret(namespace);
    const secret = yield* cluster.get(key);
    if (secret === undefined) {
      return yield* Effect.logWarning("valid settings not stored").pipe(Effect.annotateLogs({ reason: "NotFound" }));
    }
    if (isSameTexts(validTextsIn(secret), valid)) return;
    yield* cluster.send(
      replacement(`/api/v1/namespaces/${namespace}/secrets/${key.name}`, withValidTexts(secret, valid)),
    );
  }).pipe(
    Effect.retry({ times: 3, while: ({ _tag }) => _tag === "Conflict" }),
    Effect.catch(warned("valid settings not stored")),
  );

/** The only object that is watched. */
export const SETTINGS_FIELDS = `metadata.name=${SETTINGS_CONFIG_MAP}`;
