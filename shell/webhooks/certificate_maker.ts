/** Keys and certificates, created with WebCrypto and @peculiar/x509. Loaded on demand: the command line starts without it. */
import type { Extension, JsonGeneralName, JsonName, PublicKey } from "@peculiar/x509";
import { type Authority, AUTHORITY_NAME } from "../../core/certificates/authority.ts";
import { hostName } from "../../core/data/digest.ts";
import type { ServingCertificate } from "./webhook_server.ts";

/** Small, fast, and allowed everywhere that has rules about it. */
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export interface Validity {
  /** Milliseconds since 1970. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** An authority with its own key; its name ends with a part of its serial number, which distinguishes authorities. */
export const makeAuthority = async (validity: Validity): Promise<Authority> => {
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension } = await library();
  const keys = await newKeys();
  const serial = newSerial();
  const name = named(`${AUTHORITY_NAME} ${serial.slice(2, 14)}`);
  const certificate = await signed({
    serial,
    issuer: name,
    subject: name,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    validity,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate, key: await keyPem(keys.privateKey) };
};

/** A serving certificate for these names, signed by the CA. A name may be an address, of IPv4 or IPv6. */
export const makeLeaf = async (
  authority: Authority,
  names: ReadonlyArray<string>,
  validity: Validity,
): Promise<ServingCertificate> => {
  const {
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsageFlags,
    KeyUsagesExtension,
    SubjectAlternativeNameExtension,
    X509Certificate,
  } = await library();
  const keys = await newKeys();
  const certificate = await signed({
    serial: newSerial(),
    issuer: new X509Certificate(authority.certificate).subjectName.toJSON(),
    subject: named(names[0] ?? ""),
    publicKey: keys.publicKey,
    signingKey: await signingKey(authority.key),
    validity,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(await Promise.all(names.map(generalName))),
    ],
  });
  return { cert: certificate, key: await keyPem(keys.privateKey) };
};

/** Whether the key is that of the certificate; false too where one of them cannot be read. */
export const isPair = async ({ certificate, key }: Authority): Promise<boolean> => {
  try {
    const { X509Certificate } = await library();
    const known: PublicKey = new X509Certificate(certificate).publicKey;
    const text = crypto.getRandomValues(new Uint8Array(16));
    const signature = await crypto.subtle.sign(ALGORITHM, await signingKey(key), text);
    return await crypto.subtle.verify(ALGORITHM, await known.export(ALGORITHM, ["verify"]), signature, text);
  } catch {
    return false;
  }
};

/** It asks for its polyfill before it is loaded itself. */
const library = async () => {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
};

const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const signingKey = (pem: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("pkcs8", fromPem(pem), ALGORITHM, false, ["sign"]);

/** 16 random bytes in hex, of which the first is never 0 nor has the sign bit: a positive number of constant length. */
const newSerial = (): string => {
  const serial = crypto.getRandomValues(new Uint8Array(16));
  serial[0] = (serial[0] ?? 0) & 0x3f | 0x40;
  return serial.toHex();
};

const named = (commonName: string): JsonName => [{ CN: [commonName] }];

const generalName = async (value: string): Promise<JsonGeneralName> => {
  const { isIP } = await import("node:net");
  const name = hostName(value);
  return { type: isIP(name) === 0 ? "dns" : "ip", value: name };
};

const signed = async ({ serial, validity, extensions, ...rest }: {
  readonly serial: string;
  readonly issuer: JsonName;
  readonly subject: JsonName;
  readonly publicKey: CryptoKey;
  readonly signingKey: CryptoKey;
  readonly validity: Validity;
  readonly extensions: ReadonlyArray<Extension>;
}): Promise<string> => {
  const { X509CertificateGenerator } = await library();
  const certificate = await X509CertificateGenerator.create({
    ...rest,
    serialNumber: serial,
    notBefore: new Date(validity.notBeforeMs),
    notAfter: new Date(validity.notAfterMs),
    signingAlgorithm: ALGORITHM,
    extensions: [...extensions],
  });
  return `${certificate.toString("pem")}\n`;
};

const keyPem = async (key: CryptoKey): Promise<string> => {
  const { PemConverter } = await library();
  return `${PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), PemConverter.PrivateKeyTag)}\n`;
};

const fromPem = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.fromBase64(text.replace(/-----[^-]+-----/g, "").replace(/\s+/g, "")) as Uint8Array<ArrayBuffer>;
