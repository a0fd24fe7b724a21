/** Reasons of the kubelet for a container that waits, and will not start without a change. */
import type { LivePod } from "../snapshot/live_pod.ts";

export const PULL_REASONS = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
];
export const CONFIG_REASONS = ["CreateContainerConfigError", "CreateContainerError", "RunContainerError"];

/** Whether a node cannot pull an image of the pod. */
export const cannotPull = ({ initContainers, containers }: LivePod): boolean =>
  [...initContainers, ...containers].some(({ state }) =>
    state._tag === "Waiting" && PULL_REASONS.includes(state.reason ?? "")
  );
