/** Keys and certificates, made with WebCrypto and pkijs. Loaded when it is needed: the command line starts without it. */
import { isIPv4, isIPv6 } from "node:net";
import type { Certificate } from "pkijs";
import type { Authority } from "../../core/certificates/authorities.ts";
import { AUTHORITY_NAME } from "../../core/certificates/authorities.ts";
import type { ServingCertificate } from "./webhook_server.ts";

/** Small, fast, and allowed everywhere that has rules about it. */
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export interface Validity {
  /** Milliseconds since 1970. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** An authority of its own key; its name ends in a part of its serial, so that two of them are told apart. */
export const makeAuthority = async (validity: Validity): Promise<Authority> => {
  const { BasicConstraints } = await import("pkijs");
  const keys = await newKeys();
  const serial = newSerial();
  const name = `${AUTHORITY_NAME} ${serial.slice(1, 7).toHex()}`;
  const certificate = await unsigned({ serial, issuer: name, subject: name, publicKey: keys.publicKey, validity });
  certificate.extensions = [
    await extension("2.5.29.19", true, new BasicConstraints({ cA: true, pathLenConstraint: 0 }).toSchema()),
    await keyUsage(KEY_CERT_SIGN | CRL_SIGN),
  ];
  return { certificate: await signedPem(certificate, keys.privateKey), key: await keyPem(keys.privateKey) };
};

/** A serving certificate for these names, signed by the authority. */
export const makeLeaf = async (
  authority: Authority,
  names: ReadonlyArray<string>,
  validity: Validity,
): Promise<ServingCertificate> => {
  const { ExtKeyUsage } = await import("pkijs");
  const keys = await newKeys();
  const signer = await crypto.subtle.importKey("pkcs8", fromPem(authority.key), ALGORITHM, false, ["sign"]);
  const issuer = await subjectOf(authority.certificate);
  const certificate = await unsigned({
    serial: newSerial(),
    issuer,
    subject: names[0] ?? "",
    publicKey: keys.publicKey,
    validity,
  });
  certificate.extensions = [
    await keyUsage(DIGITAL_SIGNATURE),
    await extension("2.5.29.37", false, new ExtKeyUsage({ keyPurposes: [SERVER_AUTHENTICATION] }).toSchema()),
    await alternativeNames(names),
  ];
  return { cert: await signedPem(certificate, signer), key: await keyPem(keys.privateKey) };
};

/** Whether the key is that of the certificate; false too where one of them cannot be read. */
export const isPair = async ({ certificate, key }: Authority): Promise<boolean> => {
  try {
    const { Certificate } = await import("pkijs");
    const signer = await crypto.subtle.importKey("pkcs8", fromPem(key), ALGORITHM, false, ["sign"]);
    const known = await Certificate.fromBER(fromPem(certificate)).getPublicKey();
    const text = crypto.getRandomValues(new Uint8Array(16));
    return await crypto.subtle.verify(ALGORITHM, known, await crypto.subtle.sign(ALGORITHM, signer, text), text);
  } catch {
    return false;
  }
};

const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

/** 16 random bytes, of which the first is never 0 nor has the sign bit: a positive number of constant length. */
const newSerial = (): Uint8Array<ArrayBuffer> => {
  const serial = crypto.getRandomValues(new Uint8Array(16));
  serial[0] = (serial[0] ?? 0) & 0x3f | 0x40;
  return serial;
};

const COMMON_NAME = "2.5.4.3";
const SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1";
const DIGITAL_SIGNATURE = 0x80;
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;
/** X.509 version 3, counted from 0. */
const VERSION_3 = 2;

const unsigned = async ({ serial, issuer, subject, publicKey, validity }: {
  readonly serial: Uint8Array<ArrayBuffer>;
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: CryptoKey;
  readonly validity: Validity;
}): Promise<Certificate> => {
  const [{ Certificate, Time, AttributeTypeAndValue }, { Integer, Utf8String }] = await Promise.all([
    import("pkijs"),
    import("asn1js"),
  ]);
  const named = (value: string) => new AttributeTypeAndValue({ type: COMMON_NAME, value: new Utf8String({ value }) });
  const certificate = new Certificate();
  certificate.version = VERSION_3;
  certificate.serialNumber = new Integer({ valueHex: serial.buffer });
  certificate.issuer.typesAndValues.push(named(issuer));
  certificate.subject.typesAndValues.push(named(subject));
  // Whole seconds are all that a certificate can tell.
  certificate.notBefore = new Time({ value: new Date(validity.notBeforeMs) });
  certificate.notAfter = new Time({ value: new Date(validity.notAfterMs) });
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  return certificate;
};

const extension = async (extnID: string, critical: boolean, value: { toBER(sizeOnly?: boolean): ArrayBuffer }) => {
  const { Extension } = await import("pkijs");
  return new Extension({ extnID, critical, extnValue: value.toBER(false) });
};

const keyUsage = async (bits: number) => {
  const { BitString } = await import("asn1js");
  const unused = [...bits.toString(2).padStart(8, "0")].reverse().findIndex((bit) => bit === "1");
  return await extension(
    "2.5.29.15",
    true,
    new BitString({ valueHex: new Uint8Array([bits]).buffer, unusedBits: unused }),
  );
};

/** The bytes of an IPv4 or IPv6 address; undefined for a host name. */
const addressOf = (name: string): ReadonlyArray<number> | undefined => {
  if (isIPv4(name)) return name.split(".").map(Number);
  const bare = name.replace(/^\[(.*)\]$/, "$1");
  if (!isIPv6(bare)) return undefined;
  // The parser of URLs writes the last two groups in hex and tells where the zeros are.
  const [head = "", tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string) => part === "" ? [] : part.split(":");
  const [front, back] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => "0");
  return [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 0xff]);
};

const alternativeNames = async (names: ReadonlyArray<string>) => {
  const [{ GeneralName, GeneralNames }, { OctetString }] = await Promise.all([import("pkijs"), import("asn1js")]);
  return await extension(
    "2.5.29.17",
    false,
    new GeneralNames({
      names: names.map((name) => {
        const address = addressOf(name);
        return address === undefined
          ? new GeneralName({ type: 2, value: name })
          : new GeneralName({ type: 7, value: new OctetString({ valueHex: new Uint8Array(address).buffer }) });
      }),
    }).toSchema(),
  );
};

const signedPem = async (certificate: Certificate, key: CryptoKey): Promise<string> => {
  await certificate.sign(key, "SHA-256");
  return pem("CERTIFICATE", new Uint8Array(certificate.toSchema(true).toBER(false)));
};

const keyPem = async (key: CryptoKey): Promise<string> =>
  pem("PRIVATE KEY", new Uint8Array(await crypto.subtle.exportKey("pkcs8", key)));

const subjectOf = async (text: string): Promise<string> => {
  const { Certificate } = await import("pkijs");
  const [name] = Certificate.fromBER(fromPem(text)).subject.typesAndValues;
  return String(name?.value.valueBlock.value ?? "");
};

const pem = (label: string, der: Uint8Array): string =>
  [`-----BEGIN ${label}-----`, ...(der.toBase64().match(/.{1,64}/g) ?? []), `-----END ${label}-----`, ""].join("\n");

const fromPem = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.fromBase64(text.replace(/-----[^-]+-----/g, "").replace(/\s+/g, "")) as Uint8Array<ArrayBuffer>;
