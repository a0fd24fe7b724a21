/** Images of the published servers as a node here has them; the tags tell the operator their versions. */
export const IMAGES = {
  starter: "docker.io/llamastack/distribution-starter:0.7.3",
  ogxStarter: "docker.io/ogxai/distribution-starter:1.5.0",
  /** What holds the network of each pod. */
  pause: "docker.io/library/pause:test",
} as const;
