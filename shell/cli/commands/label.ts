/** `label`: flags and help. */
import * as Effect from "effect/Effect";
import { Argument, Command, Flag } from "effect/cli";
import { labelCommand } from "../../../core/command/image.ts";
import { readText } from "../files.ts";
import { print } from "../print.ts";

export const label = Command.make(
  "label",
  {
    files: Argument.String("CONFIG").pipe(
      Argument.withDescription(
        "Configs of the image. The default is config.yaml, or the first one if there is none of that name",
      ),
      Argument.variadic({ min: 1 }),
    ),
    distribution: Flag.String("name").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Name of the distribution"),
    ),
    serverVersion: Flag.String("server-version").pipe(
      Flag.withMetavar("V"),
      Flag.withDescription("Version of the server in the image, e.g. 1.5.0"),
    ),
    output: Flag.Literals("output", ["containerfile", "crane"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription(
        'LABEL lines for a Containerfile, or a call of crane for an existing image (default "containerfile")',
      ),
      Flag.withDefault("containerfile" as const),
    ),
  },
  Effect.fn("label")(function* ({ files, distribution, serverVersion, output }) {
    const read = yield* Effect.forEach(files, (file) => readText(file));
    const named = read.map(({ name, text }) => ({ name: name.split("/").at(-1) ?? name, text }));
    yield* print(labelCommand(named, { distribution, serverVersion, format: output }));
  }),
).pipe(
  Command.withDescription(
    "Print the labels with which an image carries its configs, so that the operator can generate a config for it. Checks " +
      "that each is a config of a server of this version; provider types are not checked, since an image may have its own.",
  ),
  Command.withShortDescription("Print labels for the configs of an image"),
  Command.withExamples([{
    command: "llama-stack-operator label config.yaml --name mine --server-version 1.5.0 >> Containerfile",
    description: "Add the labels to a Containerfile",
  }]),
);
