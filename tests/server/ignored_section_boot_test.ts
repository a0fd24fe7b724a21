/** A base config with a section that its server ignores, as images built around a released server bring it along. */
import { ok, strictEqual } from "node:assert/strict";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { BASES } from "../../core/config/servers/bases.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { boot } from "../../tools/server/boot.ts";

for (
  const [name, file, serverVersion] of [
    ["starter", "starter-0.7.yaml", "0.7"],
    ["ogx-starter", "starter-1.5.yaml", "1.5"],
  ] as const
) {
  Deno.test(`${name} on server ${serverVersion} starts with telemetry at top level of its base, and with an added provider`, async () => {
    const models = startModelServer();
    try {
      const manifest = {
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: { name: "my", namespace: "default" },
        spec: {
          distribution: { name, serverVersion },
          providers: { inference: [{ id: "mine", provider: "vllm", endpoint: `http://127.0.0.1:${models.port}/v1` }] },
        },
      };
      const content = `${BASES[file]}telemetry:\n  enabled: true\n`;
      await using stack = await boot(manifest, { surroundings: { base: { origin: "test", content } } });
      ok(stack.derived.config.warnings.some(({ code }) => code === "SectionIgnored"));
      const { status, body } = await stack.get(`/${name === "starter" ? "v1" : "v1alpha/admin"}/providers/mine`);
      strictEqual(status, 200, JSON.stringify(body));
    } finally {
      await models.stop();
    }
  });
}
