/** A certificate and its key for tests and stand-ins, as a Secret of type kubernetes.io/tls has them. */
import { makeAuthority, makeLeaf, type Validity } from "../shell/webhooks/certificate_maker.ts";

export const tlsPair = async (
  names: ReadonlyArray<string>,
  // Whatever the clock of a test says.
  validity: Validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2100, 0, 1) },
): Promise<{ readonly "tls.crt": string; readonly "tls.key": string; readonly "ca.crt": string }> => {
  const authority = await makeAuthority(validity);
  const { cert, key } = await makeLeaf(authority, names, validity);
  return { "tls.crt": cert, "tls.key": key, "ca.crt": authority.certificate };
};
