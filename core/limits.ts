/** Every bound of the core in one place, each with its unit, its reason and its source. */

/**
 * Largest base document, in bytes of UTF-8.
 *
 * The largest base of a published server is 12 kB; a ConfigMap or image label cannot carry more than 1 MiB, which is the
 * limit of the API server's store for one object. Source: Kubernetes documentation, page "ConfigMaps".
 */
export const BASE_BYTES_MAX = 1024 * 1024;

/**
 * Largest rendered config.yaml, in bytes of UTF-8. A quarter of the ConfigMap's 1 MiB is kept back for metadata and
 * `managedFields`, which grow with every field manager.
 */
export const CONFIG_BYTES_MAX = 768 * 1024;

/** Aliases in one YAML document. No published base has any; a bomb needs thousands. */
export const YAML_ALIASES_MAX = 64;

/** Nesting of one YAML document, in levels. The deepest published base has 8. */
export const YAML_DEPTH_MAX = 64;

/** Values in one base document after its aliases are expanded; 64 aliases could otherwise multiply a large anchor. */
export const BASE_VALUES_MAX = 50_000;

/** Largest custom resource file read by the CLI, in bytes. etcd refuses requests above 1.5 MiB; several documents may share a file. */
export const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Lines of each text beyond which `diff` only counts them; the memory of the comparison grows with the square. Ten times the
 * largest config.yaml seen.
 */
export const DIFF_LINES_MAX = 3000;
