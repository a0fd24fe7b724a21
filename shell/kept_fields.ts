/** What the store keeps of an object: what decisions ask for. */
import { type JsonObject, listAt, member, objectAt, put, stringAt } from "../core/json.ts";
import { POD_KINDS } from "../core/plan/kinds.ts";
import { FIELD_MANAGER } from "../core/plan/scale.ts";

/**
 * Managed fields are most of an object's bytes. It is asked whether a Deployment's number of pods is ours, and whether an
 * operator before us still owns fields; of pods and ReplicaSets nothing is asked. The template of a Deployment stands in each
 * of its pods again, of which only the mounted ConfigMaps are asked.
 */
export const trimmed = (object: JsonObject): JsonObject => {
  if (object.kind !== "Pod") return withFewerManagers(object);
  return { ...withFewerManagers(object), spec: { volumes: listAt(object, "spec", "volumes") } };
};

const withFewerManagers = (object: JsonObject): JsonObject => {
  const fields = member(objectAt(object, "metadata"), "managedFields");
  if (!Array.isArray(fields)) return object;
  const owningNames = listAt(object, "metadata", "ownerReferences").map((one) => stringAt(one, "name"));
  const kept = UNASKED.has(stringAt(object, "kind") ?? "") ? [] : fields.flatMap((one): ReadonlyArray<JsonObject> => {
    const [manager, operation] = [stringAt(one, "manager") ?? "", stringAt(one, "operation") ?? ""];
    const replicas = onlyReplicas(objectAt(one, "fieldsV1", "f:spec"));
    const owners = objectAt(one, "fieldsV1", "f:metadata", "f:ownerReferences");
    const ours = manager === FIELD_MANAGER;
    const isAsked = ours
      ? object.kind === "Deployment"
      : (operation === "Apply" && owningNames.includes(manager)) || Object.keys(owners).length > 0;
    return !isAsked || stringAt(one, "subresource") !== undefined ? [] : [{
      manager,
      operation,
      fieldsV1: ours ? { "f:spec": replicas } : { "f:metadata": { "f:ownerReferences": owners } },
    }];
  });
  return put(object, ["metadata", "managedFields"], kept.length === 0 ? undefined : kept);
};

const onlyReplicas = (spec: JsonObject): JsonObject => Object.hasOwn(spec, "f:replicas") ? { "f:replicas": {} } : {};

/** Nobody asks who owns the fields of what Kubernetes makes. */
const UNASKED = new Set(POD_KINDS.map(({ kind }) => kind));
