/** "Did you mean …": the known names nearest to a mistyped one. */
import { WORD_CHARACTERS_MAX } from "./limits.ts";
import { distance } from "fastest-levenshtein";

/** At most `max` names of `known`, nearest first; none when nothing is near (more than half of the letters differ). */
export const closest = (name: string, known: ReadonlyArray<string>, max = 3): ReadonlyArray<string> => {
  const bare = bareName(name);
  return known
    .map((candidate) => ({ candidate, apart: distance(bare, bareName(candidate)) }))
    .filter(({ candidate, apart }) => apart <= Math.max(bare.length, bareName(candidate).length) / 2)
    .sort((a, b) => a.apart - b.apart || (a.candidate < b.candidate ? -1 : 1))
    // A much better match makes the others noise.
    .filter(({ apart }, _, sorted) => apart <= 2 * (sorted[0]?.apart ?? 0) + 1)
    .slice(0, max)
    .map(({ candidate }) => candidate);
};

/** `; did you mean a or b?`, or nothing. */
export const didYouMean = (name: string, known: ReadonlyArray<string>): string => {
  const near = name.length > WORD_CHARACTERS_MAX ? [] : closest(name, known);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

/** The kind of a provider type (remote, inline) rarely has a typo, so only the last part is compared. */
const bareName = (name: string): string => (name.split("::").at(-1) ?? name).toLowerCase();
