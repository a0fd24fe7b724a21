/** Every bound of the shell in one place, each with its unit and its reason. */

/** A call without an answer counts as failed after this, in milliseconds; the API server ends its own calls after 60 s. */
export const CALL_TIMEOUT_MS = 30_000;

/** Attempts of one call that may pass: overload, restart of the API server. */
export const CALL_ATTEMPTS_MAX = 4;

/** Longest pause that a Retry-After header may impose, in milliseconds. */
export const RETRY_AFTER_MS_MAX = 30_000;

/** Objects per page of a list; keeps one answer below a few MiB. */
export const LIST_PAGE_ITEMS = 500;

/** A watch is asked to end after this many seconds, so that a forgotten one cannot live for ever. */
export const WATCH_SECONDS = 300;

/** A watch without a byte for this long is dead, in milliseconds; bookmarks come about once a minute. */
export const WATCH_SILENCE_MS = 180_000;

/** Pause before a failed list or watch is tried again, in milliseconds: first and longest; jitter is added. */
export const RELIST_MS_MIN = 500;
export const RELIST_MS_MAX = 30_000;

/** Passes at the same time, over all resources. */
export const WORKERS = 16;

/** Pause after a failed pass of one resource, in milliseconds: first and longest; doubled each time. */
export const BACKOFF_MS_MIN = 500;
export const BACKOFF_MS_MAX = 300_000;

/** Changes that arrive within this many milliseconds become one pass. */
export const COALESCE_MS = 20;
