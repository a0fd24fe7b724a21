/**
 * `deno task test`: every check of the project, in the order in which a mistake shows soonest.
 *
 * Ends with `N passed, N failed`: tests of all parts, and each check without tests of its own as one. Nothing may be
 * ignored: an ignored test counts as failed.
 */

interface Part {
  readonly name: string;
  readonly args: ReadonlyArray<string>;
  /** Concurrent test files; defaults to the number of cores, if the runner supports several. */
  readonly jobs?: number;
}

/** Tests with real parts spend much of their time waiting; more of them at once would only wait for each other. */
const JOBS_WITH_REAL_PARTS = 2;

const TEST = ["test", "--allow-all", "--quiet"];

const PARTS: ReadonlyArray<Part> = [
  { name: "format", args: ["fmt", "--check", "--quiet"] },
  { name: "lint", args: ["lint", "--quiet"] },
  { name: "types", args: ["check", "--quiet"] },
  { name: "generated files", args: ["task", "--quiet", "gen", "--check"] },
  {
    name: "unit tests",
    args: [
      ...TEST,
      "--parallel",
      "--trace-leaks",
      "core",
      "shell",
      "tools",
      "tests/house",
      "tests/render_is_run_test.ts",
      "tests/start_script_test.ts",
    ],
  },
  {
    name: "properties",
    args: [...TEST, "tests/properties_test.ts", "tests/conversion_properties_test.ts", "tests/agreement_test.ts"],
  },
  { name: "real Kubernetes API server", args: [...TEST, "--parallel", "tests/cluster"], jobs: JOBS_WITH_REAL_PARTS },
  // Alone: what is measured is how fast others are served.
  { name: "a hostile tenant", args: [...TEST, "tests/hostile"] },
  {
    name: "real Llama Stack and OGX servers",
    args: [...TEST, "--parallel", "tests/server"],
    jobs: JOBS_WITH_REAL_PARTS,
  },
  { name: "real node", args: ["task", "--quiet", "node"] },
];

interface Count {
  readonly passed: number;
  readonly failed: number;
}

const main = async (): Promise<number> => {
  const total = { passed: 0, failed: 0 };
  const installing = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", "tools/install_all.ts"],
    cwd: new URL("../", import.meta.url),
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).spawn();
  for (const part of PARTS) {
    const started = performance.now();
    const { passed, failed } = await run(part);
    total.passed += passed;
    total.failed += failed;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(
      `== ${part.name}: ${failed === 0 ? "ok" : "FAILED"} (${passed} passed, ${failed} failed, ${seconds} s)\n`,
    );
  }
  await installing.status;
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
};

const run = async ({ name, args, jobs }: Part): Promise<Count> => {
  console.log(`== ${name}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: new URL("../", import.meta.url),
    env: { NO_COLOR: "1", ...(jobs === undefined ? {} : { DENO_JOBS: String(jobs) }) },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    await Deno.stdout.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  const { success } = await child.status;
  return /^(test|node)$/.test(args[0] === "task" ? args.at(-1) ?? "" : args[0] ?? "")
    ? counted(text, success)
    : { passed: success ? 1 : 0, failed: success ? 0 : 1 };
};

/** From the closing lines of the test runner, e.g. `ok | 23 passed (33 steps) | 0 failed | 1 ignored (7s)`. */
const counted = (text: string, success: boolean): Count => {
  const closing = [
    ...text.matchAll(/\| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/g),
  ];
  if (closing.length === 0) return { passed: 0, failed: 1 };
  const sum = (group: number) => closing.reduce((total, found) => total + Number(found[group] ?? 0), 0);
  const failed = sum(2) + sum(3);
  return { passed: sum(1), failed: failed === 0 && !success ? 1 : failed };
};

if (import.meta.main) Deno.exit(await main());
