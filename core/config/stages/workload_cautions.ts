/** Warnings about fields of the workload that do nothing, or that make an autoscaler useless. */
import type { Spec } from "../../api/v1alpha2.ts";
import { amount } from "../../data/quantity.ts";
import { type Warning, warning } from "../../failure/warning.ts";

export const workloadCautions = ({ workload }: Spec): ReadonlyArray<Warning> => [
  ...existingClaim(workload?.storage),
  ...withoutRequest(workload),
];

type Workload = NonNullable<Spec["workload"]>;

/** The API server fills in the default of retentionPolicy, which says nothing about the author. */
const existingClaim = (storage: Workload["storage"]): ReadonlyArray<Warning> => {
  if (storage?.existingClaim === undefined) return [];
  const { accessMode, retentionPolicy } = storage;
  const path = ["spec", "workload", "storage"];
  return [
    ...(retentionPolicy === "Delete"
      ? [
        warning(
          "FieldNotRead",
          [...path, "retentionPolicy"],
          "an existing claim is never deleted by the operator; remove retentionPolicy",
        ),
      ]
      : []),
    // ReadWriteMany lets two pods run during a rollout.
    ...(accessMode === undefined || accessMode === "ReadWriteMany" ? [] : [
      warning(
        "FieldNotRead",
        [...path, "accessMode"],
        "an existing claim keeps its access mode; remove accessMode, or write ReadWriteMany if the claim has it",
      ),
    ]),
  ];
};

/** Utilization is a share of the request, so a request of 0 has none. */
const withoutRequest = (workload: Spec["workload"]): ReadonlyArray<Warning> => {
  const { autoscaling } = workload ?? {};
  if (autoscaling === undefined || autoscaling.maxReplicas < 1) return [];
  const { targetCPUUtilizationPercentage: cpu, targetMemoryUtilizationPercentage: memory } = autoscaling;
  const { requests = {}, limits = {} } = workload?.resources ?? {};
  // The autoscaler has a target for the CPU unless there is one for the memory alone.
  return [...(cpu === undefined && memory !== undefined ? [] : ["cpu"]), ...(memory === undefined ? [] : ["memory"])]
    .filter((name) => amount(requests[name] ?? limits[name]) === 0)
    .map((name) =>
      warning(
        "AutoscalerWithoutRequest",
        ["spec", "workload", "resources", requests[name] === undefined ? "limits" : "requests", name],
        "the autoscaler cannot compute the utilization of a request of 0; set a larger request",
      )
    );
};
