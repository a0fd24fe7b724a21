/** How long certificates live, and how much time their changes are given. Milliseconds throughout. */
export interface CertificateTimes {
  /** An authority; its successor is made when two thirds are over. */
  readonly authorityMs: number;
  /** A serving certificate; renewed when two thirds are over. */
  readonly leafMs: number;
  /** Certificates begin this long before they are made: clocks differ. */
  readonly backDateMs: number;
  /** A successor is published for this long before it signs. */
  readonly overlapMs: number;
  /** A published authority is given this long to reach every API server before anything new is served under it. */
  readonly settleMs: number;
  /** A published authority that the Secret does not contain stays published for this long, until its replicas have looked. */
  readonly lingerMs: number;
  /** A retired authority is trusted for this long beyond the last certificate that it can have signed. */
  readonly graceMs: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A cluster that sleeps for months still has room; the key of a serving certificate is worthless after days. */
export const CERTIFICATE_TIMES: CertificateTimes = {
  authorityMs: 365 * DAY,
  leafMs: 7 * DAY,
  backDateMs: 5 * MINUTE,
  overlapMs: 10 * MINUTE,
  settleMs: 10_000,
  lingerMs: MINUTE,
  graceMs: DAY,
};
