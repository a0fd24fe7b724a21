/** The certificate authority of the webhooks, as the Secret in the operator's namespace keeps it. */
import { certificateFacts } from "../data/digest.ts";
import { type Json, member, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";

/** Key of the Secret: the authority as JSON. */
export const AUTHORITY_KEY = "authorities.json";

/** Start of the name in every certificate of an authority that this operator made. */
export const AUTHORITY_NAME = "llama-stack-operator webhooks";

/** PEM of the certificate and of its key. */
export interface Authority {
  readonly certificate: string;
  readonly key: string;
}

/** Undefined: there is none in it, or what is in it cannot be read. */
export const authorityIn = (text: string | undefined): Authority | undefined =>
  authorityOf(member(objectIn(text), "current"));

export const authorityText = (current: Authority): string => JSON.stringify({ current });

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
