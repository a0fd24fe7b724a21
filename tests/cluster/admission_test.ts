/** Admission on a real API server, with the operator's webhook. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, put, stringAt } from "../../core/data/json.ts";
import { leftoverPrefix, LEFTOVERS_ANNOTATION } from "../../core/api/convert/annotation.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest, secret } from "../given.ts";
import { startOperator } from "./operator.ts";
import {
  type Answered,
  call,
  installWithWebhooks,
  pathIn,
  startWebhooks,
  VALIDATING_CONFIGURATION,
  validatingConfiguration,
} from "./webhooks.ts";
import { eventually } from "../waiting.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const SETTINGS = "/api/v1/namespaces/default/configmaps";

/** Each rule: a resource that fulfils it, one that violates it, and the message. */
const RULES: ReadonlyArray<readonly [string, JsonObject, JsonObject, string]> = [
  [
    "an unknown distribution",
    {},
    { distribution: { name: "startr" } },
    'unknown distribution "startr"; did you mean starter? Available distributions: ',
  ],
  [
    "an unknown provider type",
    { providers: { inference: [{ provider: "vllm", endpoint: "http://v" }] } },
    { providers: { inference: [{ provider: "vlllm", endpoint: "http://v" }] } },
    "did you mean remote::vllm",
  ],
  [
    "a model of an unknown provider",
    { resources: { models: [{ name: "m", provider: "openai" }] } },
    { resources: { models: [{ name: "m", provider: "opnai" }] } },
    "spec.resources.models[0].provider",
  ],
  [
    "two secrets of one environment variable",
    {
      providers: {
        inference: [
          { id: "my-a", provider: "vllm", endpoint: "http://v", apiKey: secret("s", "k") },
          { id: "my-b", provider: "vllm", endpoint: "http://v", apiKey: secret("s", "k") },
        ],
      },
    },
    {
      providers: {
        inference: [
          { id: "my-a", provider: "vllm", endpoint: "http://v", apiKey: secret("s", "k") },
          { id: "my_a", provider: "vllm", endpoint: "http://v", apiKey: secret("s", "k") },
        ],
      },
    },
    "LLSD_MY_A_API_KEY",
  ],
  [
    "ids within a list, which the API server refuses itself",
    { providers: { inference: [{ id: "a", provider: "vllm", endpoint: "http://v" }] } },
    {
      providers: {
        inference: [{ id: "a", provider: "vllm", endpoint: "http://v" }],
        vectorIo: [{ id: "a", provider: "inline::faiss" }, { id: "a", provider: "inline::sqlite-vec" }],
      },
    },
    "provider ids of an API must be unique; more than one is a",
  ],
  [
    "a disruption budget that says nothing",
    { workload: { podDisruptionBudget: { minAvailable: 0 } } },
    { workload: { podDisruptionBudget: {} } },
    "set minAvailable or maxUnavailable",
  ],
  [
    "an autoscaler without pods",
    { workload: { autoscaling: { minReplicas: 1, maxReplicas: 1 } } },
    { workload: { autoscaling: { minReplicas: 0, maxReplicas: 1 } } },
    "spec.workload.autoscaling.minReplicas: 0 is invalid",
  ],
  [
    "a target beyond reason",
    { workload: { autoscaling: { maxReplicas: 2, targetCPUUtilizationPercentage: 80 } } },
    { workload: { autoscaling: { maxReplicas: 2, targetCPUUtilizationPercentage: 8000 } } },
    "use 1 to 1000 percent",
  ],
  [
    "a port that servers refuse",
    { networking: { port: 1024 } },
    { networking: { port: 80 } },
    "spec.networking.port: 80 is invalid: servers reject ports below 1024",
  ],
];

Deno.test("admission on a real API server", async (t) => {
  const cluster = await startControlPlane();
  const webhooks = await startWebhooks(cluster);
  const create = (resource: Json, query = "?dryRun=All"): Promise<Answered> =>
    call(cluster, "POST", `${pathIn(stringAt(resource, "apiVersion")?.split("/")[1] ?? "")}${query}`, resource);
  const replace = (resource: JsonObject, version = "v1alpha2"): Promise<Answered> =>
    call(cluster, "PUT", pathIn(version, stringAt(resource, "metadata", "name") ?? ""), resource);
  const get = async (name: string, version = "v1alpha2") => (await call(cluster, "GET", pathIn(version, name))).body;
  try {
    await installWithWebhooks(cluster, webhooks);
    // Stored before there was admission: two mistakes that only admission knows.
    const stored = manifest({
      distribution: { name: "gone" },
      workload: { podDisruptionBudget: {}, replicas: 1 },
      networking: { port: 80 },
    }, "older");
    strictEqual((await create(stored, "")).status, 201);
    const configuration = validatingConfiguration(webhooks.url, webhooks.caPem, "Fail");
    strictEqual((await call(cluster, "POST", CONFIGURATIONS, configuration)).status, 201);
    await eventually(
      "admission answers",
      async () => (await create(manifest({ distribution: { name: "no" } }))).status === 422 ? true : undefined,
    );

    for (const [what, good, bad, sentence] of RULES) {
      await t.step(`accepts what satisfies and rejects what breaks the rule of ${what}`, async () => {
        const accepted = await create(manifest(good));
        strictEqual(accepted.status, 201, JSON.stringify(accepted.body.message));
        const refused = await create(manifest(bad));
        strictEqual(refused.status, 422, JSON.stringify(refused.body));
        ok(String(refused.body.message).includes(sentence), String(refused.body.message));
      });
    }

    await t.step("reports every finding at once, each with its field", async () => {
      const { body } = await create(manifest({
        distribution: { name: "starter" },
        providers: { inference: [{ provider: "vlllm" }] },
        workload: { podDisruptionBudget: {} },
      }));
      const fields = listAt(body, "details", "causes").map((cause) => stringAt(cause, "field"));
      deepStrictEqual(fields, ["spec.providers.inference[0].provider", "spec.workload.podDisruptionBudget"]);
    });

    await t.step("warns of a setting that the provider does not have, with the closest name", async () => {
      const { status, warnings } = await create(manifest({
        providers: { inference: [{ provider: "vllm", endpoint: "http://v", settings: { max_token: 1 } }] },
      }));
      strictEqual(status, 201);
      ok(
        warnings.some((warning) => warning.includes("max_token") && warning.includes("max_tokens")),
        warnings.join("\n"),
      );
    });

    await t.step("an object that was stored under older rules remains writable in both versions", async () => {
      for (const version of ["v1alpha2", "v1alpha1"]) {
        const labelled = put(await get("older", version), ["metadata", "labels"], { seen: version });
        strictEqual((await replace(labelled, version)).status, 200);
      }
      const scaled = await replace(put(await get("older"), ["spec", "workload", "replicas"], 0));
      strictEqual(scaled.status, 200, JSON.stringify(scaled.body));
      const worse = await replace(put(await get("older"), ["spec", "distribution"], { name: "nope" }));
      strictEqual(worse.status, 422);
      ok(String(worse.body.message).includes('unknown distribution "nope"'));
      const starter = { name: "starter", serverVersion: "0.7.1" };
      const better = await replace(put(await get("older"), ["spec", "distribution"], starter));
      strictEqual(better.status, 200, JSON.stringify(better.body));
      const back = await replace(put(await get("older"), ["spec", "distribution"], { name: "gone" }));
      strictEqual(back.status, 422);
    });

    await t.step("an object that is being deleted can lose its finalizers", async () => {
      const held = put(await get("older"), ["metadata", "finalizers"], ["team/own"]);
      strictEqual((await replace(held)).status, 200);
      await call(cluster, "DELETE", pathIn("v1alpha2", "older"));
      const free = put(put(await get("older"), ["metadata", "finalizers"], []), ["spec", "distribution"], {
        name: "nope",
      });
      strictEqual((await replace(free)).status, 200);
      strictEqual((await call(cluster, "GET", pathIn("v1alpha2", "older"))).status, 404);
    });

    await t.step("an object in v1alpha1 is judged as what it becomes", async () => {
      const old = (name: string) => ({
        apiVersion: "llamastack.io/v1alpha1",
        kind: "LlamaStackDistribution",
        metadata: { name: "old" },
        spec: { server: { distribution: { name } } },
      });
      strictEqual((await create(old("starter"))).status, 201);
      const refused = await create(old("startr"));
      ok(
        refused.status === 422 &&
          String(refused.body.message).includes("spec.server.distribution.name: unknown distribution"),
      );
    });

    await t.step("an update through v1alpha1 that drops leftovers receives a warning that lists them", async () => {
      strictEqual(
        (await create(manifest({ distribution: { name: "starter" }, disabled: ["safety"] }, "both"), "")).status,
        201,
      );
      const shown = await get("both", "v1alpha1");
      const annotations = at(shown, "metadata", "annotations") as JsonObject;
      deepStrictEqual(Object.keys(annotations), [`${leftoverPrefix("v1alpha2")}spec.disabled`]);
      const kept = await replace(put(shown, ["metadata", "labels"], { a: "b" }), "v1alpha1");
      deepStrictEqual(kept.warnings.filter((warning) => warning.includes("removes")), []);
      const bare = put(await get("both", "v1alpha1"), ["metadata", "annotations"], undefined);
      const { warnings, status } = await replace(bare, "v1alpha1");
      strictEqual(status, 200);
      ok(warnings.some((warning) => warning.includes("removes spec.disabled")), warnings.join("\n"));
      strictEqual(at(await get("both"), "spec", "disabled"), undefined);
      ok(!JSON.stringify(await get("both")).includes(LEFTOVERS_ANNOTATION));
    });

    await t.step("a missing Secret is a warning, and a refusal where the settings say so", async () => {
      const needy = manifest({
        providers: { inference: [{ provider: "vllm", endpoint: "http://v", apiKey: secret("keys", "token") }] },
      });
      const warned = await create(needy);
      strictEqual(warned.status, 201);
      const sentence =
        'Secret "keys" not found in namespace "default"; referenced by spec.providers.inference[0].apiKey';
      ok(warned.warnings.includes(sentence), warned.warnings.join("\n"));

      await call(cluster, "POST", SETTINGS, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "llama-stack-operator-config" },
        data: { "admission.references": "Reject" },
      });
      await eventually("the setting counts", async () => (await create(needy)).status === 422 ? true : undefined);
      ok(String((await create(needy)).body.message).includes(sentence));
      const keys = { apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, stringData: { other: "x" } };
      await call(cluster, "POST", "/api/v1/namespaces/default/secrets", keys);
      ok(String((await create(needy)).body.message).includes('Key "token" not found in Secret "default/keys"'));
      await call(cluster, "PATCH", "/api/v1/namespaces/default/secrets/keys", { stringData: { token: "x" } }, MERGE);
      const complete = await create(needy);
      deepStrictEqual([complete.status, complete.warnings.filter((warning) => warning.includes("Secret"))], [201, []]);
    });

    await t.step(
      "writes are allowed while the webhook does not answer, and the status reports the same errors",
      async () => {
        await call(
          cluster,
          "PUT",
          `${CONFIGURATIONS}/${VALIDATING_CONFIGURATION}`,
          put(
            validatingConfiguration("https://127.0.0.1:1", webhooks.caPem),
            ["metadata", "resourceVersion"],
            at(
              (await call(cluster, "GET", `${CONFIGURATIONS}/${VALIDATING_CONFIGURATION}`)).body,
              "metadata",
              "resourceVersion",
            ),
          ),
        );
        const wrong = manifest({ resources: { models: [{ name: "m", provider: "opnai" }] } }, "unseen");
        await eventually(
          "the API server has the other address",
          async () => (await create(wrong)).status === 201 ? true : undefined,
        );
        strictEqual((await create(wrong, "")).status, 201);
        const operator = await startOperator(cluster);
        try {
          const told = await eventually(
            "a pass refuses it",
            async () =>
              listAt(await get("unseen"), "status", "conditions").find((condition) =>
                stringAt(condition, "type") === "ConfigGenerated" && stringAt(condition, "status") === "False"
              ),
          );
          ok(stringAt(told, "message")?.includes("spec.resources.models[0].provider") === true, JSON.stringify(told));
        } finally {
          await operator.stop();
        }
      },
    );
  } finally {
    await cluster.stop();
    await webhooks.stop();
  }
});

const MERGE = "application/merge-patch+json";
