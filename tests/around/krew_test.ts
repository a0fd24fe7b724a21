/** The plugin of kubectl, as krew installs it from the manifest and the archive of a release. */
import { fileURLToPath } from "node:url";
import { ok, strictEqual } from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { runtimeOfTests } from "../../tools/install/deno_runtime.ts";
import { ended } from "../../tools/install/run_program.ts";
import { writeArchives } from "../../tools/release/archives.ts";
import { krewManifest } from "../../tools/release/krew.ts";
import { manifest } from "../given.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SAMPLE = join(ROOT, "deploy/samples/minimal.yaml");

Deno.test("krew installs the plugin of a release, and kubectl runs its commands", async (t) => {
  const { krew } = await installControlPlane(["krew"]);
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-krew-" });
  const cluster = await startControlPlane();
  try {
    const architecture = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
    const [plugin] = await writeArchives({
      root: ROOT,
      folder,
      version: OPERATOR_VERSION,
      architectures: [architecture],
      url: "https://releases.example",
      denort: await runtimeOfTests(),
    });
    ok(plugin !== undefined);
    const description = join(folder, "llama-stack.yaml");
    await Deno.writeTextFile(description, krewManifest(OPERATOR_VERSION, "https://project.example", [plugin]));
    const env = {
      HOME: folder,
      KREW_ROOT: join(folder, "krew"),
      KREW_NO_UPGRADE_CHECK: "1",
      KUBECONFIG: cluster.kubeconfig,
      PATH: [join(folder, "krew", "bin"), dirname(cluster.kubectlPath), "/usr/bin", "/bin"].join(":"),
    };
    const kubectl = (...words: ReadonlyArray<string>) => ended(cluster.kubectlPath, ["llama-stack", ...words], { env });

    const install = (file: string) =>
      ended(krew, ["install", `--manifest=${file}`, `--archive=${join(folder, basename(plugin.url))}`], { env });

    await t.step(
      "krew rejects an archive that the manifest does not describe, and installs the one that it does",
      async () => {
        const other = join(folder, "other", "llama-stack.yaml");
        await Deno.mkdir(dirname(other));
        await Deno.writeTextFile(
          other,
          krewManifest(OPERATOR_VERSION, "https://project.example", [{ ...plugin, sha256: "0".repeat(64) }]),
        );
        const rejected = await install(other);
        ok(rejected.code !== 0 && rejected.stderr.includes("checksum"), rejected.stderr);
        const installed = await install(description);
        strictEqual(installed.code, 0, installed.stderr);
        ok(installed.stderr.includes("Installed plugin: llama-stack"), installed.stderr);
      },
    );

    await t.step("help, version and advice name the plugin", async () => {
      ok((await kubectl("version")).stdout.startsWith(`llama-stack-operator ${OPERATOR_VERSION}\n`));
      const { code, stdout } = await kubectl("explain", "--help");
      strictEqual(code, 0);
      ok(stdout.includes("kubectl llama-stack explain vllm -n models"), stdout);
      ok(stdout.includes("kubectl llama-stack explain [flags]"), stdout);
      const catalogue = await kubectl("catalogue", "--type", "no-such-type");
      ok(catalogue.stderr.includes("`kubectl llama-stack catalogue`"), catalogue.stderr);
    });

    await t.step("render prints the objects of a file", async () => {
      const rendered = await kubectl("render", "-f", SAMPLE);
      strictEqual(rendered.code, 0, rendered.stderr);
      ok(rendered.stdout.includes("kind: Deployment"), rendered.stdout);
    });

    await t.step("explain reads the cluster of the kubeconfig", async () => {
      await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
      await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(manifest({})));
      const explained = await kubectl("explain", "my", "-n", "default");
      strictEqual(explained.code, 0, explained.stderr);
      ok(/^my in namespace default .*not/m.test(explained.stdout), explained.stdout);
    });
  } finally {
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
