/** Sections of a config that its server ignores, though they look as if they had an effect. */
import { at, isList, isObject, type Json, type JsonObject } from "../../data/json.ts";
import { type Server, serverName } from "./families/families.ts";

/** A sentence for each section that has content. */
export const ignoredSections = (
  config: JsonObject,
  { family, version }: Pick<Server, "family" | "version">,
): ReadonlyArray<string> => {
  const dead = new Set([...family.ignoredKeys, ...family.droppedKeys].map((path) => path.join(".")));
  const places = family.resourcesAt.length === 0 ? LEGACY_PLACES : PLACES;
  return family.ignoredKeys.filter((path) => hasContent(at(config, ...path))).map((path) => {
    const key = path.join(".");
    const read = Object.hasOwn(places, key) ? places[key] : undefined;
    return `${serverName(version)} ignores ${path.length === 1 ? `${key} at top level` : key}` +
      (read === undefined || dead.has(read) ? "" : `, and reads ${read}`);
  });
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
  telemetry: "variables whose names begin with OTEL_",
  logging: "logging_config",
};

/** Where Llama Stack 0.2 has what newer servers have elsewhere. */
const LEGACY_PLACES: Readonly<Record<string, string>> = {
  storage: "metadata_store and inference_store",
  registered_resources: "models, shields and tool_groups at top level",
  logging: "logging_config",
};
