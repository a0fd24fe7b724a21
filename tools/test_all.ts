/**
 * `deno task test:all`: everything. `deno task test`, every other test on real parts, the matrices, soaks and long random walks,
 * releases and figures; hours in all. One line for each part, with its time.
 *
 * What has passed is remembered until a file changes, so that an interrupted run goes on where it was. `--since REF` runs only the
 * parts that a file changed since that commit belongs to, `--only WORD` those with the word in their name, and `--list` names them
 * without running any. The output of each part is kept in a folder of its own.
 */
import { dirname, join } from "node:path";
import { cacheDir } from "./install/cache.ts";
import { inParallel } from "./in_parallel.ts";
import { ROOT, runPart, TEST } from "./test_parts.ts";
import { taskOptions } from "./task_options.ts";

interface Part {
  readonly name: string;
  readonly args: ReadonlyArray<string>;
  readonly env?: Readonly<Record<string, string>>;
  /** Beginnings of the paths of files that it is about. */
  readonly about: ReadonlyArray<string>;
  /** Nothing else may run beside it: it compares times, or takes the only node. */
  readonly alone?: true;
}

const PRODUCT = ["core/", "shell/", "configs/"];
const CLUSTER = [...PRODUCT, "tools/cluster/", "tools/install/control_plane", "tests/waiting.ts"];

/** Files that are run by a part of their own. */
const NOT_A_PART_EACH = ["tests/hostile/requests_test.ts", "tests/hostile/corpus_test.ts"];

/** One part for each file, so that its time is seen and an interrupted run goes on with the next. */
const eachFile = (
  folder: string,
  about: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
): ReadonlyArray<Part> =>
  [...Deno.readDirSync(new URL(`tests/${folder}/`, ROOT))]
    .map(({ name }) => `tests/${folder}/${name}`)
    .filter((path) => path.endsWith("_test.ts") && !NOT_A_PART_EACH.includes(path))
    .sort()
    .map((path) => ({
      name: path.replace(/^tests\//, "").replace(/_test\.ts$/, ""),
      args: [...TEST, path],
      env,
      about: [...about, path],
    }));

const PARTS: ReadonlyArray<Part> = [
  { name: "test", args: ["task", "test"], about: [""], alone: true },
  { name: "properties", args: ["task", "properties"], about: ["core/", "shell/", "configs/", "tests/"] },
  ...eachFile("cluster", [...CLUSTER, "tools/package/", "deploy/", "docs/"]),
  ...eachFile("hostile", CLUSTER),
  ...eachFile("server", [...PRODUCT, "tools/install/", "tools/server/"], { TEST_EVERY_VERSION: "1" }),
  { name: "node", args: ["task", "node"], about: [...CLUSTER, "tools/install/", "tests/node/"], alone: true },
  {
    name: "a hostile tenant",
    args: [...TEST, "tests/hostile/corpus_test.ts"],
    about: [...CLUSTER, "tests/hostile/"],
  },
  {
    name: "long walks",
    args: [...TEST, "tests/cluster/history_test.ts"],
    env: { HISTORY_WALKS: "1000" },
    about: ["core/", "shell/", "tests/cluster/history_test.ts"],
  },
  ...["helm", "helm_render", "helm_values"].map((name): Part => ({
    name: `helm 3: ${name}`,
    args: [...TEST, `tests/cluster/${name}_test.ts`],
    env: { HELM_PROGRAM: "helm-3" },
    about: ["tools/package/", "tests/cluster/helm", "tools/install/control_plane"],
  })),
  { name: "minors", args: ["task", "minors"], about: [...CLUSTER, "crds/"], alone: true },
  {
    name: "olm",
    args: ["task", "olm"],
    about: [...CLUSTER, "deploy/olm", "tools/package/", "tools/install/", "tests/olm/"],
    alone: true,
  },
  {
    name: "around",
    args: ["task", "around"],
    about: [
      "core/",
      "shell/",
      "tools/package/",
      "tools/release/",
      "tests/around/",
      "tests/traefik.ts",
      "tools/install/control_plane",
    ],
    alone: true,
  },
  {
    name: "release",
    args: ["task", "release", "--dry-run"],
    about: ["tools/release/", "tools/package/", "Dockerfile", "tests/release/"],
    alone: true,
  },
  { name: "soak", args: ["task", "soak"], about: [...CLUSTER, "tests/hostile/"], alone: true },
  {
    name: "boots",
    args: ["task", "boots"],
    about: ["core/config/", "configs/", "tools/boot_matrix/", "tools/server/"],
  },
  { name: "catalogue", args: ["task", "catalogue", "--check"], about: ["configs/catalogue", "tools/catalogue"] },
  { name: "bases", args: ["task", "bases", "--check"], about: ["configs/", "tools/bases", "tools/base_fixes"] },
  { name: "kube-score", args: ["task", "kube-score"], about: ["deploy/", "docs/install.md", "tools/kube_score"] },
  { name: "bench", args: ["task", "bench"], about: ["core/", "configs/", "tools/bench"], alone: true },
  { name: "bench:cluster", args: ["task", "bench:cluster"], about: [...CLUSTER, "tools/bench"], alone: true },
];

/** Half of the time a part waits. */
const PARTS_AT_ONCE = 2;

const main = async (): Promise<number> => {
  const { since, only = "", list, again } = taskOptions(
    Deno.args,
    {
      since: { type: "string" },
      only: { type: "string" },
      list: { type: "boolean", default: false },
      again: { type: "boolean", default: false },
    },
    `Usage: deno task test:all [--since REF] [--only WORD] [--list] [--again]

Runs deno task test, every other test on real parts, the matrices, soaks and long random walks; hours in all. Prints one line for
each part. Parts that passed before are not repeated as long as no file changes.

  --since REF  Only the parts to which a file belongs that changed since this commit
  --only WORD  Only the parts with this word in their name
  --list       Print the names of the parts instead of running them
  --again      Repeat the parts that have passed, too`,
  );
  const changed = since === undefined ? undefined : await changedSince(since);
  const asked = PARTS.filter(({ name, about }) =>
    name.includes(only) &&
    (changed === undefined || changed.some((file) => about.some((begin) => file.startsWith(begin))))
  );
  if (asked.length === 0 && changed === undefined) {
    throw new Error(`--only ${only}: no part has this in its name; --list names them all`);
  }
  if (list) {
    for (const { name } of asked) console.log(name);
    return 0;
  }
  const passed = await Passed.of(await stateOfFiles());
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-test-all-" });
  console.log(`output of each part: ${folder}`);
  let failed = 0;
  const run = async (part: Part): Promise<void> => {
    if (!again && passed.has(part.name)) return console.log(`${part.name}: passed before`);
    const started = performance.now();
    const file = join(folder, `${part.name.replaceAll(/\W+/g, "-")}.log`);
    using log = await Deno.open(file, { create: true, append: true });
    const write = (line: string) => void log.writeSync(new TextEncoder().encode(`${line}\n`));
    const outcome = await runPart({ ...part }, write);
    if (outcome.failed === 0) await passed.add(part.name);
    else failed++;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`${part.name}: ${outcome.failed === 0 ? `ok (${seconds} s)` : `FAILED (${seconds} s), see ${file}`}`);
  };
  const together = asked.filter(({ alone }) => alone === undefined);
  await inParallel(together.length, PARTS_AT_ONCE, async (index) => {
    const part = together[index];
    if (part !== undefined) await run(part);
  });
  for (const part of asked.filter(({ alone }) => alone === true)) await run(part);
  console.log(`${asked.length - failed} of ${asked.length} parts passed`);
  return failed === 0 ? 0 : 1;
};

/** The names of the parts that have passed with the present files, kept in the cache folder. */
class Passed {
  private constructor(private readonly file: string, private readonly names: Set<string>) {}

  static async of(state: string): Promise<Passed> {
    const file = cacheDir("test_all", `${state}.json`);
    const names = await Deno.readTextFile(file).then((text) => JSON.parse(text) as ReadonlyArray<string>, () => []);
    return new Passed(file, new Set(names));
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  async add(name: string): Promise<void> {
    this.names.add(name);
    await Deno.mkdir(dirname(this.file), { recursive: true });
    await Deno.writeTextFile(this.file, JSON.stringify([...this.names]));
  }
}

/** A digest of the commit and of what differs from it. */
const stateOfFiles = async (): Promise<string> => {
  const added = await untracked();
  const hashes = await git("hash-object", "--", ...added);
  const text = `${await git("rev-parse", "HEAD")}${await git("diff", "HEAD")}${added.join("\0")}${hashes}`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).slice(0, 8).toHex();
};

/** Paths of files that differ from those of the commit, not yet committed ones too. */
const changedSince = async (ref: string): Promise<ReadonlyArray<string>> => [
  ...names(await git("diff", "--name-only", "-z", ref, "--")),
  ...await untracked(),
];

/** Files that git does not know yet, without those that it ignores; a repository within this one is not a file. */
const untracked = async (): Promise<ReadonlyArray<string>> =>
  names(await git("ls-files", "--others", "--exclude-standard", "-z")).filter((path) => !path.endsWith("/"));

const names = (listed: string): ReadonlyArray<string> => listed.split("\0").filter((name) => name !== "");

const git = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: [...args], cwd: ROOT }).output();
  if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr).trim()}`);
  return new TextDecoder().decode(stdout);
};

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
}
