/** What effect/cli asks of a platform, on Deno: the arguments, the terminal, and a plain no to everything we do not use. */
import * as Effect from "effect/Effect";
import * as FileSystem from "effect/FileSystem";
import * as Layer from "effect/Layer";
import * as Path from "effect/Path";
import * as PlatformError from "effect/PlatformError";
import * as Queue from "effect/Queue";
import * as Sink from "effect/Sink";
import * as Stdio from "effect/Stdio";
import * as Stream from "effect/Stream";
import * as Terminal from "effect/Terminal";
import { ChildProcessSpawner } from "effect/process";

/** The services for one run with `args`. */
export const platform = (args: ReadonlyArray<string>) =>
  Layer.mergeAll(
    Path.layer,
    FileSystem.layerNoop({}),
    Layer.succeed(Stdio.Stdio, stdio(args)),
    Layer.succeed(Terminal.Terminal, terminal),
    Layer.succeed(
      ChildProcessSpawner.ChildProcessSpawner,
      ChildProcessSpawner.make(() => Effect.fail(refused("spawn"))),
    ),
  );

/** Writes all of `text`; a closed pipe (`| head`) is not an error. */
export const write = (stream: typeof Deno.stdout, text: string): void => {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let done = 0; done < bytes.length;) done += stream.writeSync(bytes.subarray(done));
  } catch (cause) {
    if (!(cause instanceof Deno.errors.BrokenPipe)) throw cause;
  }
};

const refused = (method: string) =>
  PlatformError.systemError({ _tag: "PermissionDenied", module: "ChildProcess", method, description: "not used here" });

const sink = (stream: typeof Deno.stdout) =>
  Sink.forEach((chunk: string | Uint8Array) =>
    Effect.sync(() => write(stream, typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)))
  );

const stdio = (args: ReadonlyArray<string>): Stdio.Stdio =>
  Stdio.make({
    args: Effect.succeed(args),
    stdinIsTerminal: Effect.sync(() => Deno.stdin.isTerminal()),
    stdoutIsTerminal: Effect.sync(() => Deno.stdout.isTerminal()),
    stderrIsTerminal: Effect.sync(() => Deno.stderr.isTerminal()),
    stdout: () => sink(Deno.stdout),
    stderr: () => sink(Deno.stderr),
    stdin: Stream.empty,
  });

/** Width of help texts in columns, if the output is not a terminal. */
const COLUMNS_DEFAULT = 100;

const terminal: Terminal.Terminal = Terminal.make({
  columns: Effect.sync(() => Deno.stdout.isTerminal() ? Deno.consoleSize().columns : COLUMNS_DEFAULT),
  rows: Effect.sync(() => Deno.stdout.isTerminal() ? Deno.consoleSize().rows : 24),
  size: Effect.flatMap(Queue.unbounded<Terminal.Size, never>(), () => Effect.never),
  readInput: Effect.never,
  readLine: Effect.fail(new Terminal.QuitError()),
  display: (text) => Effect.sync(() => write(Deno.stdout, text)),
});
