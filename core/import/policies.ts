/** Rules of `server.auth` as the server reads them: one text stands for a list of one. */
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";

/** Source: Scope, RouteScope, AccessRule and RouteAccessRule in core/access_control/datatypes.py of the servers. */
const LISTS: ReadonlySet<string> = new Set(["when", "unless", "paths", "actions"]);

export const rulesOf = (rules: Json | undefined): Json | undefined =>
  isList(rules ?? null) ? (rules as ReadonlyArray<Json>).map((rule) => isObject(rule) ? withLists(rule) : rule) : rules;

const withLists = (map: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(map).filter(([, value]) => value !== null).map(([key, value]) => {
      if (isObject(value)) return [key, withLists(value)];
      return [key, LISTS.has(key) && !isList(value) ? [value] : value];
    }),
  );
