/** The data that was taken from the published server packages is what those packages say. */
import { strictEqual } from "node:assert/strict";
import { COMMON_VERSIONS } from "../../tools/install/python_server.ts";

const ROOT = new URL("../../", import.meta.url);

/** Catalogues of the servers that other tests install anyway; the rest is `deno task catalogue --check`. */
const INSTALLED = COMMON_VERSIONS.map((version) => /\d+\.\d+/.exec(version)?.[0]).join();

for (const [tool, args] of [["catalogue", ["--only", INSTALLED]], ["bases", []]] as const) {
  Deno.test(`tools/${tool}.ts finds the committed files up to date`, async () => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", `tools/${tool}.ts`, "--check", ...args],
      cwd: ROOT,
      stdout: "null",
      stderr: "piped",
    }).output();
    strictEqual(code, 0, new TextDecoder().decode(stderr));
  });
}
