/**
 * An operator that starts with resources that have never been reconciled, and the bare client with the same requests.
 * Each uses a new API server of its own, so that neither is affected by the other's data.
 */
import { strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../cluster/control_plane.ts";
import { type OperatorProcess, startCompiledOperator } from "../cluster/operator_process.ts";
import { plannedWrites, writeAll } from "./bare_client.ts";
import { ASKED_EVERY_MS, createMany, deployments, pause, prepareCluster } from "./resources.ts";

export interface ColdStart {
  /** Until the last Deployment is written, from the first request of the bare client or the start of the operator's process. */
  readonly ms: number;
  /** Processor time used in that period; undefined if it is not available. */
  readonly processorSeconds: ProcessorSeconds | undefined;
}

interface ProcessorSeconds {
  /** All processes of the machine. */
  readonly all: number;
  /** kube-apiserver and etcd. */
  readonly servers: number;
}

const NAMESPACE = "operated";
const WITHIN_MS = 300_000;
/** What the API server still does with the resources that were made just before. */
const SETTLE_MS = 3_000;
/** USER_HZ, which is 100 on every Linux that Deno runs on. */
const TICKS_PER_SECOND = 100;

export const bareColdStart = (count: number): Promise<ColdStart> =>
  besideResources(count, {}, async (cluster) => {
    const planned = await plannedWrites(cluster, NAMESPACE);
    return await measured(cluster, () => writeAll(cluster, planned));
  });

/** What the resources run, and what they need in the cluster. */
export interface Subject {
  readonly distribution?: (index: number) => JsonObject;
  readonly prepare?: (cluster: ControlPlane) => Promise<void>;
  /** The operator watches the whole cluster, and not only the namespace of the resources. */
  readonly everywhere?: boolean;
}

export const operatorColdStart = (program: string, count: number, subject: Subject = {}): Promise<ColdStart> =>
  besideResources(count, subject, async (cluster) => {
    let operator: OperatorProcess | undefined;
    try {
      return await measured(cluster, async () => {
        const started = Date.now();
        operator = await startCompiledOperator(cluster, program, {
          namespaces: subject.everywhere === true ? [] : [NAMESPACE],
        });
        return await lastDeployment(cluster, operator, count) - started;
      });
    } finally {
      await operator?.stop();
    }
  });

const besideResources = async (
  count: number,
  { distribution, prepare }: Subject,
  work: (cluster: ControlPlane) => Promise<ColdStart>,
): Promise<ColdStart> => {
  const cluster = await startControlPlane();
  try {
    await prepareCluster(cluster, [NAMESPACE]);
    await prepare?.(cluster);
    await createMany(cluster, NAMESPACE, 0, count, distribution);
    await pause(SETTLE_MS);
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
};

const measured = async (cluster: ControlPlane, work: () => Promise<number>): Promise<ColdStart> => {
  const before = await processorSeconds(cluster);
  const ms = await work();
  const after = await processorSeconds(cluster);
  return {
    ms,
    processorSeconds: after === undefined || before === undefined
      ? undefined
      : { all: after.all - before.all, servers: after.servers - before.servers },
  };
};

/**
 * The time of the write in milliseconds since 1970, from the operator's log: counting Deployments repeatedly costs the
 * API server some hundredths of the measured time.
 */
const lastDeployment = async (
  cluster: ControlPlane,
  { logFile }: OperatorProcess,
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

const processorSeconds = async (cluster: ControlPlane): Promise<ProcessorSeconds | undefined> => {
  const [first] = (await procFile("stat")).split("\n");
  if (!first?.startsWith("cpu ")) return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = first.split(/\s+/).slice(1).map(Number);
  let servers = 0;
  for (const pid of cluster.pids()) servers += ticksOf(await procFile(`${pid}/stat`));
  return { all: (user + nice + system + irq + softirq) / TICKS_PER_SECOND, servers: servers / TICKS_PER_SECOND };
};

/** Fields 14 and 15 of proc_pid_stat(5); the second field, the name in brackets, may hold spaces. */
const ticksOf = (stat: string): number => {
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number);
  return user + system;
};

const procFile = (path: string): Promise<string> => Deno.readTextFile(`/proc/${path}`).catch(() => "");
