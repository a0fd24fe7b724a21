import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { decoded, manifest } from "../../tests/given.ts";
import { type JsonObject, put } from "../data/json.ts";
import { answersOf, questionOf, shownAnswers } from "./server_answers.ts";
import { secretsOf } from "../../tests/snapshots.ts";

const settled: JsonObject = {
  metadata: { generation: 2 },
  spec: { replicas: 1, template: { a: 1 } },
  status: { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
};
const TLS = { networking: { port: 9000, tls: { enabled: true, secretName: "t" } } };
const SERVICE: JsonObject = {
  metadata: { ownerReferences: [{ kind: "LlamaStackDistribution", uid: "uid-1", controller: true }] },
  spec: { type: "ClusterIP" },
};
const ask = (
  deployment: JsonObject | undefined,
  spec: JsonObject = {},
  tls: Record<string, string> = {},
  service: JsonObject = SERVICE,
) =>
  questionOf({
    resource: put(manifest(spec), ["metadata", "uid"], "uid-1"),
    live: new Map([
      ["Service/my-service", service],
      ...deployment === undefined ? [] : [["Deployment/my", deployment] as const],
    ]),
    secrets: secretsOf({ t: tls }),
    pods: [],
    replicaSets: [],
  }, decoded(spec).spec);

Deno.test("questionOf() asks a server all of whose pods exist and have one template", () => {
  const question = ask(settled);
  deepStrictEqual([question?.service, question?.namespace, question?.port], ["my-service", "default", 8321]);
  notDeepStrictEqual(question, ask(put(settled, ["spec", "template"], { a: 2 })));
});

for (
  const [what, path, value] of [
    ["no pod is wanted", ["spec", "replicas"], 0],
    ["the Deployment has not been reconciled yet", ["metadata", "generation"], 3],
    ["old pods are left", ["status", "updatedReplicas"], 0],
    ["an old pod still answers beside a new one", ["status", "replicas"], 2],
    ["pods are not available", ["status", "availableReplicas"], 0],
  ] as const
) {
  Deno.test(`questionOf() is undefined while ${what}`, () => strictEqual(ask(put(settled, path, value)), undefined));
}

Deno.test("questionOf() excludes Services of other owners, and those that lead outside the cluster", () => {
  strictEqual(ask(settled, {}, {}, put(SERVICE, ["metadata", "ownerReferences"], [])), undefined);
  strictEqual(ask(settled, {}, {}, put(SERVICE, ["spec", "type"], "ExternalName")), undefined);
});

Deno.test("questionOf() includes a server with TLS only if its certificate can be verified", () => {
  strictEqual(ask(undefined), undefined);
  strictEqual(ask(settled, TLS, { "tls.crt": "c" }), undefined);
  const question = ask(settled, TLS, { "ca.crt": "pem" });
  deepStrictEqual([question?.caPem, question?.port], ["pem", 9000]);
});

Deno.test("questionOf() tells whether the server authenticates its callers", () => {
  deepStrictEqual([ask(settled)?.authenticates, ask(settled, { auth: { kubernetes: {} } })?.authenticates], [
    false,
    true,
  ]);
});

Deno.test("answersOf() keeps names, leaves configs out, and sorts", () => {
  const answers = answersOf(
    { version: "0.7.1" },
    {
      data: [
        { api: "safety", provider_id: "s", provider_type: "inline::s", config: { key: "sk-1" } },
        { api: "inference", provider_id: "v", provider_type: "remote::vllm", health: { status: "OK" } },
        { api: "odd" },
      ],
    },
    { data: [{ identifier: "b" }, { id: "a", object: "model" }, { id: "a" }, { id: "x".repeat(513) }, 7] },
    undefined,
  );
  deepStrictEqual(answers, {
    version: "0.7.1",
    providers: [
      { api: "inference", provider_id: "v", provider_type: "remote::vllm" },
      { api: "safety", provider_id: "s", provider_type: "inline::s" },
    ],
    models: ["a", "b"],
  });
});

Deno.test("answersOf() fits the schema of status, keeps lists that could not be read, and requires a version", () => {
  const many = { data: Array.from({ length: 2000 }, (_, index) => ({ id: `m${index}` })) };
  const first = answersOf({ version: "1" }, undefined, many, undefined);
  strictEqual(first?.models.length, 512);
  ok(answersOf({ version: "1" }, { data: [] }, undefined, first)?.models === first.models);
  strictEqual(answersOf(undefined, { data: [] }, many, first), undefined);
  strictEqual(answersOf({ version: 7 }, undefined, undefined, first), undefined);
});

Deno.test("shownAnswers() shows nothing that repeats a Secret's value, and no control characters", () => {
  const answers = { version: "1.5.0\u001b[31m", providers: [{ provider_id: "hunter2-s3cr3t-value" }], models: ["m"] };
  strictEqual(shownAnswers(answers, ["hunter2-s3cr3t-value"]), undefined);
  strictEqual(shownAnswers(answers, ["another-value"])?.version, "1.5.0\\u001b[31m");
  strictEqual(shownAnswers(undefined, []), undefined);
});
