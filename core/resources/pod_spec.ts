/** Parts of a pod spec, in a pod or in the template of a Deployment or ReplicaSet. */
import { type Json, type JsonObject, listAt, objectAt, omit, stringAt } from "../data/json.ts";

/** Of a Deployment or ReplicaSet; empty when there is none. */
export const templateSpec = (workload: Json | undefined): JsonObject => objectAt(workload, "spec", "template", "spec");

/** The template as the Deployment has it: without what a ReplicaSet and the API server add to its metadata. */
export const podTemplateOf = (workload: JsonObject): JsonObject => {
  const template = objectAt(workload, "spec", "template");
  const labels = omit(objectAt(template, "metadata", "labels"), "pod-template-hash");
  return { ...template, metadata: { ...omit(objectAt(template, "metadata"), "creationTimestamp"), labels } };
};

/** Of its first container, which is the server. */
export const imageOf = (podSpec: JsonObject): string | undefined => stringAt(listAt(podSpec, "containers")[0], "image");

/** Names of the volume claims that it mounts. */
export const claimsOf = (podSpec: JsonObject): ReadonlyArray<string> =>
  listAt(podSpec, "volumes").flatMap((volume) => stringAt(volume, "persistentVolumeClaim", "claimName") ?? []);

/** Names of the ConfigMaps that it mounts. */
export const configMapsOf = (podSpec: JsonObject): ReadonlyArray<string> =>
  listAt(podSpec, "volumes").flatMap((volume) => stringAt(volume, "configMap", "name") ?? []);

/** Names of the Secrets that the variables of its first container come from. */
export const secretsOf = (podSpec: JsonObject): ReadonlyArray<string> => [
  ...new Set(
    listAt(listAt(podSpec, "containers")[0], "env")
      .flatMap((variable) => stringAt(variable, "valueFrom", "secretKeyRef", "name") ?? []),
  ),
];
