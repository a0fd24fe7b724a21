import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import type { JsonObject } from "../../core/data/json.ts";
import { Cluster, type ClusterError, failedCall, isClusterError } from "../kubernetes/cluster.ts";
import { clusterAddresses } from "./cluster_addresses.ts";

const failure = (status: number | undefined) =>
  failedCall({ verb: "list", path: "p", status, reason: "r", detail: "d", retryAfterMs: undefined });

const NODES: ReadonlyArray<JsonObject> = [
  {
    status: {
      addresses: [
        { type: "InternalIP", address: "10.0.0.7" },
        { type: "ExternalIP", address: "2001:DB8::7" },
        { type: "Hostname", address: "node-7" },
      ],
    },
  },
  { status: {} },
];

/** What two calls in a row give, and how many lists of nodes they read. */
const asked = async (nodes: ReadonlyArray<JsonObject> | ClusterError, servers: JsonObject | ClusterError) => {
  let lists = 0;
  const cluster = {
    eachPage: (_: unknown, visit: (items: ReadonlyArray<JsonObject>) => Effect.Effect<void>) => {
      lists++;
      return isClusterError(nodes) ? Effect.fail(nodes) : Effect.as(visit(nodes), "1");
    },
    read: () => isClusterError(servers) ? Effect.fail(servers) : Effect.succeed(servers),
  } as unknown as Cluster["Service"];
  const found = await Effect.runPromise(
    Effect.gen(function* () {
      const addresses = yield* clusterAddresses;
      return yield* Effect.all([Effect.option(addresses), Effect.option(addresses)], { concurrency: 2 });
    }).pipe(Effect.provideService(Cluster, cluster)),
  );
  return { lists, found: found.map((one) => one._tag === "None" ? "not known" : [...one.value].join(" ")) };
};

Deno.test("clusterAddresses() has those of nodes and API servers, and reads them once for all who ask", async () => {
  const servers = { endpoints: [{ addresses: ["172.16.0.1"] }, { addresses: ["172.16.0.2"] }] };
  const { lists, found } = await asked(NODES, servers);
  strictEqual(lists, 1);
  const bytes = "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7";
  deepStrictEqual(new Set(found), new Set([`10.0.0.7 ${bytes} 172.16.0.1 172.16.0.2`]));
});

Deno.test("clusterAddresses() has none where they must not be read, and fails where they cannot be", async () => {
  deepStrictEqual((await asked(failure(403), failure(404))).found, ["", ""]);
  deepStrictEqual((await asked(failure(403), { endpoints: [{ addresses: ["172.16.0.1"] }] })).found[0], "172.16.0.1");
  deepStrictEqual(await asked(failure(undefined), {}), { lists: 2, found: ["not known", "not known"] });
  deepStrictEqual((await asked(NODES, failure(500))).found, ["not known", "not known"]);
});
