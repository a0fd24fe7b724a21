/** The fields of status that both versions have. */
import { isList, isObject, type Json, type JsonObject, member, omit, stringAt, withMember } from "../../data/json.ts";

const SHARED = ["observedGeneration", "phase", "conditions", "availableReplicas", "serviceURL", "routeURL"];
const SHARED_VERSION = ["operatorVersion", "llamaStackServerVersion", "lastUpdated"];
const SHARED_CONFIG = ["activeDistribution", "availableDistributions", "providers"];

export const statusToV1alpha2 = (old: Json | undefined): JsonObject | undefined =>
  old === undefined ? undefined : moved(old, (provider) => {
    const { config, health, ...rest } = provider;
    return {
      ...rest,
      ...(isObject(config) && Object.keys(config).length > 0 ? { config } : {}),
      ...(isObject(health) ? { health: health.message === "" ? omit(health, "message") : health } : {}),
    };
  });

/** Undefined when v1alpha1 has no field for anything that is there. */
export const statusToV1alpha1 = (now: Json | undefined): JsonObject | undefined => {
  const old = moved(now, (provider) => ({
    ...provider,
    // v1alpha1 requires all three, and a write through it would be refused without them.
    config: member(provider, "config") ?? {},
    health: {
      status: stringAt(provider, "health", "status") ?? "Unknown",
      message: stringAt(provider, "health", "message") ?? "",
    },
  }));
  return Object.keys(old).length === 0 ? undefined : old;
};

const moved = (status: Json | undefined, provider: (object: JsonObject) => JsonObject): JsonObject => {
  const config = picked(member(status, "distributionConfig"), SHARED_CONFIG);
  const providers = member(config, "providers");
  const changed = isList(providers)
    ? withMember(config ?? {}, "providers", providers.map((value) => isObject(value) ? provider(value) : value))
    : config;
  const version = picked(member(status, "version"), SHARED_VERSION);
  return {
    ...(picked(status, SHARED) ?? {}),
    ...(version === undefined ? {} : { version }),
    ...(changed === undefined ? {} : { distributionConfig: changed }),
  };
};

const picked = (value: Json | undefined, keys: ReadonlyArray<string>): JsonObject | undefined =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key))) : undefined;
