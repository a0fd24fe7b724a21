/** Where the fields of a manifest file are written: for messages that an editor or a code review can point to. */
import { type Event, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from "js-yaml";
import type { FieldPath } from "./field_path.ts";
import { YAML_DEPTH_MAX } from "./limits.ts";

/** Both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

interface Node {
  /** Offset of its key, or of the node itself in a list; in characters. */
  readonly at: number;
  readonly children: ReadonlyMap<string | number, Node>;
}

/**
 * The place of a field of a text that `readManifests` has read: `path` begins with the number of the document among those that are not
 * empty. The text is parsed at the first question. Where a field is missing, it is the place of the nearest one around it.
 */
export const placesIn = (text: string): (path: FieldPath) => Place => {
  let known: { readonly root: Node; readonly starts: ReadonlyArray<number> } | undefined;
  return (path) => {
    const { root, starts } = known ??= readPlaces(text.replace(/^\ufeff/, ""));
    let node = root;
    for (const step of path) {
      const inner = node.children.get(step);
      if (inner !== undefined) node = inner;
      // One provider that is written as an object stands for a list of one.
      else if (typeof step !== "number") break;
    }
    return placeAt(node.at, starts);
  };
};

const readPlaces = (text: string) => ({
  root: { at: 0, children: new Map(nodesOf(text).map((document, index) => [index, document])) },
  starts: lineStarts(text),
});

const nodesOf = (text: string): ReadonlyArray<Node> => {
  const events = parseEvents(text, { maxDepth: YAML_DEPTH_MAX });
  let next = 0;
  const read = (at: number | undefined): Node => {
    const event = events[next++];
    const children = new Map<string | number, Node>();
    const start = at ?? (event === undefined ? 0 : startOf(event));
    if (event?.type === EVENT_ID.SEQUENCE) {
      for (let index = 0; !isEnd(events[next]); index++) children.set(index, read(undefined));
      next++;
    } else if (event?.type === EVENT_ID.MAPPING) {
      while (!isEnd(events[next])) {
        const key = events[next];
        const name = key?.type === EVENT_ID.SCALAR ? getScalarValue(text, key) : undefined;
        const place = key === undefined ? 0 : startOf(key);
        read(undefined);
        const value = read(place);
        if (name !== undefined) children.set(name, value);
      }
      next++;
    }
    return { at: start, children };
  };
  const documents: Array<Node> = [];
  while (next < events.length) {
    // The document itself.
    next++;
    const root = events[next];
    if (!isEnd(root)) {
      const node = read(undefined);
      if (!(root?.type === EVENT_ID.SCALAR && isNull(getScalarValue(text, root)))) documents.push(node);
    }
    next++;
  }
  return documents;
};

const isEnd = (event: Event | undefined): boolean => event === undefined || event.type === EVENT_ID.POP;

const isNull = (scalar: string): boolean => ["", "~", "null", "Null", "NULL"].includes(scalar);

const startOf = (event: Event): number => {
  if (event.type === EVENT_ID.SCALAR) {
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    return Math.max(0, event.valueStart - (isQuoted ? 1 : 0));
  }
  if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) return Math.max(0, event.start);
  return event.type === EVENT_ID.ALIAS ? Math.max(0, event.anchorStart) : 0;
};

const lineStarts = (text: string): ReadonlyArray<number> => {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
};

const placeAt = (offset: number, starts: ReadonlyArray<number>): Place => {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
};
