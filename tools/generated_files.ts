/** Files that a tool makes and that are committed: written, or with --check only compared. */
import { load } from "js-yaml";
import { dirname, join } from "node:path";

/**
 * Writes each text to its path (from the root of the repository).
 *
 * With --check among the arguments nothing is written; each stale file is reported with its differences, and the
 * process exits with 1.
 *
 * @param command The command that generates the files, for the message.
 */
export const writeOrCheck = (texts: ReadonlyMap<string, string>, command: string): void => {
  const check = Deno.args.includes("--check");
  const stale = [...texts].filter(([path, text]) => committed(path) !== text);
  for (const [path, text] of stale) {
    if (check) {
      const found = committed(path);
      console.error(`${path} is ${found === undefined ? "missing" : "stale"}; made by: ${command}`);
      for (const line of differences(found ?? "", text)) console.error(`  ${line}`);
    } else {
      Deno.mkdirSync(dirname(join(ROOT, path)), { recursive: true });
      Deno.writeTextFileSync(join(ROOT, path), text);
    }
  }
  if (check && stale.length > 0) Deno.exit(1);
};

const ROOT = join(import.meta.dirname ?? ".", "..");

const LINES_MAX = 20;

const differences = (before: string, after: string): readonly string[] => {
  const old = new Map(leaves(tree(before)));
  const fresh = new Map(leaves(tree(after)));
  const lines = [
    ...[...old].filter(([path]) => !fresh.has(path)).map(([path, value]) => `- ${path}: ${value}`),
    ...[...fresh].filter(([path]) => !old.has(path)).map(([path, value]) => `+ ${path}: ${value}`),
    ...[...fresh].filter(([path, value]) => old.has(path) && old.get(path) !== value)
      .map(([path, value]) => `~ ${path}: ${old.get(path)} → ${value}`),
  ];
  if (lines.length === 0) return ["only comments, order or layout differ"];
  return lines.length <= LINES_MAX ? lines : [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} more`];
};

/** The values of a tree by their path. */
const leaves = (value: unknown, path = ""): ReadonlyArray<readonly [string, string]> =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path} › ${key}`))
    : [[path, JSON.stringify(value) ?? ""]];

/** JSON is YAML as well. What someone broke by hand counts as empty. */
const tree = (text: string): unknown => {
  try {
    return text.trim() === "" ? {} : load(text);
  } catch {
    return {};
  }
};

const committed = (path: string): string | undefined => {
  try {
    return Deno.readTextFileSync(join(ROOT, path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
};
