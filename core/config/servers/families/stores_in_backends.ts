/** Since 0.3: backends by name under `storage`, and references to them from every store. */
import { objectAt, put, stringAt } from "../../../data/json.ts";
import type { StoreShape } from "./family.ts";

export const STORES_IN_BACKENDS: StoreShape = {
  // The backend behind a store that every base has; `kv_default` and `sql_default` in all published ones. Its name never
  // changes, so that every reference stays valid.
  place: (config, { kind, value }) => {
    const [store, fallback] = kind === "kv" ? ["metadata", "kv_default"] : ["inference", "sql_default"];
    const backend = stringAt(config, "storage", "stores", store, "backend") ?? fallback;
    return put(config, ["storage", "backends", backend], value);
  },
  backends: (config) =>
    Object.entries(objectAt(config, "storage", "backends"))
      .map(([name, backend]) => [name, stringAt(backend, "type") ?? ""]),
  reference: (kind, { namespace, table }) =>
    kind === "kv" ? { namespace, backend: "kv_default" } : { table_name: table, backend: "sql_default" },
};
