import { join } from "node:path";

export interface ServerCertificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** What a client has to trust; the certificate signs itself. */
  readonly caFile: string;
}

/** A certificate for localhost, 127.0.0.1 and more names, valid for two days. As one of a client, it is of `commonName`. */
export const makeServerCertificate = async (
  folder: string,
  names: readonly string[] = [],
  commonName = "localhost",
): Promise<ServerCertificate> => {
  const certificateFile = join(folder, "server.crt");
  const keyFile = join(folder, "server.key");
  const { success, stderr } = await new Deno.Command("openssl", {
    args: [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", `/CN=${commonName}`, "-addext", `subjectAltName=${altNames(names)}`],
      // Without this it would be an authority, and Deno refuses an authority as a server's own certificate.
      ...["-addext", "basicConstraints=critical,CA:FALSE"],
      ...["-keyout", keyFile, "-out", certificateFile],
    ],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`openssl made no certificate: ${new TextDecoder().decode(stderr)}`);
  return { certificateFile, keyFile, caFile: certificateFile };
};

const altNames = (names: readonly string[]): string =>
  ["DNS:localhost", "IP:127.0.0.1", ...names.map((name) => `${IPV4.test(name) ? "IP" : "DNS"}:${name}`)].join();

const IPV4 = /^[0-9]+(\.[0-9]+){3}$/;
