/** Keys that one map of a YAML text has more than once. Readers disagree on these: PyYAML takes the last one. */
import { EVENT_ID, getScalarValue, parseEvents } from "js-yaml";
import { type FieldPath, formatPath } from "./field_path.ts";
import { onOneLine } from "./printable.ts";

/** Where the key is, and the lines at which it is written. */
export interface DoubledKey {
  readonly path: FieldPath;
  readonly lines: ReadonlyArray<number>;
}

/** A map or list that is open while the text is read. */
interface Open {
  readonly path: FieldPath;
  /** The lines of each key; undefined: a list, or the document. */
  readonly keys: Map<string, Array<number>> | undefined;
  index: number;
  /** The key whose value comes next. */
  key: string | undefined;
}

export const doubledKeys = (text: string, depth: number): ReadonlyArray<DoubledKey> => {
  const found: Array<DoubledKey> = [];
  const open: Array<Open> = [];
  const lineOf = lineCounter(text);
  /** Its path if a node is a value; undefined if it is a key. */
  const placed = (key: string, start: number): FieldPath | undefined => {
    const above = open.at(-1);
    if (above === undefined) return [];
    if (above.keys === undefined) return [...above.path, ...(above.index < 0 ? [] : [above.index++])];
    if (above.key === undefined) {
      above.key = key;
      const lines = above.keys.get(key) ?? [];
      // Several merges into one map are no double.
      if (key !== "<<") above.keys.set(key, [...lines, lineOf(start)]);
      return undefined;
    }
    const path = [...above.path, above.key];
    above.key = undefined;
    return path;
  };
  for (const event of parseEvents(text, { maxDepth: depth })) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        open.push({ path: [], keys: undefined, index: -1, key: undefined });
        break;
      case EVENT_ID.SCALAR:
        placed(getScalarValue(text, event), event.valueStart);
        break;
      case EVENT_ID.ALIAS:
        placed(text.slice(event.anchorStart, event.anchorEnd), event.anchorStart);
        break;
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const isMap = event.type === EVENT_ID.MAPPING;
        const path = placed("?", event.start) ?? [];
        open.push({ path, keys: isMap ? new Map() : undefined, index: isMap ? -1 : 0, key: undefined });
        break;
      }
      case EVENT_ID.POP: {
        const { path = [], keys = new Map<string, Array<number>>() } = open.pop() ?? {};
        found.push(
          ...[...keys].filter(([, lines]) => lines.length > 1).map(([key, lines]) => ({ path: [...path, key], lines })),
        );
      }
    }
  }
  return found;
};

/** Continues what is said of the config. */
export const doubledSentence = ({ path, lines }: DoubledKey): string =>
  `${onOneLine(formatPath(path), KEY_CHARACTERS_MAX)}: written ${
    lines.length === 2 ? "twice" : `${lines.length} times`
  } ` +
  `(lines ${lines.slice(0, LINES_MAX).join(", ")}); the server reads only the last one; remove the others`;

const KEY_CHARACTERS_MAX = 200;
const LINES_MAX = 5;

/** Positions are asked in the order of the text. */
const lineCounter = (text: string): (position: number) => number => {
  let [line, at] = [1, 0];
  return (position) => {
    for (; at < position; at++) if (text.charCodeAt(at) === 10) line++;
    return line;
  };
};
