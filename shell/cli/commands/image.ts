/** `image`: flags and help; reads an image from its registry for core/command/image.ts. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Argument, Command, Flag } from "effect/cli";
import { isImageReference } from "../../../core/data/image_reference.ts";
import { imageCommand } from "../../../core/command/image.ts";
import { optionalText } from "../flags.ts";
import { print, usageError } from "../print.ts";
import { imageFacts, registryFlags } from "../registry_image.ts";

export const image = Command.make(
  "image",
  {
    image: Argument.String("IMAGE").pipe(Argument.withDescription("Reference of the image, with a tag or digest")),
    config: optionalText("config", "NAME", "Config of the image to use instead of its default one"),
    ...registryFlags,
    output: Flag.Literals("output", ["text", "json", "config"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription('Output format; config prints the config itself, for render --base (default "text")'),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("image")(function* (input) {
    if (!isImageReference(input.image)) return yield* usageError(`${input.image}: not a reference of an image`);
    const facts = yield* imageFacts(input.image, input);
    yield* print(imageCommand(facts, { config: Option.getOrUndefined(input.config), format: input.output }));
  }),
).pipe(
  Command.withDescription(
    "Show what the labels of a distribution image say: version of the server, configs, providers, and what prevents the " +
      "operator from generating a config for it. Reads the labels of every architecture from the registry, with your own " +
      "credentials, and pulls no layer. Exit codes: 0 success, 1 there are problems, or the image cannot be read, 2 usage error.",
  ),
  Command.withShortDescription("Show the configs in the labels of an image"),
  Command.withExamples([{
    command: "llama-stack-operator image registry.example.com/ai/my-llama-stack:1 -o config > base.yaml",
    description: "Save the config of an image, to try it with render --base base.yaml",
  }]),
);
