import { createHash } from "node:crypto";

export interface ProgramOptions {
  /** The whole environment; defaults to that of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Standard input; defaults to nothing. */
  readonly stdin?: string | undefined;
}

/** What the program printed; fails with the end of its output when it ends with another code than 0. */
export const must = async (
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> => {
  const { code, stdout, stderr } = await ended(program, args, options);
  if (code === 0) return stdout;
  const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-15).join("\n");
  throw new Error(`${program} ${args[0] ?? ""} ended with ${code}:\n${said}`);
};

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How the program ended and what it printed, whatever its code is. */
export const ended = async (
  program: string,
  args: readonly string[],
  { env, cwd, stdin }: ProgramOptions = {},
): Promise<Ended> => {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args: [...args],
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      ...(env === undefined ? {} : { env: { ...env }, clearEnv: true }),
      ...(cwd === undefined ? {} : { cwd }),
    }).spawn();
  } catch (cause) {
    throw cause instanceof Deno.errors.NotFound ? new Error(`${program} is not there.`, { cause }) : cause;
  }
  const output = child.output();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    // It may end before it has read everything; its own message is the better error.
    await writer.write(new TextEncoder().encode(stdin)).catch(() => {});
    await writer.close().catch(() => {});
  }
  const { code, stdout, stderr } = await output;
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
};

/** Of a file that may be larger than memory. */
export const sha256Of = async (path: string): Promise<string> => {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  const part = new Uint8Array(1024 * 1024);
  for (let count = await file.read(part); count !== null; count = await file.read(part)) {
    hash.update(part.subarray(0, count));
  }
  return hash.digest("hex");
};
