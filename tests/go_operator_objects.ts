/**
 * What the Go operator 0.9 makes of 29 resources that use every field of its API, as snapshots: recorded on a real API server
 * (tests/fixtures/go-operator-0.9-fields). NetworkPolicies are those that it makes when its flag for them is on.
 */
import { converted } from "../core/api/convert.ts";
import { API_VERSION } from "../core/api/v1alpha2.ts";
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  put,
  stringAt,
} from "../core/data/json.ts";
import type { Operator } from "../core/snapshot/operator.ts";
import { keyedItems } from "../core/snapshot/list_keys.ts";
import { type ClusterSnapshot, liveKey } from "../core/snapshot/cluster_snapshot.ts";
import { EMPTY_SNAPSHOT } from "../tools/empty_snapshot.ts";
import { OPERATOR, secretsOf } from "./snapshots.ts";

const FOLDER = new URL("./fixtures/go-operator-0.9-fields/", import.meta.url);

/** In the order of owners. */
export const GO_FILES = [
  ...["configmaps", "persistentvolumeclaims", "serviceaccounts", "deployments", "services", "networkpolicies"],
  ...["horizontalpodautoscalers", "poddisruptionbudgets", "ingresses"],
];

/** `file` is the plural of a kind. */
export const goObjects = (file: string): ReadonlyArray<JsonObject> =>
  listAt(JSON.parse(Deno.readTextFileSync(new URL(`${file}.json`, FOLDER))), "items").filter(isObject);

export interface GoCluster {
  readonly networkPolicies: boolean;
  readonly openshift?: boolean;
}

const operatorOf = ({ networkPolicies, openshift = false }: GoCluster): Operator => ({
  ...OPERATOR,
  platform: { ...OPERATOR.platform, networkPolicies, openshift, served: openshift ? ["Route"] : [] },
});

/** A cluster that the Go operator just left, by the name of the resource. */
export const goSnapshots = (cluster: GoCluster): ReadonlyMap<string, ClusterSnapshot> => {
  const objects = GO_FILES.filter((file) => cluster.networkPolicies || file !== "networkpolicies").flatMap(goObjects);
  const content = (object: JsonObject, field: string) => objectAt(object, field) as Readonly<Record<string, string>>;
  const configMaps = new Map(
    objects.filter(({ kind }) => kind === "ConfigMap").map((object) => [
      `${stringAt(object, "metadata", "namespace")}/${stringAt(object, "metadata", "name")}`,
      { data: content(object, "data"), binaryData: content(object, "binaryData") },
    ]),
  );
  return new Map(
    goObjects("llamastackdistributions").map((old) => {
      const name = stringAt(old, "metadata", "name") ?? "";
      const resource = put(converted(old, API_VERSION), ["metadata", "generation"], 1) as JsonObject;
      const owned = objects.filter((object) => ownerOf(object) === name)
        .map((object) => recordedBy("manager", withOwner(object, stringAt(old, "metadata", "uid") ?? "")));
      return [name, {
        ...EMPTY_SNAPSHOT,
        nowMs: Date.UTC(2026, 0, 1),
        resource,
        operator: operatorOf(cluster),
        secrets: secretsOf({ tok: { token: "t" } }),
        configMaps,
        live: new Map(
          owned.map((object) => [liveKey(String(object.kind), stringAt(object, "metadata", "name") ?? ""), object]),
        ),
      }];
    }),
  );
};

const ownerOf = (object: JsonObject): string | undefined =>
  stringAt(listAt(object, "metadata", "ownerReferences")[0], "name");

const withOwner = (object: JsonObject, uid: string): JsonObject => {
  const owners = listAt(object, "metadata", "ownerReferences").filter(isObject).map((owner) => ({ ...owner, uid }));
  const owned = put(object, ["metadata", "ownerReferences"], owners) as JsonObject;
  if (object.kind !== "Deployment") return owned;
  const replicas = Number(member(objectAt(object, "spec"), "replicas") ?? 1);
  const status = { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: replicas };
  return { ...(put(owned, ["metadata", "generation"], 1) as JsonObject), status };
};

/** As the API server records a create: the manager owns every field. */
const recordedBy = (manager: string, object: JsonObject): JsonObject => {
  const { apiVersion, metadata, spec, data } = object;
  const own = { labels: objectAt(metadata ?? null, "labels"), ownerReferences: listAt(metadata, "ownerReferences") };
  const parts = { metadata: own, ...(spec === undefined ? {} : { spec }), ...(data === undefined ? {} : { data }) };
  const entry = {
    manager,
    operation: "Update",
    apiVersion: apiVersion ?? "",
    fieldsType: "FieldsV1",
    fieldsV1: fieldsOf(parts),
  };
  return put(object, ["metadata", "managedFields"], [entry]) as JsonObject;
};

const fieldsOf = (value: Json, list?: string): JsonObject => {
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [`f:${key}`, fieldsOf(inner, key)]));
  }
  const items = list === "ownerReferences" && isList(value)
    ? value.map((item) => ({ item, keys: { uid: member(item, "uid") ?? null } }))
    : keyedItems(list, value) ?? [];
  if (items.some(({ keys }) => Object.values(keys).includes(null))) return {};
  return Object.fromEntries(
    items.map(({ item, keys }) => [`k:${JSON.stringify(keys)}`, { ".": {}, ...fieldsOf(item) }]),
  );
};
