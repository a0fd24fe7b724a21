/** Since 0.3: backends by name under `storage`, and references to them from every store. */
import { type JsonObject, objectAt, put, stringAt } from "../../../data/json.ts";
import type { StoreShape } from "./family.ts";

export const STORES_IN_BACKENDS: StoreShape = {
  place: (config, { kind, value }) => put(config, ["storage", "backends", backendOf(config, kind)], value),
  backends: (config) =>
    Object.entries(objectAt(config, "storage", "backends"))
      .map(([name, backend]) => [name, stringAt(backend, "type") ?? ""]),
  reference: (kind, { namespace, table }, _, config) => {
    const backend = backendOf(config, kind);
    return kind === "kv" ? { namespace, backend } : { table_name: table, backend };
  },
};

/**
 * The backend behind a store that every base has; `kv_default` and `sql_default` in all published ones. Its name never
 * changes, so that every reference stays valid. Without that store, a backend of the kind.
 */
export const backendOf = (config: JsonObject, kind: "kv" | "sql"): string => {
  const [store, fallback] = kind === "kv" ? ["metadata", "kv_default"] : ["inference", "sql_default"];
  const backends = objectAt(config, "storage", "backends");
  const others = Object.keys(backends).filter((name) =>
    stringAt(backends[name], "type")?.startsWith(`${kind}_`) === true
  );
  return stringAt(config, "storage", "stores", store, "backend") ??
    (Object.hasOwn(backends, fallback) ? fallback : others[0]) ?? fallback;
};
