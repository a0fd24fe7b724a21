/** Why a file cannot be read, in words for its user. */

/** A part of the path may be a file, too. */
export const isAbsent = (cause: unknown): boolean =>
  cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotADirectory;

export const fileProblem = (cause: unknown): string => {
  if (isAbsent(cause)) return "no such file";
  if (cause instanceof Deno.errors.IsADirectory) return "it is a directory; name the files in it";
  if (cause instanceof Deno.errors.PermissionDenied || cause instanceof Deno.errors.NotCapable) {
    return "permission denied";
  }
  return cause instanceof Error ? cause.message : String(cause);
};
