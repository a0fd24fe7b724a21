import type { ServerVersion } from "../../install/python_server.ts";

/** Images of the published servers on the test node; the tags contain their versions. */
export const IMAGES = {
  starter: "docker.io/llamastack/distribution-starter:0.7.3",
  ogxStarter: "docker.io/ogxai/distribution-starter:1.5.0",
  /** What holds the network of each pod. */
  pause: "docker.io/library/pause:test",
} as const;

/** The servers that a node can have images of, by the names of `IMAGES`. */
export const NODE_SERVERS = {
  starter: "llama-stack 0.7.3",
  ogxStarter: "ogx 1.5.0",
} as const satisfies Partial<Record<keyof typeof IMAGES, ServerVersion>>;

export type NodeServer = keyof typeof NODE_SERVERS;

export const ALL_SERVERS = Object.keys(NODE_SERVERS) as ReadonlyArray<NodeServer>;
