/**
 * What is shown of an object that cannot be converted. A write would store it in place of the object, so the CRD rejects each one
 * that changes it, through the subresources as well, which admission does not see. Finalizers may be removed from it.
 */
import type { JsonObject } from "../data/json.ts";
import type { Rule } from "./rule.ts";
import { StatusV1alpha1, V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION, Status } from "./v1alpha2.ts";

/** A distribution that no server has. */
const UNCONVERTED = "unconverted";

/** The specs, by version: the least that the schema takes. An autoscaler leaves what has 0 replicas as it is. */
export const UNCONVERTED_SPECS: Readonly<Record<string, JsonObject>> = {
  [V1ALPHA1]: { replicas: 0, server: { distribution: { name: UNCONVERTED } } },
  [API_VERSION]: { distribution: { name: UNCONVERTED }, workload: { replicas: 0 } },
};

const MESSAGE = "this object cannot be converted to this API version, and the write would remove everything but its " +
  "name; write it in the other version";

const OBSERVED = "observedGeneration";

const rulesOf = (
  distribution: string,
  replicas: string,
  status: ReadonlyArray<string>,
): ReadonlyArray<Rule> => {
  const steps = (path: string) =>
    path.split(".").map((_, index, all) => `has(self.${all.slice(0, index + 1).join(".")})`);
  const whole = (path: string) => steps(path).join(" && ");
  const isOther = `!(${whole(distribution)} && self.${distribution} == '${UNCONVERTED}')`;
  const rest = { message: MESSAGE, reason: "FieldValueForbidden", broken: () => undefined } as const;
  const fields = status.filter((field) => field !== OBSERVED).map((field) => `has(self.status.${field})`);
  return [
    {
      ...rest,
      at: "spec",
      cel: `${isOther} || (${whole(replicas)} && self.${replicas} == 0)`,
      fieldPath: `.${replicas}`,
    },
    {
      ...rest,
      at: "",
      cel: `${isOther.replaceAll("self.", "self.spec.")} || !has(self.status) || !(${
        [...fields, `(has(self.status.${OBSERVED}) && self.status.${OBSERVED} != -1)`].join(" || ")
      })`,
      fieldPath: ".status",
    },
  ];
};

export const UNCONVERTED_RULES = rulesOf(
  "distribution.name",
  "workload.replicas",
  Object.keys(Status.fields),
);
export const UNCONVERTED_RULES_V1ALPHA1 = rulesOf(
  "server.distribution.name",
  "replicas",
  Object.keys(StatusV1alpha1.fields),
);
