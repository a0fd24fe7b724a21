import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { manifest } from "../../tests/given.ts";
import type { JsonObject } from "../data/json.ts";
import { decodeResource } from "./decode.ts";

const said = (spec: JsonObject) =>
  Result.match(decodeResource(manifest(spec), "strict"), {
    onSuccess: () => [],
    onFailure: (failures) => failures.map(({ message }) => message),
  });
const provider = (fields: JsonObject) => ({ providers: { inference: [{ provider: "vllm", ...fields }] } });
const AT = "spec.providers.inference[0]";
const REFERENCE = "{ secretKeyRef: { name: <Secret>, key: <key> } }";

for (
  const [name, spec, message] of [
    [
      "a list of providers of images for an API that has none",
      { externalProviders: { batches: [{ providerId: "b", image: "registry.example.com/b:1" }] } },
      "spec.externalProviders.batches: unknown field; providers of images are in one of inference, safety, agents, vectorIo, " +
      "datasetIo, scoring, eval, toolRuntime, postTraining",
    ],
    [
      "a list of providers in the wrong block",
      { externalProviders: { batches: [{ provider: "inline::reference" }] } },
      "spec.externalProviders.batches: unknown field; write it as spec.providers.batches",
    ],
    [
      "the text of a key",
      provider({ apiKey: "sk-canary" }),
      `${AT}.apiKey: expected a reference to a Secret; write apiKey: ${REFERENCE}`,
    ],
    [
      "the flat form of a reference",
      provider({ apiKey: { name: "s", key: "canary" } }),
      `${AT}.apiKey: expected a reference to a Secret; write apiKey: ${REFERENCE}`,
    ],
    [
      "the flat form in secretRefs",
      provider({ secretRefs: { token: { name: "s", key: "k" } } }),
      `${AT}.secretRefs.token: expected a reference to a Secret; write token: ${REFERENCE}`,
    ],
    [
      "the form of an environment variable",
      {
        storage: {
          sql: { type: "postgres", connectionString: { valueFrom: { secretKeyRef: { name: "s", key: "k" } } } },
        },
      },
      `spec.storage.sql.connectionString: expected a reference to a Secret; write connectionString: ${REFERENCE}`,
    ],
    ["expose: true", { networking: { expose: true } }, "spec.networking.expose: expected an object; write expose: {}"],
    [
      "config of a provider",
      provider({ config: { a: 1 } }),
      `${AT}.config: unknown field; write the fields of the provider's config under settings`,
    ],
    [
      "a setting beside settings",
      provider({ region: "eu" }),
      `${AT}.region: unknown field; write fields of the provider's config under settings: settings.region`,
    ],
    [
      "a list under the former name of its API",
      { providers: { agents: [] } },
      "spec.providers.agents: unknown field; the providers of the agents API are in spec.providers.responses",
    ],
    [
      "a list under the name of its API in config.yaml",
      { providers: { vector_io: [] } },
      "spec.providers.vector_io: unknown field; the providers of the vector_io API are in spec.providers.vectorIo",
    ],
    [
      "the address under the provider's own name",
      provider({ base_url: "http://x" }),
      `${AT}.base_url: unknown field; write the address of the service as endpoint`,
    ],
    [
      "the namespace of an own config",
      { overrideConfig: { configMapName: "c", configMapNamespace: "n" } },
      "spec.overrideConfig.configMapNamespace: unknown field; the ConfigMap is read from the namespace of the resource",
    ],
    [
      "a bare name of a distribution",
      { distribution: "starter" },
      "spec.distribution: expected an object; write distribution: { name: <distribution> }, or { image: <image> }",
    ],
    [
      "an inline config",
      { config: { providers: {} } },
      "spec.config: unknown field; put the config.yaml into a ConfigMap, and name that in spec.overrideConfig",
    ],
    [
      "the size of a volume under storage",
      { storage: { size: "10Gi" } },
      "spec.storage.size: unknown field; write it as spec.workload.storage.size",
    ],
    [
      "a field of a deeper block",
      { replicas: 2 },
      "spec.replicas: unknown field; write it as spec.workload.replicas",
    ],
    [
      "an API that is disabled twice",
      { disabled: ["eval", "eval"] },
      'spec.disabled[1]: Duplicate value: "eval"; remove one of them',
    ],
  ] as ReadonlyArray<[string, JsonObject, string]>
) {
  Deno.test(`decodeResource() suggests once what to write instead of ${name}`, () =>
    deepStrictEqual(said(spec), [message]));
}

Deno.test("decodeResource() still guesses the name that was meant", () => {
  deepStrictEqual(said(provider({ endpont: "http://x" })), [`${AT}.endpont: Unknown field; did you mean endpoint?`]);
});

const saidOf = (document: JsonObject) =>
  Result.match(decodeResource(document, "strict"), {
    onSuccess: () => [],
    onFailure: (failures) => failures.map(({ message }) => message),
  });
const starter = { distribution: { name: "starter" } };

for (
  const [name, document, message] of [
    [
      "a resource of another operator",
      { apiVersion: "ogx.io/v1beta1", kind: "OGXServer", spec: { ...starter, network: { port: 8321 } } },
      "kind: OGXServer is a resource of another operator; write apiVersion: llamastack.io/v1alpha2 and " +
      "kind: LlamaStackDistribution, and its fields as described in docs/api.md",
    ],
    [
      "the former API group",
      { apiVersion: "llama.x-k8s.io/v1alpha1", spec: { replicas: 1, server: starter } },
      "apiVersion: the former name of the group; write apiVersion: llamastack.io/v1alpha1",
    ],
    [
      "fields of v1alpha1 in v1alpha2",
      { spec: { replicas: 1, server: starter } },
      "spec.server: a field of llamastack.io/v1alpha1; write apiVersion: llamastack.io/v1alpha1, and " +
      "`llama-stack-operator convert -f FILE` prints it as llamastack.io/v1alpha2",
    ],
    [
      "providers beside spec",
      { providers: { inference: [{ provider: "vllm" }] } },
      "providers: unknown field; write it as spec.providers",
    ],
  ] as ReadonlyArray<[string, JsonObject, string]>
) {
  Deno.test(`decodeResource() says in one sentence what to do with ${name}`, () =>
    deepStrictEqual(saidOf({ ...manifest({}), ...document }), [message]));
}
