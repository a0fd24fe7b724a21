import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifest } from "../../tests/given.ts";
import type { JsonObject } from "../data/json.ts";
import { changeFindings } from "./change_rules.ts";

const messages = (spec: JsonObject) => changeFindings(manifest(spec)).map(({ message }) => message);
const overrides = (block: JsonObject): JsonObject => ({ workload: { overrides: block } });
const resources = (block: JsonObject): JsonObject => ({ workload: { resources: block } });

for (
  const [spec, part] of [
    [{ networking: { allowedFrom: { namespaces: ["a", "team-*"] } } }, '"team-*" is invalid'],
    [{ networking: { allowedFrom: { labels: ["team=a"] } } }, '"team=a" is invalid'],
    [{ networking: { expose: { hostname: "https://llama.example.com/" } } }, "without scheme"],
    [{ networking: { serviceAnnotations: { "bad key": "x" } } }, '"bad key"'],
    [{ workload: { podDisruptionBudget: { minAvailable: "abc" } } }, "such as 50%"],
    [resources({ requests: { cpu: "2" }, limits: { cpu: "500m" } }), "requests.cpu is larger than limits.cpu"],
    [resources({ limits: { cpu: "-1" } }), "must not be negative"],
    [resources({ limits: { gpu: 1 } }), "limits.gpu: unknown resource"],
    [resources({ requests: { "nvidia.com/gpu": 1 } }), "set limits.nvidia.com/gpu"],
    [overrides({ podLabels: { "a b": "c" } }), '"a b" is not a label'],
    [overrides({ nodeSelector: { gpu: "a b" } }), '"gpu" is not a label'],
    [overrides({ priorityClassName: "X Y" }), "not the name of an object"],
    [overrides({ volumes: [{ name: "a", emptyDir: {} }, { name: "a", emptyDir: {} }] }), 'two volumes are named "a"'],
    [overrides({ volumes: [{ name: "tmp", emptyDir: {} }] }), "used by the operator"],
    [overrides({ volumes: [{ name: "a", emptyDir: {}, secret: { secretName: "s" } }] }), "exactly one kind"],
    [overrides({ volumeMounts: [{ name: "b", mountPath: "/b" }] }), 'no volume is named "b"; add it to volumes'],
    [
      overrides({
        volumeMounts: [{ name: "tmp", mountPath: "/b" }, { name: "lls-storage", mountPath: "/b", subPath: "s" }],
      }),
      'have the mountPath "/b"',
    ],
    [{ workload: { storage: { mountPath: "data/x" } } }, "not an absolute path"],
    [overrides({ env: [{ name: "A=B", value: "c" }] }), "not the name of an environment variable"],
    [overrides({ terminationGracePeriodSeconds: -1 }), "0 or more seconds"],
    [{ workload: { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "a" }] } }, "maxSkew must be at least 1"],
  ] as ReadonlyArray<readonly [JsonObject, string]>
) {
  Deno.test(`changeFindings() rejects what the API server would: ${part}`, () => {
    const found = messages(spec);
    strictEqual(found.length, 1, JSON.stringify(found));
    ok(found[0]?.includes(part), found.join());
  });
}

Deno.test("changeFindings() accepts the usual forms of these fields", () => {
  deepStrictEqual(
    messages({
      networking: {
        allowedFrom: { namespaces: ["*", "team-a"], labels: ["example.com/team", "Team"] },
        expose: { hostname: "*.example.com", annotations: { "nginx.ingress.kubernetes.io/x": "any text" } },
        serviceAnnotations: { a: "" },
      },
      workload: {
        podDisruptionBudget: { minAvailable: "50%" },
        resources: {
          requests: { cpu: 0.5, memory: "1Gi", "nvidia.com/gpu": 1 },
          limits: { memory: "2Gi", "nvidia.com/gpu": "1", "hugepages-2Mi": "4Mi" },
        },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
        overrides: {
          podLabels: { "a/b": "" },
          nodeSelector: { "kubernetes.io/arch": "amd64" },
          volumes: [{ name: "a", emptyDir: {} }, { name: "b", secret: { secretName: "s" } }],
          env: [{ name: "my.name-1", value: "=" }],
          terminationGracePeriodSeconds: 0,
        },
      },
    }),
    [],
  );
});
