/** What a rehearsal of two releases has made; `deno task release --dry-run` runs the tests of this folder on it. */
import { join } from "node:path";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { must } from "../../tools/install/run_program.ts";
import { FOLDER_VARIABLE, HOST_VARIABLE, NEXT_VERSION } from "../../tools/release/rehearsal.ts";

export const VERSIONS = [OPERATOR_VERSION, NEXT_VERSION] as const;

/** Path of a file of a version; without a version, of both. */
export const made = (...parts: ReadonlyArray<string>): string => {
  const folder = Deno.env.get(FOLDER_VARIABLE);
  if (folder === undefined) throw new Error("these tests belong to `deno task release --dry-run`");
  return join(folder, ...parts);
};

/** The registry, as host and port. */
export const host = (): string => Deno.env.get(HOST_VARIABLE) ?? "";

export const text = (...parts: ReadonlyArray<string>): Promise<string> => Deno.readTextFile(made(...parts));

/** Unpacks an archive of a version into a folder of `into`, and returns its path. */
export const unpacked = async (into: string, version: string, archive: string): Promise<string> => {
  const folder = join(into, `${archive}-${version}`);
  await Deno.mkdir(folder, { recursive: true });
  await must("tar", ["--extract", "--file", made(version, archive), "--directory", folder]);
  return folder;
};

/** The image of the operator, as install.yaml names it. */
export const operatorImage = async (version: string): Promise<string> =>
  /image: "?(\S+\/llama-stack-operator@sha256:[0-9a-f]{64})/.exec(await text(version, "install.yaml"))?.[1] ?? "";
