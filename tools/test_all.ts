/**
 * `deno task test:all`: `deno task test` and everything that takes longer than a run of it may: other Kubernetes versions, soaks,
 * long random walks, every server with every provider, figures. One line for each part; hours in all.
 *
 * `--since REF` runs only the parts that a file changed since that commit belongs to, `--only WORD` those with the word in their
 * name, and `--list` names them without running any. The output of each part is kept in a folder of its own.
 */
import { join } from "node:path";
import { taskOptions } from "./task_options.ts";

interface Part {
  readonly name: string;
  readonly args: ReadonlyArray<string>;
  readonly env?: Readonly<Record<string, string>>;
  /** Beginnings of the paths of files that it is about. */
  readonly about: ReadonlyArray<string>;
}

const OPERATOR = ["core/", "shell/", "configs/", "tests/cluster/", "tools/cluster/"];

const PARTS: ReadonlyArray<Part> = [
  { name: "test", args: ["task", "test"], about: [""] },
  { name: "properties", args: ["task", "properties"], about: ["core/", "shell/", "configs/", "tests/"] },
  {
    name: "history",
    args: ["test", "--allow-all", "--quiet", "tests/cluster/history_test.ts"],
    env: { SOAK_WALKS: "1000" },
    about: ["core/", "shell/", "tests/cluster/history_test.ts"],
  },
  {
    name: "servers",
    args: ["test", "--allow-all", "--quiet", "tests/server"],
    env: { TEST_EVERY_VERSION: "1" },
    about: ["core/config/", "configs/", "tests/server/", "tools/install/", "tools/server/"],
  },
  {
    name: "helm 3",
    args: [
      "test",
      "--allow-all",
      "--quiet",
      ...["helm", "helm_render", "helm_values"].map((name) => `tests/cluster/${name}_test.ts`),
    ],
    env: { HELM_PROGRAM: "helm-3" },
    about: ["tools/package/", "tests/cluster/helm", "tools/install/control_plane"],
  },
  { name: "minors", args: ["task", "minors"], about: [...OPERATOR, "crds/", "tools/install/control_plane"] },
  {
    name: "olm",
    args: ["task", "olm"],
    about: [...OPERATOR, "deploy/olm", "tools/package/", "tools/install/", "tests/olm/"],
  },
  {
    name: "around",
    args: ["task", "around"],
    about: ["core/", "shell/", "tools/package/", "tools/release/", "tests/around/", "tools/install/control_plane"],
  },
  { name: "soak", args: ["task", "soak"], about: [...OPERATOR, "tests/hostile/"] },
  {
    name: "boots",
    args: ["task", "boots"],
    about: ["core/config/", "configs/", "tools/boot_matrix/", "tools/server/"],
  },
  { name: "catalogue", args: ["task", "catalogue", "--check"], about: ["configs/catalogue", "tools/catalogue"] },
  { name: "bases", args: ["task", "bases", "--check"], about: ["configs/", "tools/bases", "tools/base_fixes"] },
  { name: "kube-score", args: ["task", "kube-score"], about: ["deploy/", "docs/install.md", "tools/kube_score"] },
  { name: "bench", args: ["task", "bench"], about: ["core/", "configs/", "tools/bench"] },
  { name: "bench:cluster", args: ["task", "bench:cluster"], about: [...OPERATOR, "tools/bench"] },
];

const main = async (): Promise<number> => {
  const { since, only = "", list } = taskOptions(
    Deno.args,
    { since: { type: "string" }, only: { type: "string" }, list: { type: "boolean", default: false } },
    `Usage: deno task test:all [--since REF] [--only WORD] [--list]

Runs deno task test, and the matrices, soaks and long random walks; hours in all. Prints one line for each part.

  --since REF  Only the parts to which a file belongs that changed since this commit
  --only WORD  Only the parts with this word in their name
  --list       Print the names of the parts instead of running them`,
  );
  const changed = since === undefined ? undefined : await changedSince(since);
  const asked = PARTS.filter(({ name, about }) =>
    name.includes(only) &&
    (changed === undefined || changed.some((file) => about.some((begin) => file.startsWith(begin))))
  );
  if (list) {
    for (const { name } of asked) console.log(name);
    return 0;
  }
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-test-all-" });
  console.log(`output of each part: ${folder}`);
  let failed = 0;
  for (const part of asked) {
    const started = performance.now();
    const isGood = await run(part, join(folder, `${part.name.replace(":", "-")}.log`));
    if (!isGood) failed++;
    console.log(`${part.name}: ${isGood ? "ok" : "FAILED"} (${((performance.now() - started) / 1000).toFixed(0)} s)`);
  }
  console.log(`${asked.length - failed} of ${asked.length} parts passed`);
  return failed === 0 ? 0 : 1;
};

const run = async ({ args, env = {} }: Part, logFile: string): Promise<boolean> => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  using log = await Deno.open(logFile, { create: true, append: true });
  const keep = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) await log.write(chunk);
  };
  await Promise.all([keep(child.stdout), keep(child.stderr)]);
  return (await child.status).success;
};

/** Paths of files that differ from those of the commit, not yet committed ones too. */
const changedSince = async (ref: string): Promise<ReadonlyArray<string>> => {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["diff", "--name-only", ref, "--"],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`--since ${ref}: ${new TextDecoder().decode(stderr).trim()}`);
  return new TextDecoder().decode(stdout).trim().split("\n").filter((line) => line !== "");
};

const ROOT = new URL("../", import.meta.url);

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
}
