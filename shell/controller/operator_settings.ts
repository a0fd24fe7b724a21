/** The operator's ConfigMap, watched at run time: the settings of every decision. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { readSettings, type Settings, SETTINGS_CONFIG_MAP, settingsData } from "../../core/operator/settings.ts";
import * as events from "../../core/api/events.ts";
import { LiveFigures } from "../runtime/metrics.ts";
import { createDefaultInstance } from "./default_instance.ts";
import { announce } from "./perform.ts";

/** Defaults until the ConfigMap is read. */
export class LiveSettings extends Context.Service<LiveSettings, Ref.Ref<Settings>>()(
  "llama-stack-operator/shell/LiveSettings",
) {}

/**
 * Applies the current content of the ConfigMap; undefined if it was deleted. Invalid entries are reported in the log
 * and in an Event.
 */
export const takeOver = Effect.fn("takeOver")(function* (
  map: JsonObject | undefined,
  distributions: ReadonlyArray<string>,
) {
  const live = yield* LiveSettings;
  const before = yield* Ref.get(live);
  const { settings, complaints } = readSettings(
    map === undefined ? undefined : settingsData(map),
    before,
    distributions,
  );
  yield* Ref.set(live, settings);
  (yield* LiveFigures).invalidSettings = complaints.length;
  yield* Effect.logInfo("settings loaded").pipe(
    Effect.annotateLogs({
      version: stringAt(map, "metadata", "resourceVersion") ?? "none",
      complaints: complaints.length,
    }),
  );
  if (map === undefined) return;
  yield* createDefaultInstance(map, settings);
  if (complaints.length === 0) return;
  yield* Effect.logWarning("invalid settings").pipe(Effect.annotateLogs({ complaints: complaints.join("; ") }));
  yield* announce(events.settingsUnreadable(complaints.join("; ")), map).pipe(
    Effect.catch((error) =>
      Effect.logWarning("event not written").pipe(Effect.annotateLogs({ reason: error.reason, detail: error.detail }))
    ),
  );
});

/** The only object that is watched. */
export const SETTINGS_FIELDS = `metadata.name=${SETTINGS_CONFIG_MAP}`;
