/** Regular expressions that the server reads with Python. */

/** Python writes some parts in another way: what is refused here is likely to be invalid, and not certain. */
export const isPattern = (pattern: string): boolean => {
  try {
    // Named groups, and flags at the beginning.
    new RegExp(pattern.replace(/^\(\?[aimsux]+\)/, "").replaceAll("(?P<", "(?<"));
    return true;
  } catch {
    return false;
  }
};
