/**
 * `deno task ok` and `deno task test`, in the order in which a mistake shows soonest. `ok`: everything that needs no server and
 * no cluster. `test`: also each promise once on the real part that it is about (tests/promises.ts). The rest is in `test:all`.
 *
 * Ends with `N passed, N failed`: tests of all parts, and each check without tests of its own as one. Nothing may be ignored: an
 * ignored test counts as failed. What failed is repeated just before.
 */
import { filesOf, filterOf } from "../tests/promises.ts";
import { taskOptions } from "./task_options.ts";
import { type Part, runPart, startedHere, TEST } from "./test_parts.ts";

/** Parts that run one after the other, beside those of other lanes: while one waits, another one uses the cores. */
type Lane = readonly [Part, ...Part[]];

/** All tests that need no server and no cluster. */
export const UNIT_TESTS = [
  "tests/properties_test.ts",
  "tests/conversion_properties_test.ts",
  "tests/agreement_test.ts",
  "tests/hostile/requests_test.ts",
  "core",
  "shell",
  "tools",
  "tests/house",
  "tests/memory",
  "tests/render_is_run_test.ts",
  "tests/start_script_test.ts",
] as const;

const CHECKS: Lane = [
  // Quiet, it would not name the files.
  { name: "format", args: ["fmt", "--check"] },
  { name: "lint", args: ["lint", "--quiet"] },
  { name: "generated files", args: ["task", "--quiet", "gen", "--check"] },
  { name: "types", args: ["check", "--quiet"], yields: true },
];

const UNITS: Lane = [{
  name: "unit tests and properties",
  args: [...TEST, "--parallel", "--trace-leaks", ...UNIT_TESTS],
  // Those of sockets and programs wait for most of the time.
  jobs: 3,
  yields: true,
}];

const CLUSTER: Lane = [{
  name: "real Kubernetes API server",
  args: [...TEST, "--parallel", filterOf("cluster"), ...filesOf("cluster")],
  // They wait for half of the time.
  jobs: 3,
  env: { HISTORY_WALKS: "3" },
}];

const SERVERS: Lane = [
  { name: "real node", args: ["task", "--quiet", "node", filterOf("node"), ...filesOf("node")] },
  {
    name: "real Llama Stack and OGX servers",
    args: [...TEST, "--parallel", filterOf("server"), ...filesOf("server")],
    // A start of a server keeps a core busy.
    jobs: 2,
  },
];

const HOSTILE: Lane = [{
  name: "a hostile tenant",
  args: [...TEST, filterOf("hostile"), ...filesOf("hostile")],
  env: { CORPUS_EACH: "6" },
}];

const LEVELS: Readonly<Record<string, ReadonlyArray<ReadonlyArray<Lane>>>> = {
  ok: [[CHECKS, UNITS]],
  test: [[CHECKS, UNITS, CLUSTER, SERVERS, HOSTILE]],
};

const main = async (level: string, args: ReadonlyArray<string>): Promise<number> => {
  const steps = LEVELS[level];
  if (steps === undefined) {
    console.error(`unknown level ${level}; known are ${Object.keys(LEVELS).join(", ")}`);
    return 2;
  }
  taskOptions(args, {}, `Usage: deno task ${level}\n\nTo run one test file: deno test -A FILE`);
  const started = performance.now();
  const total = { passed: 0, failed: 0 };
  const repeated: Array<string> = [];
  if (level !== "ok") install();
  const counting = async (part: Part, label: string) => {
    console.log(`== ${part.name}`);
    const began = performance.now();
    const { passed, failed, failures } = await runPart(part, (line) => console.log(`${label}${line}`));
    total.passed += passed;
    total.failed += failed;
    if (failed > 0) repeated.push(`== ${part.name}: FAILED`, ...failures);
    const result = `${failed === 0 ? "ok" : "FAILED"} (${passed} passed, ${failed} failed, ${secondsSince(began)} s)`;
    console.log(`== ${part.name}: ${result}\n`);
  };
  for (const lanes of steps) {
    await Promise.all(lanes.map(async (lane) => {
      for (const part of lane) await counting(part, lanes.length === 1 ? "" : `${part.name}: `);
    }));
  }
  for (const text of repeated) console.log(`${text}\n`);
  console.log(`${level}: ${secondsSince(started)} s`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
};

const secondsSince = (startedMs: number): string => ((performance.now() - startedMs) / 1000).toFixed(0);

/** What the tests need, beside the tests that need none of it; a test that comes to something under way waits for it. */
const install = (): void => void startedHere({ args: ["run", "--allow-all", "--quiet", "tools/install_all.ts"] });

if (import.meta.main) {
  const [level = "test", ...args] = Deno.args;
  Deno.exit(await main(level, args));
}
