import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { manifest } from "../../tests/given.ts";
import { growsWithSize } from "../../tests/measured.ts";
import { type JsonObject, put } from "../data/json.ts";
import { decodeResource, isOversized } from "./decode.ts";

const said = (value: unknown, mode: "strict" | "lenient" = "strict"): ReadonlyArray<string> =>
  Result.match(decodeResource(value as JsonObject, mode), {
    onFailure: (failures) => failures.map(({ message }) => message),
    onSuccess: () => [],
  });
const inference = (...providers: ReadonlyArray<unknown>) => manifest({ providers: { inference: providers } } as never);

for (
  const [name, value, want] of [
    ["a misspelt field", inference({ provider: "vllm", endpont: "x" }), [
      "spec.providers.inference[0].endpont: Unknown field; did you mean endpoint?",
    ]],
    ["a field out of place", { ...manifest({}), distribution: {} }, [
      "distribution: unknown field; write it as spec.distribution",
    ]],
    ["a missing field", inference({ id: "x" }), ["spec.providers.inference[0].provider: Required field is missing"]],
    ["a number out of bounds", manifest({ networking: { port: 70000 } }), [
      "spec.networking.port: Expected a whole number from 1 to 65535, got 70000",
    ]],
    ["an unknown word", manifest({ storage: { sql: { type: "mysql" } } }), [
      'spec.storage.sql.type: Expected one of sqlite, postgres, got "mysql"',
    ]],
    ["an unknown API", manifest({ disabled: ["inferense"] }), [
      'spec.disabled[0]: Expected a known name, got "inferense"; did you mean inference?',
    ]],
    ["an unknown API of a provider", manifest({ disabled: ["inferense/vllm", "vectorIo/", "files/*"] }), [
      'spec.disabled[0]: Expected a known name, got "inferense/vllm"; did you mean inference/vllm?',
      'spec.disabled[1]: Expected a known name, got "vectorIo/"; did you mean vectorIo or vector_io or vectorDbs?',
    ]],
    ["a bad id", inference({ id: "-x", provider: "vllm" }), [
      'spec.providers.inference[0].id: Expected a string that matches ^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$, got "-x"',
    ]],
    ["an entry twice", manifest({ resources: { tools: ["a", "b", "a"] } }), [
      'spec.resources.tools[2]: Duplicate value: "a"; remove one of them',
    ]],
    ["a bad Kubernetes type", manifest({ workload: { overrides: { env: [{ name: "A", valu: "x" }] } } }), [
      'spec.workload.overrides.env[0].valu: Unknown field "valu"; known fields: name, value, valueFrom',
    ]],
    ["a bad quantity", manifest({ workload: { storage: { size: "10GB" } } }), [
      'spec.workload.storage.size: Expected a quantity such as 10Gi, got "10GB"',
    ]],
    ["another version", { ...manifest({}), apiVersion: "llamastack.io/v1" }, [
      'apiVersion: Expected llamastack.io/v1alpha2 or llamastack.io/v1alpha1, got "llamastack.io/v1"',
    ]],
    ["another kind", { ...manifest({}), kind: "LlamaStack" }, [
      'kind: Expected LlamaStackDistribution, got "LlamaStack"',
    ]],
    ["no name", { ...manifest({}), metadata: {} }, [
      "metadata.name: Required field is missing: give the resource a name",
    ]],
    ["no spec", { apiVersion: "llamastack.io/v1alpha2", kind: "LlamaStackDistribution", metadata: { name: "a" } }, [
      "spec: Required field is missing: name a distribution under spec.distribution",
    ]],
    ["a list", [], ["Expected a Kubernetes object"]],
  ] as const
) {
  Deno.test(`decodeResource() names field, value and fix of ${name}`, () => {
    deepStrictEqual(said(value).map((line) => line.replace(/^: /, "")), [...want]);
  });
}

Deno.test("decodeResource() reports every error at once", () => {
  const value = manifest({
    networking: { port: 0 },
    providers: { inference: [{ id: "a" }, { provider: "b" }] },
    storage: { kv: { type: "redis" } },
    extra: 1,
  });
  deepStrictEqual(said(value).map((line) => line.split(":")[0]), [
    "spec.extra",
    "spec.providers.inference[0].provider",
    "spec.networking.port",
    "spec.storage.kv.endpoint",
    "spec.providers.inference",
  ]);
});

Deno.test("decodeResource() leaves unknown fields alone in what the cluster stored", () => {
  deepStrictEqual(said(inference({ provider: "vllm", fromTheFuture: 1 }), "lenient"), []);
  strictEqual(said(inference({ provider: 1 }), "lenient").length, 1);
});

for (
  const [where, spec] of [
    ["apiKey", { providers: { inference: [{ provider: "openai", apiKey: "sk-canary" }] } }],
    ["apiKey.secretKeyRef", {
      providers: { inference: [{ provider: "openai", apiKey: { secretKeyRef: "sk-canary" } }] },
    }],
    ["apiKey.value", { providers: { inference: [{ provider: "openai", apiKey: { value: "sk-canary" } }] } }],
    ["secretRefs", { providers: { inference: [{ provider: "openai", secretRefs: { token: "sk-canary" } }] } }],
    ["password", { storage: { kv: { type: "redis", endpoint: "r", password: "sk-canary" } } }],
    ["connectionString", { storage: { sql: { type: "postgres", connectionString: "postgres://u:sk-canary@h/d" } } }],
    ["env", {
      workload: {
        overrides: { env: [{ name: "A", value: ["sk-canary"] }, { name: 1, value: "sk-canary" }, "sk-canary"] },
      },
    }],
    ["settings", { providers: { inference: [{ provider: "openai", settings: "sk-canary" }] } }],
    ["endpoint", { providers: { inference: [{ provider: "openai", endpoint: ["http://u:sk-canary@h"] }] } }],
  ] as const
) {
  Deno.test(`decodeResource() quotes no secret that is misplaced in ${where}`, () => {
    const lines = said(manifest(spec as never));
    ok(lines.length > 0);
    ok(lines.every((line) => !line.includes("canary")), lines.join("\n"));
  });
}

for (
  const [name, fine] of [
    ["my-llama", true],
    ["a".repeat(55), true],
    ["a".repeat(56), false],
    ["1st", false],
    ["my.llama", false],
    ["My", false],
  ] as const
) {
  Deno.test(`decodeResource() ${fine ? "accepts" : "refuses"} the name ${name}, whose Service is called after it`, () => {
    strictEqual(said(manifest({}, name)).length, fine ? 0 : 1);
  });
}

Deno.test("decodeResource() lists the known APIs where none is similar, and asks for quotes where YAML needs them", () => {
  const messages = (spec: JsonObject) =>
    Result.match(decodeResource(manifest(spec), "strict"), {
      onSuccess: () => [],
      onFailure: (failures) => failures.map(({ message }) => message),
    });
  ok(messages({ disabled: ["foo"] })[0]?.startsWith("spec.disabled[0]: Expected one of admin, agents, "));
  deepStrictEqual(
    messages({
      distribution: { name: 1.1 },
      workload: {
        overrides: { env: [{ name: false }, { name: "A", value: 1 }], securityContext: { privileged: true } },
      },
    }),
    [
      "spec.distribution.name: Expected a string, got 1.1; put the value in quotes",
      "spec.workload.overrides.env[0].name: Expected a string; put the value in quotes",
      "spec.workload.overrides.env[1].value: Expected a string; put the value in quotes",
      'spec.workload.overrides.securityContext.privileged: Unknown field "privileged"; known fields: appArmorProfile, ' +
      "fsGroup, fsGroupChangePolicy, runAsGroup, runAsNonRoot, runAsUser, seLinuxChangePolicy, seLinuxOptions, " +
      "seccompProfile, supplementalGroups, supplementalGroupsPolicy, sysctls, windowsOptions",
    ],
  );
});

Deno.test("decodeResource() reports a size that is no quantity once", () => {
  const size = (value: string) => said(manifest({ workload: { storage: { size: value } } }));
  deepStrictEqual(size("x"), ['spec.workload.storage.size: Expected a quantity such as 10Gi, got "x"']);
  deepStrictEqual(size("0Gi"), ["spec.workload.storage.size: size must be greater than 0"]);
  deepStrictEqual(size("0.5Gi"), []);
});

Deno.test("decodeResource() takes little longer for tens of thousands of errors than for as many values without any", () => {
  const annotations = (first: string, count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${first}${index}`, ""]));
  const strict = (resource: JsonObject) => () => decodeResource(resource, "strict");
  const annotated = (first: string, count: number) =>
    strict(put(manifest({}), ["metadata", "annotations"], annotations(first, count)));
  growsWithSize(annotated("a", 5000), annotated("-", 20_000));
});

Deno.test("a spec of too many names is measured once, whoever asks, and no further than the bound", () => {
  let read = 0;
  const names = new Proxy(Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`name-${index}`, 0])), {
    get: (target, key) => (read++, Reflect.get(target, key)),
  });
  const resource = put(manifest({ distribution: { name: "starter" } }), ["spec", "settings"], names);
  for (let asked = 0; asked < 3; asked++) {
    ok(isOversized(resource));
    ok(Result.isFailure(decodeResource(resource, "lenient")));
  }
  ok(read > 0 && read <= 20_000, `${read} values read`);
});
