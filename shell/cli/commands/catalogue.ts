/** `catalogue`: flags and help. */
import { textOutput } from "../flags.ts";
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { catalogueCommand } from "../../../core/command/catalogue.ts";
import { say } from "../say.ts";

export const catalogue = Command.make(
  "catalogue",
  {
    serverVersion: Flag.String("server-version").pipe(
      Flag.withMetavar("V"),
      Flag.withDescription("Server to tell of, e.g. 0.7.3; the newest without it"),
      Flag.optional,
    ),
    api: Flag.String("api").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Only providers of this API, with their fields, e.g. inference"),
      Flag.optional,
    ),
    type: Flag.String("type").pipe(
      Flag.withMetavar("TYPE"),
      Flag.withDescription("Only this provider type, with its fields, e.g. vllm"),
      Flag.optional,
    ),
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
  Command.withDescription("List what a server offers: provider types, their fields, defaults and meaning"),
  Command.withExamples([{
    command: "llama-stack-operator catalogue --type vllm",
    description: "All fields of a type",
  }]),
);
