/**
 * Imports every config of a folder and prints a table: lines before and after, the server, and what differs. For collections of
 * real configs: `deno task imports FOLDER`. With `--boot`, real servers run both.
 */
import { parseArgs } from "node:util";
import * as Result from "effect/Result";
import { importedText } from "../core/command/import.ts";
import { DEFAULT_SURROUNDINGS } from "../core/config/default_surroundings.ts";
import { serverName } from "../core/config/servers/families/families.ts";
import { importConfig } from "../core/import/importing.ts";
import { sourceOf } from "../core/import/source.ts";

const row = (file: string, text: string): ReadonlyArray<string> => {
  const before = String(text.trimEnd().split("\n").length);
  const source = sourceOf([{ name: file, text }], { name: undefined, namespace: undefined, variables: undefined });
  if (Result.isFailure(source)) return [file, before, "", "", source.failure];
  const imported = importConfig(source.success, { keepData: false }, DEFAULT_SURROUNDINGS);
  if (Result.isFailure(imported)) return [file, before, "", "", imported.failure.join("; ")];
  const { resource, candidate, differences } = imported.success;
  const after = String(importedText(resource, "yaml").trimEnd().split("\n").length);
  const server = `${serverName(candidate.server.version)} ${candidate.name}`;
  const [first, ...others] = differences.map(({ kind, what }) => `${kind}: ${what}`);
  return [
    file,
    before,
    after,
    server,
    first === undefined ? "none" : others.length === 0 ? first : `${first}, and ${others.length} more`,
  ];
};

const USAGE = `Usage: deno task imports FOLDER [--boot] [--only WORD]

  --boot       Start the server with each config and with the one that is generated from its import, and compare what both answer
  --only WORD  Only files with this word in their name`;

const { values: { boot, only }, positionals: [folder] } = parseArgs({
  args: Deno.args,
  options: { boot: { type: "boolean" }, only: { type: "string" } },
  allowPositionals: true,
});
if (folder === undefined) {
  console.error(USAGE);
  Deno.exit(2);
}
const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /\.ya?ml$/.test(name)).sort();
const files = names.filter((name) => only === undefined || name.includes(only))
  .map((name) => ({ name, text: Deno.readTextFileSync(`${folder}/${name}`) }));
const rows = files.map(({ name, text }) => row(name, text));
const exact = rows.filter(([, , , , difference]) => difference === "none").length;
const print = (cells: ReadonlyArray<string>) => console.log(`| ${cells.join(" | ")} |`);
for (const cells of [["file", "lines", "after", "server", "differences"], ["-", "-:", "-:", "-", "-"], ...rows]) {
  print(cells);
}
console.log(`\n${exact} of ${rows.length} are equal`);

if (boot === true) {
  const { bootAll } = await import("./server/import_boots.ts");
  console.log("");
  for (const cells of [["file", "server", "corrected", "answers"], ["-", "-", "-", "-"]]) print(cells);
  await bootAll(files, print);
}
