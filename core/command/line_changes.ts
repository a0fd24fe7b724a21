/** The lines that differ between two texts, with some context, as `diff` shows them. */
import { DIFF_LINES_MAX } from "../data/limits.ts";

/** Lines of context on each side of a change. */
const CONTEXT = 2;

/** Each line begins with `-`, `+` or a space; `…` replaces equal lines. Empty if the texts are equal. */
export const lineChanges = (before: string, after: string): ReadonlyArray<string> => {
  const [old, fresh] = [split(before), split(after)];
  if (old.length > DIFF_LINES_MAX || fresh.length > DIFF_LINES_MAX) {
    return before === after ? [] : [`${old.length} lines become ${fresh.length} lines, too many to compare`];
  }
  const marked = compared(old, fresh);
  const near = marked.map((_, index) =>
    marked.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some((line) => !line.startsWith(" "))
  );
  return marked.flatMap((line, index) => near[index] === true ? [line] : near[index - 1] === true ? ["…"] : [])
    .filter((line, index, all) => line !== "…" || index < all.length - 1);
};

const split = (text: string): ReadonlyArray<string> => text === "" ? [] : text.replace(/\n$/, "").split("\n");

/** By the longest common subsequence. */
const compared = (old: ReadonlyArray<string>, fresh: ReadonlyArray<string>): ReadonlyArray<string> => {
  const width = fresh.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const lengthAt = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = fresh.length - 1; column >= 0; column--) {
      common[row * width + column] = old[row] === fresh[column]
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const lines: Array<string> = [];
  for (let row = 0, column = 0; row < old.length || column < fresh.length;) {
    if (row < old.length && column < fresh.length && old[row] === fresh[column]) {
      lines.push(` ${old[row]}`);
      row++;
      column++;
    } else if (column >= fresh.length || (row < old.length && lengthAt(row + 1, column) >= lengthAt(row, column + 1))) {
      lines.push(`-${old[row++]}`);
    } else {
      lines.push(`+${fresh[column++]}`);
    }
  }
  return lines;
};
