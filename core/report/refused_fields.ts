/** A field of an object that the API server rejects → the field of the resource that it was taken from. */
import { formatPath } from "../data/field_path.ts";
import { at, isList, type Json, type JsonObject, listAt, member } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";

type Row = readonly [object: string, resource: string, key?: string];

const POD = "spec.template.spec";
const SERVER = `${POD}.containers[0]`;
const OVERRIDES = "spec.workload.overrides";
const EXPOSE = "spec.networking.expose";

/**
 * The first row that fits, and whose field the resource sets, counts. `key` identifies the items of a list to which the operator
 * adds some of its own.
 */
const ROWS: Readonly<Record<string, ReadonlyArray<Row>>> = {
  Deployment: [
    [`${SERVER}.env`, `${OVERRIDES}.env`, "name"],
    [`${SERVER}.envFrom`, `${OVERRIDES}.envFrom`],
    [`${SERVER}.volumeMounts`, `${OVERRIDES}.volumeMounts`, "mountPath"],
    [`${SERVER}.resources`, "spec.workload.resources"],
    [`${SERVER}.image`, "spec.distribution.image"],
    [`${POD}.volumes`, `${OVERRIDES}.volumes`, "name"],
    [`${POD}.topologySpreadConstraints`, "spec.workload.topologySpreadConstraints"],
    ...[
      "affinity",
      "imagePullSecrets",
      "nodeSelector",
      "priorityClassName",
      "resourceClaims",
      "runtimeClassName",
      "securityContext",
      "terminationGracePeriodSeconds",
      "tolerations",
    ].map((field): Row => [`${POD}.${field}`, `${OVERRIDES}.${field}`]),
    // Validation names them without `metadata`.
    ["spec.template.labels", `${OVERRIDES}.podLabels`],
    ["spec.template.annotations", `${OVERRIDES}.podAnnotations`],
    ["spec.template.metadata.labels", `${OVERRIDES}.podLabels`],
    ["spec.template.metadata.annotations", `${OVERRIDES}.podAnnotations`],
    ["spec.replicas", "spec.workload.replicas"],
  ],
  PersistentVolumeClaim: [
    ["spec.resources", "spec.workload.storage.size"],
    ["spec.storageClassName", "spec.workload.storage.storageClassName"],
    ["spec.accessModes", "spec.workload.storage.accessMode"],
  ],
  PodDisruptionBudget: [
    ["spec.minAvailable", "spec.workload.podDisruptionBudget.minAvailable"],
    ["spec.maxUnavailable", "spec.workload.podDisruptionBudget.maxUnavailable"],
  ],
  HorizontalPodAutoscaler: [
    ["spec.minReplicas", "spec.workload.autoscaling.minReplicas"],
    ["spec.maxReplicas", "spec.workload.autoscaling.maxReplicas"],
    // The CPU comes first, where it has a target.
    ["spec.metrics[0]", "spec.workload.autoscaling.targetCPUUtilizationPercentage"],
    ["spec.metrics[0]", "spec.workload.autoscaling.targetMemoryUtilizationPercentage"],
    ["spec.metrics[1]", "spec.workload.autoscaling.targetMemoryUtilizationPercentage"],
  ],
  Service: [["metadata.annotations", "spec.networking.serviceAnnotations"]],
  Ingress: [
    ["metadata.annotations", `${EXPOSE}.annotations`],
    ["spec.ingressClassName", `${EXPOSE}.ingressClassName`],
    ["spec.rules[0].host", `${EXPOSE}.hostname`],
    ["spec.tls[0].hosts", `${EXPOSE}.hostname`],
    ["spec.tls[0].secretName", `${EXPOSE}.tlsSecretName`],
  ],
  HTTPRoute: [
    ["metadata.annotations", `${EXPOSE}.annotations`],
    ["spec.hostnames[0]", `${EXPOSE}.hostname`],
    ["spec.parentRefs", `${EXPOSE}.gateway.parentRefs`],
  ],
  BackendTLSPolicy: [["spec.validation.caCertificateRefs[0].name", `${EXPOSE}.gateway.caConfigMapName`]],
  PodMonitor: [["metadata.labels", "spec.monitoring.labels"]],
  PrometheusRule: [["metadata.labels", "spec.monitoring.labels"]],
  Route: [
    ["metadata.annotations", `${EXPOSE}.annotations`],
    ["spec.host", `${EXPOSE}.hostname`],
  ],
};

/** A bound on what a policy may make of a message; one mistake has one or two. */
const FIELDS_MAX = 3;

/** `spec` is that of the resource; a field that it does not set has no part in it. */
export const refusedFields = (
  manifest: Manifest,
  spec: JsonObject,
  fields: ReadonlyArray<string>,
): ReadonlyArray<string> =>
  [...new Set(fields.flatMap((field) => refusedField(manifest, { spec }, stepsOf(field)) ?? []))].slice(0, FIELDS_MAX);

type Steps = ReadonlyArray<string | number>;

const refusedField = (manifest: Manifest, resource: JsonObject, steps: Steps): string | undefined => {
  for (const [object, own, key] of ROWS[manifest.kind] ?? []) {
    const [prefix, target] = [stepsOf(object), own.split(".")];
    if (!prefix.every((step, index) => steps[index] === step)) continue;
    const [index, ...inner] = steps.slice(prefix.length);
    const is = at(resource, ...target);
    if (is === undefined) continue;
    if (key === undefined || typeof index !== "number") {
      return formatPath([...target, ...deepest(is, steps.slice(prefix.length))]);
    }
    const place = placeOf(itemsAt(manifest as unknown as Json, prefix), listAt(resource, ...target), index, key);
    return place === undefined ? undefined : formatPath([...target, place, ...inner]);
  }
  return undefined;
};

/** The steps that the value of the resource has: a claim has a size only, and no `requests`. */
const deepest = (value: Json, steps: Steps): Steps => typeof value === "object" ? steps : [];

/** Items of the resource come last, in their order; another one in the list is the operator's own. */
const placeOf = (
  all: ReadonlyArray<Json>,
  own: ReadonlyArray<Json>,
  index: number,
  key: string,
): number | undefined => {
  const place = index - (all.length - own.length);
  return own[place] !== undefined && member(own[place], key) === member(all[index], key) ? place : undefined;
};

const itemsAt = (value: Json | undefined, [step, ...rest]: Steps): ReadonlyArray<Json> =>
  step === undefined
    ? isList(value) ? value : []
    : itemsAt(typeof step === "number" ? itemsAt(value, [])[step] : member(value, step), rest);

/** `a.b[0].c[x.y/z]`, as the API server writes paths. */
const stepsOf = (field: string): Steps =>
  [...field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(([, word, inside = ""]) =>
    word ?? (/^[0-9]+$/.test(inside) ? Number(inside) : inside)
  );
