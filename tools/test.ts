/**
 * `deno task test`: every check of the project, in the order in which a mistake shows soonest.
 *
 * Ends with `N passed, N failed`: tests of all parts, and each check without tests of its own as one. Nothing may be
 * ignored: an ignored test counts as failed. What failed is repeated just before.
 */

interface Part {
  readonly name: string;
  readonly args: ReadonlyArray<string>;
  /** Concurrent test files; defaults to the number of cores, if the runner supports several. */
  readonly jobs?: number;
}

/**
 * Parts that run one after the other, beside the parts of the other lanes of the step: what one of them leaves of two
 * cores while it waits, another one uses.
 */
type Lane = readonly [Part, ...Part[]];
type Step = readonly [Lane, ...Lane[]];

/** Types are a part of their own. */
const TEST = ["test", "--allow-all", "--quiet", "--no-check"];

const cluster = (name: string) => `tests/cluster/${name}_test.ts`;

/** They begin first, so that none of them runs alone at the end; the others follow by name. */
const LONGEST = [
  "networks",
  "restore",
  "foreign_load",
  "edits",
  "faults",
  "certificates",
  "conversion",
  "quiet",
  "history",
  "weeks_after",
  "takeover_back",
  "helm",
  "up",
].map(cluster);

/** Without a cluster, and with one whose speed does not matter. */
const PURE_HOSTILE = "tests/hostile/requests_test.ts";
const UNTIMED_HOSTILE = "tests/hostile/secrets_test.ts";

const STEPS: ReadonlyArray<Step> = [
  [[
    { name: "format", args: ["fmt", "--check", "--quiet"] },
    { name: "lint", args: ["lint", "--quiet"] },
    { name: "types", args: ["check", "--quiet"] },
    { name: "generated files", args: ["task", "--quiet", "gen", "--check"] },
    {
      name: "unit tests and properties",
      args: [
        ...TEST,
        "--parallel",
        "--trace-leaks",
        "tests/properties_test.ts",
        "tests/conversion_properties_test.ts",
        "tests/agreement_test.ts",
        PURE_HOSTILE,
        "core",
        "shell",
        "tools",
        "tests/house",
        "tests/render_is_run_test.ts",
        "tests/start_script_test.ts",
      ],
    },
  ]],
  [
    // They wait for half of the time. With more at once, a part of a second becomes too long for some bounds.
    [{
      name: "real Kubernetes API server",
      args: [...TEST, "--parallel", ...LONGEST, UNTIMED_HOSTILE, "tests/cluster"],
      jobs: 2,
    }],
    // A start of a server keeps a core busy: more at once would only wait for each other.
    [
      { name: "real node", args: ["task", "--quiet", "node"] },
      { name: "real Llama Stack and OGX servers", args: [...TEST, "--parallel", "tests/server"], jobs: 2 },
    ],
  ],
];

/** After everything else, also after the installations: it measures how fast others are served. */
const TIMED: Part = {
  name: "a hostile tenant",
  args: [...TEST, `--ignore=${PURE_HOSTILE},${UNTIMED_HOSTILE}`, "tests/hostile"],
};

interface Count {
  readonly passed: number;
  readonly failed: number;
}

interface Outcome extends Count {
  readonly failures: ReadonlyArray<string>;
}

const main = async (): Promise<number> => {
  const total = { passed: 0, failed: 0 };
  const repeated: Array<string> = [];
  const installing = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", "tools/install_all.ts"],
    cwd: new URL("../", import.meta.url),
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).spawn();
  const counting = async (part: Part, label: string) => {
    const started = performance.now();
    const { passed, failed, failures } = await run(part, label);
    total.passed += passed;
    total.failed += failed;
    if (failed > 0) repeated.push(`== ${part.name}: FAILED`, ...failures);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(
      `== ${part.name}: ${failed === 0 ? "ok" : "FAILED"} (${passed} passed, ${failed} failed, ${seconds} s)\n`,
    );
  };
  for (const step of STEPS) {
    await Promise.all(step.map(async (lane) => {
      for (const part of lane) await counting(part, step.length === 1 ? "" : `${part.name}: `);
    }));
  }
  await installing.status;
  await counting(TIMED, "");
  for (const text of repeated) console.log(`${text}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
};

/** `label` begins each line of what the part prints. */
const run = async ({ name, args, jobs }: Part, label: string): Promise<Outcome> => {
  console.log(`== ${name}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: new URL("../", import.meta.url),
    env: { NO_COLOR: "1", ...(jobs === undefined ? {} : { DENO_JOBS: String(jobs) }) },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [text, errors] = await Promise.all([
    followed(child.stdout, (line) => console.log(`${label}${line}`)),
    followed(child.stderr, (line) => console.error(`${label}${line}`)),
  ]);
  const { success } = await child.status;
  return /^(test|node)$/.test(args[0] === "task" ? args.at(-1) ?? "" : args[0] ?? "")
    ? { ...counted(text, success), failures: failuresIn(text, errors) }
    : { passed: success ? 1 : 0, failed: success ? 0 : 1, failures: failuresIn(text, errors) };
};

/** Prints each line when it is complete, and returns the whole text. */
const followed = async (stream: ReadableStream<Uint8Array>, print: (line: string) => void): Promise<string> => {
  let text = "";
  let printed = 0;
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n", printed); end >= 0; end = text.indexOf("\n", printed)) {
      print(text.slice(printed, end));
      printed = end + 1;
    }
  }
  if (printed < text.length) print(text.slice(printed));
  return text;
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

const ERROR_LINES_MAX = 20;

/** A part that no failed test explains ends with the reason, e.g. that an installation failed. */
export const failuresIn = (text: string, errors: string): ReadonlyArray<string> => {
  const found = errorsIn(text);
  return found.length > 0 ? found : [errors.trim().split("\n").slice(-ERROR_LINES_MAX).join("\n")];
};

/** The errors that the test runner lists at its end, each with the name and place of its test, shortened. */
const errorsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^ ERRORS $\n([\s\S]*?)^ FAILURES $/gm)]
    .flatMap(([, errors = ""]) => errors.trim().split(/\n\n(?=.* => \S+:\d+:\d+$)/m))
    .map((error) => error.split("\n").slice(0, ERROR_LINES_MAX).join("\n"));

if (import.meta.main) Deno.exit(await main());
