/** `images`: flags and help. */
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { imagesCommand } from "../../../core/command/images.ts";
import { say } from "../say.ts";
import { surroundings } from "../surroundings.ts";

export const images = Command.make(
  "images",
  {
    output: Flag.Literals("output", ["text", "json"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription("Format"),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("images")(function* ({ output }) {
    yield* say(imagesCommand(yield* surroundings(Option.none(), Option.none()), output));
  }),
).pipe(Command.withDescription("List the images of all distributions, for a mirror"));
