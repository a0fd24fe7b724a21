/**
 * The addresses of the API servers and of the nodes: no registry that a tenant names may lead there, since the operator reaches more
 * ports of them than the tenant's pods do.
 */
import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import { canonicalAddress } from "../../core/image/internal_address.ts";
import { endpointAddresses, nodeAddresses } from "../../core/snapshot/live_node.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";
import { ADDRESSES_FRESH_MS } from "./limits.ts";

/** Canonical; fails while they are not known. Empty where the operator may not read them. */
export type ClusterAddresses = Effect.Effect<ReadonlySet<string>, ClusterError>;

export const clusterAddresses = Effect.gen(function* () {
  const cluster = yield* Cluster;
  const one = yield* Semaphore.make(1);
  let known: { readonly addresses: ReadonlySet<string>; readonly untilMs: number } | undefined;
  const read = Effect.gen(function* () {
    const addresses = new Set<string>();
    const keep = (found: ReadonlyArray<string>) => found.forEach((address) => addresses.add(canonicalAddress(address)));
    yield* optional(
      cluster.eachPage(
        { path: "/api/v1/nodes" },
        (nodes) => Effect.sync(() => keep(nodes.flatMap(nodeAddresses))),
      ),
    );
    keep(endpointAddresses(yield* optional(cluster.read(API_SERVERS))));
    return addresses;
  });
  const addresses: ClusterAddresses = Semaphore.withPermits(one, 1)(Effect.gen(function* () {
    const nowMs = yield* monotonicMs;
    if (known === undefined || nowMs >= known.untilMs) {
      known = { addresses: yield* read, untilMs: nowMs + ADDRESSES_FRESH_MS };
    }
    return known.addresses;
  }));
  return addresses;
});

/** Roles without this permission are a choice, and a cluster may have no such object. */
const optional = <A>(read: Effect.Effect<A, ClusterError>): Effect.Effect<A | null, ClusterError> =>
  Effect.catchTag(read, ["Forbidden", "NotFound"], () => Effect.succeed(null));

/** The API servers maintain it under this name. */
const API_SERVERS = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
