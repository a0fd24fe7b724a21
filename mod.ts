/** The program: parts list and entry point. What it does stands in shell/ (does I/O) and core/ (decides). */
// First: it sets up what effect finds.
import "./shell/process/async_context.ts";
import { runCli } from "./shell/cli/commands.ts";

if (import.meta.main) Deno.exit(await runCli(Deno.args));
