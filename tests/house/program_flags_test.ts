import { ok } from "node:assert/strict";
import { ALLOCATOR_IN_IMAGE, allocatorEnv } from "../../tools/program_flags.ts";

Deno.test("the Dockerfile sets what the tests start the program with", async () => {
  const dockerfile = await Deno.readTextFile(new URL("../../Dockerfile", import.meta.url));
  for (const [name, value] of Object.entries(allocatorEnv(ALLOCATOR_IN_IMAGE))) {
    ok(dockerfile.includes(`${name}=${value}`), name);
  }
});
