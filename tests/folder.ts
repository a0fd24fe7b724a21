/** A folder that a test may fill; it goes with the test. */
export const inFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-test-" });
  try {
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
