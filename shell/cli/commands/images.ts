/** `images`: flags and help. */
import { textOutput } from "../flags.ts";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command } from "effect/cli";
import { imagesCommand } from "../../../core/command/images.ts";
import { print } from "../print.ts";
import { surroundings } from "../surroundings.ts";

export const images = Command.make(
  "images",
  {
    output: textOutput,
  },
  Effect.fn("images")(function* ({ output }) {
    yield* print(imagesCommand(yield* surroundings(Option.none(), Option.none()), output));
  }),
).pipe(Command.withDescription("List the pinned image of each distribution, for mirroring"));
