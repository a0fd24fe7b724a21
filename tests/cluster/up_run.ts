/** `deno task up` as a process, and a look at what it leaves behind. */
import { deepStrictEqual } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

export interface Ended {
  readonly code: number;
  readonly text: string;
}

/** A run whose temporary folders are in `tmp` alone, so that what it leaves can be seen. */
export const start = (tmp: string, args: ReadonlyArray<string>, stdin?: string) =>
  startDeno(tmp, ["task", "--quiet", "up", ...args], stdin);

/** All that comes after the program's name. */
export const startDeno = (tmp: string, words: ReadonlyArray<string>, stdin: string | undefined = undefined) => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...words],
    cwd: ROOT,
    env: { TMPDIR: tmp, NO_COLOR: "1" },
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const follow = async (stream: ReadableStream<Uint8Array>) => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) text += part;
  };
  const said = Promise.all([follow(child.stdout), follow(child.stderr)]);
  const typed = (async () => {
    if (stdin === undefined) return;
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  })();
  return {
    child,
    text: () => text,
    ended: (async (): Promise<Ended> => {
      await typed;
      const { code } = await child.status;
      await said;
      return { code, text };
    })(),
  };
};

export const up = (tmp: string, args: ReadonlyArray<string>, stdin?: string) => start(tmp, args, stdin).ended;

/** Every process of a run names its temporary folder on its command line. */
const processesOf = async (tmp: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (line.includes(tmp)) found.push(line.replaceAll("\0", " ").slice(0, 120));
  }
  return found;
};

export const nothingIsLeft = async (tmp: string): Promise<void> => {
  deepStrictEqual(await processesOf(tmp), []);
  deepStrictEqual(await Array.fromAsync(Deno.readDir(tmp), ({ name }) => name), []);
};
