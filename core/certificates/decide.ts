/**
 * The next step for the certificates of the webhooks, decided from the observed state.
 *
 * Every replica decides for itself; the resourceVersion of the Secret is their lock. At each moment the published bundle
 * trusts every serving certificate that may still be in use.
 */
import * as Data from "effect/Data";
import { type CertificateFacts, certificateFacts, hostName } from "../data/digest.ts";
import {
  type Authorities,
  type Authority,
  AUTHORITY_NAME,
  bundleOf,
  certificatesIn,
  isCleanPem,
} from "./authorities.ts";
import type { CertificateTimes } from "./times.ts";

export interface Bundle {
  /** Which object carries it. */
  readonly target: string;
  /** PEM as stored; undefined if missing. What it trusts is in use, whatever path it calls. */
  readonly pem: string | undefined;
  /** Whether it calls the path that the Secret names. */
  readonly hasPath: boolean;
}

export interface Look {
  readonly nowMs: number;
  /** Undefined: there are none, or they cannot be used. */
  readonly authorities: Authorities | undefined;
  readonly bundles: ReadonlyArray<Bundle>;
  /** What this replica serves with; undefined: nothing yet. */
  readonly leaf: CertificateFacts | undefined;
  /** PEM of the authority that signed it. */
  readonly signer: string | undefined;
  /**
   * Certificates of authorities that are published though the Secret does not contain them, and were seen first a short time
   * ago: other replicas may serve under them, and write them into the Secret when they look.
   */
  readonly lingering: ReadonlyArray<string>;
  /** Names that the API server calls. */
  readonly names: ReadonlyArray<string>;
  /** Since when this replica sees the signing authority in every bundle. */
  readonly settledSinceMs: number | undefined;
}

export type CertificateStep = Data.TaggedEnum<{
  /** A new authority signs from now on; what was trusted stays trusted. */
  CreateAuthority: { readonly retired: Authorities["retired"]; readonly why: string };
  /** A successor is made and published; it does not sign yet. */
  MakeSuccessor: { readonly from: Authorities };
  /** The successor signs from now on, or a retired authority is added or forgotten. */
  Write: { readonly authorities: Authorities; readonly why: string };
  Publish: { readonly target: string; readonly pem: string };
  IssueLeaf: {
    readonly signer: Authority;
    readonly notBeforeMs: number;
    readonly notAfterMs: number;
    readonly why: string;
  };
}>;
export const CertificateStep = Data.taggedEnum<CertificateStep>();

/** The next step; undefined if there is nothing to do. */
export const nextStep = (look: Look, times: CertificateTimes): CertificateStep | undefined => {
  const { authorities, nowMs, leaf, signer, names, settledSinceMs } = look;
  const current = authorities === undefined ? undefined : certificateFacts(authorities.current.certificate);
  if (authorities === undefined || current === undefined) {
    return created(look, "there is no usable authority");
  }
  if (!isCurrent(current, nowMs)) {
    const { next } = authorities;
    const successor = next === undefined ? undefined : certificateFacts(next.certificate);
    return next !== undefined && successor !== undefined && isCurrent(successor, nowMs)
      ? CertificateStep.Write({ authorities: promoted(authorities, next, nowMs), why: "the authority has expired" })
      : created(look, nowMs < current.notBeforeMs ? "the authority is not valid yet" : "the authority has expired");
  }

  const own = bundleOf(authorities, nowMs);
  const isSignerKnown = signer !== undefined && contains(own, signer);
  const issued = (why: string) =>
    CertificateStep.IssueLeaf({
      signer: authorities.current,
      notBeforeMs: nowMs - times.backDateMs,
      // It never expires after the CA that signed it.
      notAfterMs: Math.min(nowMs + times.leafMs, current.notAfterMs),
      why,
    });
  if (leaf === undefined) return issued("there is no certificate");
  if (!isCurrent(leaf, nowMs)) return issued("it is not valid at present");
  if (signer !== undefined && !isSignerKnown && isCurrentAuthority(signer, nowMs)) {
    return CertificateStep.Write({
      authorities: { ...authorities, retired: [...authorities.retired, { certificate: signer, sinceMs: nowMs }] },
      why: "this replica serves under an authority that the Secret does not contain",
    });
  }
  const stale = look.bundles.find((bundle) => !isPublished(bundle, own, look.lingering));
  if (stale !== undefined) return CertificateStep.Publish({ target: stale.target, pem: joined(own, look.lingering) });
  if (names.some((name) => !leaf.names.includes(hostName(name)))) return issued("a host name is missing");
  if (!isSignerKnown) return issued("its authority is no longer trusted");

  const { next } = authorities;
  if (next === undefined && isPastTwoThirds(current, nowMs)) {
    return CertificateStep.MakeSuccessor({ from: authorities });
  }
  if (next !== undefined && nowMs - next.sinceMs >= times.overlapMs) {
    return CertificateStep.Write({
      authorities: promoted(authorities, next, nowMs),
      why: "the successor has been trusted long enough",
    });
  }
  const kept = authorities.retired.filter(({ certificate, sinceMs }) =>
    nowMs - sinceMs < times.leafMs + times.graceMs && (certificateFacts(certificate)?.notAfterMs ?? 0) > nowMs
  );
  if (kept.length < authorities.retired.length) {
    return CertificateStep.Write({
      authorities: { ...authorities, retired: kept },
      why: "no certificate signed by it can still be in use",
    });
  }

  const hasSettled = settledSinceMs !== undefined && nowMs - settledSinceMs >= times.settleMs;
  if (leaf.issuer !== current.subject && hasSettled) return issued("a new authority is in use");
  // Near the end of an authority its certificates are short: another one would be no longer.
  if (isPastTwoThirds(leaf, nowMs) && leaf.notAfterMs < current.notAfterMs) {
    return issued("two thirds of its lifetime have passed");
  }
  return undefined;
};

const isCurrent = ({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: number): boolean =>
  notBeforeMs <= nowMs && nowMs < notAfterMs;

const isPastTwoThirds = ({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: number): boolean =>
  nowMs - notBeforeMs >= (notAfterMs - notBeforeMs) * 2 / 3;

/** Other replicas may still serve under authorities that only the bundles know. */
const created = ({ bundles, authorities, nowMs }: Look, why: string): CertificateStep => {
  const known = authorities === undefined ? [] : [authorities.current.certificate];
  const published = bundles.flatMap(({ pem }) => certificatesIn(pem ?? ""));
  const retired = newest([...known, ...published], nowMs, RETIRED_MAX)
    .map((certificate) => ({ certificate, sinceMs: nowMs }));
  return CertificateStep.CreateAuthority({ retired, why });
};

/**
 * Authorities that stay trusted although the Secret does not contain them. Replicas serve under the last few; if the Secret is
 * deleted again and again, the CRD must not fill up.
 */
const RETIRED_MAX = 16;

/** The certificates of the operator's authorities among these that are valid now; each once, the newest first. */
const newest = (certificates: ReadonlyArray<string>, nowMs: number, most: number): ReadonlyArray<string> => {
  const byPrint = new Map(certificates.map((text) => [certificateFacts(text)?.fingerprint, text]));
  return [...byPrint.values()].filter((text) => isCurrentAuthority(text, nowMs))
    .map((certificate) => ({ certificate, since: certificateFacts(certificate)?.notBeforeMs ?? 0 }))
    .sort((one, other) => other.since - one.since)
    .slice(0, most).map(({ certificate }) => certificate);
};

const promoted = (
  { current, retired }: Authorities,
  next: NonNullable<Authorities["next"]>,
  nowMs: number,
): Authorities => ({
  current: { certificate: next.certificate, key: next.key },
  next: undefined,
  retired: [...retired, { certificate: current.certificate, sinceMs: nowMs }],
});

/**
 * Whether the object trusts every authority of the Secret and calls the path that only the API server knows. It may trust those
 * that linger as well.
 */
export const isPublished = (
  { pem, hasPath }: Bundle,
  wanted: string,
  lingering: ReadonlyArray<string> = [],
): boolean => {
  if (!hasPath || pem === undefined || !isCleanPem(pem)) return false;
  const published = printsOf(pem);
  const expected = printsOf(wanted);
  const allowed = new Set([...expected, ...lingering.flatMap((text) => [...printsOf(text)])]);
  return [...expected].every((print) => published.has(print)) && [...published].every((print) => allowed.has(print));
};

/** Authorities with the operator's name that are published, valid now, and not in the Secret. */
export const unknownAuthorities = (
  { authorities, bundles, nowMs }: Pick<Look, "authorities" | "bundles" | "nowMs">,
): ReadonlyArray<string> => {
  const known = authorities === undefined ? new Set<string>() : printsOf(bundleOf(authorities, nowMs));
  const published = bundles.flatMap(({ pem }) => certificatesIn(pem ?? ""));
  return newest(published.filter((text) => !known.has(certificateFacts(text)?.fingerprint ?? "")), nowMs, RETIRED_MAX);
};

const isCurrentAuthority = (certificate: string, nowMs: number): boolean => {
  const facts = certificateFacts(certificate);
  return facts !== undefined && facts.subject.startsWith(AUTHORITY_NAME) && isCurrent(facts, nowMs);
};

const printsOf = (pem: string): ReadonlySet<string> =>
  new Set(certificatesIn(pem).map((text) => certificateFacts(text)?.fingerprint ?? ""));

const contains = (pem: string, certificate: string): boolean => {
  const print = certificateFacts(certificate)?.fingerprint;
  return print !== undefined && printsOf(pem).has(print);
};

const joined = (bundle: string, more: ReadonlyArray<string>): string =>
  bundle + more.map((certificate) => `${certificate.trim()}\n`).join("");

/** Whether this replica may be called: it has a certificate, and every bundle trusts it. */
export const isServable = ({ authorities, bundles, leaf, signer, nowMs }: Look): boolean =>
  authorities !== undefined && leaf !== undefined && signer !== undefined && isCurrent(leaf, nowMs) &&
  bundles.every(({ pem }) => pem !== undefined && isCleanPem(pem) && contains(pem, signer));
