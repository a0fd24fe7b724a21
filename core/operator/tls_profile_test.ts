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
  match(said({ type: "Custom", custom: {} }), /^the profile names no version/);
});

Deno.test("tlsProfileOf() is that of Intermediate for a cluster without one, and for a custom one without a body", () => {
  for (const apiServer of [{}, { spec: {} }, { spec: null }, null, { spec: { tlsSecurityProfile: null } }]) {
    deepStrictEqual(tlsProfileOf(apiServer), { minVersion: "TLSv1.2" });
  }
  for (const custom of [undefined, null, {}]) {
    const found = of(custom === undefined ? { type: "Custom" } : { type: "Custom", custom });
    strictEqual(found.minVersion, "TLSv1.2");
  }
});

Deno.test("tlsProfileOf() loosens nothing for what it does not know", () => {
  const unknown: ReadonlyArray<Json> = [
    { type: "Later" },
    ...["VersionTLS99", "constructor"].map((minTLSVersion) => ({ type: "Custom", custom: { minTLSVersion } })),
  ];
  for (const tlsSecurityProfile of unknown) {
    const from = (before?: "TLSv1.2" | "TLSv1.3") => tlsProfileOf({ spec: { tlsSecurityProfile } }, before);
    deepStrictEqual(
      [from("TLSv1.2"), from("TLSv1.3"), from()].map(({ minVersion }) => minVersion),
      ["TLSv1.2", "TLSv1.3", "TLSv1.3"],
    );
    match(from("TLSv1.2").deviation ?? "", /not known; TLSv1\.2 stays the oldest version$/);
  }
});
