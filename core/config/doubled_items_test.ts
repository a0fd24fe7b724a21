import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import type { JsonObject } from "../data/json.ts";
import { decoded, SURROUNDINGS } from "../../tests/given.ts";
import { derive } from "./derive.ts";

const found = (spec: JsonObject): ReadonlyArray<string> => {
  const derived = derive(decoded(spec), SURROUNDINGS);
  return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
};
const mounting = (more: JsonObject, name: string, mountPath: string): JsonObject => ({
  ...more,
  workload: { overrides: { volumes: [{ name, emptyDir: {} }], volumeMounts: [{ name, mountPath }] } },
});
const AT = "spec.workload.overrides";
const PATH = `${AT}.volumeMounts[0].mountPath: used by the operator:`;

for (
  const [path, advice, more] of [
    [
      "/.llama",
      "its volume is that of spec.workload.storage; use spec.workload.storage.mountPath or spec.workload.storage.existingClaim",
      {},
    ],
    ["/etc/llama-stack", "it holds the config; use spec.overrideConfig", { overrideConfig: { configMapName: "c" } }],
    ["/etc/llama-stack", "it holds the config; use spec.overrideConfig", { storage: { kv: {} } }],
    ["/etc/ssl/certs/ca-bundle", "it holds the trusted CAs; use spec.networking.tls.caBundle", {
      networking: { tls: { caBundle: { configMapName: "c" } } },
    }],
  ] as ReadonlyArray<readonly [string, string, JsonObject]>
) {
  Deno.test(`derive() rejects a mount at ${path}, where the operator has one: ${JSON.stringify(more)}`, () =>
    deepStrictEqual(found(mounting(more, "v", path)), [`${PATH} "${path}"; ${advice}`]));
}

Deno.test("derive() accepts mounts beside those of the operator, and volumes with their names", () => {
  for (const [name, path] of [["tmp", "/tmp"], ["user-config", "/v"], ["v", "/etc/other"], ["v", "/tmp/"]] as const) {
    deepStrictEqual(found(mounting({ overrideConfig: { configMapName: "c" } }, name, path)), []);
  }
  deepStrictEqual(found(mounting({ distribution: { name: "starter", serverVersion: "0.7.1" } }, "v", "/etc/ogx")), []);
});

Deno.test("derive() rejects the name of the data volume, and its folder where it is that of the config", () => {
  deepStrictEqual(found({ workload: { overrides: { volumes: [{ name: "lls-storage", emptyDir: {} }] } } }), [
    `${AT}.volumes[0].name: the name "lls-storage" is used by the operator; choose another one`,
  ]);
  deepStrictEqual(found({ storage: { kv: {} }, workload: { storage: { mountPath: "/etc/llama-stack" } } }), [
    "spec.workload.storage.mountPath: used by the operator for another volume: " +
    '"/etc/llama-stack"; use another folder, such as /.llama',
  ]);
});

const spread = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" };
for (
  const [workload, expected] of [
    [{ overrides: { volumes: [{ name: "a", emptyDir: {} }, { name: "a" }] } }, "overrides.volumes[1].name"],
    [
      { overrides: { imagePullSecrets: [{ name: "b" }, { name: "a" }, { name: "a" }] } },
      "overrides.imagePullSecrets[2].name",
    ],
    [{ overrides: { resourceClaims: [{ name: "a" }, { name: "a" }] } }, "overrides.resourceClaims[1].name"],
    [{ resources: { claims: [{ name: "a", request: "x" }, { name: "a" }] } }, "resources.claims[1].name"],
    [{ topologySpreadConstraints: [spread, { ...spread, maxSkew: 2 }] }, "topologySpreadConstraints[1].topologyKey"],
    [{ topologySpreadConstraints: [spread, { ...spread, whenUnsatisfiable: "DoNotSchedule" }] }, undefined],
  ] as ReadonlyArray<readonly [JsonObject, string | undefined]>
) {
  Deno.test(`derive() rejects what a list of the pod would have twice: ${JSON.stringify(workload)}`, () =>
    deepStrictEqual(
      found({ workload }).map((text) => text.split(": ")[0]),
      expected === undefined ? [] : [`spec.workload.${expected}`],
    ));
}

for (
  const path of [
    "/etc/llama-stack/config.yaml",
    "/etc/llama-stack/",
    "/etc//llama-stack",
    "/etc/../etc/llama-stack/./x",
  ]
) {
  Deno.test(`derive() rejects a mount that hides the config, written as ${path}`, () =>
    deepStrictEqual(found(mounting({ auth: { webhook: { endpoint: "http://who" } } }, "v", path)), [
      `${PATH} "${path}"; it holds the config; use spec.overrideConfig`,
    ]));
}

Deno.test("derive() accepts a mount inside the data volume", () => {
  deepStrictEqual(found(mounting({ storage: { kv: {} } }, "v", "/.llama/models")), []);
});
