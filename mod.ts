/** The program: parts list and entry point. What it does stands in shell/ (does I/O) and core/ (decides). */
import { runCli } from "./shell/cli/commands.ts";

if (import.meta.main) Deno.exit(await runCli(Deno.args));
