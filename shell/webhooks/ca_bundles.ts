/**
 * The objects with the CA and the path for the API server: the CRD (conversion) and the webhook configuration
 * (admission). The path ends with a secret segment.
 */
import * as Effect from "effect/Effect";
import { CRD_NAME } from "../../core/api/crd.ts";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { CONVERT_PATH, VALIDATE_PATH, WEBHOOK_CONFIGURATION } from "../../core/api/own_objects.ts";
import type { Bundle } from "../../core/certificates/decide.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";
import { Patch } from "../../core/plan/patch.ts";

/** Owns nothing but caBundles and paths: other writers of these objects keep what is theirs. */
const FIELD_MANAGER = "llama-stack-operator-certificates";

interface Target {
  readonly collection: string;
  readonly name: string;
  /** What the object trusts and calls; undefined: it calls no webhook, and trust has no place in it. */
  readonly bundle: (object: JsonObject, segment: string) => Omit<Bundle, "target"> | undefined;
  readonly part: (object: JsonObject, caBundle: string, segment: string) => JsonObject;
}

const hasPath = (client: JsonObject, path: string): boolean =>
  JSON.stringify(calling(client, path)) === JSON.stringify(placeOf(client));

const pemOf = (client: JsonObject): string | undefined => {
  const text = stringAt(client, "caBundle");
  try {
    return text === undefined ? undefined : atob(text);
  } catch {
    return undefined;
  }
};

/** Where the object calls: a Service and its path, or a URL. */
const placeOf = (client: JsonObject): JsonObject => {
  const url = stringAt(client, "url");
  return url === undefined ? { service: { path: stringAt(client, "service", "path") ?? null } } : { url };
};

/** The same with this path. */
const calling = (client: JsonObject, path: string): JsonObject => {
  const url = stringAt(client, "url");
  if (url === undefined) return { service: { path } };
  // A user-provided URL, which the API server has validated.
  return { url: `${new URL(url).origin}${path}` };
};

const TARGETS: Readonly<Record<string, Target>> = {
  CustomResourceDefinition: {
    collection: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    name: CRD_NAME,
    bundle: (crd, segment) =>
      stringAt(crd, "spec", "conversion", "strategy") === "Webhook"
        ? {
          pem: pemOf(conversionClient(crd)),
          hasPath: hasPath(conversionClient(crd), `${CONVERT_PATH}/${segment}`),
        }
        : undefined,
    part: (crd, caBundle, segment) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: CRD_NAME },
      spec: {
        conversion: {
          strategy: "Webhook",
          webhook: { clientConfig: { caBundle, ...calling(conversionClient(crd), `${CONVERT_PATH}/${segment}`) } },
        },
      },
    }),
  },
  ValidatingWebhookConfiguration: {
    collection: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    name: WEBHOOK_CONFIGURATION,
    bundle: (configuration, segment) => {
      const clients = listAt(configuration, "webhooks").filter(isObject).map((one) => objectAt(one, "clientConfig"));
      const [first, ...others] = clients.map(pemOf);
      return clients.length === 0 ? undefined : {
        pem: others.every((pem) => pem === first) ? first : undefined,
        hasPath: clients.every((client) => hasPath(client, `${VALIDATE_PATH}/${segment}`)),
      };
    },
    part: (configuration, caBundle, segment) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: WEBHOOK_CONFIGURATION },
      webhooks: listAt(configuration, "webhooks").filter(isObject).map((object) => ({
        name: object.name ?? "",
        clientConfig: { caBundle, ...calling(objectAt(object, "clientConfig"), `${VALIDATE_PATH}/${segment}`) },
      })),
    }),
  },
};

const conversionClient = (crd: JsonObject): JsonObject =>
  objectAt(crd, "spec", "conversion", "webhook", "clientConfig");

/** What was last seen of each of them, by target. */
export type SeenBundles = Map<
  string,
  { readonly version: string; readonly segment: string; readonly bundle: Omit<Bundle, "target"> | undefined }
>;

/**
 * The CAs that each of them trusts now; objects that are not installed are omitted. The CRD has 100 kB: it is only read
 * again if its version changed.
 */
export const caBundles = Effect.fnUntraced(function* (seen: SeenBundles, segment: string) {
  const cluster = yield* Cluster;
  const found: Array<Bundle> = [];
  for (const [target, { collection, name, bundle }] of Object.entries(TARGETS)) {
    const fields = `metadata.name=${name}`;
    const [head] = (yield* cluster.list({ path: collection, fields, metadataOnly: true })).items;
    const version = stringAt(head ?? null, "metadata", "resourceVersion") ?? "";
    if (seen.get(target)?.version !== version || seen.get(target)?.segment !== segment) {
      const object = yield* read(target);
      const now = stringAt(object ?? null, "metadata", "resourceVersion") ?? "";
      seen.set(target, {
        version: now,
        segment,
        bundle: object === undefined ? undefined : bundle(object, segment),
      });
    }
    const item = seen.get(target)?.bundle;
    if (item !== undefined) found.push({ target, ...item });
  }
  return found;
});

export const publish = Effect.fnUntraced(
  function* (target: string, pem: string, segment: string): Effect.fn.Return<void, ClusterError, Cluster> {
    const item = TARGETS[target];
    const object = yield* read(target);
    if (item === undefined || object === undefined) return;
    yield* (yield* Cluster).send(Patch.ClusterApply({
      path: `${item.collection}/${item.name}`,
      part: item.part(object, btoa(pem), segment),
      fieldManager: FIELD_MANAGER,
    }));
  },
);

const read = Effect.fnUntraced(
  function* (target: string): Effect.fn.Return<JsonObject | undefined, ClusterError, Cluster> {
    const item = TARGETS[target];
    if (item === undefined) return undefined;
    const { collection, name } = item;
    // With a list of one: this permission can be limited to a name, and a missing object is not an error.
    const { items } = yield* (yield* Cluster).list({ path: collection, fields: `metadata.name=${name}` });
    return items[0];
  },
);
