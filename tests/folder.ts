/** A folder that a test may fill; it goes with the test. */
export const inFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  // Short: sockets lie in it, and their paths may have 107 letters.
  const folder = await Deno.makeTempDir({ prefix: "llama-test-" });
  try {
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
