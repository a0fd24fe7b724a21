/**
 * `deno task soak`: the long forms of the robustness tests, one after the other; rows of Markdown for docs/measurements.md.
 *
 * `--minutes N` (70) is the length of all parts together, about. From 70 on every part has its full length: watches cut for 30
 * minutes, 10 minutes without a write, 10 minutes of reads while replicas are replaced, a crash before and after every write,
 * 20,000 foreign objects. With less, watches and silence are cut down first; below 15 also crashes and objects.
 */
import { FIGURE } from "../tests/cluster/lengths.ts";

interface Part {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

const FULL_MINUTES = 70;

/** What crashes, replicas, foreign objects and starts take together at full size; the rest is for watches and silence. */
const FIXED_MINUTES = 23;

const main = async (): Promise<number> => {
  const index = Deno.args.indexOf("--minutes");
  const minutes = index < 0 ? FULL_MINUTES : Number(Deno.args[index + 1]);
  if (!(minutes > 0)) throw new Error("--minutes wants a number above 0");
  const rows: Array<string> = [];
  let failed = 0;
  for (const { file, env } of partsFor(minutes)) {
    const started = performance.now();
    const { success, figures } = await run(file, env);
    rows.push(...figures);
    if (!success) failed++;
    console.error(`== ${file}: ${success ? "ok" : "FAILED"} (${((performance.now() - started) / 1000).toFixed(0)} s)`);
  }
  const { hardwareConcurrency } = navigator;
  const memory = Math.round(Deno.systemMemoryInfo().total / 1024 ** 3);
  console.log(`\n## ${new Date().toISOString().slice(0, 10)}: soak of ${minutes} minutes\n`);
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
  ];
};

const run = async (file: string, env: Readonly<Record<string, string>>) => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", `tests/cluster/${file}`],
    cwd: new URL("../", import.meta.url),
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const figures: Array<string> = [];
  let rest = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith(FIGURE)) figures.push(line.slice(FIGURE.length));
      // The operator's own log would be thousands of lines.
      else if (!line.startsWith("{")) console.error(line);
    }
  }
  return { success: (await child.status).success, figures };
};

if (import.meta.main) Deno.exit(await main());
