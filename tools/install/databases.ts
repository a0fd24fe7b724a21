// The real PostgreSQL and Redis that tests run against: what the system has, else the packages of Debian.

import { join } from "node:path";
import { installPackages, isFile } from "./debian_packages.ts";

/** Folder with `postgres`, `initdb` and `psql`. */
export const installPostgres = (): Promise<string> => installed(["initdb", "postgres", "psql"], "postgresql");

/** Path of `redis-server`. */
export const installRedis = async (): Promise<string> =>
  join(await installed(["redis-server"], "redis-server"), "redis-server");

/** The folder that holds all `programs`, after the Debian package `packageName` was installed if need be. */
const installed = async (programs: readonly string[], packageName: string): Promise<string> => {
  const found = await folderOf(programs);
  if (found !== undefined) return found;
  await installPackages(
    [packageName],
    `${programs.join(", ")}: found neither on PATH nor in ${POSTGRES_FOLDERS}/*/bin, which PATH may name.`,
  );
  const folder = await folderOf(programs);
  if (folder === undefined) {
    throw new Error(`The Debian package ${packageName} does not contain ${programs.join(", ")}`);
  }
  return folder;
};

/** Debian keeps the programs of each PostgreSQL version here and only wrappers of the clients on PATH. */
const POSTGRES_FOLDERS = "/usr/lib/postgresql";

const folderOf = async (programs: readonly string[]): Promise<string | undefined> => {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const folder of [...folders, ...await postgresFolders()]) {
    const there = await Promise.all(programs.map((program) => isFile(join(folder, program))));
    if (there.every((yes) => yes)) return folder;
  }
  return undefined;
};

/** Newest version first. */
const postgresFolders = async (): Promise<string[]> => {
  const versions: string[] = [];
  try {
    for await (const entry of Deno.readDir(POSTGRES_FOLDERS)) versions.push(entry.name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(POSTGRES_FOLDERS, version, "bin"));
};
