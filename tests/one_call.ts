/** A process that makes one call by the connection that its argument describes, and prints whether it was answered. */
import { Effect } from "effect";
import { Cluster } from "../shell/cluster.ts";
import { Patience } from "../shell/patience.ts";

const { url, caPem } = JSON.parse(Deno.args[0] ?? "") as { readonly url: string; readonly caPem?: string };
const connection = { url, caPem, clientCertificate: undefined, token: () => undefined };

console.log(
  await Effect.runPromise(
    Effect.flatMap(Cluster, (cluster) => cluster.read("/")).pipe(
      Effect.match({ onSuccess: () => "answered", onFailure: () => "failed" }),
      Effect.provide(Cluster.layer(connection)),
      Effect.provideService(Patience, { callMs: 2000, watchMs: 2000 }),
    ),
  ),
);
