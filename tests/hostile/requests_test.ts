/**
 * A resource makes the operator ask for nothing outside its own namespace. Below the door to the API server stands a recorder in
 * place of the network, so that what counts is the URL that would have been sent.
 */
import { tlsPair } from "../../tools/tls_pair.ts";
import http from "node:http";
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as SubscriptionRef from "effect/SubscriptionRef";
import * as Ref from "effect/Ref";
import fc from "fast-check";
import { isList, isObject, type Json, type JsonObject, objectAt } from "../../core/data/json.ts";
import { SETTINGS_DEFAULT } from "../../core/operator/settings.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { type Served, ServedKinds } from "../../shell/kubernetes/served_kinds.ts";
import { OperatorFacts } from "../../shell/runtime/operator_facts.ts";
import { LiveSettings } from "../../shell/controller/operator_settings.ts";
import { reconcile } from "../../shell/controller/reconcile.ts";
import { LabelReader, nobodyAsked } from "../../shell/controller/image_labels.ts";
import { termState } from "../../shell/controller/term_state.ts";
import { operatorFacts } from "../../shell/process/run.ts";
import { ServerProbe } from "../../shell/controller/server_probe.ts";
import { Store } from "../../shell/cache/store.ts";
import { arbitraryResource } from "../arbitrary_resources.ts";
import { until } from "../waiting.ts";

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
/** Names that are fine as such, and lead elsewhere only where nobody looks at what they name. */
const VALID_NAMES: ReadonlyArray<string> = ["kube-system", "s", "t", "a.b"];
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...VALID_NAMES) },
  { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);

type Path = ReadonlyArray<string>;
const secretRef = (path: Path) => [[...path, "secretKeyRef", "name"], [...path, "secretKeyRef", "key"]];
const TLS: Path = ["networking", "tls"];
const OVERRIDES: Path = ["workload", "overrides"];

/** A resource that names an object in every field that can name one, all of them in its own namespace. */
const SOUND: JsonObject = {
  distribution: { name: "starter" },
  storage: {
    kv: { type: "redis", endpoint: "redis:6379", password: { secretKeyRef: { name: "s", key: "k" } } },
    sql: { type: "postgres", connectionString: { secretKeyRef: { name: "s", key: "k" } } },
  },
  networking: {
    tls: {
      enabled: true,
      secretName: "t",
      clientSecretName: "t",
      caBundle: { configMapName: "c", configMapNamespace: OWN, configMapKeys: ["k"] },
    },
    expose: { hostname: "h", tlsSecretName: "t" },
  },
  workload: {
    storage: { existingClaim: "p" },
    overrides: {
      serviceAccountName: "a",
      env: [
        { name: "V", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
        { name: "W", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } },
      ],
      envFrom: [{ secretRef: { name: "s" } }, { configMapRef: { name: "c" } }],
      imagePullSecrets: [{ name: "s" }],
    },
  },
};

/** Every field that names an object, or whose text could become part of a request; a number is the place in a list. */
const NAMING: ReadonlyArray<Path> = [
  ...secretRef(["storage", "kv", "password"]),
  ...secretRef(["storage", "sql", "connectionString"]),
  [...TLS, "secretName"],
  [...TLS, "clientSecretName"],
  [...TLS, "caBundle", "configMapName"],
  [...TLS, "caBundle", "configMapNamespace"],
  [...TLS, "caBundle", "configMapKeys", "0"],
  ["networking", "expose", "hostname"],
  ["networking", "expose", "tlsSecretName"],
  ["workload", "storage", "existingClaim"],
  [...OVERRIDES, "serviceAccountName"],
  ...secretRef([...OVERRIDES, "env", "0", "valueFrom"]),
  [...OVERRIDES, "env", "1", "valueFrom", "configMapKeyRef", "name"],
  [...OVERRIDES, "env", "1", "valueFrom", "configMapKeyRef", "key"],
  [...OVERRIDES, "envFrom", "0", "secretRef", "name"],
  [...OVERRIDES, "envFrom", "1", "configMapRef", "name"],
  [...OVERRIDES, "imagePullSecrets", "0", "name"],
  ["overrideConfig", "configMapName"],
  ["overrideConfig", "key"],
];

const replaced = (value: Json | undefined, [step, ...rest]: Path, text: string): Json => {
  if (step === undefined) return text;
  if (isList(value)) return value.map((item, index) => String(index) === step ? replaced(item, rest, text) : item);
  const object = isObject(value) ? value : {};
  return { ...object, [step]: replaced(object[step], rest, text) };
};

/** One field of a sound resource becomes hostile: with a second one, the first mistake would hide what the other does. */
const poisoned: fc.Arbitrary<JsonObject> = fc.tuple(fc.constantFrom(...NAMING), name).map(([path, text]) => {
  const sound = path[0] === "overrideConfig"
    ? { distribution: { name: "starter" }, overrideConfig: { configMapName: "c", key: "config.yaml" } }
    : SOUND;
  return replaced(sound, path, text) as JsonObject;
});

/** Some texts of a sound resource become hostile ones, wherever they stand. */
const infected = (value: Json, take: () => string | undefined): Json => {
  if (isList(value)) return value.map((item) => infected(item, take));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, infected(inner, take)]));
  }
  return typeof value === "string" ? take() ?? value : value;
};

const infectedSpec: fc.Arbitrary<JsonObject> = fc.tuple(
  arbitraryResource,
  fc.infiniteStream(fc.tuple(fc.integer({ min: 0, max: 9 }), name)),
).map(([resource, stream]) => {
  const take = (): string | undefined => {
    const { value } = stream.next();
    return value !== undefined && value[0] === 0 ? value[1] : undefined;
  };
  const { distribution, ...sound } = objectAt(resource, "spec");
  return { distribution: distribution ?? { name: "starter" }, ...infected(sound, take) as JsonObject };
});

const PAIR = await tlsPair(["my-service.own.svc"]);

interface Sent {
  readonly method: string;
  readonly url: string;
}

const toServers = (sent: ReadonlyArray<Sent>): ReadonlyArray<string> =>
  sent.map(({ url }) => url).filter((url) => !url.startsWith(`${SERVER}/`));

/** An API server in which every requested Secret and ConfigMap exists, and every write succeeds. */
const answer = (method: string, url: URL, body: string | undefined): Response => {
  const [, kind = "", name = ""] = /\/(secrets|configmaps)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (method === "GET" && name !== "") {
    const data = { k: "v", l: "w", ...PAIR, "config.yaml": "version: 2" };
    return Response.json({
      metadata: { name, namespace: OWN },
      data: kind === "configmaps"
        ? data
        : Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)])),
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

/** After these nothing more is asked of servers. */
const ASKED_WITHIN_MS = 300;

/** Requests of one reconciliation; with `asked`, also those to servers by the names of their Services: so many follow it. */
const recorded = async (
  spec: JsonObject,
  { objects = [], asked }: { readonly objects?: ReadonlyArray<JsonObject>; readonly asked?: number } = {},
): Promise<ReadonlyArray<Sent>> => {
  const sent: Array<Sent> = [];
  const network = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = String(input);
    sent.push({ method: init?.method ?? "GET", url });
    return Promise.resolve(answer(init?.method ?? "GET", new URL(url), init?.body as string | undefined));
  };
  const client = http.request;
  // Servers of tenants are asked by Node's client; nobody answers.
  http.request = ((url: URL) => {
    sent.push({ method: "GET", url: String(url) });
    throw new Error("nobody answers");
  }) as typeof http.request;
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
    if (asked !== undefined) {
      yield* Effect.promise(() => until(`${asked} requests to the server`, () => toServers(sent).length >= asked));
      yield* Effect.sleep(ASKED_WITHIN_MS);
    }
    return exit;
  }).pipe(
    Effect.provideServiceEffect(LiveSettings, Ref.make(SETTINGS_DEFAULT)),
    Effect.provide(termState),
    Effect.provideService(LabelReader, nobodyAsked),
    Effect.provide(Layer.fresh(Layer.provideMerge(
      Layer.mergeAll(
        Cluster.layer(connection),
        asked !== undefined
          ? ServerProbe.layer(connection, "Direct")
          : Layer.succeed(ServerProbe, { answers: () => Effect.succeed(undefined), changed: Effect.never }),
      ),
      Store.layer,
    ))),
    Effect.provideService(
      OperatorFacts,
      operatorFacts({ operatorNamespace: "operator-system", relatedImages: new Map() }, [], "key"),
    ),
    Effect.provideServiceEffect(ServedKinds, SubscriptionRef.make<Served>({ kinds: ["Route"], etag: undefined })),
    Effect.scoped,
  );
  const log = console.log;
  console.log = () => {};
  try {
    await Effect.runPromise(program);
  } finally {
    console.log = log;
    globalThis.fetch = network;
    http.request = client;
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

const outside = (sent: ReadonlyArray<Sent>): ReadonlyArray<Sent> => sent.filter((item) => !isAllowed(item));
const referencesIn = (sent: ReadonlyArray<Sent>): ReadonlyArray<string> =>
  sent.map(({ url }) => new URL(url).pathname).filter((path) => /\/(secrets|configmaps)\/[^/]+$/.test(path));

Deno.test("a resource that names objects in every field makes the operator ask for each of them", async () => {
  const sent = await recorded(SOUND);
  deepStrictEqual(outside(sent), []);
  const names = new Set(referencesIn(sent).map((path) => path.split("/").slice(-2).join("/")));
  for (const wanted of ["secrets/s", "secrets/t", "configmaps/c"]) ok(names.has(wanted), [...names].join());
});

Deno.test(`no request of ${RUNS} resources with one hostile name leaves their namespace`, async () => {
  let references = 0;
  await fc.assert(
    fc.asyncProperty(poisoned, async (spec) => {
      const sent = await recorded(spec);
      deepStrictEqual(outside(sent), []);
      references += referencesIn(sent).length;
    }),
    { numRuns: RUNS },
  );
  // Otherwise the resources are rejected before anything is asked for.
  ok(references > RUNS, `${references} requests for references`);
});

Deno.test(`no request of ${RUNS} resources with hostile texts anywhere leaves their namespace`, async () => {
  let requests = 0;
  await fc.assert(
    fc.asyncProperty(infectedSpec, async (spec) => {
      const sent = await recorded(spec);
      deepStrictEqual(outside(sent), []);
      requests += sent.length;
    }),
    { numRuns: RUNS },
  );
  ok(requests > RUNS, `${requests} requests`);
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
    const sent = await recorded({ distribution: { name: "starter" } }, { objects, asked: isAsked ? 3 : 0 });
    const elsewhere = toServers(sent).toSorted();
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
