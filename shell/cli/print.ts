/** How a command speaks: texts on both streams, then the exit code. */
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import {
  coloured,
  type ExitCode,
  lines,
  type Outcome,
  PLAIN,
  type Style,
  withColours,
} from "../../core/command/outcome.ts";
import { printable } from "../../core/data/printable.ts";
import { withInvocation } from "./invocation.ts";
import { write } from "./platform.ts";

/** A command that ended with an exit code other than 0; its output has been written. */
export class Ended extends Data.TaggedError("Ended")<{ readonly code: ExitCode }> {}

export const print = Effect.fn("print")(function* ({ stdout, stderr, code }: Outcome) {
  // Output for another program is unchanged; on a terminal, control characters in external text are escaped.
  write(Deno.stdout, withColours(Deno.stdout.isTerminal() ? printable(stdout) : stdout, MARK));
  write(Deno.stderr, withColours(printable(withInvocation(stderr)), MARK));
  if (code !== 0) return yield* new Ended({ code });
});

/** For output that names commands of this program. What other programs read, such as manifests, is never changed. */
export const printAdvice = (outcome: Outcome) => print({ ...outcome, stdout: withInvocation(outcome.stdout) });

/** Ends the command with exit code 2 and a message. */
export const usageError = Effect.fn("usageError")(function* (sentence: string) {
  write(Deno.stderr, lines([sentence]));
  return yield* new Ended({ code: 2 });
});

const MARK = crypto.randomUUID();

export const styleFor = (stream: typeof Deno.stdout): Style =>
  stream.isTerminal() && !Deno.noColor ? coloured(MARK) : PLAIN;
