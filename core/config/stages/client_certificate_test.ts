import { deepStrictEqual, ok } from "node:assert/strict";
import { config, envOf, generated, rejected, secret, warnings } from "../../../tests/given.ts";
import { at, type Json, type JsonObject, listAt } from "../../data/json.ts";

const FILES = {
  client_cert: "/etc/llama-stack/client-tls/tls.crt",
  client_key: "/etc/llama-stack/client-tls/tls.key",
};
const spec = (more: JsonObject): JsonObject => ({ networking: { tls: { clientSecretName: "me" } }, ...more });
const vllm = (settings: JsonObject = {}): JsonObject =>
  spec({ providers: { inference: [{ provider: "vllm", endpoint: "https://vllm:8000/v1", settings }] } });
const tlsOf = (given: JsonObject): Json | undefined =>
  at(
    listAt(config(given), "providers", "inference").find((entry) => at(entry, "provider_id") === "vllm") ?? null,
    "config",
    "network",
    "tls",
  );

Deno.test("presentCertificate() writes the certificate into providers of the resource that take one", () => {
  deepStrictEqual(tlsOf(vllm()), FILES);
  deepStrictEqual(warnings(vllm()), []);
  deepStrictEqual(tlsOf(vllm({ network: { tls: { verify: false } } })), { verify: false, ...FILES });
});

Deno.test("presentCertificate() keeps a certificate that the settings name", () => {
  const tls = { client_cert: "/tmp/a.crt", client_key: "/tmp/a.key" };
  deepStrictEqual(tlsOf(vllm({ network: { tls } })), tls);
});

Deno.test("presentCertificate() gives it to PostgreSQL by variables", () => {
  const storage = { sql: { type: "postgres", connectionString: secret("db", "url") } };
  deepStrictEqual(at(envOf(spec({ storage }), "PGSSLCERT") ?? null, "value"), FILES.client_cert);
  ok(!generated(vllm()).env.some(({ name }) => name === "PGSSLCERT"));
});

Deno.test("presentCertificate() names providers that connect without it, and says if nobody takes it", () => {
  const qdrant = { vectorIo: [{ provider: "qdrant", endpoint: "http://q:6333" }] };
  deepStrictEqual(warnings(spec({ providers: qdrant })), [
    "FieldNotRead at spec.providers.vectorIo[0]",
    "FieldNotRead at spec.networking.tls.clientSecretName",
  ]);
  deepStrictEqual(warnings(spec({})), ["FieldNotRead at spec.networking.tls.clientSecretName"]);
});

Deno.test("presentCertificate() names the server that has client certificates to an older one", () => {
  const older = { ...vllm(), distribution: { name: "starter", serverVersion: "0.3" } };
  const { message = "" } = rejected(older).failures[0] ?? {};
  ok(message.includes("clientSecretName: not supported by Llama Stack 0.3"), message);
});

Deno.test("presentCertificate warns of a security context with which nobody but root reads the key", () => {
  const of = (securityContext: JsonObject) =>
    warnings({ ...vllm(), workload: { overrides: { securityContext } } }).filter((line) =>
      line.startsWith("KeyNotReadable")
    );
  deepStrictEqual(of({ runAsUser: 2000, runAsGroup: 2000 }), [
    "KeyNotReadable at spec.workload.overrides.securityContext",
  ]);
  for (
    const readable of [
      { runAsUser: 2000 },
      { runAsUser: 2000, runAsGroup: 2000, fsGroup: 2000 },
      { runAsGroup: 2000, supplementalGroups: [0] },
    ]
  ) deepStrictEqual(of(readable), []);
});
