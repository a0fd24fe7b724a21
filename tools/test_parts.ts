/** Parts of a run of tests: how each is run, what it printed, and how many tests passed and failed. */
import { guardAgainstOrphans } from "./cluster/background_process.ts";
import { PATIENCE_VARIABLE } from "../tests/waiting.ts";

export interface Part {
  readonly name: string;
  readonly args: ReadonlyArray<string>;
  /** Concurrent test files; defaults to the number of cores, if the runner supports several. */
  readonly jobs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Whatever else runs comes first: it needs the cores all the time, while others often wait. */
  readonly yields?: true;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Each with the name and place of its test, shortened. */
  readonly failures: ReadonlyArray<string>;
}

/** Types are a part of their own. */
export const TEST: ReadonlyArray<string> = ["test", "--allow-all", "--quiet", "--no-check"];

export const ROOT = new URL("../", import.meta.url);

/** A program of Deno that ends with this process, also when that is killed: an interrupted run leaves nothing running. */
export const startedHere = (options: Deno.CommandOptions, before: ReadonlyArray<string> = []) => {
  const [program = Deno.execPath(), ...args] = [...before, Deno.execPath(), ...options.args ?? []];
  // What is printed is also read. Deno follows FORCE_COLOR where both are set.
  const env = { NO_COLOR: "1", FORCE_COLOR: "", ...options.env };
  const all = { ...options, env, args, cwd: ROOT, stdin: "null" } as const;
  // There are no process groups.
  if (Deno.build.os === "windows") return new Deno.Command(program, all).spawn();
  const child = new Deno.Command(program, { ...all, detached: true }).spawn();
  const guard = guardAgainstOrphans(child.pid);
  child.status.then(guard.dismiss);
  return child;
};

/** `print` gets each line of what the part prints. */
export const runPart = async (part: Part, print: (line: string) => void): Promise<Outcome> => {
  const { args, jobs, env } = part;
  const child = startedHere({
    args: [...args],
    env: {
      [PATIENCE_VARIABLE]: patienceNow(),
      ...(jobs === undefined ? {} : { DENO_JOBS: String(jobs) }),
      ...env,
    },
    stdout: "piped",
    stderr: "piped",
  }, part.yields === true && Deno.build.os !== "windows" ? ["nice", "-n", "10"] : []);
  const [text, errors] = await Promise.all([followed(child.stdout, print), followed(child.stderr, print)]);
  const { success } = await child.status;
  return isTests(args)
    ? { ...counted(text, success), failures: failuresIn(text, errors) }
    : { passed: success ? 1 : 0, failed: success ? 0 : 1, failures: failuresIn(text, errors) };
};

/** How many times slower than the machine whose limits tests/waiting.ts has this one is, as busy as it is now. */
const patienceNow = (): string => Math.max(1, calibratedMs() / REFERENCE_MS).toFixed(1);

/** What `calibratedMs` is on that machine. */
const REFERENCE_MS = 100;

/** How long this machine takes for a fixed piece of work. */
const calibratedMs = (): number => {
  const startedMs = performance.now();
  let sum = 0;
  for (let count = 0; count < 60_000_000; count++) sum = sum * 31 + count | 0;
  return sum === 0.5 ? 0 : performance.now() - startedMs;
};

/** Whether the part prints the closing lines of the test runner. */
const isTests = (args: ReadonlyArray<string>): boolean =>
  args[0] === "test" || args[0] === "task" && ["node", "olm"].some((task) => args.includes(task));

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
export const counted = (text: string, success: boolean): Pick<Outcome, "passed" | "failed"> => {
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
