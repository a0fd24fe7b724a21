/** The command line: its commands and their exit codes. What a command does is decided in core/command. */
import * as Effect from "effect/Effect";
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli";
import { type ExitCode, lines } from "../../core/command/outcome.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import type { ManifestUnusable } from "../../core/image/manifest.ts";
import type { RegistryFailure } from "../../core/image/registry_failure.ts";
import type { ClusterError } from "../kubernetes/cluster.ts";
import type { ResourceNotFound } from "./look.ts";
import type { SettingsError } from "../runtime/settings.ts";
import { convert } from "./commands/convert.ts";
import { crds } from "./commands/crds.ts";
import { diff } from "./commands/diff.ts";
import { explain } from "./commands/explain.ts";
import { catalogue } from "./commands/catalogue.ts";
import { help } from "./commands/help.ts";
import { image } from "./commands/image.ts";
import { images } from "./commands/images.ts";
import { label } from "./commands/label.ts";
import { importConfig } from "./commands/import.ts";
import { lint } from "./commands/lint.ts";
import { provider } from "./commands/provider.ts";
import { render } from "./commands/render.ts";
import { rollout } from "./commands/rollout.ts";
import { smoke } from "./commands/smoke.ts";
import { run } from "./commands/run.ts";
import { takeoverCheck } from "./commands/takeover_check.ts";
import { version } from "./commands/version.ts";
import type { FileUnreadable } from "./files.ts";
import { INVOKED_AS } from "./invocation.ts";
import { platform, write } from "./platform.ts";
import type { Ended } from "./print.ts";

/** Runs the command line and returns its exit code. Writes to the standard streams; never exits itself. */
export const runCli = (args: ReadonlyArray<string>): Promise<ExitCode> =>
  Command.runWith(program, { version: OPERATOR_VERSION })(withHelpFlag(args)).pipe(
    Effect.as<ExitCode>(0),
    Effect.catch((failure) => Effect.sync(() => exitCodeOf(failure))),
    Effect.provide(platform(args)),
    Effect.provide(CliOutput.layer(FORMATTER)),
    Effect.provide(CliOutput.layerPresenter({ present })),
    Effect.provide(CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })),
    Effect.runPromise,
  );

const exitCodeOf = (
  failure:
    | Ended
    | FileUnreadable
    | SettingsError
    | ClusterError
    | ResourceNotFound
    | RegistryFailure
    | ManifestUnusable
    | CliError.CliError,
): ExitCode => {
  if (failure._tag === "Ended") return failure.code;
  // Help on request is not a usage error; help in response to a mistake is.
  if (CliError.isCliError(failure)) return failure._tag === "ShowHelp" && failure.errors.length === 0 ? 0 : 2;
  write(Deno.stderr, lines([failure.message]));
  return failure._tag === "FileUnreadable" || failure._tag === "SettingsError" ? 2 : 1;
};

const coloured = (): boolean => Deno.stdout.isTerminal() && !Deno.noColor;

const FORMATTER = CliOutput.defaultFormatter({ colors: coloured(), globalFlags: "summary" });

/** Help in response to a usage error is printed on standard error, next to the error; requested help on standard output. */
const present = (event: CliOutput.Presenter.Event): Effect.Effect<void> =>
  event._tag !== "InvalidInvocation"
    ? CliOutput.defaultPresenter.present(event)
    : Effect.sync(() =>
      write(Deno.stderr, `${FORMATTER.formatHelpDoc(event.helpDoc)}\n${FORMATTER.formatErrors(event.errors)}\n`)
    );

/** `help lint` is `lint --help`. An unknown command is left to be reported. */
const withHelpFlag = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, ...others] = args;
  if (first !== "help") return args;
  const named = others.filter((arg) => !HELP_FLAGS.has(arg));
  const isUnknown = named[0] !== undefined && COMMANDS.every(({ name }) => name !== named[0]);
  return isUnknown ? named : [...named, "--help"];
};

const HELP_FLAGS: ReadonlySet<string> = new Set(["--help", "-h"]);

const COMMANDS = [
  run,
  render,
  lint,
  diff,
  explain,
  smoke,
  rollout,
  takeoverCheck,
  importConfig,
  convert,
  catalogue,
  images,
  image,
  label,
  provider,
  crds,
  version,
  help,
] as const;

const program = Command.make(INVOKED_AS).pipe(
  Command.withDescription("Deploy Llama Stack and OGX servers on Kubernetes from LlamaStackDistribution resources"),
  Command.withSubcommands(COMMANDS),
);
