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
