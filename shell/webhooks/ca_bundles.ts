/**
 * The objects with the CA and the path for the API server: the CRD (conversion) and the webhook configuration
 * (admission). The path ends with a secret segment.
 */
import * as Effect from "effect/Effect";
import { CRD_NAME } from "../../core/api/crd.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";
import { admissionWebhooks, conversionWebhooks, type LiveWebhook } from "../../core/snapshot/live_webhook.ts";
import { CONVERT_PATH, VALIDATE_PATH, WEBHOOK_CONFIGURATION } from "../../core/api/own_objects.ts";
import type { Bundle } from "../../core/certificates/decide.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";
import { Patch } from "../../core/plan/patch.ts";

/** Owns nothing but caBundles and paths: other writers of these objects keep what is theirs. */
const FIELD_MANAGER = "llama-stack-operator-certificates";

interface Target {
  readonly collection: string;
  readonly name: string;
  /** Without the secret segment. */
  readonly path: string;
  /** What the object calls; none: trust has no place in it. */
  readonly webhooks: (object: JsonObject) => ReadonlyArray<LiveWebhook>;
  readonly part: (clients: ReadonlyArray<{ readonly name: string; readonly clientConfig: JsonObject }>) => JsonObject;
}

const TARGETS: Readonly<Record<string, Target>> = {
  CustomResourceDefinition: {
    collection: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    name: CRD_NAME,
    path: CONVERT_PATH,
    webhooks: conversionWebhooks,
    part: (clients) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: CRD_NAME },
      spec: {
        conversion: { strategy: "Webhook", webhook: { clientConfig: clients[0]?.clientConfig ?? {} } },
      },
    }),
  },
  ValidatingWebhookConfiguration: {
    collection: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    name: WEBHOOK_CONFIGURATION,
    path: VALIDATE_PATH,
    webhooks: admissionWebhooks,
    part: (clients) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: WEBHOOK_CONFIGURATION },
      webhooks: clients,
    }),
  },
};

const bundleOf = ({ path, webhooks }: Target, object: JsonObject, segment: string): SeenBundle["bundle"] => {
  const all = webhooks(object);
  const [first, ...others] = all.map(pemOf);
  return all.length === 0 ? undefined : {
    pem: others.every((pem) => pem === first) ? first : undefined,
    hasPath: all.every((webhook) => (webhook.url ?? webhook.path) === calledAt(webhook, `${path}/${segment}`)),
  };
};

const pemOf = ({ caBundle }: LiveWebhook): string | undefined => {
  try {
    return caBundle === undefined ? undefined : atob(caBundle);
  } catch {
    return undefined;
  }
};

/** The same URL, which a user provided and the API server has validated, or the same Service, with this path. */
const calledAt = ({ url }: LiveWebhook, path: string): string =>
  url === undefined ? path : `${new URL(url).origin}${path}`;

interface SeenBundle {
  readonly version: string;
  readonly segment: string;
  readonly bundle: Omit<Bundle, "target"> | undefined;
}

/** What was last seen of each of them, by target. */
export type SeenBundles = Map<string, SeenBundle>;

/**
 * The CAs that each of them trusts now; objects that are not installed are omitted. The CRD has 100 kB: it is only read
 * again if its version changed.
 */
export const caBundles = Effect.fnUntraced(function* (seen: SeenBundles, segment: string) {
  const cluster = yield* Cluster;
  const found: Array<Bundle> = [];
  for (const [target, item] of Object.entries(TARGETS)) {
    const fields = `metadata.name=${item.name}`;
    const [head] = (yield* cluster.list({ path: item.collection, fields, metadataOnly: true })).items;
    if (seen.get(target)?.version !== versionOf(head) || seen.get(target)?.segment !== segment) {
      const object = yield* read(item);
      const bundle = object === undefined ? undefined : bundleOf(item, object, segment);
      seen.set(target, { version: versionOf(object), segment, bundle });
    }
    const bundle = seen.get(target)?.bundle;
    if (bundle !== undefined) found.push({ target, ...bundle });
  }
  return found;
});

export const publish = Effect.fnUntraced(
  function* (target: string, pem: string, segment: string): Effect.fn.Return<void, ClusterError, Cluster> {
    const item = TARGETS[target];
    const object = item === undefined ? undefined : yield* read(item);
    if (item === undefined || object === undefined) return;
    const clients = item.webhooks(object).map((webhook) => {
      const at = calledAt(webhook, `${item.path}/${segment}`);
      const place = webhook.url === undefined ? { service: { path: at } } : { url: at };
      return { name: webhook.name, clientConfig: { caBundle: btoa(pem), ...place } };
    });
    yield* (yield* Cluster).send(Patch.ClusterApply({
      path: `${item.collection}/${item.name}`,
      part: item.part(clients),
      fieldManager: FIELD_MANAGER,
    }));
  },
);

const read = Effect.fnUntraced(
  function* ({ collection, name }: Target): Effect.fn.Return<JsonObject | undefined, ClusterError, Cluster> {
    // With a list of one: this permission can be limited to a name, and a missing object is not an error.
    const { items } = yield* (yield* Cluster).list({ path: collection, fields: `metadata.name=${name}` });
    return items[0];
  },
);

const versionOf = (object: JsonObject | undefined): string => object === undefined ? "" : liveObject(object).version;
