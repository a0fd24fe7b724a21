/** The certificate authorities of the webhooks, as the Secret in the operator's namespace keeps them. */
import { certificateFacts } from "../data/digest.ts";
import { isObject, type Json, listAt, member, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";

/** Key of the Secret: all authorities as JSON. */
export const AUTHORITY_KEY = "authorities.json";

/** Start of the name in every certificate of an authority that this operator made. */
export const AUTHORITY_NAME = "llama-stack-operator webhooks";

/** PEM of the certificate and of its key. */
export interface Authority {
  readonly certificate: string;
  readonly key: string;
}

export interface Authorities {
  /** Signs. */
  readonly current: Authority;
  /** Is published already and will sign; since when, in milliseconds since 1970. */
  readonly next: (Authority & { readonly sinceMs: number }) | undefined;
  /** Signed once: trusted until the last certificate that it signed has ended. */
  readonly retired: ReadonlyArray<{ readonly certificate: string; readonly sinceMs: number }>;
}

/** Undefined: there are none in it, or what is in it cannot be read. */
export const authoritiesIn = (text: string | undefined): Authorities | undefined => {
  const value = objectIn(text);
  const current = authorityOf(member(value, "current"));
  if (!isObject(value) || current === undefined) return undefined;
  const next = authorityOf(value.next);
  const sinceMs = member(value.next, "sinceMs");
  const retired = listAt(value, "retired").flatMap((item) => {
    const certificate = stringAt(item, "certificate");
    const since = member(item, "sinceMs");
    return certificate === undefined || typeof since !== "number" || !isOneCertificate(certificate)
      ? []
      : [{ certificate, sinceMs: since }];
  });
  return {
    current,
    next: next === undefined || typeof sinceMs !== "number" ? undefined : { ...next, sinceMs },
    retired,
  };
};

export const authoritiesText = ({ current, next, retired }: Authorities): string =>
  JSON.stringify({ current, ...(next === undefined ? {} : { next }), retired });

/** Everything that is trusted now, as one PEM text; always in the same order. */
export const bundleOf = ({ current, next, retired }: Authorities, nowMs: number): string =>
  [
    current.certificate,
    ...(next === undefined ? [] : [next.certificate]),
    ...retired.map(({ certificate }) => certificate),
  ]
    .filter((certificate, index) => index === 0 || (certificateFacts(certificate)?.notAfterMs ?? 0) > nowMs)
    .map((certificate) => `${certificate.trim()}\n`).join("");

/** The single certificates of a PEM text. */
export const certificatesIn = (pem: string): ReadonlyArray<string> =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)?.map((text) => `${text}\n`) ?? [];

/**
 * Whether the text consists of certificates alone, each of them on lines of its own: what Go's parser, which the API server
 * uses, reads completely.
 */
export const isCleanPem = (pem: string): boolean =>
  pem.replaceAll(/^-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+\r?\n-----END CERTIFICATE-----$/gm, "").trim() ===
    "";

const isOneCertificate = (text: string): boolean =>
  isCleanPem(text) && certificatesIn(text).length === 1 && certificateFacts(text) !== undefined;

/** Printable ASCII and line breaks: everything that PEM consists of. */
const PEM_TEXT = /^[\x20-\x7e\r\n]*$/;

const authorityOf = (value: Json | undefined): Authority | undefined => {
  const certificate = stringAt(value, "certificate");
  const key = stringAt(value, "key");
  return certificate === undefined || key === undefined || !isOneCertificate(certificate) || !PEM_TEXT.test(key)
    ? undefined
    : { certificate, key };
};
