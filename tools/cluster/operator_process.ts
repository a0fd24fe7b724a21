/** The operator as a process of its own: the compiled program that is installed, with the environment of its image. */
import { join } from "node:path";
import { allocatorEnv, RUNTIME_ENV } from "../program_flags.ts";
import { installAllocator } from "../install/allocator.ts";
import type { ControlPlane } from "./control_plane.ts";
import { startInBackground } from "./background_process.ts";
import { freePorts } from "./free_ports.ts";
import { LOG_FOLDER } from "../soak_lengths.ts";
import { limitedMemory } from "./limited_memory.ts";

export interface OperatorProcess {
  readonly pid: number;
  readonly residentBytes: () => Promise<number>;
  /** The part of it that is the process's own; the rest are pages of files, as Deno's program, that the kernel may take back. */
  readonly anonymousBytes: () => Promise<number>;
  /** Reconciliations so far: their number and total duration. */
  readonly passSeconds: () => Promise<{ readonly count: number; readonly sum: number }>;
  /** Requests to the API server so far: reads (lists and watches included), writes. */
  readonly requests: () => Promise<readonly [number, number]>;
  /** As `kill -9`; the lease stays. */
  readonly kill: () => Promise<void>;
  /** Asks by SIGTERM; the exit code. */
  readonly stop: () => Promise<number>;
  readonly logFile: string;
  readonly healthPort: number;
  /** The largest resident memory since the start, or since `restartPeak`. */
  readonly peakBytes: () => Promise<number>;
  readonly restartPeak: () => Promise<void>;
  /** Processor time of the thread that runs JavaScript, in milliseconds, garbage collection on other threads left out. */
  readonly mainThreadMs: () => Promise<number>;
  /** How often the kernel killed something for want of memory within the limit, and whether the process runs. */
  readonly memoryEvents: () => Promise<{ readonly events: number; readonly isRunning: boolean }>;
}

export interface ProcessOptions {
  /** Watched namespaces; all when empty. */
  readonly namespaces?: readonly string[];
  /** One replica needs no election. */
  readonly leaderElect?: boolean;
  /** Of the API server, or of a door before it. */
  readonly url?: string;
  /** Beyond it the kernel kills the process, as that of a container. */
  readonly memoryBytes?: number;
  /** Further flags of `run`. */
  readonly flags?: readonly string[];
}

export const startCompiledOperator = async (
  cluster: ControlPlane,
  program: string,
  { namespaces = [], leaderElect = false, url = cluster.url, memoryBytes, flags = [] }: ProcessOptions = {},
): Promise<OperatorProcess> => {
  const [metrics, health] = freePorts(2) as [number, number];
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-process-" });
  const kubeconfig = join(folder, "kubeconfig");
  await Deno.writeTextFile(
    kubeconfig,
    (await Deno.readTextFile(cluster.kubeconfig)).replaceAll(cluster.url, url),
  );
  const logFile = join(LOG_FOLDER ?? folder, `operator-${metrics}.log`);
  const allocator = await installAllocator();
  const limit = memoryBytes === undefined ? undefined : await limitedMemory(memoryBytes);
  const process = await startInBackground({
    command: [
      // Straight into the file: the measured program must not pay for forwarding the log.
      "/bin/sh",
      "-c",
      `${limit === undefined ? "" : `echo $$ >${limit.processes}; `}exec "$@" >>"$0" 2>&1`,
      logFile,
      program,
      "run",
      `--kubeconfig=${kubeconfig}`,
      `--metrics-address=127.0.0.1:${metrics}`,
      "--metrics-plain",
      `--health-address=127.0.0.1:${health}`,
      ...namespaces.map((namespace) => `--namespace=${namespace}`),
      leaderElect ? "--leader-elect" : "--no-leader-elect",
      ...flags,
    ],
    env: {
      HOME: folder,
      POD_NAMESPACE: "default",
      ...RUNTIME_ENV,
      ...(allocator === undefined ? {} : allocatorEnv(allocator)),
    },
    logFile,
    stopWithinMs: 15_000,
  });
  const figures = async (name: string): Promise<ReadonlyArray<readonly [string, number]>> => {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    return text.split("\n").filter((line) => line.startsWith(name)).map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))] as const;
    });
  };
  const total = (rows: ReadonlyArray<readonly [string, number]>) => rows.reduce((sum, [, value]) => sum + value, 0);
  return {
    pid: process.pid,
    logFile,
    healthPort: health,
    peakBytes: () => statusBytes(process.pid, "VmHWM"),
    restartPeak: () => Deno.writeTextFile(`/proc/${process.pid}/clear_refs`, RESET_PEAK),
    mainThreadMs: async () => {
      const fields = (await Deno.readTextFile(`/proc/${process.pid}/task/${process.pid}/stat`)).replace(/^.*\) /, "")
        .split(" ");
      // utime and stime are fields 14 and 15 of the line; two were cut off.
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    memoryEvents: async () => ({ events: await limit?.killed() ?? 0, isRunning: !process.hasExited() }),
    residentBytes: () => statusBytes(process.pid, "VmRSS"),
    anonymousBytes: () => statusBytes(process.pid, "RssAnon"),
    passSeconds: async () => ({
      count: total(await figures("controller_runtime_reconcile_time_seconds_count")),
      sum: total(await figures("controller_runtime_reconcile_time_seconds_sum")),
    }),
    requests: async () => {
      const rows = await figures("rest_client_requests_total");
      const reads = rows.filter(([name]) => /method="GET"/.test(name));
      return [total(reads), total(rows) - total(reads)] as const;
    },
    kill: async () => {
      Deno.kill(process.pid, "SIGKILL");
      await process.stop().catch(() => undefined);
    },
    stop: async () => {
      const code = await process.stop();
      await limit?.remove();
      await Deno.remove(folder, { recursive: true });
      return code;
    },
  };
};

/** Source: proc_pid_clear_refs(5). */
const RESET_PEAK = "5";

/** The kernel counts processor time in hundredths of a second (USER_HZ). */
const TICK_MS = 10;

/** A line of `/proc/PID/status`, in KiB. */
const statusBytes = async (pid: number, line: string): Promise<number> => {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024;
};
