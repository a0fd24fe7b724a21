/** The data that was taken from the published server packages is what those packages say. */
import { strictEqual } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

for (const tool of ["catalogue", "bases"]) {
  Deno.test(`tools/${tool}.ts finds the committed files up to date when it asks the packages again`, async () => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", `tools/${tool}.ts`, "--check"],
      cwd: ROOT,
      stdout: "null",
      stderr: "piped",
    }).output();
    strictEqual(code, 0, new TextDecoder().decode(stderr));
  });
}
