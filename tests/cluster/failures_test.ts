/** On a real API server: each class of failure leaves the Deployment unchanged, and recovers without help. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest, secret } from "../given.ts";
import { cli } from "./compiled_command.ts";
import { startOperator } from "./operator.ts";
import { condition, isObserved, read, RESOURCES } from "./settled.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { eventually } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const CANARY = "canary-7f3a91";

const apply = (cluster: ControlPlane, ...objects: ReadonlyArray<JsonObject>) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"],
    manifestList(objects),
  );
const secretOf = (name: string, data: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)])),
});
const mapOf = (name: string, data: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});
const when = (cluster: ControlPlane, name: string, type: string, want: string) => {
  let seen = "";
  return eventually(`${name} ${type} ${want}`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    const found = condition(resource, type);
    seen = `${stringAt(found, "status")} ${stringAt(found, "reason")} ${stringAt(found, "message")}`;
    return isObserved(resource) && seen.startsWith(`${want} `) ? resource : undefined;
  }).catch((cause) => Promise.reject(new Error(`${cause.message}; last seen: ${seen}`)));
};

/** Everything that runs: Deployment but for the number of pods, ConfigMaps, Service. */
const running = async (cluster: ControlPlane, name: string): Promise<string> => {
  const deployment = await read(cluster, `${DEPLOYMENTS}/${name}`);
  const maps = listAt(await read(cluster, "/api/v1/namespaces/default/configmaps"), "items")
    .filter((item) => stringAt(item, "metadata", "labels", "app.kubernetes.io/instance") === name);
  const service = await read(cluster, `/api/v1/namespaces/default/services/${name}-service`);
  const spec = put(objectAt(deployment, "spec"), ["replicas"], undefined);
  return JSON.stringify([spec, at(deployment, "metadata", "annotations"), maps, service]);
};

const VLLM = { provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("vllm", "token") };
const GOOD: JsonObject = {
  providers: { inference: [VLLM] },
  resources: { models: [{ name: "e", modelType: "embedding", embeddingDimension: 384 }] },
  workload: { storage: { size: "1Gi", storageClassName: "" } },
};
const without = (field: string): JsonObject => put(GOOD, [field], undefined);

interface Failure {
  readonly what: string;
  /** The edit, and what is done to the namespace; both are taken back afterwards. */
  readonly spec: JsonObject;
  readonly objects?: ReadonlyArray<JsonObject>;
  readonly remove?: ReadonlyArray<string>;
  readonly type: "ConfigGenerated" | "SecretsResolved";
  readonly want: string;
  /** Part of the sentence. */
  readonly says: string;
}

const FAILURES: ReadonlyArray<Failure> = [
  {
    what: "Secret missing",
    spec: GOOD,
    remove: ["secret/vllm"],
    type: "SecretsResolved",
    want: "False SecretNotFound",
    says: 'Secret "vllm" not found in namespace "default"; referenced by spec.providers.inference[0].apiKey',
  },
  {
    what: "key missing",
    spec: put(GOOD, ["providers", "inference"], [{ ...VLLM, apiKey: secret("vllm", "tokn") }]),
    type: "SecretsResolved",
    want: "False SecretKeyMissing",
    says: 'Key "tokn" not found in Secret "default/vllm"',
  },
  {
    what: "ConfigMap missing",
    spec: { ...GOOD, networking: { tls: { caBundle: { configMapName: "ca" } } } },
    type: "SecretsResolved",
    want: "False ConfigMapNotFound",
    says: 'ConfigMap "ca" not found',
  },
  {
    what: "ConfigMap of the base config missing",
    spec: { ...GOOD, baseConfig: { configMapName: "base" } },
    type: "SecretsResolved",
    want: "False ConfigMapNotFound",
    says: 'ConfigMap "base" not found',
  },
  {
    what: "unknown provider type",
    spec: put(GOOD, ["providers", "inference"], [{ ...VLLM, provider: "vlm" }]),
    type: "ConfigGenerated",
    want: "False UnknownProvider",
    says: "did you mean",
  },
  {
    what: "model of an unknown provider",
    spec: { ...GOOD, resources: { models: [{ name: "m", provider: "nope" }] } },
    type: "ConfigGenerated",
    want: "False UnknownProvider",
    says: "nope",
  },
  {
    what: "unknown distribution",
    spec: { ...GOOD, distribution: { name: "startr" } },
    type: "ConfigGenerated",
    want: "False UnknownDistribution",
    says: 'unknown distribution "startr"; did you mean starter? Available distributions: ',
  },
  {
    what: "base required",
    spec: { ...GOOD, distribution: { image: "example.com/own:1" } },
    type: "ConfigGenerated",
    want: "False BaseConfigRequired",
    says: "example.com/own:1",
  },
  {
    what: "unsupported server",
    spec: { ...GOOD, distribution: { image: "example.com/own:1", serverVersion: "0.1.9" } },
    type: "ConfigGenerated",
    want: "False UnsupportedConfigVersion",
    says: "0.1.9",
  },
  {
    what: "tools without a provider",
    spec: { ...GOOD, disabled: ["tool_runtime"], resources: { tools: ["websearch"] } },
    type: "ConfigGenerated",
    want: "False MissingProviderForResource",
    says: "resources.tools requires at least one toolRuntime provider to be configured",
  },
  {
    what: "shields where the server has none",
    spec: { ...GOOD, distribution: { name: "ogx-starter" }, resources: { shields: ["llama-guard"] } },
    type: "ConfigGenerated",
    want: "False NotSupportedByServer",
    says: "shields",
  },
  {
    what: "env names that collide",
    spec: {
      ...without("resources"),
      providers: { inference: [{ ...VLLM, id: "a-b" }, { ...VLLM, id: "a_b" }] },
    },
    type: "ConfigGenerated",
    want: "False EnvNameCollision",
    says: "LLSD_A_B_API_KEY",
  },
  {
    what: "a Secret value that the server cannot take",
    spec: { ...GOOD, storage: { sql: { type: "postgres", connectionString: secret("db", "dsn") } } },
    objects: [secretOf("db", { dsn: `mysql://u:${CANARY}@h/d` })],
    type: "ConfigGenerated",
    want: "False SecretValueUnusable",
    says: "db/dsn",
  },
  {
    what: "a changed model that the server has stored",
    spec: put(GOOD, ["resources", "models"], [{ name: "e", modelType: "embedding", embeddingDimension: 768 }]),
    type: "ConfigGenerated",
    want: "False RegistryConflict",
    says: '"vllm/e"',
  },
  {
    what: "a move to another line that loses data",
    spec: { ...GOOD, distribution: { name: "ogx-starter" } },
    type: "ConfigGenerated",
    want: "False ServerFamilyChangeLosesData",
    says: "llamastack.io/accept-server-family-change",
  },
  {
    what: "a bad own config",
    spec: { workload: objectAt(GOOD, "workload"), overrideConfig: { configMapName: "own" } },
    objects: [mapOf("own", { "config.yaml": "a: [" })],
    type: "ConfigGenerated",
    want: "False OverrideConfigInvalid",
    says: "own/config.yaml",
  },
  {
    what: "an own config without its key",
    spec: { workload: objectAt(GOOD, "workload"), overrideConfig: { configMapName: "own" } },
    objects: [mapOf("own", { other: "a: 1" })],
    type: "SecretsResolved",
    want: "False ConfigMapKeyMissing",
    says: "config.yaml",
  },
];

Deno.test("failure preservation on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const lines: Array<string> = [];
  const log = console.log;
  console.log = (...words: ReadonlyArray<unknown>) => void lines.push(words.join(" "));
  try {
    const operator = await startOperator(cluster);
    try {
      const token = secretOf("vllm", { token: CANARY });
      await apply(cluster, token, manifest(GOOD, "my"), manifest(without("workload"), "other"));
      await when(cluster, "my", "Ready", "True Ready");
      await when(cluster, "other", "Ready", "True Ready");
      let scaled = 1;
      for (const { what, spec, objects = [], remove = [], type, want, says } of FAILURES) {
        await t.step(what, async () => {
          const before = await running(cluster, "my");
          if (remove.length > 0) await cluster.kubectl(["delete", "-n", "default", ...remove]);
          // Scaling continues despite other failures.
          scaled = scaled === 1 ? 2 : 1;
          const workload = { ...objectAt(spec, "workload"), replicas: scaled };
          await apply(cluster, ...objects, manifest({ ...spec, workload }, "my"));
          const failed = await when(cluster, "my", type, want);
          const sentence = stringAt(condition(failed, type), "message") ?? "";
          ok(sentence.includes(says), sentence);
          strictEqual(stringAt(condition(failed, "Ready"), "status"), "False");
          strictEqual(stringAt(condition(failed, "Stalled"), "status"), "True");
          await eventually(
            "the number of pods follows",
            async () => at(await read(cluster, `${DEPLOYMENTS}/my`), "spec", "replicas") === scaled || undefined,
          );
          strictEqual(await running(cluster, "my"), before);
          if (remove.length === 0) await goesOn(cluster);
          await apply(
            cluster,
            token,
            manifest({ ...GOOD, workload: { ...objectAt(GOOD, "workload"), replicas: scaled } }, "my"),
          );
          const ready = await when(cluster, "my", "Ready", "True Ready");
          strictEqual(condition(ready, "Stalled"), undefined);
          deepStrictEqual(
            at(await read(cluster, `${DEPLOYMENTS}/my`), "spec", "template"),
            objectAt((JSON.parse(before) as ReadonlyArray<Json>)[0], "template"),
          );
        });
      }

      await t.step("a claim that cannot follow an edit stops nothing else, and says so", async () => {
        const storage = (change: JsonObject) => ({
          ...GOOD,
          workload: { storage: { ...objectAt(GOOD, "workload", "storage"), ...change }, replicas: scaled },
        });
        const told = async (type: string, part: string) =>
          await eventually(`${type} says "${part}"`, async () => {
            const found = condition(await read(cluster, `${RESOURCES}/my`), type);
            return stringAt(found, "message")?.includes(part) === true ? found : undefined;
          });
        await apply(cluster, manifest({ ...storage({ storageClassName: "fast" }), networking: { port: 9100 } }, "my"));
        await told("StorageReady", 'the claim keeps class ""');
        await when(cluster, "my", "DeploymentUpdated", "True DeploymentUpdateSucceeded");
        const larger = manifest(storage({ size: "2Gi" }), "my");
        const shown = await cli(cluster, ["diff", "-f", "-"], larger);
        ok(shown.stdout.includes("the claim keeps 1Gi, because it has no StorageClass"), shown.stdout + shown.stderr);
        await apply(cluster, larger);
        const failed = await when(cluster, "my", "StorageReady", "False ClaimUpdateFailed");
        strictEqual(stringAt(condition(failed, "DeploymentUpdated"), "status"), "True");
        strictEqual(condition(failed, "Stalled"), undefined);
        await eventually("the other part of the edit was applied", async () => {
          const [port] = listAt(await read(cluster, "/api/v1/namespaces/default/services/my-service"), "spec", "ports");
          return at(port ?? null, "port") === 8321 || undefined;
        });
        await apply(cluster, manifest(storage({}), "my"));
        await when(cluster, "my", "Ready", "True Ready");
      });

      await t.step("a deleted Service and ServiceAccount come back while the resource fails", async () => {
        const service = "/api/v1/namespaces/default/services/my-service";
        const account = "/api/v1/namespaces/default/serviceaccounts/my-sa";
        const before = await read(cluster, `${DEPLOYMENTS}/my`);
        const ports = async () => JSON.stringify(at(await read(cluster, service), "spec", "ports"));
        const served = await ports();
        const bad = { ...put(GOOD, ["providers", "inference"], [{ ...VLLM, provider: "vlm" }]) };
        await apply(cluster, manifest({ ...bad, networking: { port: 9000 } }, "my"));
        await when(cluster, "my", "ConfigGenerated", "False UnknownProvider");
        await cluster.kubectl(["delete", "-n", "default", "service/my-service", "serviceaccount/my-sa"]);
        await eventually(
          "both are there again",
          async () =>
            (await read(cluster, service)).kind === "Service" &&
              (await read(cluster, account)).kind === "ServiceAccount" ||
            undefined,
        );
        strictEqual(await ports(), served);
        deepStrictEqual(
          at(await read(cluster, `${DEPLOYMENTS}/my`), "spec", "template"),
          at(before, "spec", "template"),
        );
        await apply(
          cluster,
          manifest({ ...GOOD, workload: { ...objectAt(GOOD, "workload"), replicas: scaled } }, "my"),
        );
        await when(cluster, "my", "Ready", "True Ready");
      });

      await t.step("the first install of a broken resource leaves nothing half-made", async () => {
        for (const [index, { spec, type, want, remove, objects }] of FAILURES.entries()) {
          if (
            remove !== undefined || objects !== undefined ||
            ["False RegistryConflict", "False ServerFamilyChangeLosesData"].includes(want)
          ) continue;
          const name = `broken-${index}`;
          await apply(cluster, manifest(spec, name));
          await when(cluster, name, type, want);
          for (const path of [`${DEPLOYMENTS}/${name}`, `/api/v1/namespaces/default/services/${name}-service`]) {
            strictEqual((await read(cluster, path)).kind, "Status", path);
          }
          await cluster.kubectl(["delete", "-n", "default", "llsd", name, "--wait=false"]);
        }
      });

      await t.step("no secret value is in any object, Event or log line", async () => {
        const paths = [
          RESOURCES,
          DEPLOYMENTS,
          "/api/v1/namespaces/default/configmaps",
          "/api/v1/namespaces/default/pods",
          "/apis/apps/v1/namespaces/default/replicasets",
          "/apis/events.k8s.io/v1/namespaces/default/events",
        ];
        for (const path of paths) ok(!JSON.stringify(await read(cluster, path)).includes(CANARY), path);
        ok(lines.length > 100 && lines.every((line) => !line.includes(CANARY)));
      });
    } finally {
      await operator.stop();
    }
  } finally {
    console.log = log;
    await cluster.stop();
  }
});

let rounds = 0;
/** Another resource is still served while one fails. */
const goesOn = async (cluster: ControlPlane): Promise<void> => {
  rounds++;
  await apply(
    cluster,
    manifest({ ...without("workload"), workload: { replicas: 1, workers: 1 + rounds % 3 } }, "other"),
  );
  await eventually(
    "the other resource follows",
    async () => isObserved(await read(cluster, `${RESOURCES}/other`)) || undefined,
  );
};
