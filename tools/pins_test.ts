import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { checkRuntime } from "./compile_program.ts";
import { missingPins, runtimeName } from "./pins.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

Deno.test("missingPins() names each image without a digest and each runtime without a checksum", () => {
  const [target, other] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
  const pins = {
    images: { "a:1": DIGEST, "b:1": "latest" },
    runtimes: { [runtimeName(target)]: "b".repeat(64) },
  };
  deepStrictEqual(missingPins(["a:1", "b:1", "c:1"], [target, other], pins), [
    "tools/pins.json has no digest of b:1; tools/release/pin.ts writes it",
    "tools/pins.json has no digest of c:1; tools/release/pin.ts writes it",
    `tools/pins.json has no checksum of the runtime ${runtimeName(other)}; tools/release/pin.ts writes it`,
  ]);
  deepStrictEqual(missingPins(["a:1"], [target], pins), []);
});

Deno.test("checkRuntime() rejects a runtime with another checksum, and one that it cannot find", async () => {
  const bytes = new TextEncoder().encode("runtime");
  const checksum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  strictEqual(await checkRuntime("t", bytes, checksum), true);
  await rejects(checkRuntime("t", new TextEncoder().encode("other"), checksum), /has the SHA-256 \w+, expected/);
  await rejects(checkRuntime("t", undefined, checksum), /was not found, and cannot be checked/);
  strictEqual(await checkRuntime("t", bytes, undefined), false);
});
