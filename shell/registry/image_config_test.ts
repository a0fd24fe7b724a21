import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { imageName } from "../../core/data/image_reference.ts";
import { type IndexServer, serveIndex } from "../../tools/cluster/index_server.ts";
import { type FoundConfig, readImageConfig } from "./image_config.ts";
import { LongLookups } from "./long_lookups.ts";

const labels = (text: string) => ({
  "com.ogx.config.config.yaml": new TextEncoder().encode(text).toBase64(),
  "com.ogx.distribution.version": "1.5.0",
});

const read = ({ host }: IndexServer, nodes: ReadonlyArray<string>, known?: FoundConfig) =>
  Effect.runPromise(
    readImageConfig(
      imageName(`${host}/a/b:1`),
      { credentials: [], authorities: [], plainHttp: true },
      undefined,
      () => known,
      (architectures) => Effect.succeed(architectures.filter((name) => nodes.includes(name))),
    ).pipe(Effect.provideServiceEffect(LongLookups, LongLookups.make), Effect.result),
  );

Deno.test("readImageConfig() reads the images of an index for which the cluster has nodes, and no other", async () => {
  await using server = await serveIndex({ amd64: labels("a: 1\n"), arm64: labels("b: 1\n"), s390x: {} });
  const found = await read(server, ["amd64"]);
  ok(found._tag === "Success");
  strictEqual(found.success.config?.text, "a: 1\n");
  deepStrictEqual(found.success.architectures, ["amd64"]);
  strictEqual(server.requests.filter((path) => path.includes("/manifests/")).length, 2);
  const mixed = await read(server, ["amd64", "arm64"]);
  ok(mixed._tag === "Failure");
  match(mixed.failure.message, /the configs of the architectures amd64 and arm64 of the image differ/);
});

Deno.test("readImageConfig() reads again what it knows if the cluster has got nodes of another architecture", async () => {
  await using server = await serveIndex({ amd64: labels("a: 1\n"), arm64: labels("a: 1\n") });
  const first = await read(server, ["amd64"]);
  ok(first._tag === "Success");
  const before = server.requests.length;
  strictEqual((await read(server, ["amd64"], first.success))._tag, "Success");
  strictEqual(server.requests.length, before + 1);
  const both = await read(server, ["amd64", "arm64"], first.success);
  ok(both._tag === "Success");
  deepStrictEqual(both.success.architectures, ["amd64", "arm64"]);
  strictEqual(server.requests.length, before + 1 + 5);
});
