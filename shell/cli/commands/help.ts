/** `help`: listed as a command; `help COMMAND` is executed as `COMMAND --help`. */
import * as Effect from "effect/Effect";
import { Argument, Command } from "effect/cli";

export const help = Command.make(
  "help",
  {
    command: Argument.String("COMMAND").pipe(
      Argument.withDescription("Command to show help for"),
      Argument.variadic(),
    ),
  },
  () => Effect.void,
).pipe(Command.withDescription("Show help for a command"));
