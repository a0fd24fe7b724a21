import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { copiedSettings, goOperatorNamespace } from "./go_operator_settings.ts";

const mapOf = (data: Record<string, string>) => ({ metadata: { name: "llama-stack-operator-config" }, data });

Deno.test("copiedSettings() copies the overrides and the feature flag, and nothing else", () => {
  const data = {
    "image-overrides": "starter: registry.example.com/starter:1\n",
    featureFlags: "enableNetworkPolicy:\n  enabled: true\n",
  };
  deepStrictEqual(copiedSettings(mapOf({ ...data, "allow.privileged": "true" }), "ours", ["starter"]), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "llama-stack-operator-config", namespace: "ours" },
    data,
  });
});

Deno.test("copiedSettings() creates nothing for the defaults that the Go operator writes itself", () => {
  strictEqual(copiedSettings(mapOf({ featureFlags: "enableNetworkPolicy: {enabled: false}" }), "ours", []), undefined);
  strictEqual(copiedSettings({}, "ours", []), undefined);
});

Deno.test("goOperatorNamespace() is the namespace of the bound ServiceAccount", () => {
  strictEqual(
    goOperatorNamespace({
      subjects: [{ kind: "User", name: "u" }, { kind: "ServiceAccount", namespace: "opendatahub" }],
    }),
    "opendatahub",
  );
  strictEqual(goOperatorNamespace({}), undefined);
});
