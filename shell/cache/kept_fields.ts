/** What the store keeps of an object: what decisions ask for. */
import { type JsonObject, listAt, member, objectAt, omit, put, stringAt } from "../../core/data/json.ts";
import { OWN_KINDS, ROUTES } from "../../core/world/kinds.ts";

/**
 * Of an object that we write it is asked who owns which field: what admission changed in our own request, what somebody else
 * changed, what an operator before us still owns. These entries are much the same for all objects of a kind, which are packed
 * behind each other. Of pods and ReplicaSets nothing is asked. The template of a Deployment stands in each of its pods again, of
 * which only the mounted ConfigMaps are asked.
 */
export const trimmed = (object: JsonObject): JsonObject => {
  if (object.kind !== "Pod") return withFewerManagers(object);
  return { ...withFewerManagers(object), spec: { volumes: listAt(object, "spec", "volumes") } };
};

/**
 * What is kept of an object that is too large to be kept: who it is and whose. Of a resource also what other resources' turns
 * in an upgrade depend on. Its text is short, whatever somebody wrote into the object.
 */
export const essential = (object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata");
  const labels = objectAt(metadata, "labels");
  const controller = listAt(metadata, "ownerReferences").filter((one) => member(one, "controller") === true).slice(
    0,
    1,
  );
  const few = Object.fromEntries(
    ESSENTIAL_METADATA.flatMap((key) => {
      const value = member(metadata, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
  const kept = {
    apiVersion: object.apiVersion ?? "",
    kind: object.kind ?? "",
    metadata: {
      ...few,
      labels: Object.fromEntries(
        ESSENTIAL_LABELS.flatMap((key) => labels[key] === undefined ? [] : [[key, labels[key]]]),
      ),
      ...(controller.length === 0 ? {} : { ownerReferences: controller }),
    },
  };
  if (object.kind !== "LlamaStackDistribution") return kept;
  const { name, image } = objectAt(object, "spec", "distribution");
  return {
    ...kept,
    spec: {
      distribution: { ...(name === undefined ? {} : { name }), ...(image === undefined ? {} : { image }) },
      suspend: member(objectAt(object, "spec"), "suspend") ?? false,
    },
    status: { phase: stringAt(object, "status", "phase") ?? "Pending" },
  };
};

const ESSENTIAL_METADATA = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
];
const ESSENTIAL_LABELS = ["component", "instance", "managed-by"].map((name) => `app.kubernetes.io/${name}`);

const withFewerManagers = (object: JsonObject): JsonObject => {
  const fields = member(objectAt(object, "metadata"), "managedFields");
  if (!Array.isArray(fields)) return object;
  const kept = !ASKED.has(stringAt(object, "kind") ?? "") ? [] : fields.flatMap((one): ReadonlyArray<JsonObject> => {
    const [manager, operation] = [stringAt(one, "manager") ?? "", stringAt(one, "operation") ?? ""];
    const subresource = stringAt(one, "subresource");
    // A status says nothing about what we apply; whoever scales sets the number of pods.
    if (subresource !== undefined && subresource !== "scale") return [];
    const owned = omit(objectAt(one, "fieldsV1"), "f:status");
    return Object.keys(owned).length === 0 ? [] : [{
      manager,
      operation,
      ...(subresource === undefined ? {} : { subresource }),
      fieldsV1: owned,
    }];
  });
  return put(object, ["metadata", "managedFields"], kept.length === 0 ? undefined : kept);
};

/** Of what Kubernetes makes, and of the resource itself, nobody asks. */
const ASKED = new Set([...OWN_KINDS, ROUTES].map(({ kind }) => kind));
