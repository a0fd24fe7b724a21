/** Looks until it is so, ten seconds at most; the caller then asserts. What servers do after their answer comes a moment later. */
export const eventually = async (isSo: () => boolean | Promise<boolean>): Promise<boolean> => {
  for (let looks = 0; looks < 100; looks++) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
};
