/** The source of the config. */
import * as Data from "effect/Data";
import { PROVIDER_LISTS } from "../api/api_names.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { hasExternalProviders } from "./external_providers.ts";

export type Source = Data.TaggedEnum<{
  /** The user's own config.yaml in a ConfigMap, copied unchanged. */
  Override: { readonly configMapName: string };
  /** The resource requires nothing beyond the image's own config. */
  DistributionDefault: object;
  /** `causes` are the fields that ask for a generated config, e.g. `spec.providers`. */
  Generated: { readonly causes: ReadonlyArray<string> };
}>;
const Source = Data.taggedEnum<Source>();

/**
 * Port, CA and claim act through the environment on any image and cause no generation. TLS and workers are flags of our own start
 * command, which needs a config file; a command of the author's says itself what it does.
 */
export const chooseSource = (spec: Spec, fixNeededToStart: boolean): Source => {
  if (spec.overrideConfig !== undefined) {
    return Source.Override({ configMapName: spec.overrideConfig.configMapName });
  }
  const { providers, resources, connectors, vectorStores, storage, disabled } = spec;
  const causes = [
    spec.baseConfig !== undefined ? "spec.baseConfig" : [],
    PROVIDER_LISTS.some(({ field }) => (providers?.[field] ?? []).length > 0) ? "spec.providers" : [],
    Object.values(resources ?? {}).some((list) => list.length > 0) ? "spec.resources" : [],
    (connectors ?? []).length > 0 ? "spec.connectors" : [],
    Object.keys(vectorStores ?? {}).length > 0 ? "spec.vectorStores" : [],
    (storage?.kv ?? storage?.sql ?? storage?.backends?.[0]) !== undefined ? "spec.storage" : [],
    (disabled ?? []).length > 0 ? "spec.disabled" : [],
    hasExternalProviders(spec) ? "spec.externalProviders" : [],
    spec.auth !== undefined ? "spec.auth" : [],
    spec.tenancy !== undefined ? "spec.tenancy" : [],
    spec.networking?.tls?.clientSecretName !== undefined ? "spec.networking.tls.clientSecretName" : [],
    ...(isStartedByAuthor(spec) ? [] : [
      spec.networking?.tls?.enabled === true ? "spec.networking.tls" : [],
      (spec.workload?.workers ?? 1) > 1 ? "spec.workload.workers" : [],
    ].flat()),
    fixNeededToStart ? "a fix of the distribution's base config" : [],
  ].flat();
  return causes.length === 0 ? Source.DistributionDefault() : Source.Generated({ causes });
};

/** Whether the command of the container is that of the resource. */
export const isStartedByAuthor = ({ workload }: Spec): boolean =>
  [workload?.overrides?.command, workload?.overrides?.args].some((words) => (words ?? []).length > 0);
