/** The result of a command: texts for both streams, and the exit code. */

import { printable } from "../data/printable.ts";

/** 0 success, 1 errors in the input, 2 usage error, 3 the input says nothing about what was asked. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: ExitCode;
}

/** Colours, or none: only a terminal gets them. */
export interface Style {
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly good: (text: string) => string;
  readonly name: (text: string) => string;
}

/** How a command prints what it found. */
export interface Printing {
  readonly format: "text" | "json";
  readonly style: Style;
}

const same = (text: string): string => text;
export const PLAIN: Style = { error: same, warning: same, good: same, name: same };

/**
 * Colours as marks that `withColours` replaces by terminal codes after all other text was escaped.
 *
 * `mark` is a random string, so that no other text can contain it.
 */
export const coloured = (mark: string): Style => {
  const painted = (code: number) => (text: string): string => `${mark}${code}m${text}${mark}0m`;
  return { error: painted(31), warning: painted(33), good: painted(32), name: painted(1) };
};

export const withColours = (text: string, mark: string): string => text.replaceAll(mark, "\u001b[");

/**
 * Joins lines for output and ends each with a line feed; empty for no lines. Line feeds within a line are escaped: a name of a
 * manifest must not begin a line of its own, which a CI system could take for a command (`::add-mask::`).
 */
export const lines = (all: ReadonlyArray<string>): string =>
  all.map((line) => `${printable(line).replaceAll("\n", "\\n")}\n`).join("");

/** Nothing but why. */
export const failed = (sentence: string): Outcome => ({ stdout: "", stderr: lines([sentence]), code: 1 });
