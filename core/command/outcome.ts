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
  readonly name: (text: string) => string;
}

export const PLAIN: Style = { error: (text) => text, warning: (text) => text, name: (text) => text };

const ansi = (code: number) => (text: string): string => `\u001b[${code}m${text}\u001b[0m`;
export const COLOURED: Style = { error: ansi(31), warning: ansi(33), name: ansi(1) };

/** Joins lines and ends each with a line feed; no lines, no text. */
export const lines = (all: ReadonlyArray<string>): string => all.map((line) => `${line}\n`).join("");
