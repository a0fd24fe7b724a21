/** Reasons of the kubelet for a container that waits, and will not start without a change. */
import { type JsonObject, listAt, stringAt } from "../data/json.ts";

export const PULL_REASONS = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
];
export const CONFIG_REASONS = ["CreateContainerConfigError", "CreateContainerError", "RunContainerError"];

/** Whether a node cannot pull an image of the pod. */
export const cannotPull = (pod: JsonObject): boolean =>
  [...listAt(pod, "status", "initContainerStatuses"), ...listAt(pod, "status", "containerStatuses")]
    .some((status) => PULL_REASONS.includes(stringAt(status, "state", "waiting", "reason") ?? ""));
