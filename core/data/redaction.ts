/**
 * Texts of Kubernetes, of the API server and of a server's API, without values of Secrets. Ends of logs are not among them: nothing
 * of a log is shown (core/report/last_words.ts).
 */
import { REDACTED_CHARACTERS_MAX, REDACTED_TEXT_CHARACTERS_MAX, REDACTED_VALUES_MAX } from "./limits.ts";

/** In place of a text that repeats a value. */
export const WITHHELD = "(not shown, because it repeats a secret value)";

/** A shorter value is in many texts. */
const CHARACTERS_MIN = 6;

/** Whether the text holds a value as a whole: as it is, in JSON, in a URL, or in base64. */
export const repeats = (text: string, values: ReadonlyArray<string>): boolean => {
  const characters = values.reduce((sum, { length }) => sum + length, 0);
  // Looking for so much would take too long, and nothing is to be shown.
  if (
    values.length > REDACTED_VALUES_MAX || characters > REDACTED_CHARACTERS_MAX ||
    text.length > REDACTED_TEXT_CHARACTERS_MAX
  ) return true;
  return values.some((value) =>
    partsOf(value).some((part) =>
      part.length >= CHARACTERS_MIN && !ORDINARY.has(part) && formsOf(part).some((form) => text.includes(form))
    )
  );
};

/** The text without the lines that repeat a value. */
export const withoutSecrets = (text: string, values: ReadonlyArray<string>): string => {
  if (!repeats(text, values)) return text;
  const lines = text.split("\n");
  const shown = lines.map((line) => repeats(line, values) ? WITHHELD : line);
  // A value of several lines, each of which is too short on its own.
  return shown.includes(WITHHELD) && lines.length > 1 ? shown.join("\n") : WITHHELD;
};

/** All of a value, its lines, and the password of a connection in it. */
const partsOf = (value: string): ReadonlyArray<string> => {
  const text = value.trim();
  const password = /^[a-z][\w+.-]*:\/\/[^/@:]*:(.+)@/i.exec(text)?.[1];
  const parts = [text, ...(text.includes("\n") ? text.split("\n").map((line) => line.trim()) : [])];
  return password === undefined ? parts : [...parts, password, decoded(password)];
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const formsOf = (part: string): ReadonlyArray<string> => [
  part,
  JSON.stringify(part).slice(1, -1),
  encodeURIComponent(part.toWellFormed()),
  new TextEncoder().encode(part).toBase64().replace(/=+$/, "").slice(0, -1),
];

/** Lines of certificates and keys that all of them have. */
const ORDINARY: ReadonlySet<string> = new Set(
  ["CERTIFICATE", "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].flatMap((kind) =>
    ["BEGIN", "END"].map((word) => `-----${word} ${kind}-----`)
  ),
);
