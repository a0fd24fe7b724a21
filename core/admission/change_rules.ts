/**
 * Rules that a stored v1alpha1 object may violate: neither the schema nor reconciliation rejects it, only an edit that
 * introduces the violation.
 */
import { formatPath } from "../data/field_path.ts";
import { at, isObject, type Json, type JsonObject } from "../data/json.ts";
import type { Finding } from "./change.ts";

export interface ChangeRule {
  /** The field that is reported; the rule checks the block around it. */
  readonly path: ReadonlyArray<string>;
  /** The message after the path; undefined if the rule is fulfilled. */
  readonly broken: (value: Json) => string | undefined;
}

/** Every rule that a field of the resource breaks. */
export const changeFindings = (resource: JsonObject): ReadonlyArray<Finding> =>
  CHANGE_RULES.flatMap(({ path, broken }) => {
    const value = at(resource, ...path);
    const detail = value === undefined ? undefined : broken(value);
    return detail === undefined ? [] : [{ path, message: `${formatPath(path)}: ${detail}` }];
  });

const within = (min: number, max: number | undefined, why: string) => (value: Json): string | undefined =>
  typeof value === "number" && (value < min || max !== undefined && value > max)
    ? `${value} is invalid: ${why}`
    : undefined;

const SCALING = ["spec", "workload", "autoscaling"];

/** Percent of a request; more than this is a slip of the pen for every server that we know. */
const PERCENT_MAX = 1000;
const percentage = within(1, PERCENT_MAX, `use 1 to ${PERCENT_MAX} percent of the request`);

const SERVER_PORT_MIN = 1024;

export const CHANGE_RULES: ReadonlyArray<ChangeRule> = [
  {
    path: ["spec", "workload", "podDisruptionBudget"],
    broken: (block) =>
      isObject(block) && Object.keys(block).length === 0
        ? "it is empty; set minAvailable or maxUnavailable, or remove the block"
        : undefined,
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
