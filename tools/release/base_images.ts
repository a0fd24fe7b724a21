/** The base images of the Dockerfile, by the arguments that name them. */
export const baseImages = (dockerfile: string): ReadonlyMap<"DENO" | "RUNTIME", string> =>
  new Map(
    [...dockerfile.matchAll(/^ARG (DENO|RUNTIME)=(\S+)$/gm)].map((
      [, argument, image = ""],
    ) => [argument as "DENO" | "RUNTIME", image]),
  );
