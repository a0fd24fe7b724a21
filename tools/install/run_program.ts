import { createHash } from "node:crypto";

export interface ProgramOptions {
  /** The whole environment; ours when absent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** What the program printed; fails with the end of its output when it ends with another code than 0. */
export const must = async (
  program: string,
  args: readonly string[],
  { env, cwd }: ProgramOptions = {},
): Promise<string> => {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, {
      args: [...args],
      stdin: "null",
      ...(env === undefined ? {} : { env: { ...env }, clearEnv: true }),
      ...(cwd === undefined ? {} : { cwd }),
    }).output();
  } catch (cause) {
    throw cause instanceof Deno.errors.NotFound ? new Error(`${program} is not there.`, { cause }) : cause;
  }
  const decoder = new TextDecoder();
  const [stdout, stderr] = [decoder.decode(output.stdout), decoder.decode(output.stderr)];
  if (output.success) return stdout;
  const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-15).join("\n");
  throw new Error(`${program} ${args[0] ?? ""} ended with ${output.code}:\n${said}`);
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
