/**
 * Values that the schema accepts and the API server rejects, but only in the objects that the operator creates from
 * them: the author would learn of the mistake after the write. Source: the API validation of Kubernetes.
 */
import { isNamespaceName, isObjectName } from "../api/object_names.ts";
import { isList, isObject, type Json, type JsonObject, listAt, stringAt } from "../data/json.ts";
import { amount } from "../data/quantity.ts";
import { isLabelKey, isLabelValue } from "../operator/labels.ts";
import type { ChangeRule } from "./change_rule.ts";

const OVERRIDES = ["spec", "workload", "overrides"];

const itemsOf = (value: Json): ReadonlyArray<Json> => isList(value) ? value : [];

/** The first item that is not valid, with what is expected instead. */
const each = (isValid: (item: string) => boolean, expected: string) => (value: Json): string | undefined => {
  const wrong = itemsOf(value).find((item) => typeof item === "string" && !isValid(item));
  return wrong === undefined ? undefined : `"${wrong}" is invalid: ${expected}`;
};

const keysOf = (value: Json): ReadonlyArray<string> => isObject(value) ? Object.keys(value) : [];

const annotationKeys = (value: Json): string | undefined => {
  const wrong = keysOf(value).find((key) => !isLabelKey(key));
  return wrong === undefined
    ? undefined
    : `"${wrong}" is not an annotation key; expected a key such as example.com/name`;
};

const labels = (value: Json): string | undefined => {
  if (!isObject(value)) return undefined;
  const wrong = Object.entries(value).find(([key, text]) =>
    !isLabelKey(key) || typeof text === "string" && !isLabelValue(text)
  );
  return wrong === undefined
    ? undefined
    : `"${wrong[0]}" is not a label: keys and values consist of letters, digits, "-", "_" and ".", up to 63 characters`;
};

const objectName = (value: Json): string | undefined =>
  typeof value === "string" && value !== "" && !isObjectName(value)
    ? `"${value}" is not the name of an object: use lower case letters, digits, "-" and "."`
    : undefined;

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const hostname = (value: Json): string | undefined =>
  typeof value === "string" && value !== "" && !HOST.test(value)
    ? `"${value}" is not a host name; expected a name such as llama.example.com, without scheme, port and path`
    : undefined;

const count = (value: Json): string | undefined =>
  typeof value === "string" && !/^[0-9]+%?$/.test(value) || typeof value === "number" && value < 0
    ? `"${value}" is invalid: expected a number of pods, or a percentage such as 50%`
    : undefined;

/** Resources of a node; all others have a domain in their name. */
const isPlain = (name: string): boolean =>
  ["cpu", "memory", "ephemeral-storage"].includes(name) || name.startsWith("hugepages-");

const quantities = (value: Json): string | undefined => {
  const [requests, limits] = ["requests", "limits"].map((key) => {
    const map = isObject(value) ? value[key] : undefined;
    return isObject(map) ? map : {};
  }) as [JsonObject, JsonObject];
  for (const [list, map] of [["requests", requests], ["limits", limits]] as const) {
    for (const [name, text] of Object.entries(map)) {
      if (!isPlain(name) && !name.includes("/")) {
        return `${list}.${name}: unknown resource; use cpu, memory, ephemeral-storage, or a name with a domain such as ` +
          "nvidia.com/gpu";
      }
      if ((amount(text) ?? 0) < 0) return `${list}.${name}: must not be negative`;
    }
  }
  for (const [name, text] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined && !isPlain(name)) return `requests.${name}: set limits.${name} to the same value`;
    if (limit !== undefined && (amount(text) ?? 0) > (amount(limit) ?? Infinity)) {
      return `requests.${name} is larger than limits.${name}; lower the request, or raise the limit`;
    }
  }
  return undefined;
};

/** In every pod of the operator. */
const OWN_VOLUMES = ["lls-storage", "tmp"];

const volumes = (value: Json): string | undefined => {
  const names = itemsOf(value).flatMap((item) => stringAt(item, "name") ?? []);
  const own = names.find((name) => OWN_VOLUMES.includes(name));
  if (own !== undefined) return `the name "${own}" is used by the operator; choose another one`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `two volumes are named "${twice}"`;
  const wrong = itemsOf(value).filter(isObject).find((item) =>
    Object.keys(item).filter((key) => key !== "name").length !== 1
  );
  return wrong === undefined
    ? undefined
    : `volume "${stringAt(wrong, "name") ?? ""}" must have exactly one kind, such as emptyDir or configMap`;
};

/** Mounts refer to the volumes beside them. */
const mounts = (value: Json): string | undefined => {
  const named = [...OWN_VOLUMES, ...listAt(value, "volumes").flatMap((item) => stringAt(item, "name") ?? [])];
  const paths = listAt(value, "volumeMounts").map((item) => stringAt(item, "mountPath"));
  for (const [index, item] of listAt(value, "volumeMounts").entries()) {
    const [name = "", path] = [stringAt(item, "name"), paths[index]];
    if (!named.includes(name)) return `volumeMounts[${index}].name: no volume is named "${name}"; add it to volumes`;
    if (path !== undefined && paths.indexOf(path) !== index) return `two volumeMounts have the mountPath "${path}"`;
  }
  return undefined;
};

const absolute = (value: Json): string | undefined =>
  typeof value === "string" && value !== "" && !value.startsWith("/")
    ? `"${value}" is not an absolute path; begin it with "/"`
    : undefined;

const variables = (value: Json): string | undefined => {
  const wrong = itemsOf(value).map((item) => stringAt(item, "name")).find((name) =>
    name !== undefined && (name === "" || name.includes("="))
  );
  return wrong === undefined ? undefined : `"${wrong}" is not the name of an environment variable`;
};

const spread = (value: Json): string | undefined => {
  for (const item of itemsOf(value).filter(isObject)) {
    if (typeof item.maxSkew === "number" && item.maxSkew < 1) return "maxSkew must be at least 1";
    if (item.topologyKey === "") return "topologyKey is empty; use a label of nodes such as kubernetes.io/hostname";
  }
  return undefined;
};

export const OBJECT_RULES: ReadonlyArray<ChangeRule> = [
  {
    path: ["spec", "networking", "allowedFrom", "namespaces"],
    broken: each(
      (name) => name === "*" || isNamespaceName(name),
      'expected the name of a namespace, or "*" for all; patterns are not supported, use allowedFrom.labels',
    ),
  },
  {
    path: ["spec", "networking", "allowedFrom", "labels"],
    broken: each(isLabelKey, "expected a label key such as example.com/team, without a value"),
  },
  { path: ["spec", "networking", "expose", "hostname"], broken: hostname },
  { path: ["spec", "networking", "expose", "annotations"], broken: annotationKeys },
  { path: ["spec", "networking", "serviceAnnotations"], broken: annotationKeys },
  { path: ["spec", "workload", "podDisruptionBudget", "minAvailable"], broken: count },
  { path: ["spec", "workload", "podDisruptionBudget", "maxUnavailable"], broken: count },
  { path: ["spec", "workload", "resources"], broken: quantities },
  { path: ["spec", "workload", "topologySpreadConstraints"], broken: spread },
  { path: ["spec", "workload", "storage", "mountPath"], broken: absolute },
  { path: OVERRIDES, broken: mounts },
  { path: [...OVERRIDES, "podAnnotations"], broken: annotationKeys },
  { path: [...OVERRIDES, "podLabels"], broken: labels },
  { path: [...OVERRIDES, "nodeSelector"], broken: labels },
  { path: [...OVERRIDES, "priorityClassName"], broken: objectName },
  { path: [...OVERRIDES, "runtimeClassName"], broken: objectName },
  { path: [...OVERRIDES, "volumes"], broken: volumes },
  { path: [...OVERRIDES, "env"], broken: variables },
  {
    path: [...OVERRIDES, "terminationGracePeriodSeconds"],
    broken: (value) =>
      typeof value === "number" && value < 0 ? `${value} is invalid: use 0 or more seconds` : undefined,
  },
];
