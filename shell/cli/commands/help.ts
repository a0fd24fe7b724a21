/** `help`: listed as a command; `help COMMAND` is executed as `COMMAND --help`. */
import * as Effect from "effect/Effect";
import { Argument, Command } from "effect/cli";

export const help = Command.make(
  "help",
  {
    command: Argument.String("COMMAND").pipe(
      Argument.withDescription("The command to explain"),
      Argument.variadic(),
    ),
  },
  () => Effect.void,
).pipe(Command.withDescription("Show help for a command"));
