/** The objects that tell the API server whom to trust: the CRD (conversion) and the webhook configuration (admission). */
import { Effect } from "effect";
import { CRD_NAME } from "../core/api/crd.ts";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../core/json.ts";
import { WEBHOOK_CONFIGURATION } from "../core/own_objects.ts";
import type { Bundle } from "../core/certificates/decide.ts";
import { Cluster, type ClusterError } from "./cluster.ts";

/** Owns nothing but caBundles: other writers of these objects keep what is theirs. */
const FIELD_MANAGER = "llama-stack-operator-certificates";

interface Target {
  readonly collection: string;
  readonly name: string;
  /** What the object trusts; undefined: it calls no webhook, and trust has no place in it. */
  readonly bundle: (object: JsonObject) => Omit<Bundle, "target"> | undefined;
  readonly part: (object: JsonObject, caBundle: string) => JsonObject;
}

const pemOf = (client: JsonObject): string | undefined => {
  const text = stringAt(client, "caBundle");
  try {
    return text === undefined ? undefined : atob(text);
  } catch {
    return undefined;
  }
};

const TARGETS: Readonly<Record<string, Target>> = {
  CustomResourceDefinition: {
    collection: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    name: CRD_NAME,
    bundle: (crd) =>
      stringAt(crd, "spec", "conversion", "strategy") === "Webhook"
        ? { pem: pemOf(objectAt(crd, "spec", "conversion", "webhook", "clientConfig")) }
        : undefined,
    part: (_, caBundle) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: CRD_NAME },
      spec: { conversion: { strategy: "Webhook", webhook: { clientConfig: { caBundle } } } },
    }),
  },
  ValidatingWebhookConfiguration: {
    collection: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    name: WEBHOOK_CONFIGURATION,
    bundle: (configuration) => {
      const all = listAt(configuration, "webhooks").filter(isObject).map((one) => pemOf(objectAt(one, "clientConfig")));
      return all.length === 0 ? undefined : { pem: all.every((one) => one === all[0]) ? all[0] : undefined };
    },
    part: (configuration, caBundle) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: WEBHOOK_CONFIGURATION },
      webhooks: listAt(configuration, "webhooks").filter(isObject).map(({ name = "" }) => ({
        name,
        clientConfig: { caBundle },
      })),
    }),
  },
};

/** What was last seen of each of them, by target. */
export type SeenBundles = Map<
  string,
  { readonly version: string; readonly bundle: Omit<Bundle, "target"> | undefined }
>;

/**
 * What each of them trusts now; an object that is not installed has nothing to say. The CRD has 100 kB: it is read again
 * only when its version is another one.
 */
export const caBundles = Effect.fnUntraced(function* (seen: SeenBundles) {
  const cluster = yield* Cluster;
  const found: Array<Bundle> = [];
  for (const [target, { collection, name, bundle }] of Object.entries(TARGETS)) {
    const fields = `metadata.name=${name}`;
    const [head] = (yield* cluster.list({ path: collection, fields, metadataOnly: true })).items;
    const version = stringAt(head ?? null, "metadata", "resourceVersion") ?? "";
    if (seen.get(target)?.version !== version) {
      const object = yield* read(target);
      const now = stringAt(object ?? null, "metadata", "resourceVersion") ?? "";
      seen.set(target, { version: now, bundle: object === undefined ? undefined : bundle(object) });
    }
    const one = seen.get(target)?.bundle;
    if (one !== undefined) found.push({ target, ...one });
  }
  return found;
});

export const publish = (target: string, pem: string): Effect.Effect<void, ClusterError, Cluster> =>
  Effect.gen(function* () {
    const one = TARGETS[target];
    const object = yield* read(target);
    if (one === undefined || object === undefined) return;
    yield* (yield* Cluster).applyAt(`${one.collection}/${one.name}`, one.part(object, btoa(pem)), FIELD_MANAGER);
  });

const read = (target: string): Effect.Effect<JsonObject | undefined, ClusterError, Cluster> =>
  Effect.gen(function* () {
    const one = TARGETS[target];
    if (one === undefined) return undefined;
    const { collection, name } = one;
    // By a list of one: the permission to do so can be limited to this name, and an object that is not there is no error.
    const { items } = yield* (yield* Cluster).list({ path: collection, fields: `metadata.name=${name}` });
    return items[0];
  });
