/** What one replica remembers from look to look: since when it sees what is published. */
import { certificateFacts } from "../data/digest.ts";
import { bundleOf } from "./authorities.ts";
import { isPublished, type Look, unknownAuthorities } from "./decide.ts";
import type { CertificateTimes } from "./times.ts";

export interface Sightings {
  /** Published authorities that the Secret does not contain, in PEM, and when they were seen first. */
  readonly unknownSinceMs: ReadonlyMap<string, number>;
  /** Subject of the signing authority, and since when it is in every bundle. */
  readonly settled: { readonly subject: string; readonly sinceMs: number } | undefined;
}

export const NO_SIGHTINGS: Sightings = { unknownSinceMs: new Map(), settled: undefined };

/** What is to be remembered after this look, and what follows from it for the next step. */
export const sighted = (
  before: Sightings,
  seen: Pick<Look, "authorities" | "bundles" | "nowMs">,
  times: CertificateTimes,
): { readonly sightings: Sightings } & Pick<Look, "lingering" | "settledSinceMs"> => {
  const { authorities, bundles, nowMs } = seen;
  const unknownSinceMs = new Map(
    unknownAuthorities(seen).map((text) => [text, before.unknownSinceMs.get(text) ?? nowMs]),
  );
  const lingering = [...unknownSinceMs].flatMap(([text, sinceMs]) => nowMs - sinceMs < times.lingerMs ? [text] : []);
  const current = authorities === undefined ? undefined : certificateFacts(authorities.current.certificate);
  const isEverywhere = authorities !== undefined &&
    bundles.every((bundle) => isPublished(bundle, bundleOf(authorities, nowMs), lingering));
  const settled = current === undefined || !isEverywhere
    ? undefined
    : before.settled?.subject === current.subject
    ? before.settled
    : { subject: current.subject, sinceMs: nowMs };
  return { sightings: { unknownSinceMs, settled }, lingering, settledSinceMs: settled?.sinceMs };
};
