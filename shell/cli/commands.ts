/** The command line: its commands and their exit codes. What a command does is decided in core/command. */
import * as Effect from "effect/Effect";
import { type CliError, CliOutput, Command } from "effect/cli";
import type { ExitCode } from "../../core/command/outcome.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import type { ClusterError } from "../kubernetes/cluster.ts";
import type { ResourceNotFound } from "./look.ts";
import type { SettingsError } from "../process/settings.ts";
import { convert } from "./commands/convert.ts";
import { crds } from "./commands/crds.ts";
import { diff } from "./commands/diff.ts";
import { explain } from "./commands/explain.ts";
import { catalogue } from "./commands/catalogue.ts";
import { images } from "./commands/images.ts";
import { lint } from "./commands/lint.ts";
import { render } from "./commands/render.ts";
import { rollout } from "./commands/rollout.ts";
import { run } from "./commands/run.ts";
import { version } from "./commands/version.ts";
import type { FileUnreadable } from "./files.ts";
import { platform, write } from "./platform.ts";
import type { Ended } from "./say.ts";

/** Runs the command line and returns its exit code. Writes to the standard streams; never exits itself. */
export const runCli = (args: ReadonlyArray<string>): Promise<ExitCode> =>
  Command.runWith(program, { version: OPERATOR_VERSION })(args).pipe(
    Effect.as<ExitCode>(0),
    Effect.catch((failure) => Effect.sync(() => exitCodeOf(failure))),
    Effect.provide(platform(args)),
    Effect.provide(CliOutput.layer(CliOutput.defaultFormatter({ colors: coloured(), globalFlags: "summary" }))),
    Effect.runPromise,
  );

const exitCodeOf = (
  failure: Ended | FileUnreadable | SettingsError | ClusterError | ResourceNotFound | CliError.CliError,
): ExitCode => {
  if (failure._tag === "Ended") return failure.code;
  if (failure._tag === "ClusterError" || failure._tag === "ResourceNotFound") {
    write(Deno.stderr, `${failure.message}\n`);
    return 1;
  }
  if (failure._tag === "FileUnreadable" || failure._tag === "SettingsError") {
    write(Deno.stderr, `${failure.message}\n`);
    return 2;
  }
  // Help on request is not a usage error; help in response to a mistake is.
  return failure._tag === "ShowHelp" && failure.errors.length === 0 ? 0 : 2;
};

const coloured = (): boolean => Deno.stdout.isTerminal() && !Deno.noColor;

const program = Command.make("llama-stack-operator").pipe(
  Command.withDescription("Deploy Llama Stack and OGX servers on Kubernetes from LlamaStackDistribution resources"),
  Command.withSubcommands([run, render, lint, diff, explain, rollout, convert, catalogue, images, crds, version]),
);
