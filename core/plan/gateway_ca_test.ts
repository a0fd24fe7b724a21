import { deepStrictEqual } from "node:assert/strict";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import * as Result from "effect/Result";
import { secretsOf, snapshot } from "../../tests/snapshots.ts";
import { prepare } from "./prepare.ts";

const VALID = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };
const NETWORKING = {
  tls: { enabled: true, secretName: "tls" },
  expose: { gateway: { parentRefs: [{ name: "public" }], caConfigMapName: "ca" } },
};

/** What the operator says of the CA for a server that shows these certificates. */
const told = (shown: string, authorities: string): string | undefined => {
  const secrets = secretsOf({ tls: { "tls.crt": shown, "tls.key": "k" } });
  const configMaps = new Map([["default/ca", { data: { "ca.crt": authorities }, binaryData: {} }]]);
  const { warnings } = Result.getOrThrow(prepare(snapshot({ networking: NETWORKING }, { secrets, configMaps })));
  return warnings.find(({ code }) => code === "GatewayCannotVerify")?.message.match(/another CA/)?.[0];
};

Deno.test("the CA of another server is found out by the certificate of this one, without a request", async () => {
  const [own, other] = [await makeAuthority(VALID), await makeAuthority(VALID)];
  const leaf = await makeLeaf(own, ["my-service.default.svc"], VALID);
  deepStrictEqual(told(leaf.cert, own.certificate), undefined);
  deepStrictEqual(told(leaf.cert, `${other.certificate}\n${own.certificate}`), undefined);
  deepStrictEqual(told(leaf.cert, other.certificate), "another CA");
  // No certificate at all.
  deepStrictEqual(told(leaf.cert, ""), "another CA");
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

Deno.test("nothing is said of certificates that cannot be read", async () => {
  const { certificate } = await makeAuthority(VALID);
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  for (const [shown, authorities] of [["c", certificate], [broken, certificate], [certificate, broken]] as const) {
    deepStrictEqual(told(shown, authorities), undefined);
  }
});
