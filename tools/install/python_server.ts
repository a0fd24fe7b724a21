/** A real Llama Stack or OGX server in a Python environment of its own, from the lock files in requirements/. */
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { must } from "./run_program.ts";
import { fetchTiktokenData, TIKTOKEN_SHA256 } from "./tiktoken_data.ts";
import { installUv } from "./uv.ts";

export type ServerVersion = keyof typeof SERVERS;

export interface InstalledServer {
  /** The Python of the environment; a server is started with `-m uvicorn --factory <appFactory>`. */
  readonly python: string;
  /** For TIKTOKEN_CACHE_DIR: every vector_io provider loads the cl100k_base encoding when it starts. */
  readonly tiktokenDir: string;
  /** For PYTHONPATH: a stand-in for torch, which the starter distribution imports when it starts. */
  readonly pythonPath: string;
  readonly appFactory: string;
  /** The environment variable that names the config file. */
  readonly configVariable: string;
}

/** Installs the server on first use and returns its location. */
export const installServer = async (version: ServerVersion): Promise<InstalledServer> => {
  const { coldSeconds, ...start } = SERVERS[version];
  const name = version.replace(" ", "-");
  const requirements = join(HERE, "requirements", `${name}.txt`);
  const standIn = await Deno.readFile(join(HERE, STAND_INS, "torch.py"));
  const base = await findPython();
  const made = new TextEncoder().encode(base.path);
  const wanted = await sha256Hex(new Uint8Array([...await Deno.readFile(requirements), ...standIn, ...made]));
  const environment = await once(
    cacheDir("servers", `${name}-python${base.minor}-${wanted.slice(0, 8)}`),
    `${version} (first time, about ${coldSeconds} s)`,
    async (into) => {
      await makeEnvironment(base.path, requirements, into);
      // Next to the environment and not in the source tree, where Python would write its byte code.
      await Deno.mkdir(join(into, STAND_INS));
      await Deno.writeFile(join(into, STAND_INS, "torch.py"), standIn);
    },
  );
  const python = join(environment, "bin", "python");
  const tiktokenDir = await once(
    cacheDir("tiktoken", TIKTOKEN_SHA256.slice(0, 8)),
    "tiktoken data (first time, about 5 s)",
    (into) => fetchTiktokenData(async (args) => void await must(base.path, args), into),
  );
  return { python, tiktokenDir, pythonPath: join(environment, STAND_INS), ...start };
};

const STAND_INS = "stand_ins";

const HERE = import.meta.dirname ?? ".";

const OGX_START = { appFactory: "ogx.core.server.server:create_app", configVariable: "OGX_CONFIG" } as const;
const LLAMA_STACK_START = {
  appFactory: "llama_stack.core.server.server:create_app",
  configVariable: "LLAMA_STACK_CONFIG",
} as const;

// The last release of each minor version, oldest first. The base configs are made from them, too. coldSeconds: two cores, empty pip cache, downloads included.
const SERVERS = {
  // Has no factory without arguments: it is started by its own command line, see family_legacy.ts.
  "llama-stack 0.2.24": { ...LLAMA_STACK_START, coldSeconds: 30 },
  "llama-stack 0.3.5": { ...LLAMA_STACK_START, coldSeconds: 30 },
  "llama-stack 0.4.7": { ...LLAMA_STACK_START, coldSeconds: 30 },
  "llama-stack 0.5.4": { ...LLAMA_STACK_START, coldSeconds: 30 },
  "llama-stack 0.6.1": { ...LLAMA_STACK_START, coldSeconds: 30 },
  "llama-stack 0.7.3": { ...LLAMA_STACK_START, coldSeconds: 30 },
  "ogx 0.8.0": { ...OGX_START, coldSeconds: 30 },
  "ogx 1.0.4": { ...OGX_START, coldSeconds: 30 },
  "ogx 1.1.3": { ...OGX_START, coldSeconds: 30 },
  "ogx 1.2.5": { ...OGX_START, coldSeconds: 30 },
  "ogx 1.3.1": { ...OGX_START, coldSeconds: 30 },
  "ogx 1.4.1": { ...OGX_START, coldSeconds: 30 },
  "ogx 1.5.0": { ...OGX_START, coldSeconds: 30 },
} as const;

/** Every server that can be installed, oldest first. */
export const SERVER_VERSIONS = Object.keys(SERVERS) as ReadonlyArray<ServerVersion>;

/** What `deno task test` starts, the newest of each; all the others are for `deno task test:all`. */
export const COMMON_VERSIONS: ReadonlyArray<ServerVersion> = ["llama-stack ", "ogx "].flatMap((product) =>
  SERVER_VERSIONS.findLast((version) => version.startsWith(product)) ?? []
);

/** The lock files were frozen on 3.12 and serve 3.13 as well; the servers refuse anything older. */
const PYTHON_NAMES: readonly string[] = ["python3.12", "python3.13", "python3"];
const OLDEST_MINOR = 12;

interface Python {
  readonly path: string;
  readonly minor: string;
}

export const findPython = async (): Promise<Python> => {
  const tried: string[] = [];
  for (const candidate of [...PYTHON_NAMES, ...await pyenvPythons()]) {
    const answer = await askPython(candidate);
    if (typeof answer !== "string") return answer;
    tried.push(`  ${candidate}: ${answer}`);
  }
  throw new Error(
    [
      `The servers need Python 3.${OLDEST_MINOR} or newer with its venv module, and there is none. Tried:`,
      ...tried,
      "Install one, for example by `apt install python3.12 python3.12-venv`, `brew install python@3.12` or " +
      "`pyenv install 3.12`.",
    ].join("\n"),
  );
};

const pyenvPythons = async (): Promise<readonly string[]> => {
  const versions = join(Deno.env.get("PYENV_ROOT") ?? join(Deno.env.get("HOME") ?? "", ".pyenv"), "versions");
  try {
    const names = await Array.fromAsync(Deno.readDir(versions), (entry) => entry.name);
    return names
      .map((name) => ({ name, minor: Number(/^3\.(\d+)/.exec(name)?.[1]) }))
      .filter(({ minor }) => minor >= OLDEST_MINOR)
      .sort((a, b) => a.minor - b.minor || (a.name < b.name ? -1 : 1))
      .map(({ name }) => join(versions, name, "bin", "python"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
};

/** The interpreter behind a name, or why it is of no use: a pyenv shim, for one, exists and may still refuse to run. */
const askPython = async (candidate: string): Promise<Python | string> => {
  const question = "import ensurepip, sys, venv; print(sys.executable); print('%d.%d' % sys.version_info[:2])";
  const answer = await run(candidate, ["-c", question]);
  if (answer === undefined) return "not there";
  if (answer.code !== 0) return answer.stderr.trim().split("\n").at(-1) ?? `ended with ${answer.code}`;
  const [path = "", minor = ""] = answer.stdout.trim().split("\n");
  return Number(/^3\.(\d+)$/.exec(minor)?.[1]) >= OLDEST_MINOR ? { path, minor } : `is ${minor}`;
};

/** Byte code is written when a module is first used. */
const makeEnvironment = async (base: string, requirements: string, into: string): Promise<void> => {
  const uv = await installUv(base);
  // Relocatable: the folder is renamed at the end, and a cache can be moved.
  await uv(["--quiet", "venv", "--relocatable", "--allow-existing", "--python", base, into]);
  // The file is a complete freeze, so there is nothing to resolve.
  await uv(["--quiet", "pip", "install", "--python", join(into, "bin", "python"), "--no-deps", "-r", requirements]);
};

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Undefined if the program does not exist. */
const run = async (program: string, args: readonly string[]): Promise<Outcome | undefined> => {
  try {
    const env = { ...Deno.env.toObject(), PYTHONNOUSERSITE: "1" };
    // The caller's own Python settings must not reach into the environment that is made here.
    for (const name of ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"]) Reflect.deleteProperty(env, name);
    const output = await new Deno.Command(program, { args: [...args], env, clearEnv: true, stdin: "null" }).output();
    const decoder = new TextDecoder();
    return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
};

const sha256Hex = async (content: Uint8Array<ArrayBuffer>): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", content)).toHex();
