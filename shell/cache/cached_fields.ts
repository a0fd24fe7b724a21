/** What the store keeps of an object: what decisions ask for. */
import { isWrittenInV1alpha1 } from "../../core/api/convert/v1alpha1_paths.ts";
import { V1ALPHA1 } from "../../core/api/v1alpha1.ts";
import { KIND } from "../../core/api/v1alpha2.ts";
import { type JsonObject, listAt, member, objectAt, put, stringAt } from "../../core/data/json.ts";
import { FIELD_MANAGER } from "../../core/snapshot/field_manager.ts";
import { POD_KINDS } from "../../core/snapshot/kinds.ts";

/**
 * Managed fields are most of an object's bytes. They are only needed to find out whether the operator manages a
 * Deployment's number of pods, and whether a former operator still owns fields; of pods and ReplicaSets they are not
 * needed. The template of a Deployment is repeated in each of its pods, of which only the mounted ConfigMaps are
 * needed.
 */
export const trimmed = (object: JsonObject): JsonObject => {
  if (object.kind === KIND) return withVersionOfSpec(object);
  if (object.kind !== "Pod") return withFewerManagers(object);
  return { ...withFewerManagers(object), spec: { volumes: listAt(object, "spec", "volumes") } };
};

/** Of who wrote a resource, only whether its author uses v1alpha1: messages then have the paths of that version. */
const withVersionOfSpec = (resource: JsonObject): JsonObject =>
  put(
    resource,
    ["metadata", "managedFields"],
    isWrittenInV1alpha1(resource) ? [{ apiVersion: V1ALPHA1, fieldsV1: { "f:spec": {} } }] : undefined,
  ) as JsonObject;

/**
 * The part of an object that is cached if the object is too large: its identity and owner. For a resource also the
 * state that the upgrade slots of other resources depend on. The text is short, whatever the object contains.
 */
export const essential = (object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata");
  const labels = objectAt(metadata, "labels");
  const controller = listAt(metadata, "ownerReferences").filter((ownerReference) =>
    member(ownerReference, "controller") === true
  ).slice(
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
  if (object.kind !== KIND) return kept;
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
  const owningNames = listAt(object, "metadata", "ownerReferences").map((ownerReference) =>
    stringAt(ownerReference, "name")
  );
  const kept = UNASKED.has(stringAt(object, "kind") ?? "") ? [] : fields.flatMap((field): ReadonlyArray<JsonObject> => {
    const [manager, operation] = [stringAt(field, "manager") ?? "", stringAt(field, "operation") ?? ""];
    const replicas = onlyReplicas(objectAt(field, "fieldsV1", "f:spec"));
    const owners = objectAt(field, "fieldsV1", "f:metadata", "f:ownerReferences");
    const ours = manager === FIELD_MANAGER;
    const isAsked = ours
      ? object.kind === "Deployment"
      : (operation === "Apply" && owningNames.includes(manager)) || Object.keys(owners).length > 0;
    return !isAsked || stringAt(field, "subresource") !== undefined ? [] : [{
      manager,
      operation,
      // Nothing that would claim ownership of all fields of the spec.
      fieldsV1: ours
        ? Object.keys(replicas).length === 0 ? {} : { "f:spec": replicas }
        : { "f:metadata": { "f:ownerReferences": owners } },
    }];
  });
  return put(object, ["metadata", "managedFields"], kept.length === 0 ? undefined : kept);
};

const onlyReplicas = (spec: JsonObject): JsonObject => Object.hasOwn(spec, "f:replicas") ? { "f:replicas": {} } : {};

/** The field managers of objects created by Kubernetes are never needed. */
const UNASKED = new Set(POD_KINDS.map(({ kind }) => kind));
