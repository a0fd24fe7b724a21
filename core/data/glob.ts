/**
 * Whether a text is like a pattern, in which `*` stands for any text. Each piece between two stars is looked for once, from left to
 * right, so that the time is linear in the length of the text: a tenant chooses some patterns, and a regular expression could take ages.
 */
export const isLike = (text: string, pattern: string): boolean => {
  const parts = pattern.split("*");
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const found = text.indexOf(part, from);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    from = found + part.length;
  }
  return true;
};
