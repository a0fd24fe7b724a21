import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { imageName } from "../../core/image/image_name.ts";
import { serveIndex } from "../../tools/cluster/index_server.ts";
import { readProviderImage } from "./provider_image.ts";

const labels = (value: string) => ({ "io.llamastack.provider.description": value, other: value });
const [A, B] = [labels("a"), labels("b")];
const found = async (labels: Readonly<Record<string, Record<string, string>>>, nodes: ReadonlyArray<string>) => {
  await using server = await serveIndex(labels);
  const access = { credentials: [], authorities: [], plainHttp: true };
  return await Effect.runPromise(
    readProviderImage(
      imageName(`${server.host}/own:1`),
      access,
      (architectures) => Effect.succeed(architectures.filter((name) => nodes.includes(name))),
    ),
  );
};
const OF_A = { labels: { "io.llamastack.provider.description": "a" } };

Deno.test("labels of a provider are those of all architectures that the cluster has, and none if they differ", async () => {
  const all = ["amd64", "arm64"];
  deepStrictEqual(await found({ amd64: A, arm64: { ...A, other: "x" } }, all), OF_A);
  strictEqual((await found({ amd64: A, arm64: B }, all)).labels, undefined);
  deepStrictEqual(await found({ amd64: A, arm64: B }, ["amd64"]), OF_A);
  deepStrictEqual(await found({ amd64: {}, arm64: {} }, all), { labels: {} });
});
