/**
 * A spec without what it says anyway: defaults that are written out, and blocks that are empty then. Two specs that ask for the same
 * have the same, so that writing a default is no edit.
 *
 * Defaults that the operator decides (the server version, the provider of a model) are not left out: who writes one keeps it.
 */
import { pullPolicyDefault } from "../data/image_reference.ts";
import {
  at,
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  omit,
  put,
  stringAt,
} from "../data/json.ts";
import { amount } from "../data/quantity.ts";
import { PORT_DEFAULT, STARTUP_SECONDS_DEFAULT, VOLUME_SIZE_LIMIT_DEFAULT } from "../api/v1alpha2.ts";
import { MOUNT_DEFAULT } from "../config/data_folders.ts";
import { chunkOverlapDefault } from "../config/stages/file_chunking.ts";
import { KEY_DEFAULT } from "../config/own_config_key.ts";
import { CPU_PERCENT_DEFAULT } from "../resources/autoscaler.ts";
import { CLAIM_SIZE_DEFAULT } from "../resources/claim.ts";
import { METRICS_PORT_DEFAULT } from "../config/metrics.ts";
import { GRACE_SECONDS_DEFAULT } from "../resources/deployment.ts";
import { UNAVAILABLE_DEFAULT } from "../resources/disruption_budget.ts";
import { serviceAccountName } from "../resources/service_account.ts";

interface Owner {
  readonly name: string;
  readonly namespace: string;
}

export const withoutDefaults = (spec: JsonObject, owner: Owner): JsonObject => {
  const items = withItems(spec);
  const rest = Object.entries(defaultsOf(items, owner)).reduce((tree, [field, value]) => {
    const path = field.split(".");
    const written = at(tree, ...path);
    return written !== undefined && isSame(written, value) ? put(tree, path, undefined) : tree;
  }, items);
  const isOff = member(objectAt(rest, "networking", "expose"), "enabled") === false;
  return EMPTY_SAYS_NOTHING.reduce((tree, field) => {
    const path = field.split(".");
    const block = at(tree, ...path);
    return isObject(block) && Object.keys(block).length === 0 ? put(tree, path, undefined) : tree;
  }, isOff ? put(rest, ["networking", "expose"], undefined) : rest);
};

/** By path; which value is the default may depend on other fields. */
const defaultsOf = (spec: JsonObject, { name, namespace }: Owner): Readonly<Record<string, Json>> => {
  const autoscaling = objectAt(spec, "workload", "autoscaling");
  const image = stringAt(spec, "distribution", "image");
  const chunkSize = member(objectAt(spec, "vectorStores", "chunking"), "maxChunkSizeTokens");
  return {
    "suspend": false,
    "networking.port": PORT_DEFAULT,
    "networking.tls.enabled": false,
    "networking.tls.caBundle.configMapNamespace": namespace,
    "networking.tls.caBundle.configMapKeys": ["ca-bundle.crt"],
    "networking.tls.caBundle.exclusive": false,
    "networking.expose.enabled": true,
    "networking.policy.enabled": true,
    "monitoring.enabled": true,
    "monitoring.port": METRICS_PORT_DEFAULT,
    "monitoring.rules": true,
    "baseConfig.key": KEY_DEFAULT,
    "overrideConfig.key": KEY_DEFAULT,
    "storage.kv.type": "sqlite",
    "storage.sql.type": "sqlite",
    ...(typeof chunkSize === "number"
      ? { "vectorStores.chunking.chunkOverlapTokens": chunkOverlapDefault(chunkSize) }
      : {}),
    "externalProviders.volumeSizeLimit": VOLUME_SIZE_LIMIT_DEFAULT,
    "workload.scaling": "Operator",
    "workload.autoscaling.minReplicas": 1,
    ...(member(autoscaling, "targetMemoryUtilizationPercentage") === undefined
      ? { "workload.autoscaling.targetCPUUtilizationPercentage": CPU_PERCENT_DEFAULT }
      : {}),
    "workload.storage.size": CLAIM_SIZE_DEFAULT,
    "workload.storage.mountPath": MOUNT_DEFAULT,
    "workload.storage.accessMode": "ReadWriteOnce",
    "workload.storage.retentionPolicy": "Retain",
    ...(member(objectAt(spec, "workload", "podDisruptionBudget"), "minAvailable") === undefined
      ? { "workload.podDisruptionBudget.maxUnavailable": UNAVAILABLE_DEFAULT }
      : {}),
    "workload.probes.startupSeconds": STARTUP_SECONDS_DEFAULT,
    "workload.restartPolicyOnSecretChange": "Auto",
    "workload.overrides.serviceAccountName": serviceAccountName(name),
    "workload.overrides.terminationGracePeriodSeconds": GRACE_SECONDS_DEFAULT,
    ...(image === undefined ? {} : { "workload.overrides.imagePullPolicy": pullPolicyDefault(image) }),
  };
};

/** Inner ones first. Others mean something by being there, such as `networking.expose`, `monitoring` and `workload.storage`. */
const EMPTY_SAYS_NOTHING = [
  "networking.tls",
  "networking",
  "workload.podDisruptionBudget",
  "workload.probes",
  "workload.overrides",
  "workload.resources",
  "workload",
  "providers",
  "resources",
  "vectorStores",
  "storage",
  "externalProviders",
];

/** Defaults of items: the id of a provider, the names of a model, the pull policy of an external provider. */
const withItems = (spec: JsonObject): JsonObject => {
  const lists =
    (block: string, strip: (item: JsonObject, list: ReadonlyArray<Json>) => JsonObject) => (tree: JsonObject) =>
      Object.entries(objectAt(tree, block)).reduce(
        (inner, [field, list]) =>
          isList(list)
            ? put(inner, [block, field], list.map((item) => isObject(item) ? strip(item, list) : item))
            : inner,
        tree,
      );
  const provider = lists("providers", (item, list) => {
    const id = stringAt(item, "provider")?.split("::").at(-1);
    return list.length === 1 && id !== undefined && item.id === id ? omit(item, "id") : item;
  });
  const registered = lists("resources", (item) =>
    omit(
      item,
      ...(item.modelType === "llm" ? ["modelType"] : []),
      ...(item.returnType === "string" ? ["returnType"] : []),
      ...["providerModelId", "providerVectorStoreId", "description"].filter((field) => item[field] === item.name),
    ));
  const connected = (tree: JsonObject): JsonObject =>
    isList(tree.connectors ?? null)
      ? put(
        tree,
        ["connectors"],
        listAt(tree, "connectors").map((item) =>
          isObject(item) && item.serverLabel === item.connectorId ? omit(item, "serverLabel") : item
        ),
      )
      : tree;
  const external = lists("externalProviders", (item) => {
    const image = stringAt(item, "image");
    return image !== undefined && item.imagePullPolicy === pullPolicyDefault(image)
      ? omit(item, "imagePullPolicy")
      : item;
  });
  return external(connected(registered(provider(spec))));
};

const isSame = (written: Json, value: Json): boolean =>
  JSON.stringify(written) === JSON.stringify(value) ||
  typeof value === "string" && /^[0-9]+Gi$/.test(value) && amount(written) === amount(value);
