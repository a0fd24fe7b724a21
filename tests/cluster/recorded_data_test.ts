/** The Kubernetes types inside our API are those of the API server. */
import { strictEqual } from "node:assert/strict";

Deno.test("tools/record_kubernetes_types.ts finds the committed file up to date", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "tools/record_kubernetes_types.ts", "--check"],
    cwd: new URL("../../", import.meta.url),
    stdout: "null",
    stderr: "piped",
  }).output();
  strictEqual(code, 0, new TextDecoder().decode(stderr));
});
