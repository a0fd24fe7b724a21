/**
 * A resource makes the operator ask for nothing outside its own namespace. Below the door to the API server stands a recorder in
 * place of the network, so that what counts is the URL that would have been sent.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Ref from "effect/Ref";
import fc from "fast-check";
import { isList, isObject, type Json, type JsonObject, objectAt } from "../../core/data/json.ts";
import { SETTINGS_DEFAULT } from "../../core/operator/settings.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { OperatorFacts } from "../../shell/runtime/operator_facts.ts";
import { LiveSettings } from "../../shell/controller/operator_settings.ts";
import { reconcile } from "../../shell/controller/reconcile.ts";
import { ReferenceIndex, referenceIndex } from "../../shell/cache/reference_index.ts";
import { operatorFacts } from "../../shell/process/run.ts";
import { ServerProbe } from "../../shell/controller/server_answers.ts";
import { Store } from "../../shell/cache/store.ts";
import { arbitraryResource } from "../arbitrary_resources.ts";

const OWN = "tenant";
const SERVER = "https://api.example";
const RUNS = Number(Deno.env.get("HOSTILE_RESOURCES") ?? 600);

/** Everything that the operator reads outside of the namespace of a resource, for whatever resource; none in a reconciliation. */
const CLUSTER_WIDE: ReadonlyArray<string> = [];

/** Names that would lead elsewhere as part of a path or of a query, and some that would be fine. */
const NAMES: ReadonlyArray<string> = [
  ...["../../kube-system/secrets/admin-token", "..", ".", "", "a/../../b", "a?watch=1", "a#b", "a%2f..%2f..", "%2e%2e"],
  ...[
    "../../../secrets?limit=500#",
    "x/log",
    "x/ephemeralcontainers",
    "A",
    "a_b",
    "a b",
    "a\nb",
    "a\u0000b",
    "ä",
    "ａ",
  ],
  ...[
    "a;b",
    "a\\..\\..\\b",
    "//evil.example/x",
    "https://evil.example",
    "@evil.example",
    ":1@evil",
    "\t",
    "-a",
    "a-",
    "a..b",
  ],
  ...["a".repeat(254), "kube-system", "s", "t", "a.b"],
];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: "binary", maxLength: 8 }));
const ref = fc.record({ secretKeyRef: fc.record({ name, key: name }) }) as fc.Arbitrary<JsonObject>;

/** Every field that names an object, or whose text could become part of a request. */
const poison = fc.record({
  storage: fc.record({
    kv: fc.record({ type: fc.constant("redis"), endpoint: fc.constant("redis:6379"), password: ref }),
    sql: fc.record({ type: fc.constant("postgres"), connectionString: ref }),
  }),
  networking: fc.record({
    tls: fc.record({
      enabled: fc.constant(true),
      secretName: name,
      caBundle: fc.record({
        configMapName: name,
        configMapNamespace: name,
        configMapKeys: fc.array(name, { minLength: 1, maxLength: 3 }),
      }, { requiredKeys: ["configMapName"] }),
    }),
    expose: fc.record({ hostname: name, tlsSecretName: name }, { requiredKeys: [] }),
  }),
  overrideConfig: fc.record({ configMapName: name, key: name }, { requiredKeys: ["configMapName"] }),
  workload: fc.record({
    storage: fc.record({ existingClaim: name }),
    overrides: fc.record({
      serviceAccountName: name,
      env: fc.array(
        fc.record({
          name: fc.constant("V"),
          valueFrom: fc.oneof(ref, fc.record({ configMapKeyRef: fc.record({ name, key: name }) })),
        }),
        { maxLength: 3 },
      ),
      envFrom: fc.array(
        fc.oneof(fc.record({ secretRef: fc.record({ name }) }), fc.record({ configMapRef: fc.record({ name }) })),
        { maxLength: 3 },
      ),
      imagePullSecrets: fc.array(fc.record({ name }), { maxLength: 2 }),
    }, { requiredKeys: [] }),
  }, { requiredKeys: [] }),
}, { requiredKeys: [] }) as unknown as fc.Arbitrary<JsonObject>;

/** Some texts of a sound resource become hostile ones, wherever they stand. */
const infected = (value: Json, take: () => string | undefined): Json => {
  if (isList(value)) return value.map((item) => infected(item, take));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, infected(inner, take)]));
  }
  return typeof value === "string" ? take() ?? value : value;
};

const hostileSpec: fc.Arbitrary<JsonObject> = fc.tuple(
  arbitraryResource,
  poison,
  fc.infiniteStream(fc.tuple(fc.integer({ min: 0, max: 9 }), name)),
  fc.subarray(["storage", "networking", "overrideConfig", "workload"]),
).map(([resource, fields, stream, kept]) => {
  const take = (): string | undefined => {
    const { value } = stream.next();
    return value !== undefined && value[0] === 0 ? value[1] : undefined;
  };
  const { distribution, ...sound } = objectAt(resource, "spec");
  const poisoned = Object.fromEntries(Object.entries(fields).filter(([key]) => kept.includes(key)));
  return { distribution: distribution ?? { name: "starter" }, ...infected(sound, take) as JsonObject, ...poisoned };
});

interface Sent {
  readonly method: string;
  readonly url: string;
}

/** An API server in which every requested Secret and ConfigMap exists, and every write succeeds. */
const answer = (method: string, url: URL, body: string | undefined): Response => {
  const [, name = ""] = /\/(?:secrets|configmaps)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (method === "GET" && name !== "") {
    return Response.json({
      metadata: { name, namespace: OWN },
      data: { k: btoa("v"), l: btoa("w"), "config.yaml": "version: 2" },
    });
  }
  if (method === "GET") {
    return /\/[a-z]+$/.test(url.pathname) && url.search.includes("limit=")
      ? Response.json({ kind: "List", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] })
      : Response.json({ kind: "Status", code: 404 }, { status: 404 });
  }
  const sent = body === undefined ? {} : JSON.parse(body) as JsonObject;
  return Response.json({ ...sent, metadata: { ...objectAt(sent, "metadata"), resourceVersion: "2", uid: "u" } });
};

/** What is asked of servers besides, a moment after a reconciliation. */
const ASKED_WITHIN_MS = 300;

/** Requests of one reconciliation; with `asked`, also those to servers by the names of their Services. */
const recorded = async (
  spec: JsonObject,
  { objects = [], asked = false }: { readonly objects?: ReadonlyArray<JsonObject>; readonly asked?: boolean } = {},
): Promise<ReadonlyArray<Sent>> => {
  const sent: Array<Sent> = [];
  const network = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = String(input);
    sent.push({ method: init?.method ?? "GET", url });
    return Promise.resolve(answer(init?.method ?? "GET", new URL(url), init?.body as string | undefined));
  };
  const connection = { url: SERVER, caPem: () => undefined, clientCertificate: undefined, token: () => undefined };
  const resource: JsonObject = {
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    metadata: { name: "my", namespace: OWN, uid: "r", generation: 1, resourceVersion: "1" },
    spec,
  };
  const program = Effect.gen(function* () {
    const store = yield* Store;
    yield* store.put(resource, "list");
    yield* Effect.forEach(objects, (object) => store.put(object, "list"), { discard: true });
    const exit = yield* Effect.exit(reconcile(`${OWN}/my`));
    if (asked) yield* Effect.sleep(ASKED_WITHIN_MS);
    return exit;
  }).pipe(
    Effect.provideServiceEffect(LiveSettings, Ref.make(SETTINGS_DEFAULT)),
    Effect.provideServiceEffect(ReferenceIndex, Effect.sync(referenceIndex)),
    Effect.provide(Layer.fresh(Layer.provideMerge(
      Layer.mergeAll(
        Cluster.layer(connection),
        asked
          ? ServerProbe.layer(connection, "Direct")
          : Layer.succeed(ServerProbe, { answers: () => Effect.succeed(undefined), changed: Effect.never }),
      ),
      Store.layer,
    ))),
    Effect.provideService(
      OperatorFacts,
      operatorFacts({ operatorNamespace: "operator-system", relatedImages: new Map() }, ["route.openshift.io"], "key"),
    ),
    Effect.scoped,
  );
  const log = console.log;
  console.log = () => {};
  try {
    await Effect.runPromise(program);
  } finally {
    console.log = log;
    globalThis.fetch = network;
  }
  return sent;
};

/** The path as the network would see it: `new URL` resolves `..` as fetch does. */
const isAllowed = ({ method, url }: Sent): boolean => {
  const { origin, pathname, search, hash } = new URL(url);
  const inside = new RegExp(
    `^/(api/v1|apis/[a-z0-9.]+/v[0-9a-z]+)/namespaces/${OWN}/[a-z]+(/[a-z0-9.-]+(/(status|scale))?)?$`,
  );
  const parameters = [...new URLSearchParams(search).keys()];
  return origin === SERVER && hash === "" && !url.slice(SERVER.length).includes("//") &&
    (inside.test(pathname) || method === "GET" && CLUSTER_WIDE.includes(pathname)) &&
    parameters.every((parameter) =>
      ["fieldManager", "force", "fieldValidation", "limit", "labelSelector", "resourceVersion", "continue"].includes(
        parameter,
      )
    );
};

Deno.test(`no request of ${RUNS} hostile resources leaves their namespace`, async () => {
  let [requests, references] = [0, 0];
  await fc.assert(
    fc.asyncProperty(hostileSpec, async (spec) => {
      const sent = await recorded(spec);
      deepStrictEqual(sent.filter((item) => !isAllowed(item)), []);
      requests += sent.length;
      references += sent.filter(({ url }) => /\/(secrets|configmaps)\//.test(url)).length;
    }),
    { numRuns: RUNS },
  );
  ok(requests > RUNS && references > RUNS / 100, `${requests} requests, ${references} of them for references`);
});

const LABELS: JsonObject = {
  app: "llama-stack",
  "app.kubernetes.io/name": "llama-stack",
  "app.kubernetes.io/managed-by": "llama-stack-operator",
  "app.kubernetes.io/instance": "my",
};
const controlledBy = (uid: string): JsonObject => ({
  ownerReferences: [{
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    name: "my",
    uid,
    controller: true,
  }],
});

/** A server that is fully there. */
const DEPLOYMENT: JsonObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "my",
    namespace: OWN,
    uid: "d",
    resourceVersion: "1",
    generation: 1,
    labels: LABELS,
    ...controlledBy("r"),
  },
  spec: { replicas: 1, template: { spec: { containers: [{ name: "llama-stack", image: "i" }] } } },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
};

const serviceWith = (metadata: JsonObject, spec: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "my-service", namespace: OWN, uid: "s", resourceVersion: "1", ...metadata },
  spec,
});
const PORTS: JsonObject = { ports: [{ port: 8321 }] };

for (
  const [what, service, isAsked] of [
    ["our own Service", serviceWith({ labels: LABELS, ...controlledBy("r") }, { type: "ClusterIP", ...PORTS }), true],
    [
      "our own Service that became an ExternalName",
      serviceWith({ labels: LABELS, ...controlledBy("r") }, { type: "ExternalName", externalName: "evil.example" }),
      false,
    ],
    [
      "a Service with our labels that another resource controls",
      serviceWith({ labels: LABELS, ...controlledBy("other") }, { type: "ClusterIP", ...PORTS }),
      false,
    ],
    [
      "a Service with our labels that nobody controls and the operator did not make",
      serviceWith({ labels: LABELS }, { type: "ClusterIP", ...PORTS }),
      false,
    ],
    ["a Service without our labels", serviceWith({}, { type: "ClusterIP", ...PORTS }), false],
    ["no object", undefined, false],
  ] as const
) {
  Deno.test(`the operator sends ${isAsked ? "a request to the server" : "no request"} if the name of its Service is that of ${what}`, async () => {
    const objects = [DEPLOYMENT, ...(service === undefined ? [] : [service])];
    const sent = await recorded({ distribution: { name: "starter" } }, { objects, asked: true });
    const elsewhere = sent.filter(({ url }) => !url.startsWith(`${SERVER}/`)).map(({ url }) => url).toSorted();
    const server = `http://my-service.${OWN}.svc:8321`;
    deepStrictEqual(
      elsewhere,
      isAsked ? ["models", "providers", "version"].map((text) => `${server}/v1/${text}`) : [],
    );
    ok(sent.length > elsewhere.length, "the resource was reconciled");
  });
}

Deno.test("the recorder finds a request that leaves the namespace", () => {
  const url = (path: string): Sent => ({ method: "GET", url: `${SERVER}${path}` });
  const inside = `/api/v1/namespaces/${OWN}/secrets`;
  ok(isAllowed(url(`${inside}/a`)) && isAllowed(url(`${inside}?limit=500&labelSelector=a`)));
  for (
    const path of [
      `${inside}/../../kube-system/secrets/a`,
      `${inside}/a?watch=1`,
      `${inside}/a#x`,
      "/api/v1/secrets",
      `${inside}/a/log`,
    ]
  ) {
    ok(!isAllowed(url(path)), path);
  }
});
