/** An object of the cluster as a file would have it, and what stays of its metadata. */
import { KIND } from "../api/v1alpha2.ts";
import { isObject, type JsonObject, objectAt, omit } from "../data/json.ts";
import { writeYaml } from "../data/yaml.ts";

/** What somebody else finds the resource by, or says of it. */
export const ownMetadata = (resource: JsonObject): JsonObject => {
  const { labels = null, annotations } = objectAt(resource, "metadata");
  const kept = Object.entries(objectAt(annotations ?? {})).filter(([key]) => !OF_TOOLS.test(key));
  return {
    ...(isObject(labels) && Object.keys(labels).length > 0 ? { labels } : {}),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  };
};

/** What kubectl applied, which holds every value of the object, and what the conversion between versions keeps. */
const OF_TOOLS = /^kubectl\.kubernetes\.io\/|^([^/]+\.)?llamastack\.io\//;

/** As a file has it, without what the API server added. */
export const objectText = (object: JsonObject): string => {
  const { name = null, namespace = null } = objectAt(object, "metadata");
  const metadata = { name, namespace, ...(object.kind === KIND ? ownMetadata(object) : {}) };
  return writeYaml({ ...omit(object, "status", "metadata"), metadata });
};
