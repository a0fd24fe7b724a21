/** `import`: flags and help. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Argument, Command, Flag } from "effect/cli";
import { DEFAULT_SURROUNDINGS } from "../../../core/config/default_surroundings.ts";
import { importCommand } from "../../../core/command/import.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../../core/config/servers/distributions.ts";
import { serverOf, SUPPORTED_SERVERS } from "../../../core/config/servers/families/families.ts";
import { objectText } from "../../../core/import/object_text.ts";
import { configMapsOf } from "../../../core/import/runners.ts";
import type { InputFile } from "../../../core/command/input.ts";
import { V1ALPHA1 } from "../../../core/api/v1alpha1.ts";
import type { ObjectKey } from "../../../core/snapshot/object_key.ts";
import { Cluster } from "../../kubernetes/cluster.ts";
import { chosenNamespace, clusterFlags, lookOptions, resourceName } from "../cluster_flags.ts";
import { manifestTexts, readText } from "../files.ts";
import { filename, manifestOutput, optionalText, recursive, serverVersion } from "../flags.ts";
import { INVOKED_AS } from "../invocation.ts";
import { firstOf, keyOfResource, ResourceNotFound } from "../look.ts";
import { print, styleFor, usageError } from "../print.ts";

export const importConfig = Command.make(
  "import",
  {
    filename: filename.pipe(
      Flag.withDescription(
        "config.yaml or run.yaml, or a manifest with one: a ConfigMap, a LlamaStackDistribution or Deployment with its " +
          "ConfigMap, a compose file; - for standard input; can be repeated",
      ),
    ),
    recursive,
    names: resourceName("Name of a LlamaStackDistribution or Deployment of the cluster").pipe(Argument.variadic()),
    ...clusterFlags,
    name: optionalText("name", "NAME", "Name of the resource; defaults to that of the manifest, or to llama-stack"),
    namespace: optionalText("namespace", "NAME", "Namespace of the resource, and of NAME").pipe(Flag.withAlias("n")),
    serverVersion: serverVersion.pipe(
      Flag.withDescription("Version of the server that runs the config; if unset, it is guessed"),
    ),
    distribution: optionalText("distribution", "NAME", "Distribution to use; if unset, the one that fits best"),
    envFile: optionalText(
      "env-file",
      "FILE",
      "Variables with which the config runs, NAME=value in each line; values of secrets are not printed",
    ),
    keepData: Flag.Boolean("keep-data").pipe(
      Flag.withDescription(
        "Keep data where it is: the volume of a workload, the folder of databases, the stores of providers",
      ),
      Flag.withDefault(false),
    ),
    to: optionalText("to", "DISTRIBUTION", "Print the resource for this distribution, and what changes with it"),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Exit with code 1 if the result is not equal to the config"),
      Flag.withDefault(false),
    ),
    output: manifestOutput,
  },
  Effect.fn("import")(function* (input) {
    const [name, ...others] = input.names;
    if (others.length > 0 || input.filename.length === 0 && name === undefined) {
      return yield* usageError("Specify files with -f FILE, or one resource or Deployment of the cluster: import NAME");
    }
    const written = yield* manifestTexts(input.filename, input.recursive);
    const files = name === undefined ? written : [...written, yield* fromCluster(name, input)];
    const version = Option.getOrUndefined(input.serverVersion);
    if (version !== undefined && serverOf(version) === undefined) {
      return yield* usageError(
        `--server-version: unsupported server version "${version}"; use one of ${SUPPORTED_SERVERS.join(", ")}`,
      );
    }
    for (const [flag, name] of [["distribution", input.distribution], ["to", input.to]] as const) {
      if (Option.isNone(name) || EMBEDDED_DISTRIBUTIONS.has(name.value)) continue;
      return yield* usageError(
        `--${flag}: unknown distribution "${name.value}"; use one of ${
          [...EMBEDDED_DISTRIBUTIONS.keys()].sort().join(", ")
        }`,
      );
    }
    const envFile = Option.isNone(input.envFile) ? undefined : yield* readText(input.envFile.value);
    yield* print(importCommand(files, DEFAULT_SURROUNDINGS, {
      name: Option.getOrUndefined(input.name),
      namespace: Option.getOrUndefined(input.namespace),
      serverVersion: version,
      distribution: Option.getOrUndefined(input.distribution),
      envFile,
      keepData: input.keepData,
      to: Option.getOrUndefined(input.to),
      check: input.check,
      format: input.output,
      style: styleFor(Deno.stderr),
    }));
  }),
).pipe(
  Command.withDescription(
    "Turn a config.yaml into the short resource that means the same. Standard output has the resource, standard error the " +
      "proof: the config that the operator generates from it, compared with yours, and what to create, fill in and fix. " +
      "Never prints values of secrets. Exit codes: 0 success, 1 errors (--check: also differences), 2 usage error.",
  ),
  Command.withShortDescription("Turn a config.yaml into a short resource"),
  Command.withExamples([
    { command: `${INVOKED_AS} import -f run.yaml > llama.yaml`, description: "Import a config" },
    { command: `${INVOKED_AS} import my-stack -n team`, description: "Import a Deployment and its ConfigMap" },
    {
      command: `helm template my-chart | ${INVOKED_AS} import -f - --check`,
      description: "Import what a chart runs, and fail if anything differs",
    },
  ]),
);

/** The resource or Deployment with the ConfigMaps that it names, as a file would have them. Secrets are not read. */
const fromCluster = Effect.fnUntraced(function* (name: string, input: Parameters<typeof lookOptions>[0] & Named) {
  const look = yield* lookOptions(input);
  const namespace = chosenNamespace(input.namespace, look);
  const program = Effect.gen(function* () {
    const cluster = yield* Cluster;
    const resource = keyOfResource(namespace, name);
    const keys: ReadonlyArray<ObjectKey> = [
      resource,
      // Where the Go operator is installed, and nothing serves the newer version.
      { ...resource, apiVersion: V1ALPHA1 },
      { apiVersion: "apps/v1", kind: "Deployment", namespace, name },
    ];
    const object = yield* firstOf(keys);
    if (object === undefined) return yield* new ResourceNotFound({ namespace, name });
    const maps = yield* Effect.forEach(
      configMapsOf(object),
      (map) => cluster.get({ apiVersion: "v1", kind: "ConfigMap", namespace, name: map }),
    );
    const objects = [object, ...maps].filter((item) => item !== undefined);
    const text = objects.map(objectText).join("---\n");
    return { name: `${namespace}/${name}`, text } satisfies InputFile;
  });
  return yield* Effect.scoped(Effect.provide(program, Cluster.layer(look.connection)));
});

interface Named {
  readonly namespace: Option.Option<string>;
}
