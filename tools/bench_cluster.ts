/**
 * `deno task bench:cluster`: the operator on a real API server, compared with a bare client in the same run.
 *
 * The operator is the compiled program in its own process, as installed. The bare client writes the same objects, status
 * and Events without further logic: its time is that of the API server and the host. Figures are printed as rows of
 * Markdown; `--resources N` (1,000) sets the size, `--growth` also measures a reconciliation at 100 and 5,000, `--labels`
 * only compares configs from the labels of images with those of a pinned image.
 */
import { bareOne } from "./bench_cluster/bare_client.ts";
import { bareColdStart, type ColdStart, operatorColdStart } from "./bench_cluster/cold_starts.ts";
import { LABELLED_IMAGES, labelledStart } from "./bench_cluster/labels.ts";
import {
  ASKED_EVERY_MS,
  collection,
  createMany,
  deployments,
  pause,
  post,
  prepareCluster,
  resource,
} from "./bench_cluster/resources.ts";
import { type ControlPlane, startControlPlane } from "./cluster/control_plane.ts";
import { compiledOperator } from "./install/compiled_operator.ts";
import { type OperatorProcess, startCompiledOperator } from "./cluster/operator_process.ts";

/** Of the bare client and the operator. */
const ROUNDS = 9;
const COLD_GOAL = 1.25;
const LABELS_GOAL = 1.1;
const SAMPLES = 100;
/** Between two resources that are timed: the Service, the status and the Events of one are written after its Deployment. */
const ALONE_MS = 200;
const IDLE_SECONDS = 60;
/** The operator gives back what it does not need within 30 s of the last work (shell/runtime/rest.ts). */
const SETTLE_SECONDS = 60;

const option = (name: string, fallback: number): number => {
  const index = Deno.args.indexOf(name);
  return index < 0 ? fallback : Number(Deno.args[index + 1]);
};

const main = async (): Promise<void> => {
  const count = option("--resources", 1000);
  const program = await compiledOperator();
  if (Deno.args.includes("--labels")) return await labels(program, count);
  const idle = await besideCluster((cluster) => residentIdle(cluster, program));
  await coldStarts(program, count);
  await besideCluster((cluster) => atWork(cluster, program, count, idle));
};

/** An API server of its own, which is gone before the next is measured: an idle one takes a twentieth of two processors. */
const besideCluster = async <A>(work: (cluster: ControlPlane) => Promise<A>): Promise<A> => {
  const cluster = await startControlPlane();
  try {
    await prepareCluster(cluster, ["operated", "alone", "one"]);
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
};

/** Bytes. */
const residentIdle = async (cluster: ControlPlane, program: string): Promise<number> => {
  const operator = await startCompiledOperator(cluster, program, { namespaces: ["operated", "one"] });
  await pause(SETTLE_SECONDS * 1000);
  const bytes = await operator.residentBytes();
  row(
    `resident memory, no resources, ${SETTLE_SECONDS} s after the start`,
    `${mebibytes(bytes)} MiB`,
    "60 MiB",
    `${mebibytes(await operator.anonymousBytes())} MiB of it anonymous`,
  );
  await operator.stop();
  return bytes;
};

/** `before`: what it needs without resources, in bytes. */
const atWork = async (cluster: ControlPlane, program: string, count: number, before: number): Promise<void> => {
  await createMany(cluster, "operated", 0, count);
  const operator = await startCompiledOperator(cluster, program, { namespaces: ["operated", "one"] });
  await until(async () => await deployments(cluster, "operated") >= count, 300_000);
  await quiet(operator);
  const passes = await operator.passSeconds();
  row(
    `mean pass, 1 – ${count} resources`,
    `${(1000 * passes.sum / passes.count).toFixed(1)} ms`,
    undefined,
    `${passes.count} passes`,
  );
  await pause(SETTLE_SECONDS * 1000);
  const full = await operator.residentBytes();
  row(
    `resident memory, ${count} resources`,
    `${mebibytes(full)} MiB`,
    undefined,
    `${((full - before) / 1024 / count).toFixed(1)} KiB each, goal 25`,
  );

  const bareTimes = await createdToDeployment(cluster, "alone", (name) => bareOne(cluster, "alone", name));
  row("bare client, one resource created → Deployment written, median", `${percentile(bareTimes, 50).toFixed(0)} ms`);
  row("the same, 99th percentile", `${percentile(bareTimes, 99).toFixed(0)} ms`);
  const times = await createdToDeployment(cluster, "one", () => Promise.resolve());
  row("one resource created → Deployment written, median", `${percentile(times, 50).toFixed(0)} ms`, "30 ms");
  row("the same, 99th percentile", `${percentile(times, 99).toFixed(0)} ms`, "100 ms");

  await quiet(operator);
  const first = await operator.requests();
  await pause(IDLE_SECONDS * 1000);
  const idleRequests = (await operator.requests()).map((value, index) => value - (first[index] ?? 0));
  const perHour = (value: number) => (value * 3600 / IDLE_SECONDS / (count + SAMPLES)).toFixed(2);
  row(
    "requests per idle resource and hour",
    `${perHour(idleRequests[0] ?? 0)} reads, ${perHour(idleRequests[1] ?? 0)} writes`,
    "0 writes",
  );

  if (Deno.args.includes("--growth")) {
    await createMany(cluster, "operated", count, 5000);
    await until(async () => await deployments(cluster, "operated") >= 5000, 600_000);
    await quiet(operator);
    const more = await operator.passSeconds();
    row(
      `mean pass, ${count} – 5000 resources`,
      `${(1000 * (more.sum - passes.sum) / (more.count - passes.count)).toFixed(1)} ms`,
      "flat",
    );
    await pause(SETTLE_SECONDS * 1000);
    const grown = await operator.residentBytes();
    row(
      "resident memory, 5000 resources",
      `${mebibytes(grown)} MiB`,
      undefined,
      `${((grown - before) / 1024 / 5000).toFixed(1)} KiB each`,
    );
  }
  await operator.stop();
};

/**
 * The bare client and an operator, alternating, because the speed of a shared host changes within a minute. The order
 * within a round alternates. The time relative to the servers shows the operator's part of the ratio: a fast or slow
 * host affects both.
 */
const coldStarts = async (program: string, count: number): Promise<void> => {
  const rounds: Array<{ readonly bare: ColdStart; readonly operator: ColdStart }> = [];
  for (let round = 0; round < ROUNDS; round++) {
    let bare = round % 2 === 0 ? await bareColdStart(count) : undefined;
    const operator = await operatorColdStart(program, count);
    bare ??= await bareColdStart(count);
    rounds.push({ bare, operator });
    row(`bare client, ${count} resources, last Deployment`, seconds(bare.ms), undefined, processorTime(bare));
    row(
      `operator, ${count} resources cold, last Deployment`,
      seconds(operator.ms),
      `${COLD_GOAL} × bare (${seconds(COLD_GOAL * bare.ms)})`,
      `ratio ${(operator.ms / bare.ms).toFixed(2)}; ${processorTime(operator)}`,
    );
  }
  const median = (of: (round: (typeof rounds)[number]) => number | undefined): string => {
    const known = rounds.map(of).filter((item) => item !== undefined);
    return known.length === 0 ? "not known here" : percentile(known, 50).toFixed(2);
  };
  const allOf = ({ processorSeconds }: ColdStart) => processorSeconds?.all;
  const serversOf = ({ processorSeconds }: ColdStart) => processorSeconds?.servers;
  row("median of these ratios", median(({ bare, operator }) => operator.ms / bare.ms), `${COLD_GOAL}`);
  row("the same of the processor time", median(({ bare, operator }) => quotient(allOf(operator), allOf(bare))));
  row("of that of the servers", median(({ bare, operator }) => quotient(serversOf(operator), serversOf(bare))));
  row("all else as a part of the servers, bare client", median(({ bare }) => besideServers(bare)));
  row("the same, operator", median(({ operator }) => besideServers(operator)));
};

/** Pairs, alternating, for the same reason. */
const labels = async (program: string, count: number): Promise<void> => {
  const ratios: Array<number> = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { pinned, labelled, manifests } = await labelledStart(program, count, round % 2 === 0);
    ratios.push(labelled.ms / pinned.ms);
    row(`pinned image, ${count} resources cold, last Deployment`, seconds(pinned.ms), "", processorTime(pinned));
    row(
      `labels of ${LABELLED_IMAGES} images, the same`,
      seconds(labelled.ms),
      `${LABELS_GOAL} × pinned`,
      `ratio ${(labelled.ms / pinned.ms).toFixed(2)}; ${processorTime(labelled)}; ${manifests} requests for manifests`,
    );
  }
  row("median of these ratios", percentile(ratios, 50).toFixed(2), `${LABELS_GOAL}`);
};

const besideServers = ({ processorSeconds }: ColdStart): number | undefined =>
  processorSeconds && quotient(processorSeconds.all - processorSeconds.servers, processorSeconds.servers);

const quotient = (item: number | undefined, other: number | undefined): number | undefined =>
  item === undefined || other === undefined ? undefined : item / other;

const processorTime = ({ processorSeconds }: ColdStart): string =>
  processorSeconds === undefined
    ? ""
    : `${processorSeconds.all.toFixed(1)} s of the processors, ${
      processorSeconds.servers.toFixed(1)
    } of them the servers`;

const row = (what: string, figure: string, goal = "", remark = ""): void =>
  console.log(`| ${what} | ${figure} | ${goal} | ${remark} |`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
const percentile = (values: ReadonlyArray<number>, rank: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * rank / 100) - 1)] ?? 0;

const until = async (isSo: () => Promise<boolean>, withinMs: number): Promise<void> => {
  const end = Date.now() + withinMs;
  while (!await isSo()) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms`);
    await pause(ASKED_EVERY_MS);
  }
};

/**
 * No write for two seconds. Reconciliations never end: an unavailable resource, as all are here, is checked every five
 * minutes.
 */
const quiet = async (operator: OperatorProcess): Promise<void> => {
  let last = -1;
  await until(async () => {
    const [, writes] = await operator.requests();
    const same = writes === last;
    last = writes;
    if (!same) await pause(2000);
    return same;
  }, 600_000);
};

/**
 * Milliseconds from the request to create a resource until a watch reports its Deployment; `then` follows the creation.
 */
const createdToDeployment = async (
  cluster: ControlPlane,
  namespace: string,
  then: (name: string) => Promise<void>,
): Promise<ReadonlyArray<number>> => {
  const seen = new Map<string, number>();
  const stopping = new AbortController();
  const watch = await cluster.fetch(`/apis/apps/v1/namespaces/${namespace}/deployments?watch=1`, {
    signal: stopping.signal,
  });
  const reading = (async () => {
    let rest = "";
    try {
      for await (const chunk of watch.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const { object } = JSON.parse(line);
          if (!seen.has(object.metadata.name)) seen.set(object.metadata.name, performance.now());
        }
      }
    } catch {
      // The watch was asked to end.
    }
  })();
  const times: Array<number> = [];
  for (let index = 0; index < SAMPLES; index++) {
    const name = `one-${index}`;
    const started = performance.now();
    await post(cluster, collection(namespace), resource(namespace, name));
    await then(name);
    while (!seen.has(name)) await pause(1);
    times.push((seen.get(name) ?? 0) - started);
    await pause(ALONE_MS);
  }
  stopping.abort();
  await reading;
  return times;
};

if (import.meta.main) await main();
