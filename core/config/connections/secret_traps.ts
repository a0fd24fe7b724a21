/** What the server does to a value that comes through `${env.…}`, and which values it therefore cannot take as text. */

import { VARIABLE_BYTES_MAX } from "../../data/limits.ts";

/**
 * Why `value` would not arrive as the text it is; empty when it does. Never quotes the value.
 *
 * Source: the server's environment substitution converts the result, and its schema then refuses a number as text.
 */
export const textTraps = (value: string): ReadonlyArray<string> => {
  const looks = /^(true|false)$/i.test(value) ? "a boolean" : looksLikeNumber(value) ? "a number" : undefined;
  return [
    ...(looks === undefined ? [] : [`looks like ${looks}, which the server rejects as text; choose one with letters`]),
    ...variableTraps(value),
  ];
};

/** Why `value` would not arrive at all, whatever reads it. Never quotes the value. */
export const variableTraps = (value: string): ReadonlyArray<string> => {
  if (value === "") return ["is empty, which the server treats as unset"];
  if (bytesOf(value) > VARIABLE_BYTES_MAX) {
    return [`is longer than ${VARIABLE_BYTES_MAX} bytes, the limit for environment variables on Linux`];
  }
  const traps: Array<string> = [];
  if (value.startsWith("~")) traps.push("begins with ~, which the server expands to a home directory");
  if (value.includes("\u0000")) traps.push("contains a NUL character, which environment variables cannot hold");
  return traps;
};

/**
 * What Python's int() and float() accept: surrounding blanks, underscores between digits, exponents, nan and infinity, and the digits of
 * any script.
 */
export const looksLikeNumber = (value: string): boolean => {
  const text = value.trim().replaceAll(/\p{Nd}/gu, "0");
  if (/^[-+]?(nan|inf|infinity)$/i.test(text)) return true;
  // An underscore is only allowed between two digits. Without underscores no part of the pattern below can match in two
  // ways, and the time is linear in the length of the value.
  if (/^_|_$|__|_[^0-9]|[^0-9]_/.test(text)) return false;
  return /^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?$/i.test(text.replaceAll("_", ""));
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
