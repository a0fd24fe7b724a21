import { strictEqual } from "node:assert/strict";
import { Cause, Effect, Exit, Stream } from "effect";
import { Cluster } from "./cluster.ts";

const EVENT = JSON.stringify({ type: "ADDED", object: { metadata: { name: "a", resourceVersion: "5" } } });

/** Events of a watch whose answer is this text, and how it ended. */
const watched = async (text: string): Promise<string> => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response(text));
  const connection = {
    url: `http://127.0.0.1:${server.addr.port}`,
    caPem: undefined,
    clientCertificate: undefined,
    token: () => undefined,
  };
  const events: Array<string> = [];
  const program = Effect.flatMap(
    Cluster,
    ({ watch }) =>
      Stream.runForEach(watch({ path: "/api/v1/pods" }, "1"), ({ type }) => Effect.sync(() => void events.push(type))),
  );
  const exit = await Effect.runPromiseExit(program.pipe(Effect.provide(Cluster.layer(connection))));
  await server.shutdown();
  const end = Exit.isSuccess(exit) ? "end" : Cause.hasDies(exit.cause) ? "died" : "failed";
  return [...events, end].join(" ");
};

Deno.test("watch() ends with the answer", async () => {
  strictEqual(await watched(`${EVENT}\n${EVENT}\n`), "ADDED ADDED end");
});

Deno.test("watch() fails, and does not die, when it is cut in the middle of an event", async () => {
  strictEqual(await watched(`${EVENT}\n${EVENT.slice(0, 20)}`), "ADDED failed");
});

Deno.test("watch() fails when the API server says that the version is too old", async () => {
  strictEqual(await watched(`{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"m"}}\n`), "failed");
});
