/**
 * Bounds of the core that several files share, and those of what tenants, servers and registries choose; each with its unit, its
 * reason and its source. A bound that belongs to one format or one text is beside it.
 */

/**
 * Nesting of a spec, in levels, and its values, counted with all maps, lists and scalars. The longest fields of the API reach
 * 12 levels; a full resource of 192 providers, 256 models and 256 variables has about 8,000 values. Work on a resource grows
 * with both, and a tenant chooses both.
 */
export const SPEC_DEPTH_MAX = 64;
export const SPEC_VALUES_MAX = 20_000;

/** Findings of one resource that are reported one by one; more are not useful at a time. */
export const FINDINGS_MAX = 32;

/** Different Secrets and ConfigMaps that one resource may name; each is read in every reconciliation. */
export const REFERENCED_OBJECTS_MAX = 128;

/**
 * Longest value of a Secret or ConfigMap key that becomes an environment variable, in bytes. Linux starts no process with a
 * longer one (MAX_ARG_STRLEN, 128 KiB with name and terminator).
 */
export const VARIABLE_BYTES_MAX = 128 * 1024 - 512;

/** All values of Secrets that one resource uses, in bytes; the environment of a process on Linux has at most 2 MiB. */
export const SECRET_VALUES_BYTES_MAX = 1024 * 1024;

/** Findings about one config of an author: as many as fit into its status beside others. */
export const OWN_CONFIG_WARNINGS_MAX = 16;

/** Of one of them, with the field in front of it: texts of the status have at most 1024 characters. */
export const OWN_CONFIG_MESSAGE_CHARACTERS_MAX = 900;

/** All content of ConfigMaps that one resource uses, in bytes: a config and a bundle of certificates of 1 MiB each. */
export const CONFIG_MAPS_BYTES_MAX = 2 * 1024 * 1024;

/** Longest config.yaml that is read, in bytes: 512 KiB take js-yaml about 200 ms. The largest one seen has 20 kB. */
export const CONFIG_TEXT_BYTES_MAX = 512 * 1024;

/** Largest base document, in bytes of UTF-8; the largest base of a published server has 12 kB. */
export const BASE_BYTES_MAX = CONFIG_TEXT_BYTES_MAX;

/**
 * Largest rendered config.yaml, in bytes of UTF-8. The operator reads it back before it replaces it, and half of the
 * ConfigMap's 1 MiB is left for metadata and `managedFields`, which grow with every field manager.
 */
export const CONFIG_BYTES_MAX = CONFIG_TEXT_BYTES_MAX;

/** Aliases in one YAML document. No published base has any; a bomb needs thousands. */
export const YAML_ALIASES_MAX = 64;

/** Nesting of one YAML document, in levels. The deepest published base has 8. */
export const YAML_DEPTH_MAX = 64;

/** Values in one YAML document after its aliases are expanded; 64 aliases could otherwise multiply a large anchor. */
export const YAML_VALUES_MAX = 50_000;

/**
 * Places of a YAML text where a value may begin, counted before it is parsed, for each value that is allowed: a comma within a text is
 * one as well. The memory of js-yaml grows with the values.
 */
export const YAML_PLACES_PER_VALUE = 1.25;

/** Documents in one manifest file. Four million separators would fit into the largest file. */
export const MANIFEST_DOCUMENTS_MAX = 1000;

/** Values in all documents of one manifest file, aliases expanded. */
export const MANIFEST_VALUES_MAX = 400_000;

/** Largest custom resource file read by the CLI, in bytes. etcd refuses requests above 1.5 MiB; several documents may share a file. */
export const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Lines of each text beyond which `diff` only counts them; the memory of the comparison grows with the square. Ten times the
 * largest config.yaml seen.
 */
export const DIFF_LINES_MAX = 3000;

/**
 * Largest ConversionReview, in bytes. The API server sends a whole list in one, of which one object has at most 3 MiB;
 * clients that ask for no pages get thousands. It is converted object by object, so that text and answer are what it takes.
 */
export const CONVERSION_BYTES_MAX = 64 * 1024 * 1024;

/** Largest AdmissionReview, in bytes: an object and what it was before, each at most 3 MiB, and room for the rest. */
export const ADMISSION_BYTES_MAX = 8 * 1024 * 1024;

/** Largest review of a caller who may be anybody, in bytes: one object. */
export const UNPROVEN_BYTES_MAX = 4 * 1024 * 1024;

/** Nesting of a review, in levels; the API server refuses deeper JSON (`maxNestingDepth` of Go's encoding/json, 10,000). */
export const REVIEW_DEPTH_MAX = 10_100;

/**
 * All that admission reads for a review (settings, referenced Secrets and ConfigMaps) may take this long, in milliseconds; the API
 * server waits 5 s in all.
 */
export const ADMISSION_LOOK_MS = 2000;

/** References that one admission request checks; the others are reported in the status. */
export const ADMISSION_REFERENCES_MAX = 64;

/** Warnings of one admission; beyond 4096 characters in all the API server cuts them. */
export const ADMISSION_WARNINGS_MAX = 16;

/** Characters of one warning; longer ones may be cut by the API server. */
export const ADMISSION_WARNING_MAX = 250;

/**
 * Delay before the operator checks a server that is not ready again, in milliseconds. Watches report everything that a
 * decision depends on, so this only covers missed events; a short delay would be the largest load in a cluster full of
 * starting servers.
 */
export const LOOK_AGAIN_MS = 300_000;

/** Delay between two reads of objects whose labels a policy changed, so that no watch reports them, in milliseconds. */
export const UNWATCHED_LOOK_MS = 10_000;

/**
 * Longest time for which one upgrade may hold a slot, in milliseconds: a slow start is the author's choice, but the
 * queue is shared.
 */
export const UPGRADE_SLOT_MS_MAX = 30 * 60_000;

/**
 * So many namespaces with a failed upgrade to the same image and base config stop it in all of them, if they are more than half of
 * those that were upgraded.
 */
export const UPGRADE_STOPS_AT_NAMESPACES = 3;

/**
 * Values of Secrets that are looked for in one text, their characters together, and those of the text. Usual servers have a dozen
 * values; the longest text is a server's list of models, of which 512 with long names have 60,000 characters. So much takes at
 * most 100 ms, whatever the text is made of; beyond, nothing is shown.
 */
export const REDACTED_VALUES_MAX = 512;
export const REDACTED_CHARACTERS_MAX = 128 * 1024;
export const REDACTED_TEXT_CHARACTERS_MAX = 256 * 1024;

/** Steps to the place of a leftover of a conversion, as levels of a spec. Conversion itself makes half a dozen. */
export const LEFTOVER_STEPS_MAX = SPEC_DEPTH_MAX;

/**
 * JSON from outside, counted before it is parsed: levels of maps and lists, and its maps, lists and scalars. The runtime serializes
 * and compares recursively; usual objects have a dozen levels. What registries and servers say and files of the command line: an
 * image has a few hundred values, the longest list of 512 models 8,000. An object of the API server: a spec of SPEC_VALUES_MAX, its
 * status, and `managedFields`, which have an entry for each field and manager. 100,000 values take 30 ms and 15 MiB.
 */
export const JSON_DEPTH_MAX = 200;
export const JSON_VALUES_MAX = 40_000;
export const OBJECT_VALUES_MAX = 100_000;

/** A review has besides its objects a few dozen values: who asks, in which groups, with which options. */
export const REVIEW_VALUES_MAX = 2 * OBJECT_VALUES_MAX + JSON_VALUES_MAX;

/** Objects in one review: those of a real list have 700 bytes at least, and CONVERSION_BYTES_MAX together. */
export const CONVERSION_OBJECTS_MAX = 100_000;

/**
 * Levels of JSON in a leftover. A settings block has a handful; one of thousands, put into a list of resources, would
 * end the conversion of all of them.
 */
export const ANNOTATION_DEPTH_MAX = 500;

/**
 * All annotations of an object may have this many bytes, or the API server refuses the object; keys and values count.
 * Source: TotalAnnotationSizeLimitB of Kubernetes' validation.
 */
export const ANNOTATION_BYTES_MAX = 256 * 1024;

/**
 * Annotations of an object that is converted and judged; usual ones have a dozen. Tens of thousands fit into their bytes, and take
 * the runtime a second.
 */
export const ANNOTATIONS_MAX = 2000;

/** Longest message of a condition, in characters; the schema of metav1.Condition allows 32768. */
export const CONDITION_CHARACTERS_MAX = 4096;

/** Longest note of an Event, in bytes; the API server counts them and calls them characters. */
export const NOTE_BYTES_MAX = 1024;

/**
 * Longest key or value that a message repeats, in characters: a name of Kubernetes has 253, and a label key with its domain 317. Of
 * longer ones it shows the beginning.
 */
export const WORD_CHARACTERS_MAX = 320;
export const WORD_CHARACTERS_SHOWN = 80;

/** Characters of a quoted word in which passwords are looked for: several times WORD_CHARACTERS_MAX. */
export const WORD_CHARACTERS_READ = 2_048;

/** Longest quantity, in characters: 64 bits have 20 digits. The API server reads a million of them, and nobody means that. */
export const QUANTITY_CHARACTERS_MAX = 64;

/** Longest value in a line, in characters. */
export const DIFF_VALUE_CHARACTERS_MAX = 160;

/** Maximum number of Events to show; the newest are the most useful. */
export const EVENTS_SHOWN_MAX = 8;

/** A URL with the longest host, names and certificate paths stays far below; the patterns here need time for long texts. */
export const CONNECTION_CHARACTERS_MAX = 4096;

/** Labels in the namespace selector of an operator setting. */
export const LABELS_MAX = 16;

/** Longest image reference, in characters; registries take 255 for the name and 128 for the tag. */
export const IMAGE_CHARACTERS_MAX = 512;
/** Name patterns in one list of the operator's settings. */
export const PATTERNS_MAX = 256;

/** Highest number of concurrent upgrades in the operator's settings. */
export const PARALLELISM_MAX = 1000;

/** Bytes of PEM in one bundle; a ConfigMap holds 1 MiB, some of which its metadata needs. */
export const CA_BUNDLE_BYTES_MAX = 1000 * 1024;

/** Certificates in one bundle: the public authorities of Mozilla are 144; checking 1,000 takes about 60 ms. */
export const CERTIFICATES_MAX = 1000;

/** Newest configs to keep besides the current one: the previous one, for a rollback. */
export const FORMER_CONFIGS_KEPT = 1;

/** Ends of the server after which a start counts as failed for good. */
export const EXITS_MAX = 3;

/** Clocks of two replicas may differ by so much, in milliseconds. */
export const CLOCK_SKEW_MS_MAX = 60_000;

/** Events of failures in one reconciliation; the conditions name the others. */
export const FAILURE_EVENTS_MAX = 8;

/** Characters that identify a failure in the truncated message of a condition. */
export const KNOWN_BY_CHARACTERS = 256;

/** Fields that a condition names. */
export const FIELDS_NAMED_MAX = 16;

/** Longest message about an external provider; four of them fit into a condition. */
export const EXTERNAL_MESSAGE_CHARACTERS_MAX = 1000;

/** Warnings in the status, and characters of each; the schema allows 32 of 1,024. */
export const STATUS_WARNINGS_MAX = 32;
export const STATUS_WARNING_CHARACTERS_MAX = 1024;

/** Sizes that the schema of status allows: items, then characters. */
export const STATUS_PROVIDERS_MAX = 256;
export const STATUS_MODELS_MAX = 512;
export const STATUS_VERSION_CHARACTERS_MAX = 64;
export const STATUS_API_CHARACTERS_MAX = 63;
export const STATUS_NAME_CHARACTERS_MAX = 253;
export const STATUS_MODEL_CHARACTERS_MAX = 512;

/** Files of one image that are configs; those that are published have three. */
export const IMAGE_CONFIGS_MAX = 32;

/** Real indexes have a dozen platforms, and an attestation for each; real images have below 127 layers, as overlayfs allows. */
export const IMAGE_PLATFORMS_MAX = 256;
export const IMAGE_LAYERS_MAX = 256;

/** Longest description of a provider in its wheel, in bytes; real ones have a few lines. */
export const PROVIDER_DESCRIPTION_BYTES_MAX = 64 * 1024;

/** So much of a text is searched for secrets, in characters. */
export const SEARCHED_CHARACTERS_MAX = 65_536;

/** Certificates that a server shows: its own, and those between it and an authority. */
export const CERTIFICATE_CHAIN_MAX = 10;
