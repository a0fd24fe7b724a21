import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { dirname, join } from "node:path";
import { startInBackground, waitUntilReady } from "./background_process.ts";
import { eventually, until } from "../../tests/waiting.ts";

const inFolder = async (use: (logFile: string) => Promise<void>): Promise<void> => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-background-" });
  try {
    await use(join(folder, "program.log"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

const shell = (script: string): [string, ...string[]] => ["/bin/sh", "-c", script];

/** False once the process is gone; one that nobody waited for yet has no memory left. */
const isAlive = async (pid: number): Promise<boolean> =>
  await Deno.readTextFile(`/proc/${pid}/status`).then((status) => status.includes("VmSize"), () => false);

Deno.test("startInBackground() passes input and environment to the program, and keeps both outputs", () =>
  inFolder(async (logFile) => {
    const program = await startInBackground({
      command: shell("cat; echo $WORD; echo home=$HOME; echo wrong >&2; exit 3"),
      env: { WORD: "one" },
      input: "from input\n",
      logFile,
    });
    strictEqual(await program.exited, 3);
    strictEqual(await program.stop(), 3);
    deepStrictEqual((await program.log()).split("\n").sort(), ["", "from input", "home=", "one", "wrong"]);
  }));

Deno.test("startInBackground() leaves nothing open if the program does not exist", () =>
  inFolder((logFile) => rejects(startInBackground({ command: ["/no/such/program"], logFile }), Deno.errors.NotFound)));

Deno.test("stop() kills a program that does not listen, and what it started", () =>
  inFolder(async (logFile) => {
    const program = await startInBackground({
      command: shell("trap '' TERM; sleep 60 & echo child=$!; wait; sleep 60"),
      logFile,
      stopWithinMs: 200,
    });
    const child = await eventually("its child", async () => {
      const [, pid] = /child=(\d+)\n/.exec(await program.log()) ?? [];
      return pid === undefined ? undefined : Number(pid);
    });
    strictEqual(await isAlive(child), true);
    strictEqual(await program.stop(), 128 + 9);
    // It is killed with its parent, and may end after it.
    await until("the child is gone", async () => !await isAlive(child));
  }));

Deno.test("waitUntilReady() does not wait for a program that has ended", () =>
  inFolder(async (logFile) => {
    const program = await startInBackground({ command: shell("exit 1"), logFile });
    strictEqual(await waitUntilReady(program, () => Promise.resolve(false), 60_000), false);
    await program.stop();
  }));

Deno.test("a program and its folder do not outlive a test run that was killed", () =>
  inFolder(async (logFile) => {
    const module = new URL("background_process.ts", import.meta.url).href;
    const scratch = join(dirname(logFile), "scratch");
    await Deno.mkdir(scratch);
    const script = `
      import { startInBackground } from ${JSON.stringify(module)};
      const program = await startInBackground({ command: ["/bin/sleep", "60"], ...${
      JSON.stringify({ logFile, scratch })
    } });
      console.log(program.pid);
      Deno.kill(Deno.pid, "SIGKILL");`;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--allow-all",
        "--no-config",
        `data:application/typescript,${encodeURIComponent(script)}`,
      ],
      stderr: "null",
    }).output();
    const text = new TextDecoder().decode(stdout).trim();
    match(text, /^\d+$/);
    await until("it is gone", async () => !await isAlive(Number(text)));
    await until("so is its folder", () => Deno.stat(scratch).then(() => false, () => true));
  }));
