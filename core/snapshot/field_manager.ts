/** The names under which the API server records who set which field. */

/** Field manager of every apply; it identifies the operator's fields. */
export const FIELD_MANAGER = "llama-stack-operator";

/** Field manager of the number of pods where nothing else is applied; another one, so that our apply can let go of the field. */
export const SCALE_MANAGER = "llama-stack-operator-scale";
