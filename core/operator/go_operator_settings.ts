/**
 * The settings of the Go operator for the same resources. Without its image overrides and its feature flag, the first
 * reconciliation would remove NetworkPolicies and roll servers out to images that the cluster may not be able to pull.
 */
import { type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { readSettings, SETTINGS_CONFIG_MAP } from "./settings.ts";

/**
 * The ClusterRoleBinding of the Go operator, which tells its namespace. Anybody may create a namespace of the usual name
 * with a ConfigMap in it, but only an administrator a ClusterRoleBinding.
 */
export const GO_OPERATOR_BINDING = "llama-stack-k8s-operator-manager-rolebinding";

/** The namespace of the Go operator, from its ClusterRoleBinding. */
export const goOperatorNamespace = (binding: Json): string | undefined =>
  listAt(binding, "subjects").filter((subject) => stringAt(subject, "kind") === "ServiceAccount")
    .flatMap((subject) => stringAt(subject, "namespace") ?? [])[0];

/** The keys that both operators read. */
const KEYS = ["image-overrides", "featureFlags"];

/** A ConfigMap with the same settings for this operator; undefined if they are the defaults. */
export const copiedSettings = (
  map: JsonObject,
  namespace: string,
  distributions: ReadonlyArray<string>,
): JsonObject | undefined => {
  const data = Object.fromEntries(
    KEYS.flatMap((key) => {
      const text = stringAt(objectAt(map, "data"), key);
      return text === undefined || text.trim() === "" ? [] : [[key, text]];
    }),
  );
  const { settings: { imageOverrides, networkPolicies } } = readSettings(data, {}, distributions);
  return imageOverrides.size === 0 && networkPolicies === false ? undefined : {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: SETTINGS_CONFIG_MAP, namespace },
    data,
  };
};
