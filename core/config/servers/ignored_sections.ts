/** Sections of a config that its server ignores, though they look as if they had an effect. */
import { at, isList, isObject, type Json, type JsonObject, objectAt } from "../../data/json.ts";
import { isOlderMinor, type Server, serverName } from "./families/families.ts";

/** A sentence for each section that has content: those that other servers read first, then those that none does. */
export const ignoredSections = (
  config: JsonObject,
  { family, version }: Pick<Server, "family" | "version">,
): ReadonlyArray<string> => {
  const dead = new Set([...family.ignoredKeys, ...family.droppedKeys].map((path) => path.join(".")));
  const places = family.resourcesAt.length === 0 ? LEGACY_PLACES : PLACES;
  const sentence = (path: ReadonlyArray<string>, read: string | undefined) =>
    `${serverName(version)} ignores ${path.length === 1 ? `${path[0]} at top level` : path.join(".")}` +
    (read === undefined || dead.has(read) ? "" : `, and reads ${read}`);
  return [
    ...family.ignoredKeys.filter((path) => hasContent(at(config, ...path))).map((path) => {
      const key = path.join(".");
      return sentence(path, Object.hasOwn(places, key) ? places[key] : undefined);
    }),
    ...unreadKeys(config).map((path) => sentence(path, placeOf(path.at(-1) ?? ""))),
    ...Object.entries(SINCE).filter(([key, minor]) =>
      isOlderMinor(version, minor) && hasContent(at(config, ...key.split(".")))
    ).map(([key]) => sentence(key.split("."), undefined)),
  ];
};

/** Sections that look like authentication and stand where no server looks for it. */
export const misplacedAuthentication = (config: JsonObject): ReadonlyArray<ReadonlyArray<string>> =>
  unreadKeys(config).filter((path) =>
    ["server.auth", "server.auth.provider_config"].includes(placeOf(path.at(-1) ?? "") ?? "")
  );

/** Keys that no server reads. Every level ignores what it does not know; what YAML files share by anchors is no mistake. */
const unreadKeys = (config: JsonObject): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries(READ).flatMap(([section, known]) => {
    const above = section === "" ? [] : section.split(".");
    return Object.entries(objectAt(config, ...above))
      .filter(([key, value]) => !known.includes(key) && !/^(x-|[._])/.test(key) && hasContent(value))
      .map(([key]) => [...above, key]);
  });

const placeOf = (key: string): string | undefined => {
  if (Object.hasOwn(ELSEWHERE, key)) return ELSEWHERE[key];
  const section = Object.keys(READ).find((name) => name !== "" && READ[name]?.includes(key) === true);
  return section === undefined ? undefined : `${section}.${key}`;
};

const hasContent = (value: Json | undefined): boolean => {
  if (isList(value ?? null) || isObject(value ?? null)) return Object.keys(value as object).length > 0;
  return value !== undefined && value !== null && value !== false && value !== "";
};

const RESOURCES = ["models", "shields", "datasets", "scoring_fns", "benchmarks", "tool_groups"];

/** Where servers since 0.3 have what was elsewhere before. */
const PLACES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(RESOURCES.map((kind) => [kind, `registered_resources.${kind}`])),
  metadata_store: "storage.stores.metadata",
  inference_store: "storage.stores.inference",
  conversations_store: "storage.stores.conversations",
  telemetry: "variables whose names begin with OTEL_",
  logging: "logging_config",
};

/** Where Llama Stack 0.2 has what newer servers have elsewhere. */
const LEGACY_PLACES: Readonly<Record<string, string>> = {
  storage: "metadata_store and inference_store",
  registered_resources: "models, shields and tool_groups at top level",
  logging: "logging_config",
};

/**
 * What some server reads, by section: what only others read is in their families and in `SINCE`. Source: StackConfig,
 * ServerConfig and AuthenticationConfig in core/datatypes.py of every server, and `logging_config` in core/server/server.py.
 */
const READ: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": [
    ...["version", "distro_name", "image_name", "container_image", "apis", "providers", "server", "logging_config"],
    ...["storage", "metadata_store", "inference_store", "conversations_store", "logging", "telemetry"],
    ...["registered_resources", ...RESOURCES, "vector_dbs", "vector_stores", "safety", "connectors"],
    ...["external_providers_dir", "external_apis_dir"],
  ],
  server: [
    ...["port", "host", "workers", "auth", "quota", "cors", "tenancy", "registry_refresh_interval_seconds"],
    ...["tls_certfile", "tls_keyfile", "tls_cafile", "tls_config", "insecure", "hsts_max_age", "disable_ipv6"],
  ],
  // The last two are those of Llama Stack up to 0.2.16.
  "server.auth": ["provider_config", "access_policy", "route_policy", "provider_type", "config"],
};

/** Keys that protect something, and the minor version that was the first to read them. */
const SINCE: Readonly<Record<string, string>> = {
  "server.auth.route_policy": "0.5",
  "server.tenancy": "1.2",
  "server.tls_config": "1.2",
};

/** Where the content of a key belongs that has another name there. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  authentication: "server.auth",
  tls: "spec.networking.tls of the resource",
  port: "spec.networking.port of the resource",
  backends: "storage.backends",
  stores: "storage.stores",
};
