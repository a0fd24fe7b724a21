/** Names of what the operator keeps in its own namespace; its settings are in settings.ts. */

/** Says which replica works. */
export const LEASE = "llama-stack-operator";

/** Key `key`: what digests of Secret values are made with. Without it every pod with Secrets is restarted once. */
export const HMAC_SECRET = "llama-stack-operator-hmac";
