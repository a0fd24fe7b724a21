/**
 * An operator that starts beside resources which nobody has worked on, and the bare client with the same requests. Each has an
 * API server of its own, made for it, so that neither meets what the other left behind.
 */
import { strictEqual } from "node:assert/strict";
import { type ControlPlane, startControlPlane } from "../cluster/control_plane.ts";
import { type BundledOperator, startBundledOperator } from "../cluster/operator_process.ts";
import { plannedWrites, writeAll } from "./bare_client.ts";
import { ASKED_EVERY_MS, createMany, deployments, pause, prepareCluster } from "./resources.ts";

export interface ColdStart {
  /** Until the last Deployment is written, from the first request of the bare client or the start of the operator's process. */
  readonly ms: number;
  /** What all processes of the machine had of its processors in that time; undefined where nothing tells. */
  readonly processorSeconds: number | undefined;
}

const NAMESPACE = "operated";
const WITHIN_MS = 300_000;
/** What the API server still does with the resources that were made just before. */
const SETTLE_MS = 3_000;
/** USER_HZ, which is 100 on every Linux that Deno runs on. */
const TICKS_PER_SECOND = 100;

export const bareColdStart = (count: number): Promise<ColdStart> =>
  besideResources(count, async (cluster) => {
    const planned = await plannedWrites(cluster, NAMESPACE);
    return await measured(() => writeAll(cluster, planned));
  });

export const operatorColdStart = (bundle: string, count: number): Promise<ColdStart> =>
  besideResources(count, async (cluster) => {
    let operator: BundledOperator | undefined;
    try {
      return await measured(async () => {
        const started = Date.now();
        operator = await startBundledOperator(cluster, bundle, { namespaces: [NAMESPACE] });
        return await lastDeployment(cluster, operator, count) - started;
      });
    } finally {
      await operator?.stop();
    }
  });

const besideResources = async (
  count: number,
  work: (cluster: ControlPlane) => Promise<ColdStart>,
): Promise<ColdStart> => {
  const cluster = await startControlPlane();
  try {
    await prepareCluster(cluster, [NAMESPACE]);
    await createMany(cluster, NAMESPACE, 0, count);
    await pause(SETTLE_MS);
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
};

const measured = async (work: () => Promise<number>): Promise<ColdStart> => {
  const before = await processorSeconds();
  const ms = await work();
  const after = await processorSeconds();
  return { ms, processorSeconds: after === undefined || before === undefined ? undefined : after - before };
};

/**
 * When it was written, in milliseconds since 1970, as the operator's log says: to count Deployments again and again takes the
 * API server some hundredths of what is measured.
 */
const lastDeployment = async (
  cluster: ControlPlane,
  { logFile }: BundledOperator,
  count: number,
): Promise<number> => {
  using log = await Deno.open(logFile);
  const buffer = new Uint8Array(1 << 20);
  const decoder = new TextDecoder();
  const end = Date.now() + WITHIN_MS;
  let rest = "";
  let last = "";
  for (let made = 0; made < count;) {
    if (Date.now() > end) throw new Error(`${made} of ${count} Deployments after ${WITHIN_MS} ms`);
    const bytes = await log.read(buffer);
    if (bytes === null) await pause(ASKED_EVERY_MS);
    const lines = (rest + decoder.decode(buffer.subarray(0, bytes ?? 0), { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    const written = lines.filter((line) =>
      line.startsWith('{"message":"applied"') && line.includes('"kind":"Deployment"')
    );
    made += written.length;
    last = written.at(-1) ?? last;
  }
  strictEqual(await deployments(cluster, NAMESPACE), count);
  return Date.parse(JSON.parse(last).timestamp);
};

const processorSeconds = async (): Promise<number | undefined> => {
  const [first] = (await Deno.readTextFile("/proc/stat").catch(() => "")).split("\n");
  if (!first?.startsWith("cpu ")) return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = first.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
};
