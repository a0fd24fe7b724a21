/** Names and labels of the objects that belong to one resource. */

export const MANAGED_BY = "llama-stack-operator";

/** `<cr>-config-<first 8 hex of sha256>`; the full digest is in the annotation. */
export const configMapName = (resource: string, digest: string): string => `${resource}-config-${digest.slice(0, 8)}`;

/** Holds the full sha256 of config.yaml in hex; the name alone is never trusted. */
export const CONFIG_DIGEST_ANNOTATION = "llamastack.io/config-digest";
