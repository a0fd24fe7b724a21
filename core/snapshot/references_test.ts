import { deepStrictEqual } from "node:assert/strict";
import { decoded, secret } from "../../tests/given.ts";
import { formatPath } from "../data/field_path.ts";
import { referencesOf } from "./references.ts";

Deno.test("referencesOf() finds every Secret and ConfigMap with its field", () => {
  const { spec } = decoded({
    providers: { inference: [{ provider: "openai", apiKey: secret("a", "k"), secretRefs: { x: secret("b", "l") } }] },
    storage: {
      kv: { type: "redis", endpoint: "r", password: secret("c", "p") },
      sql: { type: "postgres", connectionString: secret("d", "u") },
    },
    baseConfig: { configMapName: "base", key: "own.yaml" },
    networking: {
      tls: { enabled: true, secretName: "t", caBundle: { configMapName: "ca", configMapNamespace: "other" } },
    },
    workload: {
      overrides: {
        env: [
          { name: "A", valueFrom: { secretKeyRef: { name: "e", key: "k", optional: true } } },
          { name: "B", valueFrom: { configMapKeyRef: { name: "f", key: "k" } } },
          { name: "C", value: "x" },
        ],
        envFrom: [{ secretRef: { name: "g" } }, { configMapRef: { name: "h", optional: true } }],
      },
    },
  });
  deepStrictEqual(
    referencesOf(spec).map(({ kind, name, namespace, key, optional, path }) =>
      `${kind} ${namespace ?? ""}/${name} ${key ?? "*"}${optional ? "?" : ""} ${formatPath(path).replace("spec.", "")}`
    ),
    [
      "Secret /a k providers.inference[0].apiKey",
      "Secret /b l providers.inference[0].secretRefs.x",
      "Secret /c p storage.kv.password",
      "Secret /d u storage.sql.connectionString",
      "Secret /t tls.crt networking.tls.secretName",
      "Secret /t tls.key networking.tls.secretName",
      "Secret /t ca.crt? networking.tls.secretName",
      "ConfigMap other/ca ca-bundle.crt networking.tls.caBundle.configMapName",
      "ConfigMap /base own.yaml baseConfig",
      "Secret /e k? workload.overrides.env[0]",
      "ConfigMap /f k workload.overrides.env[1]",
      "Secret /g * workload.overrides.envFrom[0]",
      "ConfigMap /h *? workload.overrides.envFrom[1]",
    ],
  );
  deepStrictEqual(
    referencesOf(decoded({ overrideConfig: { configMapName: "c" } }).spec).map(({ name, key }) => [name, key]),
    [
      ["c", "config.yaml"],
    ],
  );
});
