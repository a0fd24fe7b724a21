/** Whether the pod of a resource may run as root, as it may by a setting of the operator. */
import type { Spec } from "./v1alpha2.ts";

export const mayBeRoot = ({ workload }: Pick<Spec, "workload">): boolean => {
  const { runAsUser, runAsNonRoot } = (workload?.overrides?.securityContext ?? {}) as {
    readonly runAsUser?: number;
    readonly runAsNonRoot?: boolean;
  };
  return runAsUser === 0 || runAsNonRoot === false;
};
