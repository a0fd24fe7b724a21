/** What a command says: texts for both streams and the exit code (R45). */

/** 0 fine, 1 the input has errors, 2 misuse. */
export type ExitCode = 0 | 1 | 2;

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

const same = (text: string): string => text;
export const PLAIN: Style = { error: same, warning: same, good: same, name: same };

const ansi = (code: number) => (text: string): string => `\u001b[${code}m${text}\u001b[0m`;
export const COLOURED: Style = { error: ansi(31), warning: ansi(33), good: ansi(32), name: ansi(1) };

/** Joins lines and ends each with a line feed; no lines, no text. */
export const lines = (all: ReadonlyArray<string>): string => all.map((line) => `${line}\n`).join("");
