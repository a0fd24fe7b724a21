/** `catalogue`: flags and help. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command } from "effect/cli";
import { catalogueCommand } from "../../../core/command/catalogue.ts";
import { optionalText, textOutput } from "../flags.ts";
import { say } from "../say.ts";

export const catalogue = Command.make(
  "catalogue",
  {
    serverVersion: optionalText("server-version", "V", "Server version, e.g. 0.7.3 (default: the newest)"),
    api: optionalText("api", "NAME", "List only providers of this API, with their fields, e.g. inference"),
    type: optionalText("type", "TYPE", "List only this provider type, with its fields, e.g. vllm"),
    output: textOutput,
  },
  Effect.fn("catalogue")(function* ({ serverVersion, api, type, output }) {
    yield* say(catalogueCommand({
      serverVersion: Option.getOrUndefined(serverVersion),
      api: Option.getOrUndefined(api),
      type: Option.getOrUndefined(type),
      format: output,
    }));
  }),
).pipe(
  Command.withDescription("List the provider types of a server, with their fields, defaults and descriptions"),
  Command.withExamples([{
    command: "llama-stack-operator catalogue --type vllm",
    description: "List all fields of a provider type",
  }]),
);
