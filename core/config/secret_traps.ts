/** What the server does to a value that comes through `${env.…}`, and which values it therefore cannot take as text. */

/**
 * Why `value` would not arrive as the text it is; empty when it does. Never quotes the value.
 *
 * Source: the server's environment substitution converts the result, and its schema then refuses a number as text.
 */
export const textTraps = (value: string): ReadonlyArray<string> => {
  if (value === "") return ["is empty, which the server takes for unset"];
  const traps = [];
  if (/^(true|false)$/i.test(value)) traps.push("looks like a boolean, which the server refuses as text");
  else if (looksLikeNumber(value)) traps.push("looks like a number, which the server refuses as text");
  if (value.startsWith("~")) traps.push("begins with ~, which the server expands to a home folder");
  if (value.includes("${env.")) traps.push("holds ${env.…}, which the server may expand again");
  if (value.includes("\u0000")) traps.push("holds a NUL, which no environment can carry");
  return traps;
};

/** What Python's int() and float() accept: surrounding blanks, underscores between digits, exponents, nan and infinity. */
const looksLikeNumber = (value: string): boolean => {
  const text = value.trim();
  const digits = "[0-9](?:_?[0-9])*";
  const number = new RegExp(`^[-+]?(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:e[-+]?${digits})?$`, "i");
  return number.test(text) || /^[-+]?(nan|inf|infinity)$/i.test(text);
};
