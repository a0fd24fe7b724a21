/**
 * Rules that a stored v1alpha1 object may violate: the schema does not reject them and reconciliation only warns, but admission
 * and the command line reject whoever writes them today.
 */
import { EXTERNAL_LISTS } from "./api_names.ts";
import { isHostName } from "./gateway_rules.ts";
import { isImageReference } from "../data/image_reference.ts";
import { isNamespaceName, isObjectName } from "./object_names.ts";
import { carriedBy } from "./convert/annotation.ts";
import { CONTAINER_NAME_DEFAULT } from "./v1alpha1.ts";
import { ruleFindings, TOLERATED_RULES } from "./rules.ts";
import { PORT_DEFAULT } from "./v1alpha2.ts";
import * as Result from "effect/Result";
import { FINDINGS_MAX } from "../data/limits.ts";
import type { Broken, ChangeRule } from "./change_rule.ts";
import type { Rejection } from "../failure/rejection.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject, member, stringAt } from "../data/json.ts";
import { quoted } from "../data/printable.ts";
import { isAnnotationKey, isLabelKey } from "./object_labels.ts";
import { RuleBroken } from "../failure/failures.ts";
import { isReadLater } from "../failure/read_later.ts";
import { type Warning, warning } from "../failure/warning.ts";

/** Every rule that the resource breaks; a hostile one breaks very many, so their number is bounded. */
export const changeFindings = (resource: Json): ReadonlyArray<RuleBroken> => {
  const found: Array<RuleBroken> = [...portFindings(resource), ...toleratedFindings(resource)];
  for (const { path, broken: check } of CHANGE_RULES) {
    const value = at(resource, ...path);
    if (value === undefined) continue;
    for (const { at: inner, detail } of check(value)) {
      if (found.length === FINDINGS_MAX) return found;
      found.push(new RuleBroken({ path: [...path, ...inner], detail }));
    }
  }
  return found;
};

const toleratedFindings = (resource: Json): ReadonlyArray<RuleBroken> =>
  !isObject(resource)
    ? []
    : ruleFindings(resource, TOLERATED_RULES).map(({ rule, path, message }) =>
      new RuleBroken({ path, detail: `${message}; where a resource has it already, ${rule.tolerated}` })
    );

const PORT = ["spec", "server", "containerSpec", "port"];

/** A port of v1alpha1 that no server can have; v1alpha2 cannot hold it, so the conversion puts it into an annotation. */
export const portFindings = (resource: Json): ReadonlyArray<RuleBroken> => {
  const { leftovers } = isObject(resource) ? carriedBy(resource, "v1alpha1") : { leftovers: [] };
  const port = leftovers.find(({ at: path }) => formatPath(path) === formatPath(PORT))?.to;
  // The Go operator reads 0 as its default.
  return typeof port !== "number" || port === 0 ? [] : [
    new RuleBroken({
      path: PORT,
      detail: `not a TCP port, so that the server would use ${PORT_DEFAULT}: ${port}; use ${SERVER_PORT_MIN} to 65535`,
    }),
  ];
};

/** The verdict on a resource that is written now; a field that is rejected already is not reported twice. */
export const withChangeFindings = <A, R extends Rejection<{ readonly path: FieldPath }>>(
  resource: Json,
  derived: Result.Result<A, R>,
): Result.Result<A, Rejection<R["failures"][number] | RuleBroken>> => {
  const { failures, warnings } = Result.isFailure(derived) ? derived.failure : { failures: [], warnings: [] };
  const findings = changeFindings(resource);
  // No registry will have labels of an image that cannot be pulled.
  const kept = failures.filter((failure) => !(isReadLater(failure) && findings.some(isAt(failure))));
  const more = findings.filter((finding) => !kept.some(isAt(finding)));
  return Result.isSuccess(derived) && more.length === 0
    ? Result.succeed(derived.success)
    : Result.fail({ failures: [...kept, ...more], warnings });
};

type Placed = { readonly path: FieldPath };
const isAt = ({ path }: Placed) => (other: Placed): boolean => formatPath(other.path) === formatPath(path);

/** The same findings as warnings, for a stored resource: its server keeps running. */
export const storedWarnings = (resource: JsonObject): ReadonlyArray<Warning> => {
  const { leftovers } = carriedBy(resource, "v1alpha1");
  const namespace = stringAt(resource, "metadata", "namespace");
  return [
    ...changeFindings(resource).map(({ path, detail }) => warning("AcceptedBefore", path, detail)),
    ...unusedFields(namespace, (path) => leftovers.find(({ at }) => formatPath(at) === formatPath(path))?.to),
  ];
};

/** Warnings for fields of v1alpha1 that the Go operator uses and this one does not. */
export const unusedWarnings = (v1alpha1: Json): ReadonlyArray<Warning> =>
  unusedFields(stringAt(v1alpha1, "metadata", "namespace"), (path) => at(v1alpha1, ...path));

const CONTAINER_NAME = ["spec", "server", "containerSpec", "name"];
const CONFIG_NAMESPACE = ["spec", "server", "userConfig", "configMapNamespace"];

const unusedFields = (
  namespace: string | undefined,
  valueAt: (path: ReadonlyArray<string>) => Json | undefined,
): ReadonlyArray<Warning> => {
  const [name, other] = [valueAt(CONTAINER_NAME), valueAt(CONFIG_NAMESPACE)];
  return [
    ...(typeof name !== "string" || name === "" || name === CONTAINER_NAME_DEFAULT ? [] : [
      warning(
        "FieldNotRead",
        CONTAINER_NAME,
        `the container is always called ${CONTAINER_NAME_DEFAULT}; adapt what refers to it`,
      ),
    ]),
    ...(typeof other !== "string" || other === "" || other === namespace ? [] : [
      warning(
        "FieldNotRead",
        CONFIG_NAMESPACE,
        "ConfigMaps of other namespaces are not read; create the ConfigMap in the namespace of the resource",
      ),
    ]),
  ];
};

const broken = (detail: string, ...path: FieldPath): Broken => ({ at: path, detail });

/** A rule for a text; values of other types are rejected by the schema. */
const text = (isValid: (value: string) => boolean, says: (shown: string) => string) =>
  function* (value: Json): Generator<Broken> {
    if (typeof value === "string" && !isValid(value)) yield broken(says(quoted(value)));
  };

/** A rule for each item of a list, or for one field of each. */
const each = (check: ChangeRule["broken"], field?: string) =>
  function* (value: Json): Generator<Broken> {
    for (const [index, item] of (isList(value) ? value : []).entries()) {
      const inner = field === undefined ? item : member(item, field);
      const steps = field === undefined ? [index] : [index, field];
      for (const { at: path, detail } of check(inner ?? null)) yield { at: [...steps, ...path], detail };
    }
  };

/** A registry is asked with it, and scripts of the operator name it. */
const image = text(
  isImageReference,
  (shown) =>
    `not an image reference: ${shown}; use a reference such as quay.io/team/server:1.0, without scheme and variables`,
);

const within = (min: number, max: number | undefined, why: string) =>
  function* (value: Json): Generator<Broken> {
    if (typeof value === "number" && (value < min || max !== undefined && value > max)) {
      yield broken(`${value} is invalid: ${why}`);
    }
  };

const EXPOSE = ["spec", "networking", "expose"];

/** An empty one has a rule of its own. */
const hostname = text(
  (host) => host === "" || isHostName(host),
  (shown) =>
    `not a host name: ${shown}; use a DNS name in lower case such as chat.example.com, with a wildcard only as in *.example.com`,
);

const annotationKeys = function* (value: Json): Generator<Broken> {
  for (const key of isObject(value) ? Object.keys(value) : []) {
    if (!isAnnotationKey(key)) {
      yield broken(`not the key of an annotation: ${quoted(key)}; use a key such as example.com/team`, key);
    }
  }
};

const SCALING = ["spec", "workload", "autoscaling"];

/** Percent of a request; a larger value is a typing error for every known server. */
const PERCENT_MAX = 1000;
const percentage = within(1, PERCENT_MAX, `use 1 to ${PERCENT_MAX} percent of the request`);

const SERVER_PORT_MIN = 1024;

const CHANGE_RULES: ReadonlyArray<ChangeRule> = [
  { path: ["spec", "distribution", "image"], broken: image },
  ...EXTERNAL_LISTS.map(({ field }) => ({ path: ["spec", "externalProviders", field], broken: each(image, "image") })),
  // Peers with such a name would be left out of the NetworkPolicy: the API server would reject all of it.
  {
    path: ["spec", "networking", "allowedFrom", "namespaces"],
    broken: each(text(
      (name) => name === "*" || isNamespaceName(name),
      (shown) =>
        `not the name of a namespace: ${shown}; use a name, or "*" for all; patterns are not supported, use allowedFrom.labels`,
    )),
  },
  {
    path: ["spec", "networking", "allowedFrom", "labels"],
    broken: each(text(
      isLabelKey,
      (shown) => `not a label key: ${shown}; use a key such as example.com/team, without a value`,
    )),
  },
  // Of objects beside the Deployment: the API server would reject the whole Ingress, Route, HTTPRoute or Service.
  { path: [...EXPOSE, "hostname"], broken: hostname },
  {
    path: [...EXPOSE, "ingressClassName"],
    broken: text(
      (name) => name === "" || isObjectName(name),
      (shown) => `not the name of an IngressClass: ${shown}; use lower case letters, digits, - and .`,
    ),
  },
  { path: [...EXPOSE, "annotations"], broken: annotationKeys },
  { path: ["spec", "networking", "serviceAnnotations"], broken: annotationKeys },
  // The API server accepts it, and the server would have its data outside of the volume.
  {
    path: ["spec", "workload", "storage", "mountPath"],
    broken: text(
      (path) => path === "" || path.startsWith("/"),
      (shown) => `not an absolute path: ${shown}; begin it with "/"`,
    ),
  },
  {
    path: ["spec", "workload", "podDisruptionBudget"],
    broken: function* (block) {
      if (isObject(block) && Object.keys(block).length === 0) {
        yield broken("must not be empty; set minAvailable or maxUnavailable, or remove the block");
      }
    },
  },
  { path: [...SCALING, "minReplicas"], broken: within(1, undefined, "an autoscaler keeps at least 1 pod") },
  { path: [...SCALING, "maxReplicas"], broken: within(1, undefined, "an autoscaler keeps at least 1 pod") },
  { path: [...SCALING, "targetCPUUtilizationPercentage"], broken: percentage },
  { path: [...SCALING, "targetMemoryUtilizationPercentage"], broken: percentage },
  {
    path: ["spec", "networking", "port"],
    broken: within(
      SERVER_PORT_MIN,
      undefined,
      `servers reject ports below ${SERVER_PORT_MIN}; use ${SERVER_PORT_MIN} to 65535`,
    ),
  },
];
