/** How long certificates live, and how much time their changes are given. Milliseconds throughout. */
export interface CertificateTimes {
  /** An authority; the next one is made when two thirds are over. */
  readonly authorityMs: number;
  /** A serving certificate; renewed when two thirds are over. */
  readonly leafMs: number;
  /** Certificates begin this long before they are made: clocks differ. */
  readonly backDateMs: number;
  /** A published authority is given this long to reach every API server before anything new is served under it. */
  readonly settleMs: number;
  /** A former authority stays trusted for this long; longer than what it signed is valid. */
  readonly formerMs: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A cluster that sleeps for months still has room; the key of a serving certificate is worthless after days. */
export const CERTIFICATE_TIMES: CertificateTimes = {
  authorityMs: 365 * DAY,
  leafMs: 7 * DAY,
  backDateMs: 5 * MINUTE,
  settleMs: 10_000,
  formerMs: 8 * DAY,
};
