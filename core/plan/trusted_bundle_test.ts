import { deepStrictEqual, match } from "node:assert/strict";
import { planOf, snapshot } from "../../tests/snapshots.ts";
import { TRUSTED_BUNDLE } from "../snapshot/references.ts";

const BROKEN = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const given = (spec: Parameters<typeof snapshot>[0]) => {
  const configMaps = new Map([[`default/${TRUSTED_BUNDLE}`, { data: { "ca.crt": BROKEN }, binaryData: {} }]]);
  return planOf({ ...snapshot(spec), configMaps }).failures.map(({ message }) => message);
};

Deno.test("an invalid bundle of the namespace names the field that is not set, and every fix", () => {
  const [message = "", ...others] = given({});
  deepStrictEqual(others, []);
  match(
    message,
    /^spec\.networking\.tls\.caBundle: invalid certificates in odh-trusted-ca-bundle\/ca\.crt: certificate 1/,
  );
  match(message, /the field is not set.*namespaceCaBundle: Ignore/);
});

Deno.test("an invalid bundle that the resource names is a failure at its key", () => {
  const caBundle = { configMapName: TRUSTED_BUNDLE, configMapKeys: ["ca.crt"] };
  const [message = ""] = given({ networking: { tls: { caBundle } } });
  match(message, /^spec\.networking\.tls\.caBundle\.configMapKeys\[0\]: invalid certificates in [^;]*$/);
});
