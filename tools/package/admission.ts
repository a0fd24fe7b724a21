/** How the API server calls the operator: the CRD's conversion, and admission. */
import { UNCONVERTED_ANNOTATION } from "../../core/api/convert/annotation.ts";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { GROUP } from "../../core/api/v1alpha2.ts";
import { isObject, type JsonObject, listAt, objectAt, put } from "../../core/data/json.ts";
import { VALIDATE_PATH, WEBHOOK_CONFIGURATION, WEBHOOK_SERVICE } from "../../core/api/own_objects.ts";
import type { Choices } from "./choices.ts";
import { metadata, NAME, NAMESPACE, SERVING_CA, SERVING_SECRET } from "./names.ts";

/** An admission that takes longer is not waited for; the operator answers in milliseconds. */
const TIMEOUT_SECONDS = 5;

/** Without webhooks nothing converts: the old version is then not served, rather than served wrong. */
export const definition = (choices: Choices): JsonObject => {
  const crd = customResourceDefinition();
  if (choices.webhooks) {
    return annotated(uncalled(crd, ["spec", "conversion", "webhook", "clientConfig"], choices), choices);
  }
  const versions = listAt(crd, "spec", "versions").filter(isObject)
    .map((version) => version.name === "v1alpha2" ? version : { ...version, served: false });
  return put(put(crd, ["spec", "versions"], versions), ["spec", "conversion"], { strategy: "None" }) as JsonObject;
};

/**
 * If the operator writes the caBundle, it writes the path too, which ends with a secret segment. A path here would be
 * reset by each `kubectl apply` of this file.
 */
const uncalled = (object: JsonObject, client: ReadonlyArray<string>, { certificates }: Choices): JsonObject =>
  certificates === "self-managed" ? put(object, [...client, "service", "path"], undefined) as JsonObject : object;

/** Ignore: an operator that is down must not stop anybody, and repeats every rule when it is up. */
export const webhookConfiguration = (choices: Choices): JsonObject =>
  annotated({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: metadata(WEBHOOK_CONFIGURATION, "webhook"),
    webhooks: WEBHOOKS.map((webhook) => ({
      ...webhook,
      ...uncalled(
        { clientConfig: { service: { namespace: NAMESPACE, name: WEBHOOK_SERVICE, path: VALIDATE_PATH, port: 443 } } },
        ["clientConfig"],
        choices,
      ),
    })),
  }, choices);

/** What every way of installation has in common; OLM writes the rest itself. */
export const WEBHOOK: JsonObject = {
  admissionReviewVersions: ["v1"],
  failurePolicy: "Ignore",
  // An object written in the old version is shown in the new one.
  matchPolicy: "Equivalent",
  rules: [{
    apiGroups: [GROUP],
    apiVersions: ["v1alpha2"],
    operations: ["CREATE", "UPDATE"],
    // Not the status: the operator must never block itself.
    resources: ["llamastackdistributions"],
    scope: "Namespaced",
  }],
  sideEffects: "None",
  timeoutSeconds: TIMEOUT_SECONDS,
};

/**
 * An object of which conversion shows the name alone: a write of its status that changes nothing would store that, too. OLM cannot
 * have this one, as its bundles know no conditions.
 */
const UNCONVERTED_STATUS: JsonObject = {
  ...WEBHOOK,
  matchConditions: [{
    name: "unconverted",
    expression: `has(object.metadata.annotations) && '${UNCONVERTED_ANNOTATION}' in object.metadata.annotations`,
  }],
  rules: listAt(WEBHOOK, "rules").filter(isObject).map((rule) => ({
    ...rule,
    operations: ["UPDATE"],
    resources: ["llamastackdistributions/status"],
  })),
};

export const WEBHOOKS: ReadonlyArray<JsonObject> = [
  { name: `validate.${GROUP}`, ...WEBHOOK },
  { name: `unconverted.${GROUP}`, ...UNCONVERTED_STATUS },
];

/** Annotations by which another controller writes the caBundle. */
const annotated = (object: JsonObject, { certificates }: Choices): JsonObject => {
  const annotations: Readonly<Record<Choices["certificates"], JsonObject>> = {
    "self-managed": {},
    "cert-manager": { "cert-manager.io/inject-ca-from": `${NAMESPACE}/${SERVING_SECRET}` },
    "service-ca": { "service.beta.openshift.io/inject-cabundle": "true" },
    olm: {},
  };
  const more = annotations[certificates];
  return Object.keys(more).length === 0 ? object : put(object, ["metadata", "annotations"], {
    ...objectAt(object, "metadata", "annotations"),
    ...more,
  }) as JsonObject;
};

/**
 * cert-manager's own objects: a CA that lasts, and the certificate of the webhooks that it signs. With a certificate that
 * signs itself, the API server would reject the webhooks at each renewal until it has the new caBundle.
 */
export const certManagerObjects = (): ReadonlyArray<JsonObject> => [
  {
    apiVersion: "cert-manager.io/v1",
    kind: "Issuer",
    metadata: metadata(`${NAME}-self-signed`, "webhook", NAMESPACE),
    spec: { selfSigned: {} },
  },
  {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: metadata(SERVING_CA, "webhook", NAMESPACE),
    spec: {
      isCA: true,
      commonName: SERVING_CA,
      secretName: SERVING_CA,
      duration: "87600h",
      issuerRef: { kind: "Issuer", name: `${NAME}-self-signed` },
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
    },
  },
  {
    apiVersion: "cert-manager.io/v1",
    kind: "Issuer",
    metadata: metadata(SERVING_CA, "webhook", NAMESPACE),
    spec: { ca: { secretName: SERVING_CA } },
  },
  {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: metadata(SERVING_SECRET, "webhook", NAMESPACE),
    spec: {
      secretName: SERVING_SECRET,
      issuerRef: { kind: "Issuer", name: SERVING_CA },
      dnsNames: [`${WEBHOOK_SERVICE}.${NAMESPACE}.svc`, `${WEBHOOK_SERVICE}.${NAMESPACE}.svc.cluster.local`],
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
    },
  },
];
