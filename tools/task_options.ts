/** Options of a task. `--help` prints how it is used, and a mistake does so after the error, with exit code 2. */
import { parseArgs, type ParseArgsConfig } from "node:util";

/** Ends the process for `--help` and for arguments that `options` does not have. `usage`: complete lines. */
export const taskOptions = <const T extends NonNullable<ParseArgsConfig["options"]>>(
  args: ReadonlyArray<string>,
  options: T,
  usage: string,
) => {
  try {
    const { values } = parseArgs({
      args: args.filter((arg) => !HELP.has(arg)),
      options,
    });
    if (args.every((arg) => !HELP.has(arg))) return values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    Deno.exit(2);
  }
  console.log(usage);
  Deno.exit(0);
};

const HELP: ReadonlySet<string> = new Set(["--help", "-h"]);
