/**
 * History independence on a real API server: whatever happened to a resource before, its objects and its status are
 * those of a fresh resource with the same spec. Walks are random; a walk with another result is repeated with fewer
 * steps, and the failure reports the shortest one.
 */
import { ok } from "node:assert/strict";
import { isObject, type Json, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { isObserved, read } from "./settled.ts";
import { chance } from "../chance.ts";
import { differencesOf, KINDS, OWN, picture, RESOURCE } from "../picture.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { aMoment, eventually } from "../waiting.ts";

const WALKS = Number(Deno.env.get("HISTORY_WALKS") ?? 10);
const STEPS = 9;
const COMPARED_EVERY = 3;
/** As a part of the usual limit: a walk that ended elsewhere is repeated with fewer steps, and each try waits so long. */
const COMPARED_FOR = 0.25;

/** Walks with one step less that are tried when one ended elsewhere. */
const SHORTER_TRIED = Number(Deno.env.get("SOAK_WALKS_SHORTER") ?? 8);

interface Edit {
  readonly what: string;
  readonly path: ReadonlyArray<string>;
  /** Undefined: the field is unset. */
  readonly value: Json | undefined;
}

const VLLM: JsonObject = { id: "one", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const secret = (name: string, key: string): JsonObject => ({ secretKeyRef: { name, key } });

/** Values of each optional field; every field may also be unset. */
const FIELDS: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly values: ReadonlyArray<Json> }> = [
  {
    path: ["providers", "inference"],
    values: [[VLLM], [{ ...VLLM, apiKey: secret("keys", "a") }], [{ ...VLLM, apiKey: secret("keys", "b") }, {
      id: "two",
      provider: "ollama",
      endpoint: "http://ollama:11434",
    }]],
  },
  {
    path: ["resources"],
    values: [
      { models: [{ name: "m", provider: "one" }] },
      { models: [{ name: "m", provider: "one", metadata: { team: "search" } }] },
      { tools: ["websearch"] },
      { toolGroups: [{ name: "mcp::x", endpoint: "http://x/mcp" }] },
    ],
  },
  {
    path: ["auth"],
    values: [
      { kubernetes: {} },
      { webhook: { endpoint: "http://who:8080" }, accessPolicy: [{ permit: { actions: ["read"] } }] },
      { introspection: { url: "https://issuer", clientId: "llama", clientSecret: secret("keys", "a") } },
    ],
  },
  { path: ["baseConfig"], values: [{ configMapName: "base" }, { configMapName: "absent" }] },
  { path: ["connectors"], values: [[{ connectorId: "a", url: "http://a/mcp" }], [{ connectorId: "b", url: "b" }]] },
  {
    path: ["vectorStores"],
    values: [{}, { defaultProvider: "sqlite-vec", chunking: { maxChunkSizeTokens: 400 } }, {
      defaultProvider: "absent",
    }],
  },
  { path: ["storage", "kv"], values: [{}, { type: "redis", endpoint: "redis:6379", password: secret("keys", "a") }] },
  { path: ["storage", "sql"], values: [{ type: "postgres", connectionString: secret("keys", "dsn") }] },
  { path: ["disabled"], values: [["safety"], ["files", "vectorIo"]] },
  {
    path: ["externalProviders"],
    values: [{ eval: [{ providerId: "own", image: "registry.example.com/own:1" }] }, {
      inference: [{ providerId: "own", image: "registry.example.com/own:2", secretRefs: { key: secret("keys", "a") } }],
      volumeSizeLimit: "1Gi",
    }],
  },
  { path: ["networking", "port"], values: [8400, 9000] },
  {
    path: ["networking", "expose"],
    values: [{}, { hostname: "my.example.com", annotations: { a: "b" } }, { enabled: false }, {
      gateway: { parentRefs: [{ name: "public" }] },
    }],
  },
  { path: ["networking", "allowedFrom"], values: [{ namespaces: ["a"] }, { labels: ["team"] }] },
  {
    path: ["networking", "policy"],
    values: [{}, { ingress: [{ from: [{ podSelector: {} }] }] }, { egress: [{ ports: [{ port: 443 }] }] }],
  },
  { path: ["networking", "serviceAnnotations"], values: [{ "example.com/a": "1" }, { "example.com/b": "2" }] },
  {
    path: ["networking", "tls"],
    values: [{ caBundle: { configMapName: "ca" } }, { caBundle: { configMapName: "ca", exclusive: true } }],
  },
  { path: ["monitoring"], values: [{}, { port: 9000, rules: false }, { enabled: false }] },
  { path: ["workload", "replicas"], values: [0, 2, 3] },
  { path: ["workload", "workers"], values: [2] },
  {
    path: ["workload", "resources"],
    values: [{ limits: { memory: "2Gi" } }, { requests: { cpu: "0.5", memory: "1024Mi" } }],
  },
  {
    path: ["workload", "autoscaling"],
    values: [{ maxReplicas: 4 }, { minReplicas: 2, maxReplicas: 5, targetMemoryUtilizationPercentage: 70 }],
  },
  { path: ["workload", "podDisruptionBudget"], values: [{ minAvailable: 1 }, { maxUnavailable: "50%" }] },
  { path: ["workload", "probes"], values: [{ startupSeconds: 900 }] },
  {
    path: ["workload", "overrides", "env"],
    values: [[{ name: "A", value: "1" }], [{ name: "A", valueFrom: secret("keys", "a") }, {
      name: "B",
      value: "0001",
    }]],
  },
  { path: ["workload", "overrides", "envFrom"], values: [[{ secretRef: { name: "keys" } }]] },
  { path: ["workload", "overrides", "podLabels"], values: [{ team: "a" }, { team: "b", more: "c" }] },
  { path: ["workload", "overrides", "podAnnotations"], values: [{ "example.com/x": "1" }] },
  { path: ["workload", "overrides", "terminationGracePeriodSeconds"], values: [5] },
  { path: ["workload", "overrides", "nodeSelector"], values: [{ "kubernetes.io/os": "linux" }] },
  {
    path: ["workload", "overrides", "volumes"],
    values: [[{ name: "v", emptyDir: {} }], [{ name: "v", configMap: { name: "ca" } }]],
  },
  { path: ["workload", "restartPolicyOnSecretChange"], values: ["Never"] },
  { path: ["distribution"], values: [{ name: "ogx-starter" }, { image: "registry.example/own:1" }] },
  { path: ["overrideConfig"], values: [{ configMapName: "own" }] },
  { path: ["suspend"], values: [false] },
];

type Step =
  | { readonly kind: "edit"; readonly edits: ReadonlyArray<Edit> }
  | { readonly kind: "wrong edit" }
  | { readonly kind: "two edits at once"; readonly edits: ReadonlyArray<Edit> }
  | { readonly kind: "Secret changed"; readonly value: number }
  | { readonly kind: "object deleted"; readonly index: number }
  | { readonly kind: "foreign edit"; readonly index: number }
  | { readonly kind: "rollout undone" };

/** What hands and other tools do to the Deployment; each a merge patch or a strategic one. */
const FOREIGN: ReadonlyArray<
  { readonly what: string; readonly type: string; readonly patch: (now: number) => JsonObject }
> = [
  { what: "scaled", type: "merge", patch: () => ({ spec: { replicas: 7 } }) },
  {
    what: "another image",
    type: "strategic-merge",
    patch: () => ({ spec: { template: { spec: { containers: [{ name: "llama-stack", image: "nginx" }] } } } }),
  },
  {
    what: "a variable of ours as a literal",
    type: "strategic-merge",
    patch: () => ({
      spec: {
        template: {
          spec: { containers: [{ name: "llama-stack", env: [{ name: "HF_HOME", value: "/by-hand" }] }] },
        },
      },
    }),
  },
  {
    what: "another strategy",
    type: "merge",
    patch: () => ({ spec: { strategy: { type: "Recreate", rollingUpdate: null } } }),
  },
  {
    what: "labels of ours removed",
    type: "merge",
    patch: () => ({ metadata: { labels: { "app.kubernetes.io/part-of": null } } }),
  },
];

const stepOf = (random: () => number): Step => {
  const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)] as A;
  const edit = (): Edit => {
    const { path, values } = pick(FIELDS);
    const value = random() < 0.35 ? undefined : pick(values);
    return { what: `${path.join(".")} = ${JSON.stringify(value) ?? "unset"}`, path, value };
  };
  const kind = random();
  if (kind < 0.5) return { kind: "edit", edits: Array.from({ length: 1 + Math.floor(random() * 3) }, edit) };
  if (kind < 0.6) return { kind: "two edits at once", edits: [edit(), edit()] };
  if (kind < 0.7) return { kind: "wrong edit" };
  if (kind < 0.8) return { kind: "Secret changed", value: Math.floor(random() * 1e6) };
  if (kind < 0.9) return { kind: "object deleted", index: Math.floor(random() * 100) };
  if (kind < 0.93) return { kind: "rollout undone" };
  return { kind: "foreign edit", index: Math.floor(random() * FOREIGN.length) };
};

const toldOf = (step: Step): string => {
  switch (step.kind) {
    case "edit":
    case "two edits at once":
      return `${step.kind}: ${step.edits.map(({ what }) => what).join("; ")}`;
    case "foreign edit":
      return `${step.kind}: ${FOREIGN[step.index]?.what}`;
    default:
      return step.kind;
  }
};

const START: JsonObject = { distribution: { name: "starter" }, workload: { replicas: 1 } };

/** The spec after an edit; a field that the others need is not unset. */
const editedSpec = (spec: JsonObject, { path, value }: Edit): JsonObject => {
  if (path[0] === "distribution" && value === undefined) return put(spec, path, { name: "starter" }) as JsonObject;
  const changed = put(spec, path, value) as JsonObject;
  // Blocks that lost their last field go as well, as somebody who edits the file would do it.
  return pruned(changed);
};
const pruned = (spec: JsonObject): JsonObject =>
  ["providers", "storage", "networking", "workload"].reduce((made, block) => {
    const inner = omitEmpty(objectAt(made, block));
    return Object.keys(inner).length === 0 ? omit(made, block) : { ...made, [block]: inner };
  }, spec);
const omitEmpty = (block: JsonObject): JsonObject =>
  isObject(block.overrides ?? null) && Object.keys(objectAt(block, "overrides")).length === 0
    ? omit(block, "overrides")
    : block;

const DSN = "postgresql://me:secret@db.example:5432/x";

const prepareNamespace = async (cluster: ControlPlane, namespace: string, value: number): Promise<void> => {
  await cluster.kubectl(["create", "namespace", namespace]);
  await cluster.kubectl(
    ["apply", "--server-side", "-n", namespace, "-f", "-"],
    manifestList([
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "keys" },
        stringData: { a: `value-${value}`, b: "b", dsn: DSN },
      },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ca" }, data: { "ca-bundle.crt": CERTIFICATE } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "base" }, data: { "config.yaml": BASE } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "own" }, data: { "config.yaml": "version: 2\n" } },
    ]),
  );
};

const BASE = "version: 2\ndistro_name: base\napis: [inference]\nproviders:\n  inference:\n" +
  "  - {provider_id: kept, provider_type: remote::openai, config: {}}\n";

let CERTIFICATE = "";

/** False where the schema refuses it; the resource is then what it was. */
const applySpec = (cluster: ControlPlane, namespace: string, spec: JsonObject): Promise<boolean> =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-n", namespace, "-f", "-"],
    JSON.stringify({ ...manifest(spec), metadata: { name: "my", namespace } }),
  ).then(() => true, (error: Error) => {
    if (/ is invalid/.test(error.message)) return false;
    throw error;
  });

const KEEPS_DATA = /ServerFamilyChangeLosesData|RegistryConflict/;

const isFailing = async (cluster: ControlPlane, namespace: string, reasons = /./): Promise<boolean> =>
  listAt(await read(cluster, RESOURCE.replace("NS", namespace)), "status", "conditions").some((condition) =>
    stringAt(condition, "type") === "Stalled" && stringAt(condition, "status") === "True" &&
    reasons.test(stringAt(condition, "reason") ?? "")
  );

let walked = 0;

/** Where the walk ended elsewhere than a fresh resource would, or undefined. */
const walk = async (cluster: ControlPlane, steps: ReadonlyArray<Step>): Promise<ReadonlyArray<string> | undefined> => {
  const namespace = `walk-${++walked}`;
  let [spec, value, fresh] = [START, 0, 0];
  await prepareNamespace(cluster, namespace, value);
  await applySpec(cluster, namespace, spec);
  const compared = async (): Promise<ReadonlyArray<string> | undefined> => {
    const other = `${namespace}-fresh-${++fresh}`;
    await prepareNamespace(cluster, other, value);
    await applySpec(cluster, other, spec);
    let found: ReadonlyArray<string> = ["not compared"];
    const same = await eventually("the same objects", async () => {
      // What cannot be carried out leaves what runs as it is, which is the past; so does a move that would lose stored data.
      if (await isFailing(cluster, other) || await isFailing(cluster, namespace, KEEPS_DATA)) return true;
      found = differencesOf(
        await picture((path) => read(cluster, path), namespace),
        await picture((path) => read(cluster, path), other),
      );
      return found.length === 0 || undefined;
    }, COMPARED_FOR).catch(() => false);
    await cluster.kubectl(["delete", "llsd", "my", "-n", other, "--wait=false"]);
    return same ? undefined : found;
  };
  for (const [index, step] of steps.entries()) {
    switch (step.kind) {
      case "edit": {
        const next = step.edits.reduce(editedSpec, spec);
        if (await applySpec(cluster, namespace, next)) spec = next;
        break;
      }
      case "two edits at once":
        for (const item of step.edits) {
          const next = editedSpec(spec, item);
          if (await applySpec(cluster, namespace, next)) spec = next;
        }
        break;
      case "wrong edit":
        await applySpec(
          cluster,
          namespace,
          put(spec, ["providers", "inference"], [{ provider: "nonsense" }]) as JsonObject,
        );
        await aMoment();
        await applySpec(cluster, namespace, spec);
        break;
      case "Secret changed":
        value = step.value;
        await cluster.kubectl([
          "patch",
          "secret",
          "keys",
          "-n",
          namespace,
          "-p",
          JSON.stringify({ stringData: { a: `value-${value}` } }),
        ]);
        break;
      case "object deleted": {
        const kind = KINDS[step.index % KINDS.length] ?? "";
        const items = listAt(await read(cluster, `${kind.replace("NS", namespace)}?${OWN}`), "items");
        const name = stringAt(items[step.index % Math.max(1, items.length)] ?? null, "metadata", "name");
        if (name !== undefined) {
          await (await cluster.fetch(`${kind.replace("NS", namespace)}/${name}`, { method: "DELETE" })).text();
        }
        break;
      }
      case "rollout undone":
        // A rollout is undone that has begun. If an undo comes between the apply of a template and its ReplicaSet, nothing
        // records what that template held, and fields that the undo restores are kept as if somebody had added them.
        await eventually("the rollout has begun", async () => {
          const [resource, deployment] = await Promise.all([
            read(cluster, RESOURCE.replace("NS", namespace)),
            read(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments/my`),
          ]);
          return isObserved(resource) && isObserved(deployment) || undefined;
        }, COMPARED_FOR).catch(() => undefined);
        // Nothing to go back to is no step.
        await cluster.kubectl(["rollout", "undo", "deployment/my", "-n", namespace]).catch(() => "");
        break;
      case "foreign edit": {
        const edit = FOREIGN[step.index];
        if (edit === undefined) break;
        const answer = await cluster.fetch(
          `/apis/apps/v1/namespaces/${namespace}/deployments/my?fieldManager=kubectl-by-hand`,
          {
            method: "PATCH",
            headers: { "content-type": `application/${edit.type}-patch+json` },
            body: JSON.stringify(edit.patch(walked)),
          },
        );
        await answer.text();
        break;
      }
    }
    if (index % COMPARED_EVERY === COMPARED_EVERY - 1 || index === steps.length - 1) {
      const found = await compared();
      if (found !== undefined) return found;
    }
  }
  await cluster.kubectl(["delete", "llsd", "my", "-n", namespace, "--wait=false"]);
  return undefined;
};

/** Fewer steps that still end elsewhere, as far as a few tries find them. */
const shortest = async (cluster: ControlPlane, steps: ReadonlyArray<Step>): Promise<ReadonlyArray<Step>> => {
  let fewest = steps;
  let tried = 0;
  for (let index = 0; index < fewest.length && fewest.length > 1 && tried < SHORTER_TRIED;) {
    tried++;
    const fewer = fewest.filter((_, at) => at !== index);
    if (await walk(cluster, fewer) === undefined) index++;
    else fewest = fewer;
  }
  return fewest;
};

Deno.test(`after ${WALKS} random walks every resource has the objects of a fresh one`, async (t) => {
  const { makeAuthority } = await import("../../shell/webhooks/certificate_maker.ts");
  CERTIFICATE =
    (await makeAuthority({ notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2036, 0, 1) })).certificate;
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  try {
    const running = await startOperator(cluster);
    try {
      const first = Number(Deno.env.get("SOAK_WALK_SEED") ?? 1);
      for (let seed = first; seed < first + WALKS; seed++) {
        await t.step(`walk ${seed}`, async () => {
          const random = chance(seed);
          const steps = Array.from({ length: STEPS }, () => stepOf(random));
          const found = await walk(cluster, steps);
          if (found === undefined) return;
          const fewest = await shortest(cluster, steps);
          const last = fewest.length === steps.length ? found : await walk(cluster, fewest) ?? found;
          ok(false, `${fewest.map((step, index) => `\n  ${index + 1}. ${toldOf(step)}`).join("")}\n${last.join("\n")}`);
        });
      }
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await cluster.stop();
  }
});
