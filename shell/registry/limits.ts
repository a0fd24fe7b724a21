/** Bounds of requests to registries, each with its unit. Registries and images are chosen by tenants. */

/** Longest time of one request with its body, in milliseconds. */
export const REQUEST_MS = 15_000;

/** Longest manifest or index, in bytes; the specification of OCI asks registries to accept 4 MiB. */
export const MANIFEST_BYTES_MAX = 4 * 1024 * 1024;

/** Longest config of an image, in bytes: three configs of a server as labels, and the history of the image. */
export const IMAGE_CONFIG_BYTES_MAX = 8 * 1024 * 1024;

/** Longest response with a token, in bytes; real ones have 3 KiB. */
export const TOKEN_BYTES_MAX = 256 * 1024;

/** Redirects that one request follows. */
export const REDIRECTS_MAX = 5;

/** Requests until a busy registry counts as unreachable, and the longest pause between two, in milliseconds. */
export const ATTEMPTS_MAX = 4;
export const PAUSE_MS = 500;
export const PAUSE_MS_MAX = 10_000;

/** Longest layer that is searched for a config, in bytes as the registry has it and unpacked; a layer of its own is small. */
export const LAYER_BYTES_MAX = 16 * 1024 * 1024;
export const LAYER_UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** Layers that are searched if the one that a label names is not among them: a mirror has compressed it anew. */
export const LAYERS_SEARCHED_MAX = 8;

/** Longest time for the labels of one image in the operator, in milliseconds: an index with its platforms is ten requests. */
export const LOOKUP_MS = 60_000;

/**
 * Images that are looked up at the same time: in all, of one namespace, and of one registry. A slow registry delays few others,
 * and leaves places to the other registries of its namespace.
 */
export const LOOKUPS_MAX = 128;
export const LOOKUPS_PER_NAMESPACE_MAX = 4;
export const LOOKUPS_PER_HOST_MAX = 2;

/** Responses of this length, in bytes, are in memory without a limit of their number; a real config with its labels is shorter. */
export const SHORT_BODY_BYTES_MAX = 256 * 1024;

/** Lookups that have read a longer response, at the same time. */
export const LONG_LOOKUPS_MAX = 4;

/** Architectures of one image whose labels are compared. */
export const ARCHITECTURES_MAX = 16;

/** How long a cluster counts as having, or not having, nodes of an architecture, in milliseconds. */
export const NODES_FRESH_MS = 60_000;

/** How long the addresses of nodes and API servers count as known, in milliseconds; a list of 5,000 nodes takes a second. */
export const ADDRESSES_FRESH_MS = 300_000;

/** Largest pull Secret that is read, in characters of Base64, and its entries; those of people have a few. */
export const PULL_SECRET_CHARACTERS_MAX = 256 * 1024;
export const PULL_SECRET_ENTRIES_MAX = 1000;

/** Sets of pull Secrets that are read at the same time. */
export const CREDENTIALS_READ_MAX = 2;

/** Credentials that are tried for one image. */
export const CREDENTIALS_MAX = 16;

/**
 * The reconciliation that asks waits so long for the answer, in milliseconds, once for each question: most answers come
 * at once, and the resource is then written in one reconciliation.
 */
export const ANSWER_AWAITED_MS = 400;

/** New resources with one image share an answer for this long, in milliseconds. */
export const ANSWER_FRESH_MS = 30_000;

/** An edit asks what its tag means now: an answer for another resource may be this old, in milliseconds. */
export const TAG_FRESH_MS = 3000;

/** Pause before a failed lookup is repeated, in milliseconds: first and longest; doubled each time. */
export const LOOKUP_RETRY_MS = 5000;
export const LOOKUP_RETRY_MS_MAX = 600_000;

/** Pause after a Secret was written until failed lookups of its namespace are repeated, in milliseconds. */
export const SECRETS_SETTLE_MS = 1000;

/** Configs of images in memory, in characters: one copy for all resources with the same image. */
export const CONFIGS_KEPT_MAX = 8 * 1024 * 1024;

/** Answers that are remembered, in number: one for each image and set of credentials. */
export const ANSWERS_KEPT_MAX = 2000;

/** Pull Secrets of one resource that are read. */
export const PULL_SECRETS_MAX = 16;
