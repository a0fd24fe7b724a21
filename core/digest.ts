/** Hashes; the only file of the core that touches node:crypto (R52). */
import { createHash, createHmac, X509Certificate } from "node:crypto";

/** sha256 of the UTF-8 bytes, 64 hex digits. */
export const sha256Hex = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

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
