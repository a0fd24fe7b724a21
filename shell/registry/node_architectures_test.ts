import { deepStrictEqual, match } from "node:assert/strict";
import * as Effect from "effect/Effect";
import type { Json } from "../../core/data/json.ts";
import { Cluster, type ClusterError, failedCall } from "../kubernetes/cluster.ts";
import { nodeArchitectures } from "./node_architectures.ts";

const asked = async (
  answer: (path: string) => Effect.Effect<Json, ClusterError>,
  ...questions: ReadonlyArray<ReadonlyArray<string>>
) => {
  const paths: string[] = [];
  const cluster = { read: (path: string) => (paths.push(path), answer(path)) } as unknown as Cluster["Service"];
  const answers = await Effect.runPromise(
    nodeArchitectures.pipe(
      Effect.flatMap((withNodes) => Effect.forEach(questions, withNodes)),
      Effect.provideService(Cluster, cluster),
    ),
  );
  return { answers, paths };
};
const having = (architecture: string) => (path: string) =>
  Effect.succeed<Json>({ items: path.includes(`%3D${architecture}&`) ? [{}] : [] });

Deno.test("nodeArchitectures() asks for one node of each architecture, once", async () => {
  const { answers, paths } = await asked(having("arm64"), ["amd64", "arm64", "amd64"], ["arm64", "amd64"]);
  deepStrictEqual(answers, [["arm64"], ["arm64"]]);
  deepStrictEqual(paths.length, 2);
  match(paths[0] ?? "", /^\/api\/v1\/nodes\?labelSelector=kubernetes.io%2Farch%3Damd64&limit=1$/);
});

Deno.test("nodeArchitectures() asks nobody about names that no node can have", async () => {
  const { answers, paths } = await asked(having("arm64"), ["../secrets", "x".repeat(1000), "arm64"]);
  deepStrictEqual(answers, [["arm64"]]);
  deepStrictEqual(paths.length, 1);
});

Deno.test("nodeArchitectures() takes all where no node has one of them, or nodes cannot be read", async () => {
  const wanted = ["amd64", "ppc64le"];
  deepStrictEqual((await asked(having("arm64"), wanted)).answers, [wanted]);
  const denied = failedCall({ verb: "get", path: "/", status: 403, reason: "", detail: "", retryAfterMs: undefined });
  deepStrictEqual((await asked(() => Effect.fail(denied), wanted)).answers, [wanted]);
});
