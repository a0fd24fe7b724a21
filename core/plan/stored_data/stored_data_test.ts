import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { converged, edited, planOf, snapshot } from "../../../tests/snapshots.ts";
import { type JsonObject, listAt, put, stringAt } from "../../data/json.ts";
import { ACCEPT_FAMILY_CHANGE_ANNOTATION } from "./stored_data.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";

const PROVIDERS = { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] };
const CLAIM = { replicas: 1, storage: { size: "1Gi" } };
const stored = (more: JsonObject = {}): JsonObject => ({ providers: PROVIDERS, workload: CLAIM, ...more });
const models = (...list: ReadonlyArray<JsonObject>): JsonObject => stored({ resources: { models: list } });
const E = { name: "e", modelType: "embedding", embeddingDimension: 384 };

const told = (clusterSnapshot: ClusterSnapshot, type: string): string => {
  const found = listAt(converged(clusterSnapshot).snapshot.resource.status, "conditions").find((each) =>
    stringAt(each, "type") === type
  );
  return `${stringAt(found, "status")} ${stringAt(found, "reason")} ${stringAt(found, "message")}`;
};
const running = (clusterSnapshot: ClusterSnapshot): string => JSON.stringify([...clusterSnapshot.live]);

Deno.test("decide() holds a change of the server family on stored data until it is accepted, and lists the losses", () => {
  const { snapshot: before } = converged(snapshot(stored()));
  const moved = edited(before, stored({ distribution: { name: "ogx-starter" } }));
  const said = told(moved, "ConfigGenerated");
  ok(
    said.startsWith("False ServerFamilyChangeLosesData spec.distribution: changing from Llama Stack 0.7 to OGX"),
    said,
  );
  ok(
    said.includes("the prompts; the batches; the vector stores in sqlite; the shields. ") &&
      said.includes(`${ACCEPT_FAMILY_CHANGE_ANNOTATION}: "1.2"`),
    said,
  );
  strictEqual(running(converged(moved).snapshot), running(before));
  const accepted = {
    ...moved,
    resource: put(moved.resource, ["metadata", "annotations", ACCEPT_FAMILY_CHANGE_ANNOTATION], "1.2"),
  };
  ok(told(accepted, "Ready").startsWith("True"));
  const wrong = {
    ...moved,
    resource: put(moved.resource, ["metadata", "annotations", ACCEPT_FAMILY_CHANGE_ANNOTATION], "0.7"),
  };
  ok(told(wrong, "ConfigGenerated").includes("ServerFamilyChangeLosesData"));
});

Deno.test("decide() distinguishes what a server before 0.3 has stored and what it registered", () => {
  const old = (more: JsonObject = {}) => stored({ distribution: { name: "remote-vllm" }, ...more });
  const { snapshot: before } = converged(snapshot(old({ resources: { models: [{ name: "m" }] } })));
  const newer = told(edited(before, stored()), "ConfigGenerated");
  ok(newer.includes("ServerFamilyChangeLosesData") && newer.includes("the responses; the metadata of files in"), newer);
  const changed = old({ resources: { models: [{ name: "m", modelType: "embedding", embeddingDimension: 384 }] } });
  ok(told(edited(before, changed), "ConfigGenerated").includes("RegistryConflict"));
});

const OF_LEGACY = "the prompts; the batches; the vector stores; " +
  "the shields, models and tools registered through the API; the chat completions";
const FILES = "the metadata of files";
const PIECES = "the vector stores that are not empty: the new server fails to start unless they are deleted first";
for (
  const [from, to, losses] of [
    ["0.2.24", "0.3.5", `${OF_LEGACY}; the responses in sqlite; ${FILES} in sqlite`],
    ["0.2.24", "0.7", `${OF_LEGACY}; the responses; ${FILES} in sqlite`],
    ["0.2.24", "1.5", `${OF_LEGACY}; the responses; ${FILES}`],
    ["0.3.5", "0.4", PIECES],
    ["0.3.5", "0.6", `${PIECES}; the responses`],
    ["0.3.5", "0.8", `${PIECES}; the responses`],
    ["0.4", "0.5", "the responses"],
    ["0.4", "0.7", "the responses"],
    ["0.6", "1.1", "the prompts; the batches; the vector stores in sqlite; the shields"],
    ["0.5", "0.7", undefined],
    ["0.7", "0.8", undefined],
    ["1.0", "1.5", undefined],
  ] as const
) {
  Deno.test(`planOf() on data in a claim names what is lost from ${from} to ${to}`, () => {
    const on = (serverVersion: string) => {
      const name = serverVersion === "0.8" || serverVersion.startsWith("1.") ? "ogx-starter" : "starter";
      return stored({ distribution: { name, serverVersion } });
    };
    const said = told(edited(converged(snapshot(on(from))).snapshot, on(to)), "ConfigGenerated");
    if (losses === undefined) ok(said.startsWith("True"), said);
    else ok(said.includes(` would lose: ${losses}. The running server is unchanged.`), said);
    if (from === "0.4" && to === "0.5") ok(said.includes("changing from Llama Stack 0.4 to Llama Stack 0.5 "), said);
  });
}

Deno.test("decide() counts data outside of sqlite apart: registries and pieces of files are in the key-value store", () => {
  const redis = { storage: { kv: { type: "redis", endpoint: "redis:6379" } } };
  const on = (name: string, serverVersion: string) => ({
    providers: PROVIDERS,
    ...redis,
    distribution: { name, serverVersion },
  });
  const said = told(
    edited(converged(snapshot(on("starter", "0.3.5"))).snapshot, on("ogx-starter", "1.5")),
    "ConfigGenerated",
  );
  ok(said.includes(` would lose: the prompts; the batches; ${PIECES}; the shields; the responses. The`), said);
});

Deno.test("decide() applies a change of the server family if nothing is stored or ever ran, and holds each downgrade", () => {
  const bare = { providers: PROVIDERS };
  const { snapshot: before } = converged(snapshot(bare));
  ok(told(edited(before, { ...bare, distribution: { name: "ogx-starter" } }), "Ready").startsWith("True"));
  const { snapshot: ogx } = converged(snapshot(stored({ distribution: { name: "ogx-starter" } })));
  ok(told(edited(ogx, stored()), "ConfigGenerated").includes("ServerFamilyChangeLosesData"));
  const { snapshot: fresh } = converged(snapshot(stored()));
  const live = new Map(fresh.live);
  const deployment = live.get("Deployment/my") ?? {};
  live.set("Deployment/my", { ...deployment, status: { observedGeneration: 1, availableReplicas: 0 } });
  const moved = edited({ ...fresh, live }, stored({ distribution: { name: "ogx-starter" } }));
  ok(planOf(moved).steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment"));
});

for (
  const [what, changed, words] of [
    ["another dimension", models({ name: "a" }, { ...E, embeddingDimension: 768 }), "embeddingDimension"],
    ["another type", models({ ...E, name: "a" }, E), "modelType and embeddingDimension"],
  ] as const
) {
  Deno.test(`planOf() waits if a stored model gets ${what}, and suggests a fix`, () => {
    const { snapshot: before } = converged(snapshot(models({ name: "a" }, E)));
    const after = edited(before, changed);
    const said = told(after, "ConfigGenerated");
    ok(said.startsWith("False RegistryConflict") && said.includes(words) && said.includes("with another id"), said);
    strictEqual(running(converged(after).snapshot), running(before));
  });
}

Deno.test("decide() compares models by the name under which the server stores them", () => {
  const changed = (serverVersion: string) => {
    const of = (providerModelId: string) => ({
      ...models({ name: "a", providerModelId }),
      distribution: { name: "starter", serverVersion },
    });
    return told(edited(converged(snapshot(of("x"))).snapshot, of("y")), "ConfigGenerated");
  };
  ok(changed("0.7.1").startsWith("True"));
  ok(changed("1.4.1").includes("RegistryConflict"), changed("1.4.1"));
});

Deno.test("decide() warns that a removed model remains listed, unless the server has no stored data", () => {
  const { snapshot: before } = converged(snapshot(models({ name: "a" }, E)));
  const notes = planOf(edited(before, models(E))).steps.flatMap((step) =>
    step._tag === "Announce" && step.note.reason === "StoredData" ? [step.note.note] : []
  );
  ok(notes[0]?.includes('still lists "vllm/a"'), notes.join());
  const free = { providers: PROVIDERS, resources: { models: [E] } };
  const { snapshot: loose } = converged(snapshot(free));
  ok(
    told(edited(loose, { ...free, resources: { models: [{ ...E, embeddingDimension: 768 }] } }), "Ready").startsWith(
      "True",
    ),
  );
});

const notes = (spec: JsonObject, next: JsonObject): ReadonlyArray<string> => {
  const { decision } = planOf(edited(converged(snapshot(spec)).snapshot, next));
  ok(decision.kind === "rollout");
  return decision.notices;
};

const FAISS = { id: "notes", provider: "inline::faiss" };
const PGVECTOR = { id: "notes", provider: "pgvector", endpoint: "postgres:5432", settings: { db: "d", user: "u" } };
for (
  const [what, before, after, said] of [
    ["a provider that goes", [FAISS, { id: "b", provider: "inline::faiss" }], [FAISS], [
      'The vector_io provider "b" is removed: the server no longer lists what it stored, and deletes nothing of it',
    ]],
    ["another type under the same id", [FAISS], [PGVECTOR], [
      'The vector_io provider "notes" changes from inline::faiss to remote::pgvector, which does not find what ' +
      "inline::faiss stored",
    ]],
    [
      "another namespace",
      [FAISS],
      [{ ...FAISS, settings: { persistence: { backend: "kv_default", namespace: "elsewhere" } } }],
      [
        'The vector_io provider "notes" stores its data in another place (persistence), and does not find what it ' +
        "stored before",
      ],
    ],
    ["a second provider", [FAISS], [FAISS, { id: "b", provider: "inline::faiss" }], []],
  ] as const
) {
  Deno.test(`planOf() on stored data tells of vector stores that the server does not find: ${what}`, () => {
    const on = (vectorIo: ReadonlyArray<JsonObject>) => stored({ providers: { ...PROVIDERS, vectorIo } });
    deepStrictEqual(notes(on(before), on(after)), said);
  });
}

Deno.test("planOf() on stored data tells of a provider of the base config that spec.disabled removes, if it is on", () => {
  const on = (disabled: ReadonlyArray<string>) =>
    stored({ providers: { ...PROVIDERS, vectorIo: [FAISS] }, vectorStores: { defaultProvider: "notes" }, disabled });
  // That of pgvector is on only with a variable.
  deepStrictEqual(notes(on(["scoring"]), on(["scoring", "vectorIo/faiss", "vectorIo/pgvector"])), [
    'The vector_io provider "faiss" is removed: the server no longer lists what it stored, and deletes nothing of it',
  ]);
});

Deno.test("planOf() on stored data tells that a storage backend changes", () => {
  const redis = { kv: { type: "redis", endpoint: "redis:6379" } };
  deepStrictEqual(notes(stored(), stored({ storage: redis })), [
    "Storage backend kv_default changes from kv_sqlite to kv_redis; what it contains is not copied",
  ]);
});

Deno.test("planOf() finds nothing to tell where the only provider of an API gets another id", () => {
  const on = (id: string) => stored({ providers: { ...PROVIDERS, responses: [{ id, provider: "inline::builtin" }] } });
  deepStrictEqual(notes(stored(), on("a")), []);
  deepStrictEqual(notes(on("a"), on("b")), []);
});

Deno.test("planOf() on stored data tells of a volume or an address that the server leaves", () => {
  const redis = (endpoint: string) => stored({ storage: { kv: { type: "redis", endpoint } } });
  deepStrictEqual(notes(redis("redis:6379"), redis("other:6379")), [
    "Storage backend kv_default is in another place (host); what it contained before is not copied",
  ]);
  const qdrant = (endpoint: string) =>
    stored({ providers: { ...PROVIDERS, vectorIo: [{ provider: "qdrant", endpoint }] } });
  deepStrictEqual(notes(qdrant("http://a:6333"), qdrant("http://b:6333")), [
    'The vector_io provider "qdrant" stores its data in another place (url), and does not find what it stored before',
  ]);
  deepStrictEqual(notes(stored(), { providers: PROVIDERS, workload: { replicas: 1 } }), [
    'The server no longer uses the volume claim "my-pvc"; its data stays there, and the server does not find it',
  ]);
});
