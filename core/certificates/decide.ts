/**
 * The next step for the certificates of the webhooks, decided from the observed state.
 *
 * Every replica decides for itself; the resourceVersion of the Secret is their lock. The published bundles trust the
 * authority of the Secret and, for a time, those that they trusted before it: at each moment they trust every serving
 * certificate that may still be in use.
 */
import * as Data from "effect/Data";
import { type CertificateFacts, certificateFacts, hostName } from "../data/digest.ts";
import { type Authority, AUTHORITY_NAME, certificatesIn, isCleanPem } from "./authority.ts";
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
  /** Undefined: there is none in the Secret, or it cannot be used. */
  readonly authority: Authority | undefined;
  readonly bundles: ReadonlyArray<Bundle>;
  /** What this replica serves with; undefined: nothing yet. */
  readonly leaf: CertificateFacts | undefined;
  /** PEM of the authority that signed it. */
  readonly signer: string | undefined;
  /** Names that the API server calls. */
  readonly names: ReadonlyArray<string>;
  readonly settled: Settled | undefined;
}

/** Since when this replica sees an authority in every bundle. */
export interface Settled {
  readonly fingerprint: string;
  readonly sinceMs: number;
}

export type CertificateStep = Data.TaggedEnum<{
  /** A new authority signs from now on; what was trusted stays trusted. */
  CreateAuthority: { readonly notBeforeMs: number; readonly why: string; readonly isPlanned: boolean };
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
  const { authority, nowMs, leaf, names, settled } = look;
  const current = authority === undefined ? undefined : certificateFacts(authority.certificate);
  const published = publishedAuthorities(look);
  // One that was made after it is always newer, also if the clock of its maker is behind.
  const lastMs = Math.max(0, ...published.map(({ facts }) => facts.notBeforeMs).filter((fromMs) => fromMs <= nowMs));
  const created = (why: string, isPlanned = false) =>
    CertificateStep.CreateAuthority({
      notBeforeMs: Math.max(nowMs - times.backDateMs, Math.min(lastMs + 1000, nowMs)),
      why,
      isPlanned,
    });
  if (authority === undefined || current === undefined) return created("there is no usable authority");
  if (nowMs < current.notBeforeMs) return created("the authority is not valid yet");
  if (nowMs >= current.notAfterMs) return created("the authority has expired");
  // Replicas serve under the newer one.
  if (lastMs > current.notBeforeMs) return created("the Secret has an older authority than the one in use");

  const issued = (why: string) =>
    CertificateStep.IssueLeaf({
      signer: authority,
      notBeforeMs: nowMs - times.backDateMs,
      // It never expires after the CA that signed it.
      notAfterMs: Math.min(nowMs + times.leafMs, current.notAfterMs),
      why,
    });
  const required = [authority.certificate, ...(isServed(look) && look.signer !== undefined ? [look.signer] : [])];
  const isNew = nowMs < current.notBeforeMs + times.backDateMs + times.formerMs;
  const trusted = unique([...required, ...(isNew ? published.map(({ pem }) => pem) : [])]).slice(0, TRUSTED_MAX);
  const stale = look.bundles.find((bundle) => !isPublished(bundle, required, trusted));
  if (stale !== undefined) {
    return CertificateStep.Publish({
      target: stale.target,
      pem: trusted.map((certificate) => `${certificate.trim()}\n`).join(""),
    });
  }
  if (leaf === undefined) return issued("there is no certificate");
  if (!isServed(look)) return issued("it is not valid at present");
  if (isPastTwoThirds(current, nowMs)) return created("two thirds of its lifetime have passed", true);
  // Until every API server trusts the authority, what is served stays.
  if (settled?.fingerprint !== current.fingerprint || nowMs - settled.sinceMs < times.settleMs) return undefined;
  if (leaf.issuer !== current.subject) return issued("a new authority is in use");
  if (names.some((name) => !leaf.names.includes(hostName(name)))) return issued("a host name is missing");
  if (isPastTwoThirds(leaf, nowMs)) return issued("two thirds of its lifetime have passed");
  return undefined;
};

/** To be called after each look, with what the one before it returned. */
export const settledAfter = (
  before: Settled | undefined,
  { authority, bundles, nowMs }: Pick<Look, "authority" | "bundles" | "nowMs">,
): Settled | undefined => {
  const fingerprint = authority === undefined ? undefined : printOf(authority.certificate);
  if (authority === undefined || fingerprint === undefined) return undefined;
  if (!bundles.every((bundle) => trusts(bundle, [authority.certificate]))) return undefined;
  return before?.fingerprint === fingerprint ? before : { fingerprint, sinceMs: nowMs };
};

/** Whether this replica may be called: it has a certificate, and every bundle trusts it. */
export const isServable = (look: Look): boolean => {
  const { bundles, signer } = look;
  return isServed(look) && signer !== undefined && bundles.every((bundle) => trusts(bundle, [signer]));
};

const isServed = ({ leaf, nowMs }: Look): boolean =>
  leaf !== undefined && leaf.notBeforeMs <= nowMs && nowMs < leaf.notAfterMs;

/** If the Secret is deleted again and again, the CRD must not fill up. */
const TRUSTED_MAX = 16;

const isPastTwoThirds = ({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: number): boolean =>
  nowMs - notBeforeMs >= (notAfterMs - notBeforeMs) * 2 / 3;

/** The operator's authorities that a bundle trusts and that have not expired; the newest first. */
const publishedAuthorities = ({ bundles, nowMs }: Pick<Look, "bundles" | "nowMs">) =>
  unique(bundles.flatMap(({ pem }) => certificatesIn(pem ?? ""))).flatMap((pem) => {
    const facts = certificateFacts(pem);
    return facts?.subject.startsWith(AUTHORITY_NAME) && facts.notAfterMs > nowMs ? [{ pem, facts }] : [];
  }).sort((one, other) => other.facts.notBeforeMs - one.facts.notBeforeMs);

/**
 * Whether the object trusts what is required and nothing but what may be trusted, and calls the path that only the API
 * server knows.
 */
const isPublished = (
  bundle: Bundle,
  required: ReadonlyArray<string>,
  trusted: ReadonlyArray<string>,
): boolean => {
  const allowed = new Set(trusted.map(printOf));
  return bundle.hasPath && trusts(bundle, required) &&
    certificatesIn(bundle.pem ?? "").every((text) => allowed.has(printOf(text)));
};

const trusts = ({ pem }: Bundle, certificates: ReadonlyArray<string>): boolean => {
  if (pem === undefined || !isCleanPem(pem)) return false;
  const prints = new Set(certificatesIn(pem).map(printOf));
  return certificates.every((text) => prints.has(printOf(text)));
};

/** Undefined, which no certificate that is looked for has: it cannot be read. */
const printOf = (certificate: string): string | undefined => certificateFacts(certificate)?.fingerprint;

const unique = (certificates: ReadonlyArray<string>): ReadonlyArray<string> => {
  const prints = certificates.map(printOf);
  return certificates.filter((_, index) => prints.indexOf(prints[index]) === index);
};
