/** `render`: flags and help. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command, Flag } from "effect/cli";
import { renderCommand } from "../../../core/command/render.ts";
import {
  base,
  filename,
  imageLabels,
  manifestOutput,
  moreFiles,
  offlineNamespace,
  openshift,
  prometheusOperator,
  recursive,
  serverVersion,
  settings,
} from "../flags.ts";
import { print, styleFor } from "../print.ts";
import { clusterFacts, readFiles, surroundings } from "../surroundings.ts";
import { INVOKED_AS } from "../invocation.ts";

export const render = Command.make(
  "render",
  {
    filename,
    moreFiles,
    recursive,
    only: Flag.Literals("only", ["config", "env"]).pipe(
      Flag.withDescription("Print only the config.yaml (config) or the environment variables (env)"),
      Flag.optional,
    ),
    serverVersion,
    base,
    imageLabels,
    settings,
    openshift,
    prometheusOperator,
    namespace: offlineNamespace,
    output: manifestOutput,
  },
  Effect.fn("render")(function* (input) {
    const files = yield* readFiles(input);
    const known = yield* surroundings(input.serverVersion, input.base, input.imageLabels, files);
    const { settled, platform } = yield* clusterFacts(input.settings, input);
    yield* print(renderCommand(files, { ...known, ...settled }, {
      namespace: Option.getOrUndefined(input.namespace),
      platform,
      only: Option.getOrUndefined(input.only),
      format: input.output,
      style: styleFor(Deno.stderr),
    }));
  }),
).pipe(
  Command.withDescription(
    "Render the objects that the operator would create for resources. " +
      "Works offline and never reads Secrets: secrets remain ${env.…} placeholders.",
  ),
  Command.withShortDescription("Render the objects for one or more resources"),
  Command.withExamples([
    { command: `${INVOKED_AS} render -f llama.yaml`, description: "Render all objects" },
    { command: `${INVOKED_AS} render -f llama.yaml --only config`, description: "Print only config.yaml" },
    {
      command: `kubectl get llsd vllm -o yaml | ${INVOKED_AS} render -f -`,
      description: "Render an existing resource",
    },
  ]),
);
