/**
 * The bounds of the shell, each with its unit and its reason; those of requests to registries are in registry/limits.ts.
 *
 * It is over 300 lines because it is one list.
 */

/** A call without an answer counts as failed after this, in milliseconds; the API server ends its own calls after 60 s. */
export const CALL_TIMEOUT_MS = 30_000;

/** Attempts of one call that may succeed later: overload, restart of the API server. */
export const CALL_ATTEMPTS_MAX = 4;

/** Longest pause that a Retry-After header may impose, in milliseconds. */
export const RETRY_AFTER_MS_MAX = 30_000;

/** An idle connection is closed after this many milliseconds, before the API server does it (90 s): a call on one just closed fails. */
export const CONNECTION_IDLE_MS = 60_000;

/** The CA of the API server is read again after this, in milliseconds; and whenever a call got no answer. */
export const CA_READ_MS = 60_000;

/** Objects per page of a list; usual objects make a few MiB of them. */
export const LIST_PAGE_ITEMS = 500;

/**
 * Longest page of a list, in bytes. A longer one is requested again with a quarter of the objects, down to one: objects
 * of 1.5 MiB each would otherwise make a page of 750 MiB.
 */
export const LIST_PAGE_BYTES_MAX = 8 * 1024 * 1024;
export const LIST_PAGE_SHRINK = 4;

/** Watches request to end after this many seconds, so that no watch lives forever. */
export const WATCH_SECONDS = 300;

/** A watch without an event for this long is dead, in milliseconds; bookmarks come about once a minute. */
export const WATCH_SILENCE_MS = 180_000;

/** Events of a watch, in characters, after which other work gets the main thread; usual ones have 5,000 each. */
export const WATCH_PAUSE_CHARACTERS = 256 * 1024;

/** Pause before a failed list or watch is tried again, in milliseconds: first and longest; jitter is added. */
export const RELIST_MS_MIN = 500;
export const RELIST_MS_MAX = 10_000;

/** Delay between two checks for a restored etcd, in milliseconds. A list of one object; only one watch checks it. */
export const DATABASE_LOOK_MS = 60_000;

/** Timeout of one such check, and delay after a failed one, in milliseconds. */
export const DATABASE_LOOK_TIMEOUT_MS = 5000;
export const DATABASE_LOOK_AGAIN_MS = 1000;

/** A watch that lived for this long was a good one, in milliseconds: pauses before the next one start small again. */
export const WATCH_LIVED_MS = 1000;

/**
 * Reconciliations at the same time. A namespace gets another worker only while it has fewer than are free: one alone has half of
 * them, two have a third each, and whoever comes next finds a free one.
 */
export const WORKERS = 64;

/** Concurrent writes of one reconciliation; a resource has about five objects before and after its Deployment. */
export const WRITES_AT_ONCE = 4;

/** Delay after a failed reconciliation of one resource, in milliseconds: first and longest; doubled each time. */
export const BACKOFF_MS_MIN = 500;
export const BACKOFF_MS_MAX = 300_000;

/** Of so many keys taken from the work queue, one is a follow-up of our own writes while there are keys of both kinds. */
export const FOLLOW_UP_SHARE = 4;

/** Events caused by the operator's own writes within this many milliseconds are combined into one reconciliation. */
export const COALESCE_MS = 5;

/** Time in seconds after which another replica may take a lease that was not renewed; the value of Kubernetes' own components. */
export const LEASE_SECONDS = 15;

/** A leader that could not renew for this long stops, in milliseconds; the 5 s until the lease runs out are for calls under way. */
export const LEASE_DEADLINE_MS = 10_000;

/** Pause between two renewals, in milliseconds; jitter is added. Leaves five attempts before the deadline. */
export const LEASE_RENEW_MS = 2000;

/** One attempt to renew, in milliseconds: a dead connection must not eat the whole deadline. */
export const LEASE_CALL_MS = 4000;

/** Delay between two reads of the lease by a waiting replica, in milliseconds; jitter is added. */
export const LEASE_LOOK_MS = 1000;

/** Giving up the lease must not hold up the end of the process for longer, in milliseconds; it has 10 s in all. */
export const LEASE_RELEASE_MS = 2000;

/** One question to a server, in milliseconds; an idle server answers in a few. */
export const ASK_TIMEOUT_MS = 5000;

/** Responses before the response of a server or registry (status 100 to 199); it has no reason for any. */
export const INTERIM_RESPONSES_MAX = 4;

/** Longest answer of a server that is read, in bytes; 512 models are about 200 kB. */
export const ASK_BYTES_MAX = 1024 * 1024;

/** Pause before a server that answered is asked again, in milliseconds. */
export const ASK_AGAIN_MS = 300_000;

/** Pause before a server that did not answer is asked again, in milliseconds; doubled each time up to ASK_AGAIN_MS. */
export const ASK_RETRY_MS = 15_000;

/** Servers that are asked at the same time, three questions each. */
export const ASKED_MAX = 8;

/** Closing a listener waits for requests under way at most this long, in milliseconds; the process has 10 s in all. */
export const LISTENER_CLOSE_MS = 2000;

/** Where Secrets may be read but not watched, each that is named is read again after this, in milliseconds. */
export const SECRET_POLL_MS = 60_000;

/** A caller of the webhooks has this long for its headers and for its whole request, in milliseconds. */
export const WEBHOOK_HEADERS_MS = 10_000;
export const WEBHOOK_BODY_MS = 30_000;

/**
 * An idle connection of a caller is kept open for this long, in milliseconds: longer than the API server keeps it (90
 * s), so that it is never closed while a request is on its way.
 */
export const WEBHOOK_IDLE_MS = 120_000;

/** Connections to the webhooks at the same time; an API server keeps a handful, one for each of its webhook clients. */
export const WEBHOOK_CONNECTIONS_MAX = 500;

/**
 * Connections to the webhooks that are sending a request at the same time, in all and of one address, where the address has not
 * shown to be an API server. With 3.5 MB each, 8 of them take 200 to 300 MiB within the runtime.
 */
export const WEBHOOK_RECEIVING_MAX = { max: 8, perAddress: 4 } as const;

/**
 * Bytes of requests that are in memory at the same time, by who sends them: what anybody in the cluster may send must not take
 * the room of the API server. An answer takes about as much again.
 */
export const WEBHOOK_IN_FLIGHT_BYTES_MAX: Readonly<Record<"API server" | "anybody", number>> = {
  "API server": 96 * 1024 * 1024,
  anybody: 8 * 1024 * 1024,
};

/** Longer reviews are judged one at a time, in bytes; usual ones have 5 to 20 KiB. */
export const LARGE_REVIEW_BYTES = 256 * 1024;

/** The main thread is given to others after so many milliseconds of conversion. */
export const CONVERSION_SLICE_MS = 20;

/**
 * A stopping replica continues to serve webhooks for this long, in milliseconds: until the Service no longer includes
 * it. The process has 10 s in total.
 */
export const WEBHOOK_DRAIN_MS = 4000;

/** Admission takes the operator's settings anew after this, in milliseconds; after a read that failed, sooner. */
export const SETTINGS_FRESH_MS = 10_000;
export const SETTINGS_RETRY_MS = 3000;

/** Resources that are written anew at a time while the storage version changes, and the pause after a failed try in milliseconds. */
export const MIGRATED_AT_ONCE = 4;
export const MIGRATE_AGAIN_MS = 60_000;

/** Resources that the log names because they cannot be written anew. */
export const MIGRATION_NAMES_MAX = 16;

/** Deletions to remember, so that the response to a late write does not restore a deleted object in the cache. */
export const DELETED_REMEMBERED = 4096;

/** Certificates, their Secret and the caBundles are looked at this often, in milliseconds: what is broken is whole again within a minute. */
export const CERTIFICATE_LOOK_MS = 10_000;

/** After a failed read, in milliseconds. */
export const CERTIFICATE_RETRY_MS = 2000;

/** Delay between two checks for memory to release, in milliseconds. */
export const REST_LOOK_MS = 10_000;

/** The operator is idle if at most this many reconciliations ended between two checks. */
export const REST_PASSES_MAX = 10;

/** At rest it collects when it uses more than after the last time by this share of that. */
export const REST_GARBAGE_SHARE = 1 / 8;

/** Young objects are collected after a listener read so many bytes; it takes 1 to 3 ms, reading them about 10. */
export const COLLECT_READ_BYTES = 1024 * 1024;

/** The whole heap is collected after so many bytes of large requests were answered; it takes about 50 ms, reading them 200. */
export const COLLECT_DONE_BYTES = 16 * 1024 * 1024;

/** Texts of objects that wait to be deflated, in characters; beyond, the oldest are deflated at once. */
export const PLAIN_CHARACTERS_MAX = 24 * 1024 * 1024;

/**
 * Objects are compressed when at most this many arrived since the last check; the second value is the interval of the
 * checks, in milliseconds.
 */
export const STILL_OBJECTS_MAX = 20;
export const PACK_LOOK_MS = 1000;

/** So many at a time, about 3 ms of the main thread, and then a pause in milliseconds. */
export const PACKED_AT_ONCE = 16;
export const PACK_PAUSE_MS = 20;

/**
 * Memory for the cache, in bytes of compressed text: in total, and for one namespace. 5,000 usual resources with their
 * objects take about 12 MiB; new ones wait uncompressed for a while (PLAIN_CHARACTERS_MAX).
 */
export const KEPT_BYTES_MAX = 80 * 1024 * 1024;
export const KEPT_NAMESPACE_BYTES_MAX = 40 * 1024 * 1024;

/**
 * Longest text of one cached object, in characters: of a resource, and of an object created for one. Resources of a few
 * KiB are usual, a Deployment or generated config has about 12.
 */
export const KEPT_RESOURCE_MAX = 64 * 1024;
export const KEPT_OBJECT_MAX = 128 * 1024;

/** Cached objects, pods and ReplicaSets of one resource; a few dozen are usual. */
export const KEPT_OBJECTS_MAX = 512;

/**
 * Of the objects that there is no room for in the cache, as JSON: so much of them is looked at in one reconciliation. An object of the
 * operator has a few thousand characters; the rest is seen after the first ones were deleted.
 */
export const UNCACHED_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Delay before a resource that is too large for the cache asks again, while another one is in progress. */
export const LARGE_RETRY_MS = 500;

/** Secrets and ConfigMaps of others in memory at the same time; round-robin over namespaces. */
export const FOREIGN_READS_MAX = 2;

/** Delay between two looks for kinds that the API server begins or ceases to serve, in milliseconds. */
export const KINDS_LOOK_MS = 10_000;

/** Delay between two looks at the TLS profile of an OpenShift cluster, in milliseconds. */
export const TLS_PROFILE_LOOK_MS = 30_000;

/** After this, in milliseconds, discovery of the API server shows that a definition is being deleted. */
export const DISCOVERY_DELAY_MS = 1000;

/** Delay between two checks for expired upgrade slots, in milliseconds. */
export const SLOTS_LOOK_MS = 10_000;

/** A caller of the health and metrics ports has this long for its request, in milliseconds; the kubelet waits 1 s for an answer. */
export const HEALTH_HEADERS_MS = 5000;

/**
 * An idle connection to these ports is kept open for this long, in milliseconds: longer than the interval between two
 * scrapes of Prometheus.
 */
export const HEALTH_IDLE_MS = 90_000;

/** Connections to each of these ports at the same time; a kubelet and a few Prometheus servers hold one each. */
export const HEALTH_CONNECTIONS_MAX = 256;

/**
 * At the bound of a listener, a connection without a request ends for a new one once it is this old, in milliseconds; before
 * that, idle ones end first. A caller that means to ask has done so by then.
 */
export const FRESH_CONNECTION_MS = 1000;

/** A TLS handshake, in milliseconds; the API server takes a few. */
export const HANDSHAKE_MS = 3000;

/**
 * Idle connections of one address to a listener; more end at once, the oldest first. Go clients, as the API server, keep at
 * most 25 for one server (MaxIdleConnsPerHost of client-go). Callers that have shown to be the API server are not counted.
 */
export const IDLE_CONNECTIONS_PER_ADDRESS_MAX = 32;

/** Tokens whose reviews are remembered, and for how long in milliseconds: each scrape of a Prometheus asks with the same one. */
export const REVIEWS_REMEMBERED = 64;
export const REVIEW_FRESH_MS = 60_000;

/** Concurrent token reviews: of unknown tokens, and of those that were authorized before. */
export const REVIEWS_AT_ONCE = 4;

/** Unknown tokens of one address that wait for a review; further ones are asked to retry. A pod that reads metrics has one. */
export const STRANGERS_PER_ADDRESS_MAX = 16;

/** Longest token that is reviewed, in characters; those of ServiceAccounts have about 1,000. */
export const TOKEN_CHARACTERS_MAX = 16 * 1024;

/** Pause before an unknown token is reviewed, in milliseconds: with as many at once, 20 reviews a second at most. */
export const STRANGER_PAUSE_MS = 200;

/** Life of the certificate that a replica signs for its metrics, in milliseconds (a year), and how far back it begins. */
export const METRICS_CERTIFICATE_MS = 365 * 24 * 3_600_000;
export const CERTIFICATE_BACKDATE_MS = 3_600_000;

/** How often a certificate that is mounted for the metrics is read, in milliseconds; who issues it replaces it hours before its end. */
export const MOUNTED_CERTIFICATE_LOOK_MS = 60_000;

/**
 * Overwrites of one field by one field manager within this time, in milliseconds, from which on repairs wait; and by whichever
 * managers, since their names are anybody's to choose.
 */
export const CONTEST_WINDOW_MS = 60_000;
export const CONTEST_OVERWRITES = 3;
export const CONTEST_OVERWRITES_OF_ANYBODY = 6;

/** Pause before the next repair then, in milliseconds: first and longest; doubled each time. */
export const CONTEST_PAUSE_MS_MIN = 10_000;
export const CONTEST_PAUSE_MS_MAX = 300_000;

/** Milliseconds without an overwrite after which a repaired field is no longer reported as contested. */
export const CONTEST_OVER_MS = 10_000;

/** Fields of one resource whose overwrites are counted; the oldest are forgotten. */
export const CONTEST_FIELDS_MAX = 64;

/**
 * Resources, those that were written last, of which it is known what was applied, and objects of each. What is written in vain
 * again and again is among them; to know it of all resources would take a KiB of each.
 */
export const APPLIED_RESOURCES_MAX = 256;
export const APPLIED_OBJECTS_MAX = 64;

/** A large resource that has not asked again for this long, in milliseconds, no longer waits: it was deleted, or workers are few. */
export const LARGE_ASKS_WITHIN_MS = 4 * LARGE_RETRY_MS;

/** Causes in the API server's response that a message quotes. */
export const CAUSES_MAX = 8;

/** A credential is renewed this long before it expires, in milliseconds, so that it does not expire during a request. */
export const CREDENTIAL_RENEWED_BEFORE_MS = 30_000;

/** Addresses of API servers that have proven themselves; a cluster has three or five. */
export const PROVEN_ADDRESSES_MAX = 64;

/** HorizontalPodAutoscalers of a namespace that are read to find those of one server. */
export const AUTOSCALERS_READ_MAX = 500;

/** Concurrent lists of `diff`, `explain` and `rollout`. */
export const LISTS_AT_ONCE = 6;

/** Size of the buffers in which a request body of a webhook is collected. */
export const BODY_CHUNK_BYTES = 256 * 1024;

/**
 * After so many parts, those of a body have at least so many bytes on average. Each is an event of its own, however short, and a MiB
 * of parts of one byte takes half a second of the main thread; those of a network have a KiB and more.
 */
export const BODY_PARTS_FREE = 1024;
export const BODY_PART_BYTES_MIN = 256;

/** Short parts of a body are copied into blocks of this size, in bytes. */
export const BODY_BLOCK_BYTES = 64 * 1024;

/** Files in a wheel, and bytes of its metadata in all, of which `provider check` reads more than any real package has. */
export const WHEEL_FILES_MAX = 65_535;
export const WHEEL_METADATA_BYTES_MAX = 4 * 1024 * 1024;

/** Levels of folders in the folder of a provider; a link may lead back to one above it. */
export const FOLDER_DEPTH_MAX = 4;

/** Longest answer of a server to the command `smoke`, in bytes: lists of thousands of models are longer than any reply. */
export const SMOKE_BYTES_MAX = 16 * 1024 * 1024;
