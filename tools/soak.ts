/**
 * `deno task soak`: the long forms of the robustness tests, one after the other. Prints rows for docs/measurements.md.
 *
 * `--minutes N` (80) is the approximate length of all parts together. From 80 on every part has its full length:
 * watches cut for 30 minutes, 10 minutes without a write, 10 minutes of reads while replicas are replaced, a crash
 * before and after every write, 20,000 foreign objects, 40,000 edits. With less, watches and silence are shortened
 * first; below 37 also reads, crashes, objects and edits. `--only WORD` runs the parts whose file has that word in its
 * name. The output of a failed part is kept and its location printed.
 */
import { join } from "node:path";
import { FIGURE, type Length, LOG_FOLDER_VARIABLE } from "./soak_lengths.ts";
import { startedHere } from "./test_parts.ts";
import { taskOptions } from "./task_options.ts";

interface Part {
  readonly file: string;
  readonly env: Readonly<Partial<Record<Length, string>>>;
}

const FULL_MINUTES = 80;

/** What crashes, replicas, foreign objects, edits and starts take together at full size; the rest is for watches and silence. */
const FIXED_MINUTES = 34;

const main = async (): Promise<number> => {
  const { minutes = FULL_MINUTES, only = "" } = flagsOf(Deno.args);
  if (!(minutes > 0)) throw new Error("--minutes requires a number greater than 0");
  const rows: Array<string> = [];
  let failed = 0;
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-soak-" });
  const parts = partsFor(minutes);
  const asked = parts.filter(({ file }) => file.includes(only));
  if (asked.length === 0) {
    throw new Error(`--only ${only} matches none of ${parts.map(({ file }) => file).join(", ")}`);
  }
  for (const part of asked) {
    const started = performance.now();
    const logs = join(folder, part.file.replaceAll("/", "_"));
    await Deno.mkdir(logs);
    const { success, figures } = await run(part, logs);
    rows.push(...figures);
    const took = `${((performance.now() - started) / 1000).toFixed(0)} s`;
    if (success) await Deno.remove(logs, { recursive: true });
    else failed++;
    console.error(
      `== ${part.file}: ${success ? `ok (${took})` : `FAILED (${took}), its output and logs are in ${logs}`}`,
    );
  }
  if (failed === 0) await Deno.remove(folder);
  const { hardwareConcurrency } = navigator;
  const memory = Math.round(Deno.systemMemoryInfo().total / 1024 ** 3);
  const part = only === "" ? "" : `, only ${only}`;
  console.log(`\n## ${new Date().toISOString().slice(0, 10)}: soak of ${minutes} minutes${part}\n`);
  console.log(`${hardwareConcurrency} cores, ${memory} GiB, shared with other work; failed parts: ${failed}.\n`);
  console.log("| what | figure | bound | length |\n| --- | --- | --- | --- |");
  console.log(rows.join("\n"));
  return failed === 0 ? 0 : 1;
};

const partsFor = (minutes: number): ReadonlyArray<Part> => {
  const isFull = minutes >= FIXED_MINUTES + 3;
  const restSeconds = Math.max(0, minutes - FIXED_MINUTES) * 60;
  const between = (least: number, seconds: number, full: number): string =>
    String(Math.min(full, Math.max(least, Math.round(seconds))));
  return [
    { file: "faults_test.ts", env: { SOAK_CRASH_STRIDE: isFull ? "1" : "4" } },
    // Half for watches that end, half for watches that break.
    { file: "networks_test.ts", env: { SOAK_NETWORK_SECONDS: between(60, restSeconds * 0.7, 1800) } },
    { file: "replicas_test.ts", env: { SOAK_ROLLED_REPLICAS: between(4, minutes, 60) } },
    { file: "quiet_test.ts", env: { SOAK_QUIET_SECONDS: between(60, restSeconds * 0.3, 600) } },
    { file: "conversion_test.ts", env: { SOAK_ROLLING_SECONDS: isFull ? "600" : "60" } },
    { file: "foreign_load_test.ts", env: { SOAK_FOREIGN_OBJECTS: isFull ? "20000" : "2000" } },
    { file: "../hostile/corpus_test.ts", env: { SOAK_LARGE_RESOURCES: isFull ? "150" : "40" } },
    { file: "edits_test.ts", env: { SOAK_EDITS: isFull ? "40000" : "4000" } },
  ];
};

const flagsOf = (args: ReadonlyArray<string>): { readonly minutes?: number; readonly only?: string } => {
  const { minutes, only } = taskOptions(
    args,
    { minutes: { type: "string" }, only: { type: "string" } },
    `Usage: deno task soak [--minutes N] [--only WORD]

Runs the long forms of the robustness tests and prints rows for docs/measurements.md.

  --minutes N  Approximate length of all parts together (default: 80, each part in its full length)
  --only WORD  Only the parts whose file has this word in its name`,
  );
  return { ...(minutes === undefined ? {} : { minutes: Number(minutes) }), ...(only === undefined ? {} : { only }) };
};

/** All that the tests print, the operator's own log among it, is also in a file of `logs`; so are logs of its processes. */
const run = async ({ file, env }: Part, logs: string) => {
  const child = startedHere({
    args: ["test", "--allow-all", `tests/cluster/${file}`],
    env: { ...env, [LOG_FOLDER_VARIABLE]: logs },
    stdout: "piped",
    stderr: "piped",
  });
  using output = await Deno.open(join(logs, "output.log"), { append: true, create: true });
  const figures: Array<string> = [];
  const read = async (stream: ReadableStream<Uint8Array>) => {
    let rest = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      output.writeSync(new TextEncoder().encode(chunk));
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith(FIGURE)) figures.push(line.slice(FIGURE.length));
        // The operator's own log would be thousands of lines.
        else if (!line.startsWith("{")) console.error(line);
      }
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  return { success: (await child.status).success, figures };
};

if (import.meta.main) Deno.exit(await main());
