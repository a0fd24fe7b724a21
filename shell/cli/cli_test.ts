/** The command line as a process: streams, exit codes, help. The output is tested in core/command. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { none } from "../../tests/none.ts";
import { type Ended, ended } from "../../tools/install/run_program.ts";

const ROOT = new URL("../../", import.meta.url);

const cli = (args: ReadonlyArray<string>, stdin = ""): Promise<Ended> =>
  ended(Deno.execPath(), ["run", "--no-prompt", "--allow-read", "--allow-env", "mod.ts", ...args], {
    cwd: fileURLToPath(ROOT),
    env: { ...Deno.env.toObject(), LANG: "C" },
    stdin,
  });

const VLLM = "deploy/samples/vllm.yaml";

Deno.test("cli render prints the config of a file, of several files and of standard input", async () => {
  const item = await cli(["render", "-f", VLLM, "--only", "config"]);
  ok(item.stdout.startsWith("version: 2\n") && item.code === 0);
  const text = await Deno.readTextFile(new URL(VLLM, ROOT));
  strictEqual((await cli(["render", "-f", "-", "--only", "config"], text)).stdout, item.stdout);
  const two = await cli(["render", "-f", VLLM, "-f", VLLM, "--only", "config"]);
  strictEqual(two.stdout, `${item.stdout}---\n${item.stdout}`);
});

Deno.test("cli render accepts a base and a server version", async () => {
  const args = [
    "render",
    "-f",
    VLLM,
    "--only",
    "config",
    "--base",
    "configs/bases/starter-1.4.yaml",
    "--server-version",
    "1.5.0",
  ];
  const { stdout, code } = await cli(args);
  ok(stdout.includes("insecure: true"), stdout.slice(0, 200));
  strictEqual(code, 0);
});

for (
  const [name, args, code, words] of [
    ["cli lint exits 0 when there is no error", ["lint", VLLM], 0, "0 errors"],
    ["cli convert prints the other version and exits 0", ["convert", VLLM, "--to", "v1alpha1"], 0, "v1alpha1"],
    ["cli exits 2 without a file", ["lint"], 2, "Specify a file with -f FILE"],
    [
      "cli exits 2 for a file that is not there",
      ["lint", "-f", "nope.yaml"],
      2,
      "Cannot read nope.yaml: no such file",
    ],
    ["cli exits 2 for a file without -f", ["import", "run.yaml"], 2, "use -f to read a file"],
    ["cli exits 2 for a URL", ["lint", "-f", "https://example.com/a.yaml"], 2, "URLs are not supported"],
    ["cli reads the manifests of a folder", ["lint", "-f", "deploy/samples"], 0, "in 10 resources"],
    ["cli names the folders in a folder", ["lint", "-f", "deploy"], 1, "deploy/samples: folder ignored; --recursive"],
    ["cli reads the folders in a folder too with -R", ["lint", "-R", "-f", "deploy"], 1, "a Helm template"],
    ["cli exits 2 for a folder without manifests", ["lint", "-f", "core"], 2, "it is a folder without"],
    [
      "cli provider check exits 1 for a folder that is no provider",
      ["provider", "check", "core"],
      1,
      "the image has no file",
    ],
    [
      "cli provider check exits 2 for what is neither a folder nor an image",
      ["provider", "check", "./nope"],
      2,
      "Cannot read ./nope: neither a folder nor an image reference",
    ],
    [
      "cli provider check exits 1 without the folder, and without an image of the name",
      ["provider", "check", "nope"],
      1,
      "nope: there is no such folder, and as an image it cannot be read: ",
    ],
    [
      "cli provider pack exits 2 without the wheel",
      ["provider", "pack", "nope.whl", "--api", "eval", "--type", "remote::x"],
      2,
      "Cannot read nope.whl: no such file",
    ],
    ["cli explains a subcommand", ["help", "provider", "pack"], 0, "--type"],
    ["cli explains a command", ["help", "lint"], 0, "Check resources for errors"],
    ["cli explains itself", ["help"], 0, "SUBCOMMANDS"],
    ["cli rejects help for an unknown command", ["help", "lnt"], 2, "lint"],
    ["cli explains itself to who asks twice", ["help", "--help"], 0, "SUBCOMMANDS"],
    ["cli has no wizard", ["--wizard"], 2, "wizard"],
    ["cli prints the CRD as JSON", ["crds", "-o", "json"], 0, '"kind": "CustomResourceDefinition"'],
    [
      "cli lists what the server of a distribution offers",
      ["catalogue", "--distribution", "starter"],
      0,
      "OGX 1.4\n",
    ],
    ["cli exits 2 for an unknown distribution", ["catalogue", "--distribution", "strater"], 2, "did you mean starter"],
    [
      "cli render takes a namespace",
      ["render", "-f", "deploy/samples/minimal.yaml", "-n", "team"],
      0,
      "namespace: team",
    ],
    ["cli lint takes settings", ["lint", "-f", VLLM, "--settings", "README.md"], 2, "expected a ConfigMap"],
    ["cli exits 2 for an unknown command", ["rendr"], 2, "rendr"],
    ["cli exits 2 for an unknown flag", ["render", "--fil", VLLM], 2, "fil"],
    ["cli exits 2 for a bad choice", ["render", "-f", VLLM, "--only", "all"], 2, "only"],
    [
      "cli exits 2 for an unknown server version",
      ["lint", "-f", VLLM, "--server-version", "foo"],
      2,
      "--server-version: ",
    ],
    ["cli diff reads the manifests of a folder", ["diff", "-f", "core"], 2, "it is a folder without"],
    ["cli diff exits 2 without a file or a name", ["diff"], 2, "Specify a file with -f FILE, or a resource"],
    ["cli explain exits 2 without a name", ["explain"], 2, "NAME"],
    [
      "cli explain exits 2 for a kubeconfig that is not there",
      ["explain", "my", "--kubeconfig", "core/absent/config"],
      2,
      "kubeconfig core/absent/config not found",
    ],
    [
      "cli explain exits 2 for a kubeconfig in a file that is no folder",
      ["explain", "my", "--kubeconfig", "README.md/config"],
      2,
      "kubeconfig README.md/config not found",
    ],
    [
      "cli explain exits 2 for a kubeconfig that is a folder",
      ["explain", "my", "--kubeconfig", "core"],
      2,
      "cannot read core: it is a directory",
    ],
    ["cli tells of the commands that ask a cluster", ["--help"], 0, "explain"],
    ["cli shows help when it is asked for", ["render", "--help"], 0, "--server-version"],
    ["cli tells its version", ["version"], 0, "llama-stack-operator 0.1.0"],
    ["cli prints a completion script", ["--completions", "bash"], 0, "complete"],
    ["cli lists images", ["images"], 0, "docker.io/ogxai/distribution-starter:1.4.1"],
    ["cli prints the CRD", ["crds"], 0, "kind: CustomResourceDefinition"],
  ] as const
) {
  Deno.test(name, async () => {
    const ran = await cli(args);
    strictEqual(ran.code, code, `${ran.stdout}${ran.stderr}`);
    ok(`${ran.stdout}${ran.stderr}`.includes(words), `${ran.stdout}${ran.stderr}`);
  });
}

Deno.test("cli render exits 1 for a bad resource, with nothing on standard output", async () => {
  const { code, stdout, stderr } = await cli(
    ["render", "-f", "-"],
    "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\n",
  );
  deepStrictEqual([code, stdout], [1, ""]);
  ok(stderr.includes("metadata.name: Required field is missing"), stderr);
});

Deno.test("cli rejects input that is not UTF-8 or exceeds its limit", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeFile(`${folder}/latin.yaml`, new Uint8Array([0x61, 0x3a, 0x20, 0xe4]));
    ok((await cli(["lint", `${folder}/latin.yaml`])).stderr.includes("it is not UTF-8"));
    await Deno.writeFile(`${folder}/large.yaml`, new Uint8Array(17 * 1024 * 1024).fill(0x20));
    ok((await cli(["lint", `${folder}/large.yaml`])).stderr.includes("it is larger than 16777216 bytes"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("cli prints no colours if the output is not a terminal", async () => {
  const ran = await Promise.all([cli(["--help"]), cli(["lint", VLLM]), cli(["nope"])]);
  ok(ran.every(({ stdout, stderr }) => !`${stdout}${stderr}`.includes("\u001b[")));
});

Deno.test("cli answers a mistake on standard error alone", async () => {
  for (const args of [["rendr"], ["render", "--fil", VLLM], ["explain"]]) {
    const { code, stdout, stderr } = await cli(args);
    deepStrictEqual([code, stdout], [2, ""]);
    ok(stderr.includes("USAGE"), stderr);
  }
  const asked = await cli(["render", "--help"]);
  deepStrictEqual([asked.code, asked.stderr], [0, ""]);
});

Deno.test("cli render and lint report an entry of the settings that cannot be read, and go on as the operator does", async () => {
  const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata:\n  image-overrides: 5\n";
  const file = await Deno.makeTempFile({ suffix: ".yaml" });
  try {
    await Deno.writeTextFile(file, settings.replace("5", '"["'));
    for (const command of ["render", "lint"]) {
      const { code, stderr } = await cli([command, "-f", VLLM, "--settings", file]);
      ok(code === 0 && /: warning: .*image-overrides/.test(stderr), stderr);
    }
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("cli render and lint know the mirrors of the settings, as the operator does", async () => {
  const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata:\n" +
    "  registries.mirrors: '{docker.io/llamastack: [mirror.example.com/llamastack]}'\n";
  const resource = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\n" +
    'spec: {distribution: {name: starter, serverVersion: "0.7.1"}}\n';
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/settings.yaml`, settings);
    await Deno.writeTextFile(`${folder}/a.yaml`, resource);
    for (const command of ["render", "lint"]) {
      const told = async (...more: ReadonlyArray<string>) => {
        const { stdout, stderr } = await cli([command, "-f", `${folder}/a.yaml`, ...more]);
        return `${stdout}${stderr}`.includes("has not been published");
      };
      deepStrictEqual([await told(), await told("--settings", `${folder}/settings.yaml`)], [true, false], command);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("every command says in a sentence what it does, and has a row in docs/command-line.md", async () => {
  const { stdout } = await cli(["help"]);
  const commands = stdout.slice(stdout.indexOf("SUBCOMMANDS")).split("\n").slice(1).filter((line) => line !== "");
  ok(commands.length > 15);
  none(commands.filter((line) => !/^ {2}\S+ {2,}\S/.test(line)), "Add Command.withDescription in shell/cli/commands");
  const page = await Deno.readTextFile(new URL("docs/command-line.md", ROOT));
  const names = commands.map((line) => line.trim().split(" ")[0] ?? "");
  none(names.filter((name) => !new RegExp(`^\\| \`${name}[ \`]`, "m").test(page)), "Add rows to docs/command-line.md");
});
