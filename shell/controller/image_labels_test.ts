import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { TestClock } from "effect/testing";
import { KIND } from "../../core/api/v1alpha2.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { REGISTRIES_DEFAULT } from "../../core/operator/registries.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { Store } from "../cache/store.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { operatorFacts } from "../process/run.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { LabelReader, labelReaderLayer } from "./image_labels.ts";

const RESOURCE: JsonObject = { kind: KIND, metadata: { name: "my", namespace: "n" } };

/** No registry is at an address of the machine itself, so that the answer comes at once. */
const QUESTION: ImageQuestion = {
  image: "127.0.0.1:1/a:1",
  reference: "127.0.0.1:1/a:1",
  wanted: undefined,
  namespace: "n",
  serviceAccount: undefined,
  pullSecrets: [],
  authorities: "",
  registries: REGISTRIES_DEFAULT,
};

/** On an API server that has no object. No time passes, so that an answer is never late. */
const run = async <A>(program: Effect.Effect<A, never, LabelReader | Store>): Promise<A> => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("", { status: 404 }),
  );
  const connection = {
    url: `http://127.0.0.1:${server.addr.port}`,
    caPem: () => undefined,
    clientCertificate: undefined,
    token: () => undefined,
  };
  const facts = Layer.sync(
    OperatorFacts,
    () => operatorFacts({ operatorNamespace: "o", relatedImages: new Map() }, [], "key"),
  );
  const store = Layer.provide(Store.layer, facts);
  const reader = Layer.provide(
    labelReaderLayer({ operatorNamespace: "o", forbidden: [], mayListNodes: false }),
    Cluster.layer(connection),
  );
  const layer = Layer.provideMerge(reader, store);
  return await Effect.runPromise(Effect.provide(program, [layer, TestClock.layer()]) as Effect.Effect<A>);
};

Deno.test("LabelReader asks for a resource that was deleted and created again while a reconciliation asked", () =>
  run(Effect.gen(function* () {
    const store = yield* Store;
    const reader = yield* LabelReader;
    // The reconciliation of the former resource outlives it.
    yield* reader.forget("n/my");
    deepStrictEqual(yield* reader.labels("n/my", QUESTION, 1), { kind: "awaited" });
    yield* store.put(RESOURCE, "list");
    strictEqual((yield* reader.labels("n/my", QUESTION, 1)).kind, "unreadable");
  })));
