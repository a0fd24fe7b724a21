/** Reads the files that a command names, within bounds. */
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import type { InputFile } from "../../core/command/input.ts";
import { lines } from "../../core/command/outcome.ts";
import { MANIFEST_BYTES_MAX } from "../../core/data/limits.ts";
import { fileProblem } from "../runtime/file_problem.ts";
import { write } from "./platform.ts";

/** A file that cannot be read: a usage error, exit code 2. */
export class FileUnreadable extends Data.TaggedError("FileUnreadable")<{
  readonly name: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `Cannot read ${this.name === "-" ? "standard input" : this.name}: ${this.detail}`;
  }
}

/** The bytes of a file, or of standard input for `-`. */
export const readBytes = Effect.fn("readBytes")(function* (name: string) {
  const file = name === "-" ? Deno.stdin : yield* attempt(name, () => Deno.open(name, { read: true }));
  return yield* attempt(name, () => readAll(file, name));
});

/** The text of a file; other than UTF-8 is refused. */
export const readText = Effect.fn("readText")(function* (name: string) {
  const bytes = yield* readBytes(name);
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => new FileUnreadable({ name, detail: "it is not UTF-8" }),
  });
  return { name, text } satisfies InputFile;
});

/**
 * The texts of files, and of the manifests of folders in the order of their names. As with kubectl, folders inside a folder
 * count only if `recursive`; otherwise they are named on standard error.
 */
export const manifestTexts = Effect.fn("manifestTexts")(function* (names: ReadonlyArray<string>, recursive: boolean) {
  const files = yield* Effect.forEach(
    names,
    Effect.fnUntraced(function* (name) {
      const isFolder = name !== "-" && (yield* attempt(name, () => Deno.stat(name))).isDirectory;
      if (!isFolder) return [name];
      const { manifests, folders } = yield* attempt(name, () => manifestsIn(name, recursive));
      write(Deno.stderr, lines(folders.map((folder) => `${folder}: folder ignored; --recursive reads it too`)));
      if (manifests.length > 0) return manifests;
      return yield* new FileUnreadable({ name, detail: "it is a folder without .yaml, .yml and .json files" });
    }),
  );
  return yield* Effect.forEach(files.flat(), readText);
});

/** Without hidden folders, and without those behind a symbolic link, which may lead back. */
const manifestsIn = async (
  folder: string,
  recursive: boolean,
): Promise<{ readonly manifests: ReadonlyArray<string>; readonly folders: ReadonlyArray<string> }> => {
  const manifests: Array<string> = [];
  const folders: Array<string> = [];
  const entries = await Array.fromAsync(Deno.readDir(folder));
  for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = `${folder.replace(/\/+$/, "")}/${entry.name}`;
    if (entry.isDirectory) {
      if (entry.name.startsWith(".")) continue;
      if (recursive) manifests.push(...(await manifestsIn(path, recursive)).manifests);
      else folders.push(path);
    } else if (/\.(ya?ml|json)$/.test(entry.name) && (entry.isFile || (await Deno.stat(path)).isFile)) {
      manifests.push(path);
    }
  }
  return { manifests, folders };
};

const attempt = <A>(name: string, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      cause instanceof FileUnreadable ? cause : new FileUnreadable({ name, detail: sentence(cause, name) }),
  });

const sentence = (cause: unknown, name: string): string =>
  /^https?:/.test(name) ? "URLs are not supported; download the file" : fileProblem(cause);

const readAll = async (
  file: { readonly readable: ReadableStream<Uint8Array<ArrayBuffer>> },
  name: string,
): Promise<Uint8Array> => {
  const parts: Array<Uint8Array<ArrayBuffer>> = [];
  let size = 0;
  // The stream closes the file when it ends or is left.
  for await (const part of file.readable) {
    size += part.length;
    if (size > MANIFEST_BYTES_MAX) {
      throw new FileUnreadable({ name, detail: `it is larger than ${MANIFEST_BYTES_MAX} bytes` });
    }
    parts.push(part);
  }
  return await new Blob(parts).bytes();
};
