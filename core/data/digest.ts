/** Hashes and certificates; the only file of the core that touches node:crypto. */
import { createHash, createHmac, X509Certificate } from "node:crypto";

/** sha256 of the UTF-8 bytes, 64 hex digits. */
export const sha256Hex = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** Of JSON, for names: as many digits as tell the few objects of one resource apart. */
export const shortDigest = (value: unknown): string => sha256Hex(JSON.stringify(value)).slice(0, SHORT_DIGITS);
export const SHORT_DIGITS = 8;

/** HMAC-SHA-256 of the UTF-8 bytes, 64 hex digits; for values that must not be guessed from what is stored in clear. */
export const hmacSha256Hex = (key: string, text: string): string =>
  createHmac("sha256", key).update(text, "utf8").digest("hex");

/** True when a PEM block is a certificate that X.509 software can read. */
export const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
};

export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Host names and addresses that it speaks for. */
  readonly names: ReadonlyArray<string>;
  /** sha256 of its bytes. */
  readonly fingerprint: string;
}

/** One spelling of each host name: an IPv6 address has many. */
export const hostName = (name: string): string => {
  const address = name.replace(/^\[(.*)\]$/, "$1");
  return address.includes(":") ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? name : name;
};

/** The content of a certificate in PEM; undefined if it is not one. */
export const certificateFacts = (pem: string): CertificateFacts | undefined => {
  // The parser takes other labels too.
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) return undefined;
  try {
    const certificate = new X509Certificate(pem);
    // `DNS:a.b, IP Address:fd00::1`
    const names = (certificate.subjectAltName ?? "").split(", ").filter((name) => name.includes(":"))
      .map((name) => hostName(name.slice(name.indexOf(":") + 1)));
    return {
      subject: certificate.subject.replace(/^CN=/, ""),
      issuer: certificate.issuer.replace(/^CN=/, ""),
      notBeforeMs: Date.parse(certificate.validFrom),
      notAfterMs: Date.parse(certificate.validTo),
      names,
      fingerprint: certificate.fingerprint256,
    };
  } catch {
    return undefined;
  }
};

/**
 * Whether one of the authorities vouches for the first certificate of a chain, directly or by way of others in it, in PEM each.
 * Undefined where they cannot be read.
 */
export const isVouchedFor = (
  chain: ReadonlyArray<string>,
  authorities: ReadonlyArray<string>,
): boolean | undefined => {
  try {
    const [first, ...others] = chain.map((pem) => new X509Certificate(pem));
    if (first === undefined) return undefined;
    const trusted = authorities.map((pem) => new X509Certificate(pem));
    const isSigned = (one: X509Certificate, by: X509Certificate) =>
      one.issuer === by.subject && one.verify(by.publicKey);
    const reached = new Set([first]);
    // A set hands out what is added to it meanwhile.
    for (const one of reached) {
      if (trusted.some((by) => by.fingerprint256 === one.fingerprint256 || isSigned(one, by))) return true;
      for (const next of others.filter((by) => isSigned(one, by))) reached.add(next);
    }
    return false;
  } catch {
    return undefined;
  }
};
