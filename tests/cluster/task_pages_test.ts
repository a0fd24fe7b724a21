/** The pages about tasks: their commands run as written, and the API server accepts their resources. */
import { ok, strictEqual } from "node:assert/strict";
import { dirname, join } from "node:path";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { ended } from "../../tools/install/run_program.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";
import { commandsRunBy, resourcesOfPages } from "../documented_commands.ts";
import { inFolder } from "../folder.ts";

Deno.test("the commands and resources of the pages about tasks work as written on a real API server", () =>
  inFolder(async (folder) => {
    const cluster = await startControlPlane();
    try {
      await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
      for (const { page, text } of await resourcesOfPages()) {
        const said = await cluster.kubectl(["apply", "--server-side", "-n", "default", "-f", "-"], text);
        ok(said.includes("serverside-applied"), `${page}: ${said}`);
        const name = /metadata: \{ name: (\S+) \}/.exec(text)?.[1] ?? "resource";
        await Deno.writeTextFile(join(folder, `${name}.yaml`), text);
      }
      await Deno.symlink(await compiledOperator(), join(folder, "llama-stack-operator"));
      await Deno.writeTextFile(join(folder, "company-ca.pem"), cluster.caPem);
      const env = {
        ...RUNTIME_ENV,
        HOME: folder,
        KUBECONFIG: cluster.kubeconfig,
        PATH: `${folder}:${dirname(cluster.kubectlPath)}:${Deno.env.get("PATH")}`,
      };
      const commands = await commandsRunBy("tests/cluster/task_pages_test.ts");
      ok(commands.length >= 7);
      for (const { page, text } of commands) {
        const { code, stdout, stderr } = await ended("/bin/sh", ["-c", text], { cwd: folder, env });
        // `diff` ends with 1 if there are differences, as it does for a resource that no operator has seen.
        strictEqual(code, text.includes(" diff ") ? 1 : 0, `${page}: ${text}\n${stdout}${stderr}`);
        if (text.includes(" diff ")) ok(stdout.includes("Deployment"), `${stdout}${stderr}`);
      }
    } finally {
      await cluster.stop();
    }
  }));
