/** Keys of the ConfigMap of `spec.overrideConfig` or `spec.baseConfig` that nobody has to name. */

/** The API server fills it in, so that it says nothing about the author. */
export const KEY_DEFAULT = "config.yaml";

/** What Llama Stack called the file up to 0.4. */
export const KEY_FORMERLY = "run.yaml";
