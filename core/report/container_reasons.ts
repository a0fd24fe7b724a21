/** Reasons of the kubelet for a container that waits, and will not start without a change. */

export const PULL_REASONS = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
];
export const CONFIG_REASONS = ["CreateContainerConfigError", "CreateContainerError", "RunContainerError"];
