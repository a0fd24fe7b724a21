/** Which of its resources a server registers, and with which ids. */
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../../data/json.ts";
import { expandedText, type KnownVariables, variablesIn } from "../known_environment.ts";
import { baseId, conditionOf } from "../servers/base.ts";
import type { Server } from "../servers/families/families.ts";
import { isRouted } from "./api_findings.ts";

/** The API of each section of resources. */
export const API_OF: Readonly<Record<string, string>> = {
  models: "inference",
  datasets: "datasetio",
  shields: "safety",
  vector_stores: "vector_io",
  vector_dbs: "vector_io",
  scoring_fns: "scoring",
  benchmarks: "eval",
  tool_groups: "tool_runtime",
};

/** Whether the server reads a section of resources and opens their API. */
export const isRegistering = (config: JsonObject, { family }: Pick<Server, "family">, section: string): boolean => {
  const dead = [...family.ignoredKeys, ...family.droppedKeys].map((path) => path.join("."));
  return !dead.includes([...family.resourcesAt, section].join(".")) && isRouted(config, API_OF[section] ?? "");
};

/** What the server reads as an id; undefined if there is none, or a variable decides that is not known. */
export const readId = (id: string | undefined, { environment, valueOf }: KnownVariables): string | undefined => {
  // Other forms stay as they are.
  if (id === undefined || variablesIn(id).length === 0) return id;
  const condition = conditionOf({ provider_id: id });
  if (condition !== undefined && environment(condition) === "Set") return baseId({ provider_id: id });
  const expanded = expandedText(id, valueOf);
  return expanded === null ? "" : expanded === undefined ? undefined : String(expanded);
};

/** Resources as the server reads their ids, without those that it leaves out because an id of theirs becomes empty. */
export const registeredIn = (
  config: JsonObject,
  { resourcesAt }: Server["family"],
  section: string,
  known: KnownVariables,
): ReadonlyArray<{ readonly resource: JsonObject; readonly path: FieldPath }> =>
  listAt(config, ...resourcesAt, section).flatMap((resource, index) => {
    if (!isObject(resource)) return [];
    const read = Object.entries(resource).map(([key, value]): readonly [string, Json] => {
      const isId = typeof value === "string" && (key.endsWith("_id") || key === "embedding_model");
      return [key, isId ? readId(value, known) ?? value : value];
    });
    const isLeftOut = read.some(([key, value]) => key.endsWith("_id") && !OF_PROVIDER.includes(key) && value === "");
    // Of what stays, an empty text is no id.
    const kept = read.filter(([key, value]) => key === "provider_id" || value !== "");
    return isLeftOut ? [] : [{ resource: Object.fromEntries(kept), path: [...resourcesAt, section, index] }];
  });

/** The server skips those without. Source: register_resources in core/stack.py. */
export const hasProvider = (resource: JsonObject): boolean =>
  ![undefined, "", "__disabled__"].includes(stringAt(resource, "provider_id"));

/** Ids that may be empty. */
const OF_PROVIDER = ["provider_id", "provider_model_id", "provider_shield_id", "provider_resource_id"];

/** Whether an id comes from a variable of which not even the presence is known. */
export const mayBeLeftOut = (resource: JsonObject, { environment }: KnownVariables): boolean =>
  Object.entries(resource).some(([key, value]) =>
    key.endsWith("_id") && typeof value === "string" && variablesIn(value).some((name) => environment(name) !== "Set")
  );
