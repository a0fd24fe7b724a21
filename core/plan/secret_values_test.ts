import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { secret } from "../../tests/given.ts";
import { converged, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import type { JsonObject } from "../data/json.ts";
import { prepare } from "./prepare.ts";

const VALID = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2026, 6, 1) };
const { cert, key } = await makeLeaf(await makeAuthority(VALID), ["my-service.default.svc"], VALID);
const SERVED = { enabled: true, secretName: "tls" };

const seen = (tls: JsonObject, pair: Readonly<Record<string, string>>, nowMs = VALID.notBeforeMs) =>
  snapshot({ networking: { tls } }, { secrets: secretsOf({ tls: pair }), nowMs });
const failures = (...given: Parameters<typeof seen>): ReadonlyArray<string> => {
  const prepared = prepare(seen(...given));
  return Result.isFailure(prepared) ? prepared.failure.failures.map(({ message }) => message) : [];
};
const expired = (nowMs: number, tls: JsonObject = SERVED): ReadonlyArray<string> =>
  Result.getOrThrow(prepare(seen(tls, { "tls.crt": cert, "tls.key": key }, nowMs))).warnings
    .filter(({ code }) => code === "CertificateExpired").map(({ path, message }) => `${path.join(".")}: ${message}`);

const at = "spec.networking.tls";
const NO_CERTIFICATE =
  "invalid value in Secret key tls/tls.crt: it has no certificate that can be read; write it as PEM";
const NO_KEY = "invalid value in Secret key tls/tls.key: it has no private key; write it as PEM";

Deno.test("a certificate or key that no server can load is a failure, and the message has no part of it", () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  for (const text of ["zz", "", broken, key]) {
    deepStrictEqual(failures(SERVED, { "tls.crt": text, "tls.key": key }), [`${at}.secretName: ${NO_CERTIFICATE}`]);
  }
  deepStrictEqual(failures(SERVED, { "tls.crt": cert, "tls.key": cert }), [`${at}.secretName: ${NO_KEY}`]);
  deepStrictEqual(failures({ clientSecretName: "tls" }, { "tls.crt": "zz", "tls.key": "zz" }), [
    `${at}.clientSecretName: ${NO_CERTIFICATE}`,
    `${at}.clientSecretName: ${NO_KEY}`,
  ]);
});

Deno.test("certificates with text before them, others after them, and every label of OpenSSL are loaded", () => {
  for (const text of [cert, `Certificate:\n    Data:\n${cert}`, cert + cert, cert.replaceAll("CERT", "TRUSTED CERT")]) {
    deepStrictEqual(failures(SERVED, { "tls.crt": text, "tls.key": key }), []);
  }
  for (const label of ["RSA ", "EC ", "ENCRYPTED "]) {
    const text = key.replaceAll("PRIVATE", `${label}PRIVATE`);
    deepStrictEqual(failures(SERVED, { "tls.crt": cert, "tls.key": text }), []);
  }
});

Deno.test("a server keeps its certificate until the new one can be loaded", () => {
  const { snapshot: running } = converged(seen(SERVED, { "tls.crt": cert, "tls.key": key }));
  const broken = { ...running, secrets: secretsOf({ tls: { "tls.crt": "zz", "tls.key": key } }) };
  const plan = planOf(broken);
  ok(plan.failures.some(({ _tag }) => _tag === "SecretValueUnusable"));
  deepStrictEqual(plan.decision.steps, []);
});

Deno.test("a certificate whose time is over is a warning", () => {
  deepStrictEqual(expired(VALID.notAfterMs - 1), []);
  deepStrictEqual(expired(VALID.notAfterMs), [
    `${at}.secretName: the certificate in Secret "tls" expired on 2026-07-01, and clients that verify it reject the server; ` +
    "renew it",
  ]);
  deepStrictEqual(expired(VALID.notAfterMs, { clientSecretName: "tls" }).length, 1);
});

Deno.test("trappedKeys() rejects values for a further database that would not arrive", () => {
  const failuresWith = (password: string) =>
    planOf(snapshot({
      storage: {
        backends: [{
          name: "own",
          type: "sql_postgres",
          settings: { host: "pg", user: "u" },
          secretRefs: { password: secret("pg", "password") },
        }],
      },
    }, { secrets: secretsOf({ pg: { password } }) })).failures.map(({ _tag }) => _tag);
  deepStrictEqual(failuresWith(""), ["SecretValueUnusable"]);
  deepStrictEqual(failuresWith("x".repeat(200_000)), ["SecretValueUnusable"]);
  deepStrictEqual(failuresWith("word"), []);
});

const DATABASE = { storage: { sql: { type: "postgres", connectionString: secret("db", "url") } } };
const preparedWith = (query: string, spec: JsonObject = {}) =>
  prepare(snapshot({ ...DATABASE, ...spec }, {
    secrets: secretsOf({ db: { url: `postgresql://user:word@db/stack${query}` } }),
    configMaps: new Map([["default/ca", { data: { "ca-bundle.crt": cert }, binaryData: {} }]]),
  }));
const rootCertificate = (query: string, spec: JsonObject = {}): string => {
  const made = JSON.stringify(Result.getOrThrow(preparedWith(query, spec)).objects);
  return /"PGSSLROOTCERT":"([^"]*)"/.exec(made)?.[1] ?? "";
};
const overrides = (more: JsonObject): JsonObject => ({ workload: { overrides: more } });

Deno.test("a database whose certificate is verified is trusted by spec.networking.tls.caBundle", () => {
  const bundle = { networking: { tls: { caBundle: { configMapName: "ca" } } } };
  for (const mode of ["verify-full", "verify-ca"]) {
    deepStrictEqual(atob(rootCertificate(`?sslmode=${mode}`, bundle)), "/etc/ssl/certs/ca-bundle/ca-bundle.crt");
    deepStrictEqual(atob(rootCertificate(`?sslmode=${mode}&sslrootcert=/ca.crt`, bundle)), "/ca.crt");
  }
  // With a file, the drivers verify what they did not verify before.
  deepStrictEqual(rootCertificate("?sslmode=require", bundle), "");
});

Deno.test("a database whose certificate is verified needs an authority", () => {
  const refused = (query: string, spec: JsonObject = {}) => {
    const prepared = preparedWith(query, spec);
    return Result.isFailure(prepared) ? prepared.failure.failures.map(({ message }) => message) : [];
  };
  deepStrictEqual(refused("?sslmode=verify-full"), [
    "spec.storage.sql.connectionString: invalid value in Secret key db/url: with sslmode=verify-full the server needs the " +
    "authority of the database; put it into spec.networking.tls.caBundle, or mount it and name the file in sslrootcert",
  ]);
  ok(refused("?sslmode=verify-full&sslrootcert=system")[0]?.includes("leave it out"));
  deepStrictEqual(refused("?sslmode=require"), []);
  for (
    const own of [
      { env: [{ name: "PGSSLROOTCERT", value: "/certs/ca.crt" }] },
      { volumeMounts: [{ name: "v", mountPath: "/home/user/.postgresql" }], volumes: [{ name: "v", emptyDir: {} }] },
    ]
  ) deepStrictEqual(refused("?sslmode=verify-full", overrides(own)), []);
});

Deno.test("an authority of the database in a file that nothing mounts is a warning", () => {
  const warned = (query: string, spec: JsonObject = {}) =>
    Result.getOrThrow(preparedWith(query, spec)).warnings.filter(({ code }) => code === "FileNotMounted").length;
  const mounted = { volumeMounts: [{ name: "v", mountPath: "/certs" }], volumes: [{ name: "v", emptyDir: {} }] };
  deepStrictEqual(warned("?sslmode=verify-full&sslrootcert=/certs/ca.crt"), 1);
  deepStrictEqual(warned("?sslmode=verify-full&sslrootcert=/certs/ca.crt", overrides(mounted)), 0);
  deepStrictEqual(warned("?sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt"), 0);
});
