/** A patch → the HTTP request that makes it. */
import type { Patch, Precondition } from "../../core/plan/patch.ts";
import { keyOf, type ObjectKey } from "../../core/snapshot/object_key.ts";
import { type Json, type JsonObject, stringAt } from "../../core/data/json.ts";
import { pathOf } from "./object_path.ts";

export interface WriteRequest {
  /** For errors: "Cannot apply …". */
  readonly verb: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body: Json;
  readonly contentType: string;
}

const JSON_TYPE = "application/json";
const APPLY_TYPE = "application/apply-patch+yaml";
const MERGE_TYPE = "application/merge-patch+json";

/** The key if its names are invalid object names: there is no path for it. */
export const requestOf = (patch: Patch): WriteRequest | { readonly verb: string; readonly unnameable: ObjectKey } => {
  switch (patch._tag) {
    case "ServerSideApply": {
      const body = conditioned(patch.object, patch.precondition);
      return at("apply", "PATCH", keyOf(patch.object), applyQuery(patch.fieldManager), body, APPLY_TYPE);
    }
    case "ClusterApply":
      return {
        verb: "apply",
        method: "PATCH",
        path: `${patch.path}${applyQuery(patch.fieldManager)}`,
        body: patch.part,
        contentType: APPLY_TYPE,
      };
    case "ManagedFields": {
      const metadata = { resourceVersion: patch.version, managedFields: patch.managedFields };
      return at("take over", "PATCH", patch.key, "", { metadata }, MERGE_TYPE);
    }
    case "Touch":
      return at("touch", "PATCH", patch.key, "", { metadata: { resourceVersion: patch.version } }, MERGE_TYPE);
    case "UpdateStatus": {
      const { resource, status, fieldManager } = patch;
      const key = keyOfResource(resource);
      const body = {
        apiVersion: key.apiVersion,
        kind: key.kind,
        metadata: {
          name: key.name,
          namespace: key.namespace,
          // At the version that was read: a status made from an older one must not win.
          resourceVersion: stringAt(resource, "metadata", "resourceVersion") ?? "",
          uid: stringAt(resource, "metadata", "uid") ?? "",
        },
        status: status as unknown as Json,
      };
      return at("update status of", "PUT", key, `/status?${new URLSearchParams({ fieldManager })}`, body, JSON_TYPE);
    }
    case "Delete":
      return at("delete", "DELETE", patch.key, "", {
        kind: "DeleteOptions",
        apiVersion: "v1",
        preconditions: {
          uid: patch.uid,
          ...(patch.version === "" ? {} : { resourceVersion: patch.version }),
        },
        propagationPolicy: "Background",
      }, JSON_TYPE);
    case "Create":
      return { verb: "create", method: "POST", path: patch.collection, body: patch.object, contentType: JSON_TYPE };
    case "Replace":
      return { verb: "replace", method: "PUT", path: patch.path, body: patch.object, contentType: JSON_TYPE };
  }
};

const at = (
  verb: string,
  method: WriteRequest["method"],
  key: ObjectKey,
  behind: string,
  body: Json,
  contentType: string,
): ReturnType<typeof requestOf> => {
  const path = pathOf(key);
  return path === undefined ? { verb, unnameable: key } : { verb, method, path: `${path}${behind}`, body, contentType };
};

const keyOfResource = (resource: JsonObject): ObjectKey => ({
  apiVersion: stringAt(resource, "apiVersion") ?? "",
  kind: stringAt(resource, "kind") ?? "",
  namespace: stringAt(resource, "metadata", "namespace") ?? "",
  name: stringAt(resource, "metadata", "name") ?? "",
});

/**
 * Not validated beyond the schema, which rejects unknown fields anyway (observed on Kubernetes 1.36): otherwise the API
 * server would parse each body twice, for warnings that nobody reads here, and need a fifth more time for an apply.
 */
const applyQuery = (fieldManager: string): string =>
  `?${new URLSearchParams({ fieldManager, force: "true", fieldValidation: "Ignore" })}`;

/**
 * No object has this version, because it is the first one of etcd itself. An apply with a version creates the object if
 * it does not exist, and is rejected if it has another version (observed on Kubernetes 1.36, for custom resources too).
 */
const VERSION_OF_NONE = "1";

const conditioned = (object: JsonObject, precondition: Precondition): JsonObject => {
  if (precondition === "any") return object;
  const resourceVersion = precondition === "must not exist" ? VERSION_OF_NONE : precondition.version;
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion } };
};
