/** Names of what the operator keeps for itself, and by which it is called; its settings are in settings.ts. */

/** Where every way of installation but OLM's puts the operator. */
export const OPERATOR_NAMESPACE = "llama-stack-operator-system";

/** Its Deployment in every way of installation. */
export const OPERATOR_DEPLOYMENT = "llama-stack-operator";

/** Names the active replica. */
export const LEASE = "llama-stack-operator";

/** Key `key`: the HMAC key for digests of Secret values. If it is lost, every pod with Secrets is restarted once. */
export const HMAC_SECRET = "llama-stack-operator-hmac";

/** Credentials for the labels of images, where a resource has none; made by an administrator, of type dockerconfigjson. */
export const REGISTRY_SECRET = "llama-stack-operator-registries";

/** The CAs that sign the certificates of the webhooks. */
export const AUTHORITY_SECRET = "llama-stack-operator-webhook-ca";

/** The Service through which the API server calls the webhooks, and the paths that it calls. */
export const WEBHOOK_SERVICE = "llama-stack-operator-webhook";

/** The Service in front of the metrics. */
export const METRICS_SERVICE = "llama-stack-operator-metrics";

export const CONVERT_PATH = "/convert";
export const VALIDATE_PATH = "/validate";

/** The ValidatingWebhookConfiguration in every way of installation but OLM's, which names it itself. */
export const WEBHOOK_CONFIGURATION = "llama-stack-operator";
