/**
 * Asks a server's own code whether it would start with the config of a resource, in a fraction of the time of a start: oracle.py. A
 * process answers one case after the other, since its folder stands for the pod's.
 */
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../core/data/json.ts";
import { installServer, type ServerVersion } from "../install/python_server.ts";
import { type PodStart, podStart } from "../server/boot.ts";

export interface OracleAnswer {
  /** Unknown: for want of network, or of a Python package that the image has. */
  readonly outcome: "starts" | "fails" | "unknown";
  /** Type and message of the server's exception. */
  readonly error: string | null;
  /** File and line of the server that raised it. */
  readonly where: string | null;
}

export type StartOptions = Pick<
  NonNullable<Parameters<typeof podStart>[3]>,
  "secrets" | "files" | "surroundings" | "derive"
>;

export interface Oracle extends AsyncDisposable {
  readonly server: ServerVersion;
  /** What the pod of the resource would run; fails with `NoConfig` where the operator has no config for it. */
  start(manifest: JsonObject, options?: StartOptions): Promise<PodStart>;
  /** What the server says of it. */
  ask(start: PodStart): Promise<OracleAnswer>;
}

/** Nothing listens on it. */
const PORT = 8321;

export const startOracle = async (server: ServerVersion): Promise<Oracle> => {
  const installed = await installServer(server);
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-oracle-" });
  const home = join(folder, "home");
  const configFile = join(folder, "config.yaml");
  const packageName = installed.appFactory.split(".")[0] ?? "";
  const shared = {
    HOME: home,
    TIKTOKEN_CACHE_DIR: installed.tiktokenDir,
    PYTHONPATH: installed.pythonPath,
    // The servers read them when their modules are loaded, which is done once.
    LLAMA_STACK_CONFIG_DIR: home,
    OGX_CONFIG_DIR: home,
  };
  const child = new Deno.Command(installed.python, {
    args: [fileURLToPath(new URL("oracle.py", import.meta.url)), packageName, folder],
    clearEnv: true,
    env: { ...shared, PATH: `${dirname(installed.python)}:/usr/local/bin:/usr/bin:/bin` },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const line = async (): Promise<string> => {
    for (;;) {
      const end = rest.indexOf("\n");
      if (end >= 0) {
        const found = rest.slice(0, end);
        rest = rest.slice(end + 1);
        return found;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error(`the oracle of ${server} has ended`);
      rest += value;
    }
  };
  return {
    server,
    start: (manifest, options = {}) => podStart(manifest, PORT, home, { ...options, configFile }),
    ask: async ({ program, command, env, config }) => {
      const wanted = { command: [program, ...command], env: { ...shared, ...env }, config, configFile };
      await writer.write(new TextEncoder().encode(`${JSON.stringify(wanted)}\n`));
      return JSON.parse(await line());
    },
    [Symbol.asyncDispose]: async () => {
      await writer.close();
      await child.status;
      await reader.cancel();
      await Deno.remove(folder, { recursive: true });
    },
  };
};
