/** Where the API server calls a webhook, by the objects that say so. */
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";

export interface LiveWebhook {
  /** Empty for a conversion. */
  readonly name: string;
  /** In base64. */
  readonly caBundle: string | undefined;
  /** One of both: a URL, or the path of a Service. */
  readonly url: string | undefined;
  readonly path: string | undefined;
}

/** Of a ValidatingWebhookConfiguration. */
export const admissionWebhooks = (configuration: JsonObject): ReadonlyArray<LiveWebhook> =>
  listAt(configuration, "webhooks").filter(isObject).map((webhook) =>
    liveWebhook(objectAt(webhook, "clientConfig"), stringAt(webhook, "name") ?? "")
  );

/** Of a CustomResourceDefinition; none where its versions are not converted by a webhook. */
export const conversionWebhooks = (crd: JsonObject): ReadonlyArray<LiveWebhook> => {
  const conversion = objectAt(crd, "spec", "conversion");
  return conversion.strategy === "Webhook" ? [liveWebhook(objectAt(conversion, "webhook", "clientConfig"), "")] : [];
};

const liveWebhook = (client: JsonObject, name: string): LiveWebhook => ({
  name,
  caBundle: stringAt(client, "caBundle"),
  url: stringAt(client, "url"),
  path: stringAt(client, "service", "path"),
});
