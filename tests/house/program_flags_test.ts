import { ok } from "node:assert/strict";
import { ALLOCATOR_IN_IMAGE, allocatorEnv, RUNTIME_ENV } from "../../tools/program_flags.ts";

Deno.test("the Dockerfile sets what the tests start the program with", async () => {
  const dockerfile = await Deno.readTextFile(new URL("../../Dockerfile", import.meta.url));
  for (const [name, value] of Object.entries({ ...allocatorEnv(ALLOCATOR_IN_IMAGE), ...RUNTIME_ENV })) {
    ok(new RegExp(`\\s${name}=${RegExp.escape(value)}\\s`).test(dockerfile), name);
  }
});
