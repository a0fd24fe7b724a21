import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { certificateFacts } from "../../core/data/digest.ts";
import { makeAuthority, makeLeaf } from "./certificate_maker.ts";

const HOUR_MS = 3_600_000;
/** Certificates know whole seconds. */
const NOW_MS = 1_790_000_000_000;
const validity = { notBeforeMs: NOW_MS - HOUR_MS, notAfterMs: NOW_MS + HOUR_MS };

Deno.test("makeLeaf() makes a certificate that its authority signed, for these names and no longer", async () => {
  const authority = await makeAuthority(validity);
  const leaf = await makeLeaf(authority, ["webhook.system.svc", "127.0.0.1", "FD00:0::1"], validity);
  const [signer, made] = [new X509Certificate(authority.certificate), new X509Certificate(leaf.cert)];
  ok(made.verify(signer.publicKey) && made.checkIssued(signer) && signer.ca && !made.ca);
  const facts = certificateFacts(leaf.cert);
  deepStrictEqual(facts?.names, ["webhook.system.svc", "127.0.0.1", "fd00::1"]);
  deepStrictEqual([facts?.notBeforeMs, facts?.notAfterMs], [validity.notBeforeMs, validity.notAfterMs]);
  strictEqual(facts?.issuer, certificateFacts(authority.certificate)?.subject);
});

Deno.test("makeAuthority() never makes the same one twice", async () => {
  const [one, other] = await Promise.all([makeAuthority(validity), makeAuthority(validity)]);
  const subjects = [one, other].map(({ certificate }) => certificateFacts(certificate)?.subject);
  ok(subjects[0] !== subjects[1], subjects.join());
  strictEqual(new X509Certificate(one.certificate).serialNumber.length, 32);
});

for (
  const [name, address] of [
    ["::1", "::1"],
    ["[2001:db8::5:1]", "2001:DB8::5:1"],
    ["::ffff:10.0.0.1", "::FFFF:10.0.0.1"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
  ] as const
) {
  Deno.test(`makeLeaf() accepts the address ${name}`, async () => {
    const { cert } = await makeLeaf(await makeAuthority(validity), ["webhook", name], validity);
    strictEqual(new X509Certificate(cert).subjectAltName?.toUpperCase(), `DNS:WEBHOOK, IP ADDRESS:${address}`);
  });
}
