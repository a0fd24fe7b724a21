/** `convert`: flags and help. */
import * as Effect from "effect/Effect";
import { Command, Flag } from "effect/cli";
import { convertCommand } from "../../../core/command/convert.ts";
import { filename, manifestOutput, moreFiles, recursive } from "../flags.ts";
import { print, styleFor } from "../print.ts";
import { readFiles } from "../surroundings.ts";
import { INVOKED_AS } from "../invocation.ts";

export const convert = Command.make(
  "convert",
  {
    filename,
    moreFiles,
    recursive,
    to: Flag.Literals("to", ["v1alpha2", "v1alpha1"]).pipe(
      Flag.withDescription('API version to convert to (default "v1alpha2")'),
      Flag.withDefault("v1alpha2" as const),
    ),
    output: manifestOutput,
  },
  Effect.fn("convert")(function* (input) {
    const files = yield* readFiles(input);
    yield* print(convertCommand(files, { to: input.to, format: input.output, style: styleFor(Deno.stderr) }));
  }),
).pipe(
  Command.withDescription(
    "Convert resources to another API version without loss: fields that the other version lacks are kept in " +
      "annotations. Old short forms, such as a single provider instead of a list, are expanded. Documents of " +
      "other kinds are unchanged; comments are not kept. Exit codes: 0 success, 1 errors, 2 usage error.",
  ),
  Command.withShortDescription("Convert resources to another API version"),
  Command.withExamples([{
    command: `${INVOKED_AS} convert -f old.yaml > new.yaml`,
    description: "Convert a manifest from v1alpha1 to v1alpha2",
  }]),
);
