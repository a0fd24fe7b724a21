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

/**
 * Largest ConversionReview, in bytes. The API server sends a whole list in one, of which one object has at most 3 MiB;
 * clients that ask for no pages get thousands. Text, objects and answer together take about four times as much memory.
 */
export const CONVERSION_BYTES_MAX = 64 * 1024 * 1024;

/** Largest AdmissionReview, in bytes: an object and what it was before, each at most 3 MiB, and room for the rest. */
export const ADMISSION_BYTES_MAX = 8 * 1024 * 1024;

/** Looking for referenced Secrets and ConfigMaps may take this long, in milliseconds; the API server waits 5 s in all. */
export const ADMISSION_LOOK_MS = 2000;

/** Warnings of one admission; beyond 4096 characters in all the API server cuts them. */
export const ADMISSION_WARNINGS_MAX = 16;

/** Characters of one warning; longer ones may be cut by the API server. */
export const ADMISSION_WARNING_MAX = 250;

/**
 * Pause before the next look at a server that is not ready, in milliseconds. Watches tell of everything that a decision rests
 * on, so this is for what a watch may have kept from us; often, it would be the largest load of a cluster full of starting servers.
 */
export const LOOK_AGAIN_MS = 300_000;
