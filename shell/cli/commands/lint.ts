/** `lint`: flags and help. */
import * as Effect from "effect/Effect";
import { Command, Flag } from "effect/cli";
import { LINT_FORMATS, lintCommand } from "../../../core/command/lint.ts";
import { base, filename, imageLabels, moreFiles, recursive, serverVersion, settings } from "../flags.ts";
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
    recursive,
    strict: Flag.Boolean("strict").pipe(
      Flag.withDescription("Exit with code 1 for warnings too"),
      Flag.withDefault(false),
    ),
    output: Flag.Literals("output", LINT_FORMATS).pipe(
      Flag.withAlias("o"),
      Flag.withDescription(
        'Output format: json for scripts, sarif for code scanning, github for annotations of a pull request (default "text")',
      ),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("lint")(function* (input) {
    const files = yield* readFiles(input);
    const known = yield* surroundings(input.serverVersion, input.base, input.imageLabels, files);
    const { settled, platform } = yield* clusterFacts(input.settings);
    yield* printAdvice(
      lintCommand(files, { ...known, ...settled }, {
        format: input.output,
        strict: input.strict,
        platform,
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
