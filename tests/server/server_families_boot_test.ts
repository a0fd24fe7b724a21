import { doesNotMatch, ok, strictEqual } from "node:assert/strict";
import { SERVER_FAMILIES, serverOf } from "../../core/config/servers/families/families.ts";
import { startBackends } from "../../tools/boot_matrix/backends.ts";
import { assertCell } from "../../tools/boot_matrix/cell.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { boot } from "../../tools/server/boot.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { ServerDidNotStart } from "../../tools/server/llama_stack.ts";
import { manifest } from "../given.ts";
import { sideBySide } from "./side_by_side.ts";
import { SAMPLE } from "./server_families_sample.ts";

Deno.test("a resource with a vLLM boots on every server family: provider, model, tools, shields, and a chat with the key", async () => {
  await using backends = await startBackends();
  await sideBySide(SAMPLE, (cell) =>
    assertCell(cell, backends).catch((cause) => {
      throw new Error(`${cell.minor} ${cell.distribution} ${cell.storage}: ${cause.message}`, { cause });
    }));
});

Deno.test("every server family that is not booted elsewhere is in the sample", () => {
  const lines = [...SAMPLE.map(({ minor }) => serverOf(minor)?.family.name), "0.7", "1.2"];
  strictEqual(SERVER_FAMILIES.filter(({ name }) => !lines.includes(name)).length, 0);
});

Deno.test("a failed start ends the server of every family with the exit code in its definition", () =>
  sideBySide(SAMPLE, async ({ minor }) => {
    const [closed] = freePorts(1) as [number];
    const spec = { storage: { kv: { type: "redis", endpoint: `127.0.0.1:${closed}` } } };
    const failure = await boot(manifest(spec), { surroundings: { serverVersion: minor } }).then(
      (stack) => stack.stop().then(() => `${minor} started`),
      (error) => error,
    );
    ok(failure instanceof ServerDidNotStart, String(failure));
    strictEqual(failure.exitCode, serverOf(minor)?.family.process.failedStart, minor);
  }));

Deno.test("the oldest server family serves TLS from the files that its config names", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const certificate = await makeServerCertificate(folder);
    const spec = { storage: { kv: {}, sql: {} }, networking: { tls: { enabled: true, secretName: "tls" } } };
    await using stack = await boot(manifest(spec), { surroundings: { serverVersion: "0.2" }, certificate });
    ok(stack.url.startsWith("https://"));
    strictEqual((await stack.get("/v1/health")).status, 200);
    doesNotMatch(await stack.log(), /Traceback/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
