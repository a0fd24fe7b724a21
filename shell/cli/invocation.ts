/** How the user calls the program: by its own name, or as a plugin of kubectl. */
import { basename } from "node:path";

/** kubectl finds a plugin `llama-stack` in a file of this name. */
export const PLUGIN_FILE = "kubectl-llama_stack";

const PROGRAM = "llama-stack-operator";

export const invokedAs = (executable: string): string =>
  basename(executable) === PLUGIN_FILE ? "kubectl llama-stack" : PROGRAM;

/** For help, examples and advice. */
export const INVOKED_AS = invokedAs(Deno.execPath());

/** Advice with the commands as this user can run them. */
export const withInvocation = (text: string, invocation = INVOKED_AS): string =>
  text.replaceAll(ADVISED, `${invocation} $1`);

/** Each command that advice names. */
const ADVISED = new RegExp(`\\b${PROGRAM} (lint|convert|catalogue|rollout|explain|diff|render|smoke)\\b`, "g");
