/** `lint`: flags and help. */
import * as Effect from "effect/Effect";
import { Command, Flag } from "effect/cli";
import { lintCommand } from "../../../core/command/lint.ts";
import { base, filename, imageLabels, moreFiles, serverVersion, settings } from "../flags.ts";
import { printAdvice, styleFor } from "../print.ts";
import { clusterFacts, readFiles, surroundings } from "../surroundings.ts";
import { INVOKED_AS } from "../invocation.ts";

export const lint = Command.make(
  "lint",
  {
    filename,
    moreFiles,
    serverVersion,
    base,
    imageLabels,
    settings,
    output: Flag.Literals("output", ["text", "json"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription('Output format; json is for CI (default "text")'),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("lint")(function* (input) {
    const files = yield* readFiles(input.filename, input.moreFiles);
    const known = yield* surroundings(input.serverVersion, input.base, input.imageLabels, files);
    const { overrides, allow, imageLabels: use } = yield* clusterFacts(input.settings, false);
    yield* printAdvice(
      lintCommand(files, { ...known, overrides, allow, imageLabels: use }, {
        format: input.output,
        style: styleFor(Deno.stdout),
      }),
    );
  }),
).pipe(
  Command.withDescription(
    "Check resources for errors and warnings: fields, rules, provider types, settings. " +
      "Exit codes: 0 no errors, 1 errors, 2 usage error.",
  ),
  Command.withShortDescription("Check resources for errors"),
  Command.withExamples([{
    command: `${INVOKED_AS} lint -f llama.yaml -o json`,
    description: "Check a file in CI",
  }]),
);
