/** `catalogue`: flags and help. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command } from "effect/cli";
import { EMBEDDED_DISTRIBUTIONS } from "../../../core/config/servers/distributions.ts";
import { didYouMean } from "../../../core/data/closest.ts";
import { catalogueCommand } from "../../../core/command/catalogue.ts";
import { optionalText, textOutput } from "../flags.ts";
import { printAdvice, usageError } from "../print.ts";
import { INVOKED_AS } from "../invocation.ts";

export const catalogue = Command.make(
  "catalogue",
  {
    serverVersion: optionalText(
      "server-version",
      "V",
      "Server version, e.g. 0.7.3 (default: that of distribution starter)",
    ),
    distribution: optionalText("distribution", "NAME", "Use the server of this distribution instead, e.g. starter"),
    api: optionalText("api", "NAME", "List only providers of this API, with their fields, e.g. inference"),
    type: optionalText("type", "TYPE", "List only this provider type, with its fields, e.g. vllm"),
    output: textOutput,
  },
  Effect.fn("catalogue")(function* ({ serverVersion, distribution, api, type, output }) {
    const named = Option.getOrUndefined(distribution);
    if (named !== undefined && Option.isSome(serverVersion)) {
      return yield* usageError("--distribution and --server-version exclude each other");
    }
    const release = named === undefined ? undefined : EMBEDDED_DISTRIBUTIONS.get(named);
    if (named !== undefined && release === undefined) {
      const known = [...EMBEDDED_DISTRIBUTIONS.keys()].sort();
      return yield* usageError(
        `unknown distribution "${named}"${didYouMean(named, known)}; known: ${known.join(", ")}`,
      );
    }
    yield* printAdvice(catalogueCommand({
      serverVersion: release?.serverVersion ?? Option.getOrUndefined(serverVersion),
      api: Option.getOrUndefined(api),
      type: Option.getOrUndefined(type),
      format: output,
    }));
  }),
).pipe(
  Command.withDescription("List the provider types of a server, with their fields, defaults and descriptions"),
  Command.withExamples([{
    command: `${INVOKED_AS} catalogue --type vllm`,
    description: "List all fields of a provider type",
  }]),
);
