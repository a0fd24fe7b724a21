/** Stage 1: where the config comes from. */
import * as Data from "effect/Data";
import { PROVIDER_LISTS } from "../api/api_names.ts";
import type { Spec } from "../api/v1alpha2.ts";

export type Source = Data.TaggedEnum<{
  /** The author's own config.yaml in a ConfigMap, copied as it is. */
  Override: { readonly configMapName: string; readonly key: string };
  /** Nothing is asked for that the image's own config does not do. */
  DistributionDefault: object;
  /** `causes` are the fields that ask for a generated config, e.g. `spec.providers`. */
  Generated: { readonly causes: ReadonlyArray<string> };
}>;
export const Source = Data.taggedEnum<Source>();

/**
 * Port, CA and claim act through the environment on any image and cause no generation. TLS and workers are flags of our own start
 * command, which needs a config file; a command of the author's says itself what it does.
 */
export const chooseSource = (spec: Spec, mendNeededToStart: boolean): Source => {
  if (spec.overrideConfig !== undefined) {
    const { configMapName, key } = spec.overrideConfig;
    return Source.Override({ configMapName, key: key ?? "config.yaml" });
  }
  const { providers, resources, storage, disabled, externalProviders } = spec;
  const causes = [
    PROVIDER_LISTS.some(({ field }) => (providers?.[field] ?? []).length > 0) ? "spec.providers" : [],
    [resources?.models, resources?.tools, resources?.shields].some((list) => (list ?? []).length > 0)
      ? "spec.resources"
      : [],
    storage?.kv !== undefined || storage?.sql !== undefined ? "spec.storage" : [],
    (disabled ?? []).length > 0 ? "spec.disabled" : [],
    Object.values(externalProviders ?? {}).some((list) => (list ?? []).length > 0) ? "spec.externalProviders" : [],
    ...(isStartedByAuthor(spec) ? [] : [
      spec.networking?.tls?.enabled === true ? "spec.networking.tls" : [],
      (spec.workload?.workers ?? 1) > 1 ? "spec.workload.workers" : [],
    ].flat()),
    mendNeededToStart ? "a mend of the distribution's base" : [],
  ].flat();
  return causes.length === 0 ? Source.DistributionDefault() : Source.Generated({ causes });
};

const isStartedByAuthor = ({ workload }: Spec): boolean =>
  [workload?.overrides?.command, workload?.overrides?.args].some((words) => (words ?? []).length > 0);
