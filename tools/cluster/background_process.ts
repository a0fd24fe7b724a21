/** A program that runs during a test. Its output goes to a file, so that a noisy program needs no memory here. */
export interface BackgroundProcess {
  readonly pid: number;
  readonly logFile: string;
  /** Exit code as in a shell: 128 + n after signal n. */
  readonly exited: Promise<number>;
  hasExited(): boolean;
  /** The end of the output, at most `LOG_BYTES_READ` of it. */
  log(): Promise<string>;
  /** Asks by `stopSignal`, kills when that is not enough, and returns the exit code. Safe to call twice. */
  stop(): Promise<number>;
}

export interface BackgroundCommand {
  readonly command: readonly [program: string, ...args: string[]];
  /** The whole environment: the program inherits nothing. */
  readonly env?: Readonly<Record<string, string>>;
  readonly workingFolder?: string;
  readonly logFile: string;
  readonly stopSignal?: Deno.Signal;
  readonly stopWithinMs?: number;
  /** Written to the standard input, which is then closed. */
  readonly input?: string;
  readonly userId?: number;
  readonly groupId?: number;
  /** A folder that goes with the program if this process is killed; else whoever made it removes it. */
  readonly scratch?: string;
}

export const startInBackground = async (wanted: BackgroundCommand): Promise<BackgroundProcess> => {
  const [program, ...args] = wanted.command;
  const log = await Deno.open(wanted.logFile, { create: true, append: true });
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args,
      // A group of its own: what the program starts can be ended with it.
      detached: true,
      clearEnv: true,
      env: { ...wanted.env },
      stdin: wanted.input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      ...(wanted.workingFolder === undefined ? {} : { cwd: wanted.workingFolder }),
      ...(wanted.userId === undefined ? {} : { uid: wanted.userId }),
      ...(wanted.groupId === undefined ? {} : { gid: wanted.groupId }),
    }).spawn();
  } catch (cause) {
    log.close();
    throw cause;
  }
  const guard = guardAgainstOrphans(child.pid, wanted.scratch);
  const drained = Promise.all([append(child.stdout, log), append(child.stderr, log)]);

  let over = false;
  const exited = (async () => {
    const { code } = await child.status;
    over = true;
    // A worker that outlives its parent would hold the pipes open, and the test with them.
    signal(-child.pid, "SIGKILL");
    await drained;
    log.close();
    await guard.dismiss();
    return code;
  })();
  if (wanted.input !== undefined) {
    // A program that exits before it has read everything explains it in its log.
    await writeAll(child.stdin, wanted.input).catch(() => {});
  }

  let stopping: Promise<number> | undefined;
  const stop = async () => {
    if (!over) signal(child.pid, wanted.stopSignal ?? "SIGTERM");
    const kill = setTimeout(() => signal(-child.pid, "SIGKILL"), wanted.stopWithinMs ?? 10_000);
    try {
      return await exited;
    } finally {
      clearTimeout(kill);
    }
  };

  return {
    pid: child.pid,
    logFile: wanted.logFile,
    exited,
    hasExited: () => over,
    log: () => readEnd(wanted.logFile, LOG_BYTES_READ),
    stop: () => stopping ??= stop(),
  };
};

/** The last `count` lines of a text, as an error message shows them. */
export const lastLines = (text: string, count: number): string => text.trimEnd().split("\n").slice(-count).join("\n");

/**
 * Checks every `everyMs` until `ready` returns true; false if `withinMs` have passed or the process has exited before.
 */
export const waitUntilReady = async (
  process: BackgroundProcess,
  ready: () => Promise<boolean>,
  withinMs: number,
  everyMs = 50,
): Promise<boolean> => {
  const end = performance.now() + withinMs;
  while (performance.now() < end && !process.hasExited()) {
    if (await ready()) return true;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return false;
};

/** Enough for every start and test seen (a server with one provider writes 8 kB until it is ready), small enough to hold. */
const LOG_BYTES_READ = 4 * 1024 * 1024;

const signal = (pid: number, name: Deno.Signal): void => {
  try {
    Deno.kill(pid, name);
  } catch {
    // It exited between the check and the signal; see its status.
  }
};

/**
 * A killed test run cannot clean up: a shell notices the end of this pipe and does it instead, for a whole process group
 * and its folder.
 */
export const guardAgainstOrphans = (pid: number, scratch?: string) => {
  const end = `read -r _; kill -TERM -${pid}; sleep 5; kill -KILL -${pid}`;
  const guard = new Deno.Command("/bin/sh", {
    args: scratch === undefined ? ["-c", end] : ["-c", `${end}; rm -rf "$1"`, "sh", scratch],
    // Ctrl-C is sent to the whole process group of the terminal; the guard must survive it.
    detached: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    dismiss: async () => {
      signal(guard.pid, "SIGKILL");
      await guard.status;
      await guard.stdin.abort();
    },
  };
};

const append = async (output: ReadableStream<Uint8Array>, log: Deno.FsFile): Promise<void> => {
  for await (const chunk of output) {
    let written = 0;
    while (written < chunk.length) written += await log.write(chunk.subarray(written));
  }
};

const writeAll = async (input: WritableStream<Uint8Array>, text: string): Promise<void> => {
  const writer = input.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
};

const readEnd = async (path: string, bytes: number): Promise<string> => {
  using file = await Deno.open(path);
  const { size } = await file.stat();
  await file.seek(Math.max(0, size - bytes), Deno.SeekMode.Start);
  return await new Response(file.readable).text();
};
