/** Which architectures the nodes of the cluster have: only their images can run there. */
import * as Effect from "effect/Effect";
import { Cluster } from "../kubernetes/cluster.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";
import { NODES_FRESH_MS } from "./limits.ts";
import { listAt } from "../../core/data/json.ts";

/** Those of the given architectures that a node has; all of them if that cannot be known. */
export type WithNodes = (architectures: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>;

/** One node answers for its architecture: no list of nodes is read, however many there are. */
export const nodeArchitectures = Effect.gen(function* () {
  const cluster = yield* Cluster;
  const seen = new Map<string, { readonly hasNode: boolean; readonly untilMs: number }>();
  const hasNode = Effect.fnUntraced(function* (architecture: string) {
    const nowMs = yield* monotonicMs;
    const before = seen.get(architecture);
    if (before !== undefined && nowMs < before.untilMs) return before.hasNode;
    const query = new URLSearchParams({ labelSelector: `kubernetes.io/arch=${architecture}`, limit: "1" });
    const found = listAt(yield* cluster.read(`/api/v1/nodes?${query}`), "items").length > 0;
    seen.set(architecture, { hasNode: found, untilMs: nowMs + NODES_FRESH_MS });
    return found;
  });
  const withNodes: WithNodes = (architectures) =>
    Effect.filter(KUBELET_ARCHITECTURES.filter((name) => architectures.includes(name)), hasNode).pipe(
      Effect.map((found) => found.length === 0 ? architectures : found),
      // As where somebody has removed the permission.
      Effect.catch(() => Effect.succeed(architectures)),
    );
  return withNodes;
});

/** Those that Kubernetes is built for. An index comes from whoever made the image, and may name anything. */
const KUBELET_ARCHITECTURES: ReadonlyArray<string> = ["amd64", "arm64", "arm", "ppc64le", "s390x", "riscv64", "386"];
