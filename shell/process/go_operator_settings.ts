/** Copies the settings of the Go operator before the first reconciliation, if this operator has none of its own. */
import * as Effect from "effect/Effect";
import * as events from "../../core/api/events.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { copiedSettings, GO_OPERATOR_BINDING, goOperatorNamespace } from "../../core/operator/go_operator_settings.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { creation } from "../../core/plan/patch.ts";
import { announceIfPossible } from "../controller/perform.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";

const configMap = (namespace: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace,
  name: SETTINGS_CONFIG_MAP,
});

/**
 * An administrator may install this operator without the permission to read the binding. Every other failure is
 * retried by the caller: to begin without these settings would disturb servers.
 */
const unlessForbidden = <A, R>(read: Effect.Effect<A, ClusterError, R>) =>
  Effect.catchTag(read, "Forbidden", (error) =>
    Effect.as(
      Effect.logWarning("settings of the Go operator not read").pipe(Effect.annotateLogs({ detail: error.detail })),
      undefined,
    ));

const BINDING_PATH = `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${GO_OPERATOR_BINDING}`;

/** As they would be copied, and where they were read; undefined if nothing is to be copied. Writes nothing. */
export const goOperatorSettings = Effect.fn("goOperatorSettings")(function* (
  namespace: string,
  distributions: ReadonlyArray<string>,
) {
  const cluster = yield* Cluster;
  const binding = yield* unlessForbidden(cluster.read(BINDING_PATH)).pipe(
    Effect.catchTag("NotFound", () => Effect.succeed(undefined)),
  );
  const from = binding === undefined ? undefined : goOperatorNamespace(binding);
  if (from === undefined || from === namespace) return undefined;
  if ((yield* cluster.get(configMap(namespace))) !== undefined) return undefined;
  const theirs = yield* unlessForbidden(cluster.get(configMap(from)));
  const copy = theirs === undefined ? undefined : copiedSettings(theirs, namespace, distributions);
  return copy === undefined ? undefined : { copy, source: `${from}/${SETTINGS_CONFIG_MAP}` };
});

export const copyGoOperatorSettings = Effect.fn("copyGoOperatorSettings")(function* (
  namespace: string,
  distributions: ReadonlyArray<string>,
) {
  const cluster = yield* Cluster;
  const found = yield* goOperatorSettings(namespace, distributions);
  if (found === undefined) return;
  const { copy, source } = found;
  const created: JsonObject | undefined = yield* cluster.send(
    creation(`/api/v1/namespaces/${namespace}/configmaps`, copy),
  )
    // Somebody else was faster: those settings apply.
    .pipe(Effect.catchTag("Conflict", () => Effect.succeed(undefined)));
  if (created === undefined) return;
  yield* Effect.logInfo("copied the settings of the Go operator").pipe(Effect.annotateLogs({ source }));
  yield* announceIfPossible(events.settingsCopied(source), created);
});
