import { dirname, join } from "node:path";
import { installServer, type ServerVersion } from "../install/python_server.ts";
import { type BackgroundProcess, lastLines, startInBackground, waitUntilReady } from "../cluster/background_process.ts";
import { takeServerSlot } from "./server_slots.ts";

/** A real Llama Stack or OGX server as a plain process. */
export interface LlamaStack {
  readonly url: string;
  get(path: string, headers?: HeadersInit): Promise<Answer>;
  post(path: string, body: unknown, headers?: HeadersInit): Promise<Answer>;
  /** What the server printed so far. */
  log(): Promise<string>;
  /** Returns the exit code. */
  stop(): Promise<number>;
}

export interface Answer {
  readonly status: number;
  /** Parsed when it is JSON, else the text. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface LlamaStackOptions {
  readonly server: ServerVersion;
  /** What follows the program. */
  readonly command: readonly string[];
  /** Defaults to the Python of the server's environment, which other programs find on PATH as `python3`. */
  readonly program?: string;
  /** Written to `config.yaml` in the data folder, and named by the variable that this server reads. */
  readonly config: string;
  /** Wins over everything that is set here. */
  readonly env?: Readonly<Record<string, string>>;
  /** Also the server's home. */
  readonly dataDir: string;
  /** The server named by the command. */
  readonly port: number;
  readonly scheme?: "http" | "https";
  readonly caFile?: string;
  readonly timeoutMs?: number;
}

/** Returns when the server is healthy; fails with `ServerDidNotStart` when it ends or takes too long. */
export const startServer = async (options: LlamaStackOptions): Promise<LlamaStack> => {
  const { server, dataDir, port, scheme = "http", caFile, timeoutMs = START_WITHIN_MS } = options;
  const installed = await installServer(server);
  const configFile = join(dataDir, "config.yaml");
  await Deno.writeTextFile(configFile, options.config);
  const turn = await takeServerSlot();

  let client: Deno.HttpClient | undefined;
  let process: BackgroundProcess | undefined;
  const end = async (): Promise<number | undefined> => {
    // First, so that the server finds no open connection to wait for.
    client?.close();
    const code = await process?.stop();
    turn.giveBack();
    return code;
  };
  let ending: Promise<number | undefined> | undefined;
  try {
    client = Deno.createHttpClient(caFile === undefined ? {} : { caCerts: [await Deno.readTextFile(caFile)] });
    const url = `${scheme}://127.0.0.1:${port}`;
    const ask = asker(url, client);
    process = await startInBackground({
      command: [options.program ?? installed.python, ...options.command],
      env: {
        PATH: `${dirname(installed.python)}:/usr/local/bin:/usr/bin:/bin`,
        HOME: dataDir,
        TIKTOKEN_CACHE_DIR: installed.tiktokenDir,
        PYTHONPATH: installed.pythonPath,
        [installed.configVariable]: configFile,
        ...options.env,
      },
      workingFolder: dataDir,
      logFile: join(dataDir, "server.log"),
      stopWithinMs: STOP_WITHIN_MS,
    });
    const started = process;
    const isHealthy = () =>
      ask("/v1/health", { signal: AbortSignal.timeout(5_000) }).then(({ status }) => status === 200, () => false);
    if (await waitUntilReady(started, isHealthy, timeoutMs, LOOK_EVERY_MS)) {
      return {
        url,
        get: (path, headers) => ask(path, headers === undefined ? {} : { headers }),
        post: (path, body, headers) => {
          const all = new Headers(headers);
          all.set("content-type", "application/json");
          return ask(path, { method: "POST", headers: all, body: JSON.stringify(body) });
        },
        log: () => started.log(),
        stop: async () => await (ending ??= end()) ?? 0,
      };
    }
    const exitCode = started.hasExited() ? await started.exited : undefined;
    throw new ServerDidNotStart(server, exitCode, timeoutMs, await started.log());
  } catch (cause) {
    await end();
    throw cause;
  }
};

/** The server ended before it was healthy, or was not healthy in time. */
export class ServerDidNotStart extends Error {
  override readonly name = "ServerDidNotStart";

  constructor(
    server: ServerVersion,
    /** Undefined when the time was up. Not a sign of success when 0: OGX ends a failed start with it. */
    readonly exitCode: number | undefined,
    timeoutMs: number,
    readonly log: string,
  ) {
    const what = exitCode === undefined ? `was not healthy after ${timeoutMs / 1000} s` : `ended with code ${exitCode}`;
    super(`${server} ${what}; the end of its log:\n${lastLines(log, 60)}`);
  }
}

/** The command by which both servers listen on `port` of loopback; the config's own port and TLS files are not read. */
export const uvicornCommand = async (server: ServerVersion, port: number): Promise<string[]> => {
  const { appFactory } = await installServer(server);
  return ["-m", "uvicorn", "--factory", appFactory, "--host", "127.0.0.1", "--port", `${port}`, "--lifespan", "on"];
};

/** 4 s with one provider on an idle machine; the rest is for a first start, which compiles Python, and a busy machine. */
const START_WITHIN_MS = 300_000;
const STOP_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 200;

const asker = (url: string, client: Deno.HttpClient) => async (path: string, init: RequestInit): Promise<Answer> => {
  const answer = await fetch(`${url}${path}`, { ...init, client });
  const text = await answer.text();
  try {
    return { status: answer.status, body: JSON.parse(text) };
  } catch {
    return { status: answer.status, body: text };
  }
};
