/** `convert`: flags and help. */
import * as Effect from "effect/Effect";
import { Command, Flag } from "effect/cli";
import { convertCommand } from "../../../core/command/convert.ts";
import { filename, manifestOutput, moreFiles } from "../flags.ts";
import { say, styleFor } from "../say.ts";
import { readFiles } from "../surroundings.ts";

export const convert = Command.make(
  "convert",
  {
    filename,
    moreFiles,
    to: Flag.Literals("to", ["v1alpha2", "v1alpha1"]).pipe(
      Flag.withDescription("API version to print"),
      Flag.withDefault("v1alpha2" as const),
    ),
    output: manifestOutput,
  },
  Effect.fn("convert")(function* (input) {
    const files = yield* readFiles(input.filename, input.moreFiles);
    yield* say(convertCommand(files, { to: input.to, format: input.output, style: styleFor(Deno.stderr) }));
  }),
).pipe(
  Command.withDescription(
    "Print resources in another API version, without loss: what the other version has no place for is kept in one " +
      "annotation. Also turns the early shorthand into lists. Exit code 0: fine; 1: errors; 2: misuse.",
  ),
  Command.withShortDescription("Rewrite resources for another API version"),
  Command.withExamples([{
    command: "llama-stack-operator convert -f old.yaml > new.yaml",
    description: "From v1alpha1 to v1alpha2",
  }]),
);
