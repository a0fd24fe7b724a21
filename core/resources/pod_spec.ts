/** What a pod's spec says, wherever it stands: in a pod, or in the template of a Deployment or ReplicaSet. */
import { type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";

/** Of a Deployment or ReplicaSet; empty when there is none. */
export const templateSpec = (workload: Json | undefined): JsonObject => objectAt(workload, "spec", "template", "spec");

/** Of its first container, which is the server. */
export const imageOf = (podSpec: JsonObject): string | undefined => stringAt(listAt(podSpec, "containers")[0], "image");

/** Names of the ConfigMaps that it mounts. */
export const configMapsOf = (podSpec: JsonObject): ReadonlyArray<string> =>
  listAt(podSpec, "volumes").flatMap((volume) => stringAt(volume, "configMap", "name") ?? []);
