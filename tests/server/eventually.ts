import { aMoment } from "../waiting.ts";
/** Looks until it is so, a minute at most; the caller then asserts. What servers do after their answer comes a moment later. */
export const eventually = async (isSo: () => boolean | Promise<boolean>): Promise<boolean> => {
  for (let looks = 0; looks < 600; looks++) {
    if (await isSo()) return true;
    await aMoment();
  }
  return false;
};
