/**
 * `deno task bench`: prints speed figures, without asserting them.
 *
 * Generation is timed inside one process; `render` is timed as a whole process of the compiled program and of the minified
 * bundle, next to an empty Deno program in the same run, because wall time depends on the host.
 */
import { dirname } from "node:path";
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../core/config/default_surroundings.ts";
import { conversionAnswer } from "../core/admission/conversion_review.ts";
import { converted } from "../core/api/convert.ts";
import { decodeResource } from "../core/api/decode.ts";
import { derive } from "../core/config/derive.ts";
import { bundledFiles, bundleOperator } from "./bundle_operator.ts";
import { compiledOperator } from "./install/compiled_operator.ts";
import type { JsonObject } from "../core/data/json.ts";

const ROOT = new URL("../", import.meta.url);

/** Starter base with 10 providers and 20 models: the case that the specification names. */
const RESOURCE: JsonObject = {
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  metadata: { name: "bench" },
  spec: {
    distribution: { name: "starter" },
    providers: {
      inference: Array.from({ length: 10 }, (_, index) => ({
        id: `vllm-${index}`,
        provider: "vllm",
        endpoint: `http://vllm-${index}:8000`,
        apiKey: { secretKeyRef: { name: "vllm", key: "token" } },
        settings: { max_tokens: 4096 },
      })),
    },
    resources: {
      models: Array.from({ length: 20 }, (_, index) => ({ name: `model-${index}`, provider: `vllm-${index % 10}` })),
    },
  },
};

const main = async (): Promise<void> => {
  const resource = Result.getOrThrow(decodeResource(RESOURCE, "strict"));
  report("decode a resource with 10 providers and 20 models", inProcess(() => decodeResource(RESOURCE, "strict")));
  report(
    "generate its config.yaml on the starter base",
    inProcess(() => derive(resource, DEFAULT_SURROUNDINGS)),
    "goal 1 ms",
  );

  const stored: JsonObject = { ...RESOURCE, metadata: { name: "bench", namespace: "a" }, status: { phase: "Ready" } };
  const old = converted(stored, "llamastack.io/v1alpha1");
  report("convert it to v1alpha1", inProcess(() => converted(stored, "llamastack.io/v1alpha1")), "goal 1 ms");
  report("convert it back to v1alpha2", inProcess(() => converted(old, "llamastack.io/v1alpha2")), "goal 1 ms");
  for (const [desiredAPIVersion, object] of [["llamastack.io/v1alpha1", stored], ["llamastack.io/v1alpha2", old]]) {
    const request = { uid: "u", desiredAPIVersion, objects: Array.from({ length: 1000 }, () => object) } as JsonObject;
    const review = new TextEncoder().encode(JSON.stringify({ request }));
    const times = Array.from({ length: 12 }, () => {
      const started = performance.now();
      const { count, object } = Result.getOrThrow(conversionAnswer(review));
      for (let index = 0; index < count; index++) object(index);
      return (performance.now() - started) / 1000;
    });
    report(`one of 1,000 in a review to ${desiredAPIVersion}, JSON included`, times.slice(2), "goal 1 ms");
  }

  const folder = await Deno.makeTempDir();
  try {
    const empty = `${folder}/empty.js`;
    await Deno.writeTextFile(empty, "");
    const bundle = await bundleOperator(folder);
    const bytes = bundledFiles(dirname(bundle)).reduce((sum, file) => sum + Deno.statSync(file).size, 0);
    console.log(`minified bundle: ${(bytes / 1024).toFixed(0)} KiB in all its files`);
    const render = ["render", "-f", "deploy/samples/full.yaml"];
    const bare = await wall(Deno.execPath(), ["run", empty]);
    const full = await wall(Deno.execPath(), ["run", "--allow-read", "--allow-env", bundle, ...render]);
    const program = await compiledOperator();
    const compiled = await wall(program, render);
    const version = await wall(program, ["version"]);
    report("an empty Deno program, whole process", bare);
    report("render of deploy/samples/full.yaml with the bundle, whole process", full);
    report("the same with the compiled program, whole process", compiled, "goal 150 ms");
    report("version with the compiled program, whole process", version);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

const inProcess = (run: () => unknown): ReadonlyArray<number> => {
  for (let round = 0; round < 300; round++) run();
  return Array.from({ length: 500 }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
};

const wall = async (program: string, args: ReadonlyArray<string>): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = [];
  for (let round = 0; round < 25; round++) {
    const started = performance.now();
    await output(program, args);
    if (round >= 5) times.push(performance.now() - started);
  }
  return times;
};

const output = async (program: string, args: ReadonlyArray<string>): Promise<void> => {
  const { success, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
};

const median = (times: ReadonlyArray<number>): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

const report = (what: string, times: ReadonlyArray<number>, goal?: string): void => {
  const sorted = [...times].sort((a, b) => a - b);
  const show = (time: number | undefined) => `${(time ?? 0).toFixed(2)} ms`;
  const p99 = sorted[Math.floor(sorted.length * 0.99)];
  console.log(
    `${what}: median ${show(median(times))}, min ${show(sorted[0])}, p99 ${show(p99)}${
      goal === undefined ? "" : ` (${goal})`
    }`,
  );
};

if (import.meta.main) await main();
