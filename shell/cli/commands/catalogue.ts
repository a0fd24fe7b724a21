/** `catalogue`: flags and help. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command } from "effect/cli";
import { EMBEDDED_DISTRIBUTIONS } from "../../../core/config/servers/distributions.ts";
import { didYouMean } from "../../../core/data/closest.ts";
import { catalogueCommand } from "../../../core/command/catalogue.ts";
import { optionalText, textOutput } from "../flags.ts";
import { misuse, say } from "../say.ts";

export const catalogue = Command.make(
  "catalogue",
  {
    serverVersion: optionalText("server-version", "V", "Server to tell of, e.g. 0.7.3; the newest without it"),
    distribution: optionalText("distribution", "NAME", "Server of this distribution instead, e.g. starter"),
    api: optionalText("api", "NAME", "Only providers of this API, with their fields, e.g. inference"),
    type: optionalText("type", "TYPE", "Only this provider type, with its fields, e.g. vllm"),
    output: textOutput,
  },
  Effect.fn("catalogue")(function* ({ serverVersion, distribution, api, type, output }) {
    const named = Option.getOrUndefined(distribution);
    if (named !== undefined && Option.isSome(serverVersion)) {
      return yield* misuse("--distribution and --server-version exclude each other");
    }
    const release = named === undefined ? undefined : EMBEDDED_DISTRIBUTIONS.get(named);
    if (named !== undefined && release === undefined) {
      const known = [...EMBEDDED_DISTRIBUTIONS.keys()].sort();
      return yield* misuse(`unknown distribution "${named}"${didYouMean(named, known)}; known: ${known.join(", ")}`);
    }
    yield* say(catalogueCommand({
      serverVersion: release?.serverVersion ?? Option.getOrUndefined(serverVersion),
      api: Option.getOrUndefined(api),
      type: Option.getOrUndefined(type),
      format: output,
    }));
  }),
).pipe(
  Command.withDescription("List what a server offers: provider types, their fields, defaults and meaning"),
  Command.withExamples([{
    command: "llama-stack-operator catalogue --type vllm",
    description: "All fields of a type",
  }]),
);
