import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import type { Credential } from "../../core/image/credentials.ts";
import { imageName } from "../../core/image/image_name.ts";
import { serveIndex } from "../../tools/cluster/index_server.ts";
import { readProviderImage } from "./provider_image.ts";

const labels = (value: string) => ({ "io.llamastack.provider.description": value, other: value });
const [A, B] = [labels("a"), labels("b")];
const found = async (
  labels: Readonly<Record<string, Record<string, string>>>,
  nodes: ReadonlyArray<string>,
  credentials: ReadonlyArray<Credential> = [],
) => {
  await using server = await serveIndex(labels);
  const access = { credentials, authorities: [], plainHttp: true };
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

Deno.test("labels that repeat a password of the registry say nothing, in any encoding", async () => {
  const credentials = [{ username: "robot-account", password: Redacted.make("a canary of a password") }];
  for (
    const text of ["type: a canary of a password", "a%20canary%20of%20a%20password", btoa("a canary of a password")]
  ) {
    const repeated = { amd64: labels(new TextEncoder().encode(text).toBase64()) };
    strictEqual((await found(repeated, ["amd64"], credentials)).labels, undefined);
    strictEqual((await found(repeated, ["amd64"])).labels === undefined, false);
  }
  deepStrictEqual(await found({ amd64: A }, ["amd64"], credentials), OF_A);
  // Names, and words that passwords have in common with other texts, are no secrets.
  const harmless = { amd64: labels(new TextEncoder().encode("robot-account: a canary of").toBase64()) };
  strictEqual((await found(harmless, ["amd64"], credentials)).labels === undefined, false);
});
