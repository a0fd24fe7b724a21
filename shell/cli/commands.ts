/** The command line: flags and help texts. What a command does is decided in core/command. */
import { Data, Effect, Option } from "effect";
import { Argument, CliError, CliOutput, Command, Flag } from "effect/cli";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { imagesCommand } from "../../core/command/images.ts";
import { lintCommand } from "../../core/command/lint.ts";
import { COLOURED, type ExitCode, type Outcome, PLAIN, type Style } from "../../core/command/outcome.ts";
import { renderCommand } from "../../core/command/render.ts";
import { NO_OVERRIDES } from "../../core/config/distribution.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/distributions.ts";
import { SUPPORTED_SERVERS } from "../../core/config/lines/lines.ts";
import type { Surroundings } from "../../core/derive.ts";
import { OPERATOR_VERSION } from "../../core/version.ts";
import { writeYaml } from "../../core/yaml.ts";
import type { ClusterError } from "../cluster.ts";
import { operator } from "../run.ts";
import { connectionOf, isInPod, operatorNamespace, relatedImages, replicaName, SettingsError } from "../settings.ts";
import { untilAskedToStop } from "../signals.ts";
import { FileUnreadable, readBytes, readText } from "./files.ts";
import { platform, write } from "./platform.ts";

/** Runs the command line and returns its exit code (R45). Writes to the standard streams; never exits by itself. */
export const runCli = (args: ReadonlyArray<string>): Promise<ExitCode> =>
  Command.runWith(program, { version: OPERATOR_VERSION })(args).pipe(
    Effect.as<ExitCode>(0),
    Effect.catch((failure) => Effect.sync(() => exitCodeOf(failure))),
    Effect.provide(platform(args)),
    Effect.provide(CliOutput.layer(CliOutput.defaultFormatter({ colors: coloured(), globalFlags: "summary" }))),
    Effect.runPromise,
  );

/** A command that ended with something else than 0; what it had to say is written already. */
class Ended extends Data.TaggedError("Ended")<{ readonly code: ExitCode }> {}

const exitCodeOf = (failure: Ended | FileUnreadable | SettingsError | ClusterError | CliError.CliError): ExitCode => {
  if (failure._tag === "Ended") return failure.code;
  if (failure._tag === "ClusterError") {
    write(Deno.stderr, `${failure.message}\n`);
    return 1;
  }
  if (failure._tag === "FileUnreadable" || failure._tag === "SettingsError") {
    write(Deno.stderr, `${failure.message}\n`);
    return 2;
  }
  // Help that was asked for is no misuse; help that answers a mistake is.
  return failure._tag === "ShowHelp" && failure.errors.length === 0 ? 0 : 2;
};

const coloured = (): boolean => Deno.stdout.isTerminal() && !Deno.noColor;
const styleFor = (stream: typeof Deno.stdout): Style => stream.isTerminal() && !Deno.noColor ? COLOURED : PLAIN;

const say = Effect.fn("say")(function* ({ stdout, stderr, code }: Outcome) {
  write(Deno.stdout, stdout);
  write(Deno.stderr, stderr);
  if (code !== 0) return yield* new Ended({ code });
});

const filename = Flag.String("filename").pipe(
  Flag.withAlias("f"),
  Flag.withMetavar("FILE"),
  Flag.withDescription("File with LlamaStackDistribution resources; - is standard input; can be repeated"),
  Flag.atLeast(0),
);
const moreFiles = Argument.String("FILE").pipe(
  Argument.withDescription("Further files"),
  Argument.variadic(),
);
const serverVersion = Flag.String("server-version").pipe(
  Flag.withMetavar("V"),
  Flag.withDescription(
    `Make the config for this server instead of the distribution's own, e.g. ${
      SUPPORTED_SERVERS.at(-1)?.split(" ")[1]
    }`,
  ),
  Flag.optional,
);
const base = Flag.String("base").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription(
    "Base config.yaml instead of the distribution's own; for images that the operator does not know",
  ),
  Flag.optional,
);

const readFiles = Effect.fn("readFiles")(function* (flags: ReadonlyArray<string>, rest: ReadonlyArray<string>) {
  const names = [...flags, ...rest];
  if (names.length === 0) {
    write(Deno.stderr, "Name a file with -f FILE, or -f - for standard input\n");
    return yield* new Ended({ code: 2 });
  }
  return yield* Effect.forEach(names, readText);
});

const surroundings = Effect.fn("surroundings")(function* (
  version: Option.Option<string>,
  baseFile: Option.Option<string>,
) {
  const document = Option.isNone(baseFile) ? undefined : yield* readBytes(baseFile.value);
  const found: Surroundings = {
    distributions: EMBEDDED_DISTRIBUTIONS,
    overrides: NO_OVERRIDES,
    ...(Option.isNone(version) ? {} : { serverVersion: version.value }),
    ...(document === undefined ? {} : { base: { origin: Option.getOrElse(baseFile, () => "-"), content: document } }),
  };
  return found;
});

const render = Command.make(
  "render",
  {
    filename,
    moreFiles,
    only: Flag.Literals("only", ["config", "env"]).pipe(
      Flag.withDescription("config: the bare config.yaml; env: the list of environment variables"),
      Flag.optional,
    ),
    serverVersion,
    base,
    output: Flag.Literals("output", ["yaml", "json"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription("Format"),
      Flag.withDefault("yaml" as const),
    ),
  },
  Effect.fn("render")(function* (input) {
    const files = yield* readFiles(input.filename, input.moreFiles);
    const known = yield* surroundings(input.serverVersion, input.base);
    yield* say(renderCommand(files, known, {
      only: Option.getOrUndefined(input.only),
      format: input.output,
      style: styleFor(Deno.stderr),
    }));
  }),
).pipe(
  Command.withDescription(
    "Show every object that the operator makes of resources. " +
      "No cluster is asked and no Secret is read: secrets stay ${env.…} placeholders.",
  ),
  Command.withShortDescription("Show what the operator makes of resources"),
  Command.withExamples([
    { command: "llama-stack-operator render -f llama.yaml", description: "Every object" },
    { command: "llama-stack-operator render -f llama.yaml --only config", description: "The bare config.yaml" },
    {
      command: "kubectl get llsd my -o yaml | llama-stack-operator render -f -",
      description: "A resource of a cluster",
    },
  ]),
);

const lint = Command.make(
  "lint",
  {
    filename,
    moreFiles,
    serverVersion,
    base,
    output: Flag.Literals("output", ["text", "json"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription("Format; json is for CI"),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("lint")(function* (input) {
    const files = yield* readFiles(input.filename, input.moreFiles);
    const known = yield* surroundings(input.serverVersion, input.base);
    yield* say(lintCommand(files, known, { format: input.output, style: styleFor(Deno.stdout) }));
  }),
).pipe(
  Command.withDescription(
    "Find everything that is wrong or doubtful in resources: fields, rules, provider types, settings. " +
      "Exit code 0: no errors; 1: errors; 2: misuse.",
  ),
  Command.withShortDescription("Find mistakes in resources"),
  Command.withExamples([{ command: "llama-stack-operator lint -f llama.yaml -o json", description: "For CI" }]),
);

const images = Command.make(
  "images",
  {
    output: Flag.Literals("output", ["text", "json"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription("Format"),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("images")(function* ({ output }) {
    yield* say(imagesCommand(yield* surroundings(Option.none(), Option.none()), output));
  }),
).pipe(Command.withDescription("List the images of all distributions, for a mirror"));

const crds = Command.make("crds", {}, () => say({ stdout: writeYaml(customResourceDefinition()), stderr: "", code: 0 }))
  .pipe(Command.withDescription("Print the CustomResourceDefinition, ready for kubectl apply -f -"));

const version = Command.make("version", {}, () =>
  say({
    stdout: `llama-stack-operator ${OPERATOR_VERSION}\nservers: ${SUPPORTED_SERVERS.join(", ")}\n`,
    stderr: "",
    code: 0,
  })).pipe(Command.withDescription("Print the version and the servers that it knows"));

const run = Command.make(
  "run",
  {
    kubeconfig: Flag.String("kubeconfig").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Kubeconfig of the cluster; without it KUBECONFIG, else the account of the pod"),
      Flag.optional,
    ),
    context: Flag.String("context").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Context of the kubeconfig, instead of the current one"),
      Flag.optional,
    ),
    namespace: Flag.String("namespace").pipe(
      Flag.withAlias("n"),
      Flag.withMetavar("NAME"),
      Flag.withDescription("Namespace to watch; can be repeated; all of them when there is none"),
      Flag.atLeast(0),
    ),
    leaderElect: Flag.Boolean("leader-elect").pipe(
      Flag.withDescription("Work only while this replica holds the lease; --no-leader-elect for a single replica"),
      Flag.withDefault(true),
    ),
    metricsAddress: Flag.String("metrics-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Where /metrics is served; 0: nowhere"),
      Flag.withDefault(":8080"),
    ),
    healthAddress: Flag.String("health-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Where /livez and /readyz are served; 0: nowhere"),
      Flag.withDefault(":8081"),
    ),
  },
  Effect.fn("run")(function* ({ kubeconfig, context, namespace, leaderElect, metricsAddress, healthAddress }) {
    const connection = yield* Effect.try({
      try: () => connectionOf(Option.getOrUndefined(kubeconfig), Option.getOrUndefined(context)),
      catch: (cause) => cause instanceof SettingsError ? cause : new SettingsError({ detail: String(cause) }),
    });
    yield* untilAskedToStop(
      operator({
        connection,
        namespaces: namespace,
        operatorNamespace: operatorNamespace(),
        relatedImages: relatedImages(),
        leaderElect,
        metricsAddress,
        healthAddress,
        replica: replicaName(),
        route: isInPod(Option.getOrUndefined(kubeconfig)) ? "Direct" : "Proxied",
      }),
    );
  }),
).pipe(
  Command.withDescription(
    "Run the operator: make and keep the server of every LlamaStackDistribution. Stops with exit code 0 on SIGTERM and SIGINT.",
  ),
  Command.withShortDescription("Run the operator"),
);

const program = Command.make("llama-stack-operator").pipe(
  Command.withDescription("Runs Llama Stack and OGX servers on Kubernetes from short LlamaStackDistribution resources"),
  Command.withSubcommands([run, render, lint, images, crds, version]),
);
