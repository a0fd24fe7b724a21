/** Images of the published servers on the test node; the tags contain their versions. */
export const IMAGES = {
  starter: "docker.io/llamastack/distribution-starter:0.7.3",
  ogxStarter: "docker.io/ogxai/distribution-starter:1.5.0",
  /** What holds the network of each pod. */
  pause: "docker.io/library/pause:test",
} as const;
