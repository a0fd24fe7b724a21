/**
 * About how many values a YAML text has, a third of them at least, without parsing it: js-yaml keeps an event of each, which takes more
 * memory than the value. In one line a value begins with the line, after a dash at its beginning, or after one of `,[{`. The lines of a
 * literal or folded text have none; it is recognized only behind a plain key. A quoted text of several lines could look like one: what
 * is behind it is then counted once it is parsed.
 */

const LITERAL = /^ *(?:- +)*(?:[A-Za-z0-9_.\-/]+ *:|-) +[|>][-+0-9]* *\r?$/;

/** Whether the text may have more values than this. Stops there. */
export const mayExceed = (text: string, values: number): boolean => {
  let count = 0;
  /** Indentation of the line that begins a literal text; its own lines are indented further. */
  let literal = Infinity;
  for (let start = 0; start < text.length && count <= values;) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    let first = start;
    while (first < end && text.charCodeAt(first) === SPACE) first++;
    const isEmpty = first === end || text.charCodeAt(first) === CARRIAGE_RETURN;
    if (!isEmpty && first - start <= literal) {
      literal = Infinity;
      let flow = 0;
      for (let index = first; index < end; index++) {
        const code = text.charCodeAt(index);
        if (code === COMMA || code === BRACKET || code === BRACE) flow++;
      }
      if (text.charCodeAt(first) !== HASH) count += dashesFrom(text, first) + Math.max(1, flow);
      if (end - start <= HEAD_CHARACTERS_MAX && LITERAL.test(text.slice(start, end))) literal = first - start;
    }
    start = end + 1;
  }
  return count > values;
};

/** Lists within lists, and keys that are lists, in one line. */
const dashesFrom = (text: string, from: number): number => {
  let count = 0;
  for (let index = from;;) {
    const code = text.charCodeAt(index);
    if (code !== DASH && code !== QUESTION || text.charCodeAt(index + 1) !== SPACE) return count;
    count++;
    while (text.charCodeAt(++index) === SPACE);
  }
};

const [DASH, QUESTION] = [0x2d, 0x3f] as const;
const [SPACE, CARRIAGE_RETURN, HASH, COMMA, BRACKET, BRACE] = [0x20, 0x0d, 0x23, 0x2c, 0x5b, 0x7b] as const;

/** Longer keys begin no literal text that is worth a look. */
const HEAD_CHARACTERS_MAX = 512;
