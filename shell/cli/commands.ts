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
import type { FileUnreadable } from "./files.ts";
import { INVOKED_AS } from "./invocation.ts";
import { platform, write } from "./platform.ts";
import type { Ended } from "./print.ts";

/** Runs the command line and returns its exit code. Writes to the standard streams; never exits itself. */
export const runCli = async (args: ReadonlyArray<string>): Promise<ExitCode> => {
  const words = withHelpFlag(args);
  const program = await programFor(words);
  return await Command.runWith(program, { version: OPERATOR_VERSION })(words).pipe(
    Effect.as<ExitCode>(0),
    Effect.catch((failure) => Effect.sync(() => exitCodeOf(failure))),
    Effect.provide(platform(args)),
    Effect.provide(CliOutput.layer(FORMATTER)),
    Effect.provide(CliOutput.layerPresenter({ present })),
    Effect.provide(CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })),
    Effect.runPromise,
  );
};

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
  const isUnknown = named[0] !== undefined && !isName(named[0]);
  return isUnknown ? named : [...named, "--help"];
};

const HELP_FLAGS: ReadonlySet<string> = new Set(["--help", "-h"]);

/** By name, each a module of its own: a process loads what its command needs. */
const COMMANDS = {
  run: async () => (await import("./commands/run.ts")).run,
  render: async () => (await import("./commands/render.ts")).render,
  lint: async () => (await import("./commands/lint.ts")).lint,
  diff: async () => (await import("./commands/diff.ts")).diff,
  explain: async () => (await import("./commands/explain.ts")).explain,
  smoke: async () => (await import("./commands/smoke.ts")).smoke,
  rollout: async () => (await import("./commands/rollout.ts")).rollout,
  "takeover-check": async () => (await import("./commands/takeover_check.ts")).takeoverCheck,
  import: async () => (await import("./commands/import.ts")).importConfig,
  convert: async () => (await import("./commands/convert.ts")).convert,
  catalogue: async () => (await import("./commands/catalogue.ts")).catalogue,
  images: async () => (await import("./commands/images.ts")).images,
  image: async () => (await import("./commands/image.ts")).image,
  label: async () => (await import("./commands/label.ts")).label,
  provider: async () => (await import("./commands/provider.ts")).provider,
  crds: async () => (await import("./commands/crds.ts")).crds,
  version: async () => (await import("./commands/version.ts")).version,
  help: async () => (await import("./commands/help.ts")).help,
};

type Name = keyof typeof COMMANDS;

const isName = (word: string | undefined): word is Name => word !== undefined && Object.hasOwn(COMMANDS, word);

/** With all commands, unless the first word is the name of one: help and suggestions list them. */
const programFor = async ([first]: ReadonlyArray<string>) => {
  const names = isName(first) ? [first] : Object.keys(COMMANDS) as ReadonlyArray<Name>;
  return Command.make(INVOKED_AS).pipe(
    Command.withDescription("Deploy Llama Stack and OGX servers on Kubernetes from LlamaStackDistribution resources"),
    Command.withSubcommands(await Promise.all(names.map((name) => COMMANDS[name]()))),
  );
};
