import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import type { Json } from "../data/json.ts";
import { tlsProfileOf } from "./tls_profile.ts";

const of = (tlsSecurityProfile: Json) => tlsProfileOf({ spec: { tlsSecurityProfile } });

Deno.test("tlsProfileOf() takes the oldest version of a profile", () => {
  deepStrictEqual(of({ type: "Modern", modern: {} }), { minVersion: "TLSv1.3" });
  deepStrictEqual(of({ type: "Intermediate", intermediate: {} }), { minVersion: "TLSv1.2" });
  deepStrictEqual(
    of({ type: "Custom", custom: { minTLSVersion: "VersionTLS13", ciphers: ["TLS_AES_128_GCM_SHA256"] } }),
    {
      minVersion: "TLSv1.3",
    },
  );
});

Deno.test("tlsProfileOf() says what of a profile the listeners cannot follow", () => {
  const said = (profile: Json) => of(profile).deviation ?? "";
  match(said({ type: "Old", old: {} }), /^TLS 1\.0 and 1\.1 are not offered/);
  match(said({ type: "Custom", custom: { minTLSVersion: "VersionTLS11" } }), /^TLS 1\.0 and 1\.1 are not offered/);
  match(
    said({ type: "Custom", custom: { minTLSVersion: "VersionTLS12", ciphers: ["A"] } }),
    /^the list of ciphers has no/,
  );
  match(said({ type: "Later" }), /^the profile is not known/);
});

Deno.test("tlsProfileOf() is that of Intermediate for a cluster without one, and for a custom one without a body", () => {
  for (const apiServer of [{}, { spec: {} }, { spec: null }, null, { spec: { tlsSecurityProfile: null } }]) {
    deepStrictEqual(tlsProfileOf(apiServer), { minVersion: "TLSv1.2" });
  }
  for (const custom of [undefined, null, {}, { minTLSVersion: "constructor" }]) {
    const found = of(custom === undefined ? { type: "Custom" } : { type: "Custom", custom });
    strictEqual(found.minVersion, "TLSv1.2");
    match(found.deviation ?? "", /names no version that is known/);
  }
});
