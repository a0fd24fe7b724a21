/** TLS and workers on a named distribution that asks for nothing else. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { TLS_CERTIFICATE, TLS_KEY } from "../../core/config/stages/server.ts";
import { member } from "../../core/data/json.ts";
import { bootWorkers } from "../../tools/server/boot.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";

for (const serverVersion of ["0.7.3", "1.4.1"]) {
  Deno.test(`starter of ${serverVersion} answers over HTTPS and with two workers if the resource sets nothing else`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const certificate = await makeServerCertificate(folder);
      const manifest = {
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: { name: "my", namespace: "default" },
        spec: {
          distribution: { name: "starter", serverVersion },
          networking: { tls: { enabled: true, secretName: "certificate" } },
          workload: { workers: 2 },
        },
      };
      await using stack = await bootWorkers(manifest, { certificate, folder });
      ok(stack.url.startsWith("https://"));
      strictEqual((await stack.get("/v1/health")).status, 200);
      deepStrictEqual(member(stack.derived.config.tree, "server"), {
        port: Number(new URL(stack.url).port),
        workers: 2,
        tls_certfile: TLS_CERTIFICATE,
        tls_keyfile: TLS_KEY,
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
