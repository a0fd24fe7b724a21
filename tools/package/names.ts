/** How the installation is called, in one place: every object, selector and reference is made from these. */
import { OPERATOR_DEPLOYMENT, OPERATOR_NAMESPACE } from "../../core/api/own_objects.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import type { JsonObject } from "../../core/data/json.ts";

export const NAME = OPERATOR_DEPLOYMENT;
export const NAMESPACE = OPERATOR_NAMESPACE;

export const PORTS = { webhook: 9443, metrics: 8443, health: 8081 } as const;

/** The oldest version with selectable fields in a CustomResourceDefinition; the oldest on which the tests run. */
export const MIN_KUBERNETES = "1.32.0";

/** Externally managed certificate and key of the webhooks. */
export const SERVING_SECRET = `${NAME}-serving-cert`;

/** cert-manager's CA for that certificate: its Certificate, Secret and Issuer. */
export const SERVING_CA = `${NAME}-serving-ca`;

/** Of the operator's pods alone; never changes, since a selector cannot. */
export const SELECTOR: JsonObject = { "app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "operator" };

/** `app.kubernetes.io/managed-by` is left out: that label is how the operator knows what it made itself. */
export const labelled = (component: string): JsonObject => ({
  "app.kubernetes.io/name": NAME,
  "app.kubernetes.io/component": component,
  "app.kubernetes.io/part-of": NAME,
  "app.kubernetes.io/version": OPERATOR_VERSION,
});

export const metadata = (name: string, component: string, namespace?: string): JsonObject => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  labels: labelled(component),
});
