/** `render`: flags and help. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command, Flag } from "effect/cli";
import { renderCommand } from "../../../core/command/render.ts";
import {
  base,
  filename,
  manifestOutput,
  moreFiles,
  offlineNamespace,
  openshift,
  serverVersion,
  settings,
} from "../flags.ts";
import { say, styleFor } from "../say.ts";
import { clusterFacts, readFiles, surroundings } from "../surroundings.ts";

export const render = Command.make(
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
    settings,
    openshift,
    namespace: offlineNamespace,
    output: manifestOutput,
  },
  Effect.fn("render")(function* (input) {
    const files = yield* readFiles(input.filename, input.moreFiles);
    const known = yield* surroundings(input.serverVersion, input.base);
    const { overrides, allow, platform } = yield* clusterFacts(input.settings, input.openshift);
    yield* say(renderCommand(files, { ...known, overrides, allow }, {
      namespace: Option.getOrUndefined(input.namespace),
      platform,
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
