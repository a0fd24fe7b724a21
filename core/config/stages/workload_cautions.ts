/** Warnings about fields of the workload that do nothing, or that make an autoscaler useless. */
import type { Spec } from "../../api/v1alpha2.ts";
import { amount } from "../../data/quantity.ts";
import { type Warning, warning } from "../../failure/warning.ts";

export const workloadCautions = ({ workload, externalProviders }: Spec): ReadonlyArray<Warning> => [
  ...existingClaim(workload),
  ...sharedClaim(workload),
  ...withoutRequest(workload),
  ...withoutRoom(workload),
  ...unreadReplicas(workload),
  ...inBytes(workload, externalProviders),
];

/** The most pods of one server, as far as it is known; a maximum of 0 switches an autoscaler off. */
export const mostPods = (workload: Spec["workload"]): number =>
  isScaledOutside(workload)
    ? workload?.storage?.accessMode === "ReadWriteOncePod" ? 1 : SEVERAL
    : Math.max(workload?.replicas ?? 1, workload?.autoscaling?.maxReplicas ?? 1);

export const isScaledOutside = (workload: Spec["workload"]): boolean => workload?.scaling === "External";

/** Who scales from outside wants more than one pod at times, unless the claim is for one pod alone. */
const SEVERAL = 2;

/** The API server writes 1 into every resource that leaves the number out. */
const unreadReplicas = (workload: Spec["workload"]): ReadonlyArray<Warning> =>
  !isScaledOutside(workload) || (workload?.replicas ?? 1) === 1 ? [] : [
    warning(
      "FieldNotRead",
      ["spec", "workload", "replicas"],
      "ignored with scaling External; remove it, and let what scales the pods use the Deployment as its target",
    ),
  ];

/** Wherever the server keeps its data: the pods mount the claim in any case. */
const sharedClaim = (workload: Spec["workload"]): ReadonlyArray<Warning> => {
  const { storage } = workload ?? {};
  const pods = mostPods(workload);
  if (storage === undefined || storage.accessMode === "ReadWriteMany" || pods < 2) return [];
  const { accessMode = "ReadWriteOnce", existingClaim: name } = storage;
  const who = accessMode === "ReadWriteOncePod" ? "one pod alone mounts" : "pods on one node alone mount";
  const way = name === undefined
    ? "remove spec.workload.storage if databases hold all data, or, before the claim is created, set spec.workload.storage.accessMode to ReadWriteMany"
    : "set spec.workload.storage.accessMode to ReadWriteMany if the claim has it, or remove spec.workload.storage if databases hold all data";
  return [
    warning(
      "SharedClaim",
      ["spec", "workload", "storage", "accessMode"],
      `${way}: ${who} a ${accessMode} claim, and ${
        isScaledOutside(workload) ? "further pods" : `the other ones of ${pods} pods`
      } would not start${
        isScaledOutside(workload) && name === undefined
          ? "; for a scaler with a maximum of 1, ReadWriteOncePod says so"
          : ""
      }`,
    ),
  ];
};

/** Such an autoscaler never changes the number of pods. */
const withoutRoom = (workload: Spec["workload"]): ReadonlyArray<Warning> => {
  const { minReplicas, maxReplicas = 0 } = workload?.autoscaling ?? {};
  const replicas = workload?.replicas ?? 1;
  // Where replicas are above the minimum, that is said already (cautions.ts).
  if (maxReplicas < 1 || Math.max(minReplicas ?? 1, replicas) < maxReplicas || replicas > (minReplicas ?? replicas)) {
    return [];
  }
  const lower = [
    ...(replicas >= maxReplicas && maxReplicas > 1 ? ["spec.workload.replicas"] : []),
    ...((minReplicas ?? 1) >= maxReplicas && maxReplicas > 1 ? ["minReplicas"] : []),
  ];
  return [
    warning(
      "AutoscalerWithoutRoom",
      ["spec", "workload", "autoscaling", "maxReplicas"],
      `raise it${
        lower.length === 0 ? "" : `, or lower ${lower.join(" and ")}`
      }: the autoscaler keeps at least and at most ${count(maxReplicas, "pod")}, so that it never scales`,
    ),
  ];
};

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** No volume or server is that small: the unit was left out. */
const BYTES_MIN = 2 ** 20;

const inBytes = (workload: Spec["workload"], external: Spec["externalProviders"]): ReadonlyArray<Warning> => {
  const { requests = {}, limits = {} } = workload?.resources ?? {};
  const at = ["spec", "workload"];
  const sizes = [
    { path: [...at, "storage", "size"], size: workload?.storage?.size },
    { path: ["spec", "externalProviders", "volumeSizeLimit"], size: external?.volumeSizeLimit },
    ...Object.entries({ requests, limits }).flatMap(([kind, amounts]) =>
      ["memory", "ephemeral-storage"].map((name) => ({ path: [...at, "resources", kind, name], size: amounts[name] }))
    ),
  ];
  return sizes.flatMap(({ path, size }) => {
    const bytes = amount(size) ?? 0;
    return bytes <= 0 || bytes >= BYTES_MIN ? [] : [
      warning(
        "AmountInBytes",
        path,
        `write a unit, such as ${Math.ceil(bytes)}Gi: ${size} means ${count(bytes, "byte")}`,
      ),
    ];
  });
};

/** The API server fills in the default of retentionPolicy, which says nothing about the author. */
const existingClaim = (workload: Spec["workload"]): ReadonlyArray<Warning> => {
  const { storage } = workload ?? {};
  if (storage?.existingClaim === undefined) return [];
  const { accessMode, retentionPolicy } = storage;
  // ReadWriteMany lets two pods run during a rollout, and ReadWriteOncePod tells that no scaler makes two.
  const isRead = accessMode === undefined || accessMode === "ReadWriteMany" ||
    accessMode === "ReadWriteOncePod" && isScaledOutside(workload);
  const path = ["spec", "workload", "storage"];
  return [
    ...(retentionPolicy === "Delete"
      ? [
        warning(
          "FieldNotRead",
          [...path, "retentionPolicy"],
          "an existing claim is never deleted by the operator; remove the field",
        ),
      ]
      : []),
    ...(isRead ? [] : [
      warning(
        "FieldNotRead",
        [...path, "accessMode"],
        "an existing claim keeps its access mode; remove the field, or write ReadWriteMany if the claim has it",
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
