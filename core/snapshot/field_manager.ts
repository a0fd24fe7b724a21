/** The names under which the API server records who set which field. */
import { type Json, stringAt } from "../data/json.ts";

/** Field manager of every apply; it identifies the operator's fields. */
export const FIELD_MANAGER = "llama-stack-operator";

/** Field manager of the number of pods where nothing else is applied; another one, so that our apply can let go of the field. */
export const SCALE_MANAGER = "llama-stack-operator-scale";

/** Whether an entry of `metadata.managedFields` holds the fields of the operator's last apply of the object itself. */
export const isOwnApply = (entry: Json): boolean =>
  stringAt(entry, "manager") === FIELD_MANAGER && stringAt(entry, "operation") === "Apply" &&
  stringAt(entry, "subresource") === undefined;
