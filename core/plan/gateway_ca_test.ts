import { deepStrictEqual } from "node:assert/strict";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import * as Result from "effect/Result";
import { tlsPair } from "../../tools/tls_pair.ts";
import { secretsOf, snapshot } from "../../tests/snapshots.ts";
import type { ConfigMapContent } from "../config/config_map_content.ts";
import { prepare } from "./prepare.ts";

const VALID = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };
const NETWORKING = {
  tls: { enabled: true, secretName: "tls" },
  expose: { gateway: { parentRefs: [{ name: "public" }], caConfigMapName: "ca" } },
};

const { "tls.key": KEY } = await tlsPair(["any"]);
const BROKEN = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";

/** What the operator says of the CA for a server that shows these certificates. */
const told = (shown: string, authorities: string): string | undefined =>
  said(shown, { data: { "ca.crt": authorities }, binaryData: {} })?.match(SAID)?.[0];

const SAID = /another CA|no certificate that can be read|a certificate in its key ca.crt that cannot|binaryData/;

const said = (shown: string, content: ConfigMapContent): string | undefined => {
  const secrets = secretsOf({ tls: { "tls.crt": shown, "tls.key": KEY } });
  const configMaps = new Map([["default/ca", content]]);
  const { warnings } = Result.getOrThrow(prepare(snapshot({ networking: NETWORKING }, { secrets, configMaps })));
  return warnings.find(({ code }) => code === "GatewayCannotVerify")?.message;
};

Deno.test("the CA of another server is found out by the certificate of this one, without a request", async () => {
  const [own, other] = [await makeAuthority(VALID), await makeAuthority(VALID)];
  const leaf = await makeLeaf(own, ["my-service.default.svc"], VALID);
  deepStrictEqual(told(leaf.cert, own.certificate), undefined);
  deepStrictEqual(told(leaf.cert, `${other.certificate}\n${own.certificate}`), undefined);
  deepStrictEqual(told(leaf.cert, other.certificate), "another CA");
  // One that is trusted as it is, as one that signs itself.
  deepStrictEqual(told(leaf.cert, leaf.cert), undefined);
});

Deno.test("an authority vouches for a server by way of the certificates that it shows beside its own", async () => {
  const [root, other] = [await makeAuthority(VALID), await makeAuthority(VALID)];
  const between = await makeLeaf(root, ["between"], VALID);
  const leaf = await makeLeaf({ certificate: between.cert, key: between.key }, ["my-service.default.svc"], VALID);
  deepStrictEqual(told(`${leaf.cert}\n${between.cert}`, root.certificate), undefined);
  deepStrictEqual(told(leaf.cert, root.certificate), "another CA");
  deepStrictEqual(told(leaf.cert, between.cert), undefined);
  deepStrictEqual(told(`${leaf.cert}\n${between.cert}`, other.certificate), "another CA");
});

Deno.test("a ConfigMap without a certificate that can be read is not said to have another CA", async () => {
  const own = await makeAuthority(VALID);
  const { cert: certificate } = await makeLeaf(own, ["my-service.default.svc"], VALID);
  for (const text of ["", "garbage", BROKEN]) {
    deepStrictEqual(told(certificate, text), "no certificate that can be read");
  }
  deepStrictEqual(told(certificate, own.certificate + BROKEN), "a certificate in its key ca.crt that cannot");
  // As kubectl stores a file that is no text, such as a certificate in DER.
  deepStrictEqual(said(certificate, { data: {}, binaryData: { "ca.crt": "MIIB" } })?.match(SAID)?.[0], "binaryData");
});
