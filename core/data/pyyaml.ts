/** What PyYAML, with which the servers read their configs, reads in another way than the parser here does, or not at all. */
import { COLLECTION_STYLE, type Event, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from "js-yaml";

export interface PyYamlReading {
  /** Why PyYAML does not read the text, with the line; undefined if it does. */
  readonly rejection: string | undefined;
  /** Lines at which it reads a date or a time where the parser here reads a text. */
  readonly dates: ReadonlyArray<number>;
  /** Lines of keys that are numbers, booleans or null for it. */
  readonly keys: ReadonlyArray<number>;
}

/** What it takes for something else than a text, as far as it occurs as a key. Source: resolver.py of PyYAML 6. */
const NO_TEXT =
  /^(?:|~|null|Null|NULL|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?)$/;

const UNUSUAL = /[\t\u0085\u2028\u2029&=?<]|\d-\d|^[ -]*(?:|~|null|yes|no|true|false|on|off|[-+]?[0-9._]+) *:/im;

/** `text` is one document of YAML without mistakes. */
export const pyYamlReading = (text: string, depth: number): PyYamlReading => {
  // Nearly all texts have none of these.
  if (!UNUSUAL.test(text)) return { rejection: undefined, dates: [], keys: [] };
  const events = [...parseEvents(text, { maxDepth: depth })];
  const plain = plainScalars(text, events);
  const lineOf = (at: number) => text.slice(0, at).split(LINE_END).length;
  const found = [
    [strangeBlank(text, events), "has a tab or a line separator of Unicode outside quotes", "replace it by blanks"],
    [doubledAnchor(text, events), "defines an anchor once more", "choose another name"],
    [plain.find(({ value }) => value === "=")?.at, 'has "=" without quotes as a value', "quote it"],
    [plain.find(({ value, isKey }) => !isKey && value === "<<")?.at, 'has "<<" without quotes as a value', "quote it"],
    [
      plain.find(({ value, isInFlow }) => isInFlow && value.includes("?"))?.at,
      'has "?" between braces',
      "quote the text",
    ],
    [plain.find(({ value }) => isImpossible(value))?.at, "has a date that does not exist", "quote it if it is a text"],
  ] as const;
  const [at, what, way] = found.find(([at]) => at !== undefined) ?? [];
  return {
    rejection: at === undefined ? undefined : `line ${lineOf(at)} ${what}, which the server cannot read; ${way}`,
    dates: plain.filter(({ value }) => TIMESTAMP.test(value)).map(({ at }) => lineOf(at)),
    keys: plain.filter(({ value, isKey }) => isKey && NO_TEXT.test(value)).map(({ at }) => lineOf(at)),
  };
};

const LINE_END = /\r\n|[\n\r]/;

interface PlainScalar {
  readonly at: number;
  readonly value: string;
  /** Between braces or brackets. */
  readonly isInFlow: boolean;
  readonly isKey: boolean;
}

/** Texts without quotes, and without a tag that says what they are. */
const plainScalars = (text: string, events: ReadonlyArray<Event>): ReadonlyArray<PlainScalar> => {
  const open: Array<{ readonly isInFlow: boolean; readonly isMap: boolean; count: number }> = [];
  return events.flatMap((event) => {
    if (event.type === EVENT_ID.POP) {
      open.pop();
      return [];
    }
    const above = open.at(-1);
    const isKey = above?.isMap === true && above.count++ % 2 === 0;
    if (event.type === EVENT_ID.DOCUMENT) open.push({ isInFlow: false, isMap: false, count: 0 });
    else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      const isInFlow = event.style === COLLECTION_STYLE.FLOW;
      open.push({ isInFlow, isMap: event.type === EVENT_ID.MAPPING, count: 0 });
    } else if (event.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0) {
      const value = getScalarValue(text, event);
      return [{ at: event.valueStart, value, isInFlow: above?.isInFlow === true, isKey }];
    }
    return [];
  });
};

/** PyYAML takes blanks alone between texts, and ends a line, also a comment, at separators of Unicode. */
const strangeBlank = (text: string, events: ReadonlyArray<Event>): number | undefined => {
  const scalars = new Map(
    events.filter((event) => event.type === EVENT_ID.SCALAR).map((event) => [event.valueStart, event]),
  );
  let plainEnd = 0;
  let isComment = false;
  for (let at = 0; at < text.length; at++) {
    const { valueEnd = 0, style } = scalars.get(at) ?? {};
    if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED) {
      at = valueEnd;
      continue;
    }
    const isBlock = style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
    if (style === SCALAR_STYLE.PLAIN) plainEnd = valueEnd;
    for (const end = isBlock ? valueEnd : at + 1; at < end; at++) if (isSeparator(text, at)) return at;
    at--;
    const character = text[at];
    if (character === "\n" || character === "\r" || isBlock) isComment = false;
    else if (character === "#" && at >= plainEnd) isComment = true;
    else if (character === "\t" && !isComment) return at;
  }
  return undefined;
};

/** At the end of a line it is one more end. */
const isSeparator = (text: string, at: number): boolean =>
  "\u0085\u2028\u2029".includes(text[at] ?? "-") && !["\n", "\r", undefined].includes(text[at + 1]);

const doubledAnchor = (text: string, events: ReadonlyArray<Event>): number | undefined => {
  const seen = new Set<string>();
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.SEQUENCE && event.type !== EVENT_ID.MAPPING) continue;
    if (event.anchorStart < 0) continue;
    const name = text.slice(event.anchorStart, event.anchorEnd);
    if (seen.has(name)) return event.anchorStart;
    seen.add(name);
  }
  return undefined;
};

/** A date, or a time of a day, as in resolver.py of PyYAML 6. */
const TIMESTAMP =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;

const isImpossible = (value: string): boolean => {
  if (!TIMESTAMP.test(value)) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = value.split(/[^\d]+/).map(Number);
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return year === 0 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 ||
    second > 59;
};
