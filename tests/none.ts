/** A check that finds nothing, or says what it found and what to do about it. */

/** `advice` says in the imperative what is to be done for each of `found`. */
export const none = (found: ReadonlyArray<string>, advice: string): void => {
  if (found.length > 0) throw new Error(`${advice}:\n${found.map((item) => `  ${item}`).join("\n")}`);
};
