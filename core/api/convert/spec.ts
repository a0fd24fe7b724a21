/** The fields that both versions have, with their path in each. */
import { at, isList, isObject, type Json, type JsonObject, listAt, member, omit, put } from "../../data/json.ts";
import { CONTAINER_NAME_DEFAULT } from "../v1alpha1.ts";

/** One field in both versions, by its path under spec. */
interface Moved {
  readonly old: ReadonlyArray<string>;
  readonly now: ReadonlyArray<string>;
  /** Whether v1alpha2 can hold what v1alpha1 has; what it cannot is left over. */
  readonly holds?: (value: Json) => boolean;
  /** A field of the block that v1alpha1 lacks; it is left over. */
  readonly without?: string;
}

/** Go's way of saying that there is none. */
const named = (value: Json): boolean => value !== "";

export const MOVED: ReadonlyArray<Moved> = [
  { old: ["server", "distribution", "name"], now: ["distribution", "name"], holds: named },
  { old: ["server", "distribution", "image"], now: ["distribution", "image"], holds: named },
  {
    old: ["server", "containerSpec", "port"],
    now: ["networking", "port"],
    // 0 meant the default to the Go operator; no server can have the others.
    holds: (value) => typeof value !== "number" || value >= 1 && value <= 65535,
  },
  {
    old: ["server", "tlsConfig", "caBundle"],
    now: ["networking", "tls", "caBundle"],
    holds: (value) => !isObject(value) || value.configMapName !== "",
    without: "exclusive",
  },
  { old: ["replicas"], now: ["workload", "replicas"] },
  { old: ["server", "workers"], now: ["workload", "workers"] },
  { old: ["server", "containerSpec", "resources"], now: ["workload", "resources"] },
  { old: ["server", "autoscaling"], now: ["workload", "autoscaling"] },
  { old: ["server", "podDisruptionBudget"], now: ["workload", "podDisruptionBudget"] },
  { old: ["server", "topologySpreadConstraints"], now: ["workload", "topologySpreadConstraints"] },
  { old: ["server", "storage", "size"], now: ["workload", "storage", "size"] },
  { old: ["server", "storage", "mountPath"], now: ["workload", "storage", "mountPath"] },
  {
    old: ["server", "podOverrides", "serviceAccountName"],
    now: ["workload", "overrides", "serviceAccountName"],
    holds: named,
  },
  {
    old: ["server", "podOverrides", "terminationGracePeriodSeconds"],
    now: ["workload", "overrides", "terminationGracePeriodSeconds"],
  },
  { old: ["server", "containerSpec", "env"], now: ["workload", "overrides", "env"] },
  { old: ["server", "containerSpec", "command"], now: ["workload", "overrides", "command"] },
  { old: ["server", "containerSpec", "args"], now: ["workload", "overrides", "args"] },
  { old: ["server", "podOverrides", "volumes"], now: ["workload", "overrides", "volumes"] },
  { old: ["server", "podOverrides", "volumeMounts"], now: ["workload", "overrides", "volumeMounts"] },
  { old: ["server", "externalProviders"], now: ["externalProviders"] },
  { old: ["server", "userConfig", "configMapName"], now: ["overrideConfig", "configMapName"], holds: named },
];

/** Blocks that have a meaning even if empty. */
export const BLOCKS: ReadonlyArray<Moved> = [
  { old: ["server", "distribution"], now: ["distribution"] },
  { old: ["server", "storage"], now: ["workload", "storage"] },
];

export const specToV1alpha2 = (old: Json | undefined): JsonObject => {
  const start = BLOCKS.reduce(
    (made, { old: from, now }) => isObject(at(old, ...from)) ? put(made, now, {}) : made,
    {} as JsonObject,
  );
  const moved = MOVED.reduce((made, { old: from, now, holds }) => {
    const value = at(old, ...from);
    return value === undefined || holds?.(value) === false ? made : put(made, now, value);
  }, start);
  const network = member(old, "network");
  const allowed = member(network, "allowedFrom");
  const exposed = member(network, "exposeRoute") === true ? put(moved, ["networking", "expose"], {}) : moved;
  return allowed === undefined ? exposed : put(exposed, ["networking", "allowedFrom"], withoutEmptyNames(allowed));
};

export const specToV1alpha1 = (now: Json | undefined): JsonObject => {
  const start = BLOCKS.reduce(
    (made, { old: to, now: from }) => isObject(at(now, ...from)) ? put(made, to, {}) : made,
    {} as JsonObject,
  );
  const moved = MOVED.reduce((made, { old: to, now: from, without }) => {
    const value = at(now, ...from);
    if (value === undefined) return made;
    return put(made, to, without !== undefined && isObject(value) ? omit(value, without) : value);
  }, start);
  // The API server would fill these two in on the next write, and the object would differ from what it is in v1alpha2.
  const container = isObject(at(moved, "server", "containerSpec"))
    ? put(moved, ["server", "containerSpec", "name"], CONTAINER_NAME_DEFAULT)
    : moved;
  const expose = at(now, "networking", "expose");
  const allowed = at(now, "networking", "allowedFrom");
  const isExposed = isObject(expose) && expose.enabled !== false;
  if (!isExposed && allowed === undefined) return container;
  return put(container, ["network"], {
    exposeRoute: isExposed,
    ...(allowed === undefined ? {} : { allowedFrom: allowed }),
  });
};

const withoutEmptyNames = (allowed: Json): Json =>
  ["namespaces", "labels"].reduce<Json>(
    (found, field) =>
      isObject(found) && isList(found[field])
        ? { ...found, [field]: listAt(found, field).filter((name) => name !== "") }
        : found,
    allowed,
  );
