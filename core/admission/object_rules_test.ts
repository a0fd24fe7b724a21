import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifest } from "../../tests/given.ts";
import { OBJECT_CASES } from "../../tests/object_rule_cases.ts";
import type { JsonObject } from "../data/json.ts";
import { changeFindings } from "./change_rules.ts";

const messages = (spec: JsonObject) => changeFindings(manifest(spec)).map(({ message }) => message);

for (const { spec, rejected } of OBJECT_CASES) {
  const name = JSON.stringify(spec);
  Deno.test(`changeFindings() ${rejected === undefined ? "accepts" : "rejects"} ${name}`, () => {
    const found = messages(spec);
    strictEqual(found.length, rejected === undefined ? 0 : 1, found.join("\n"));
    ok(rejected === undefined || found[0]?.includes(rejected), found.join());
  });
}

// What the API server accepts although no pod can ever start with it, or the objects then do something else.
for (
  const [spec, part] of [
    [{ networking: { allowedFrom: { namespaces: ["a", "team-*"] } } }, 'not the name of a namespace: "team-*"'],
    [{ distribution: { image: "https://quay.io/foo/bar:1" } }, "not an image reference"],
    [{ distribution: { image: "a:1:2" } }, "not an image reference"],
    [{ externalProviders: { eval: [{ providerId: "p", image: " r/x:1" }] } }, "not an image reference"],
    [{ externalProviders: { inference: [{ providerId: "p", image: "a b;$(touch x)" }] } }, "not an image reference"],
    [{ networking: { allowedFrom: { labels: ["team=a"] } } }, 'not a label key: "team=a"'],
    [{ networking: { serviceAnnotations: { "bad key": "x" } } }, '"bad key"'],
    [{ workload: { storage: { mountPath: "data/x" } } }, "not an absolute path"],
    [{
      workload: {
        overrides: {
          volumes: [{ name: "v", emptyDir: {} }],
          volumeMounts: [{ name: "v", mountPath: "/v", mountPropagation: "Bidirectional" }],
        },
      },
    }, "needs a privileged container"],
    [{
      workload: {
        topologySpreadConstraints: [{
          maxSkew: 1,
          topologyKey: "zone",
          whenUnsatisfiable: "ScheduleAnyway",
          matchLabelKeys: ["app"],
          labelSelector: { matchLabels: { app: "a" } },
        }],
      },
    }, 'also a key of labelSelector: "app"'],
  ] as ReadonlyArray<readonly [JsonObject, string]>
) {
  Deno.test(`changeFindings() rejects what would not work: ${part}`, () => {
    const found = messages(spec);
    strictEqual(found.length, 1, found.join("\n"));
    ok(found[0]?.includes(part), found.join());
  });
}

Deno.test("changeFindings() names the item and the field of each mistake", () => {
  deepStrictEqual(
    changeFindings(manifest({
      workload: { overrides: { env: [{ name: "A" }, { name: "B", valueFrom: {} }, { name: "C=" }] } },
    })).map(({ path }) => path.slice(3)),
    [["env", 1, "valueFrom"], ["env", 2, "name"]],
  );
});

Deno.test("changeFindings() never quotes the value of a variable", () => {
  const [found] = messages({
    workload: {
      overrides: { env: [{ name: "A", value: "canary", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] },
    },
  });
  strictEqual(found?.includes("canary"), false, String(found));
});

Deno.test("changeFindings() ignores values of other types, which the schema rejects", () => {
  for (const value of [null, 1, "x", true, [], [null], [[]], {}, { a: null }]) {
    for (
      const spec of [
        { workload: value },
        { workload: { overrides: value, storage: value, resources: value, topologySpreadConstraints: value } },
        {
          overrideConfig: value,
          networking: value,
          workload: { overrides: { volumes: value, volumeMounts: value, env: value, affinity: value } },
        },
        { networking: { tls: value, allowedFrom: value, expose: value }, externalProviders: value, providers: value },
        {
          networking: { tls: { caBundle: value } },
          workload: { overrides: { securityContext: value, envFrom: value } },
        },
      ]
    ) messages(spec);
  }
});

Deno.test("changeFindings() reports a bounded number of mistakes", () => {
  const env = Array.from({ length: 500 }, (_, index) => ({ name: `A=${index}` }));
  strictEqual(messages({ workload: { overrides: { env } } }).length, 32);
});
