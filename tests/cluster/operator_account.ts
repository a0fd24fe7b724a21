/** The operator under its own account and the Roles of an installation, and servers that make it use all of them. */
import { tlsPair } from "../../tools/tls_pair.ts";
import { type Choices } from "../../tools/package/choices.ts";
import { installation } from "../../tools/package/installation.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { type JsonObject, member, objectAt, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import type { AuditEvent, ControlPlane } from "../../tools/cluster/control_plane.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { secret } from "../given.ts";
import { type RunningOperator, startOperator } from "./operator.ts";
import { read } from "./settled.ts";
import { eventually } from "../waiting.ts";

export const USER = `system:serviceaccount:${NAMESPACE}:${NAME}`;

/** Where the servers are, unless a test says otherwise. */
export const PLACE = "servers";

/** Namespaces, the Secrets that the servers name, and a setting that is not valid. */
export const prepare = async (
  cluster: ControlPlane,
  places: ReadonlyArray<string> = [PLACE],
): Promise<void> => {
  const pair = await tlsPair(["any"]);
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    ...places.flatMap((place) => [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: place } },
      keys(place, "database", { url: "postgresql://u:p@db:5432/d" }),
      keys(place, "redis", { password: "word" }),
      keys(place, "tls", pair),
    ]),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: SETTINGS_CONFIG_MAP, namespace: NAMESPACE },
      data: { upgradeParallelism: "many", defaultInstance: DEFAULT_INSTANCE },
    },
  ];
  for (const object of objects) await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(object));
};

const DEFAULT_INSTANCE = `namespace: ${PLACE}\nname: first\nspec: {distribution: {name: starter}, suspend: true}`;

const keys = (namespace: string, name: string, stringData: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  stringData,
});

/** Account, Roles and webhooks only: the operator itself runs in this process. */
export const install = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  const objects = installation(choices);
  const definition = objects.find(({ kind }) => kind === "CustomResourceDefinition");
  await installDefinition(cluster, definition as unknown as Parameters<typeof installDefinition>[1]);
  for (
    const object of objects.filter(({ kind }) =>
      /^(ServiceAccount|.*Role.*|ValidatingWebhookConfiguration)$/.test(String(kind))
    )
  ) {
    await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(object));
  }
};

export const running = async (
  cluster: ControlPlane,
  { watched, secretPolling, webhooks }: Choices,
  metricsAddress = "0",
): Promise<RunningOperator> => {
  const token = (await cluster.kubectl(["create", "token", NAME, "-n", NAMESPACE])).trim();
  return await startOperator(cluster, {
    connection: { url: cluster.url, caPem: () => cluster.caPem, clientCertificate: undefined, token: () => token },
    namespaces: watched,
    secretPolling,
    operatorNamespace: NAMESPACE,
    install: false,
    webhooks: { webhookAddress: webhooks ? "127.0.0.1:0" : "0", drainMs: 0 },
    leaderElect: true,
    metricsAddress,
    route: "Direct",
  });
};

const FULL: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
  storage: {
    kv: { type: "redis", endpoint: "redis:6379", password: secret("redis", "password") },
    sql: { type: "postgres", connectionString: secret("database", "url") },
  },
  networking: { expose: {}, allowedFrom: { namespaces: ["apps"] } },
  workload: {
    storage: { size: "1Gi" },
    autoscaling: { minReplicas: 2, maxReplicas: 3 },
    podDisruptionBudget: { minAvailable: 1 },
  },
};

/** What every server has. */
export const BARE: JsonObject = {
  providers: FULL.providers ?? null,
  workload: { replicas: 1, storage: { size: "1Gi" } },
};

const BROKEN: JsonObject = { storage: { sql: { type: "postgres", connectionString: secret("gone", "url") } } };

/** Every kind of object comes; most of them go again; configs follow each other; a failure leaves scaling possible. */
export const lifeOfAServer = async (
  cluster: ControlPlane,
  choices: Choices,
  name: string,
  place = PLACE,
): Promise<void> => {
  const operator = await running(cluster, choices);
  try {
    await exerciseServer(cluster, name, place);
  } finally {
    await operator.stop();
  }
};

/** The same for an operator that runs already. */
export const exerciseServer = async (cluster: ControlPlane, name: string, place: string): Promise<void> => {
  // Under a resource that has a status already each name is looked up before it is written.
  await write(cluster, name, { ...FULL, ...BROKEN }, place);
  await told(cluster, name, place);
  await write(cluster, name, FULL, place);
  await cleared(cluster, name, "pdb,hpa,networkpolicy,ingress", 4, place);
  await write(cluster, name, BARE, place);
  await cleared(cluster, name, "pdb,hpa,networkpolicy,ingress,secret", 0, place);
  for (const count of [1, 2, 3]) {
    await write(cluster, name, {
      ...BARE,
      resources: { models: Array.from({ length: count }, (_, index) => ({ name: `m${index}` })) },
    }, place);
    await isReady(cluster, name, count, place);
  }
  // Too large to be kept in memory, so that it is read again.
  const large = { workload: { replicas: 0, overrides: { env: [{ name: "LONG", value: "x".repeat(70_000) }] } } };
  await write(cluster, `${name}-large`, large, place);
  await told(cluster, `${name}-large`, place);
  // Whose labels are asked for with every credential that the operator may read.
  await write(cluster, `${name}-labels`, { ...BARE, distribution: { image: "registry.invalid/a:1" } }, place);
  await eventually("the registry was asked", async () => {
    const path = `/apis/llamastack.io/v1alpha2/namespaces/${place}/llamastackdistributions/${name}-labels`;
    return JSON.stringify((await read(cluster, path)).status).includes("no usable answer") || undefined;
  });
  // The ReplicaSets of former edits keep their configs.
  await cluster.kubectl(["delete", "replicasets", "-n", place, "-l", `app.kubernetes.io/instance=${name}`]);
  await eventually("former configs are gone", async () => {
    const labels = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=generated-config`;
    const found = await cluster.kubectl(["get", "configmaps", "-n", place, "-l", labels, "-o", "name"]);
    return found.trim().split("\n").length === 2 ? true : undefined;
  });
  await write(cluster, name, { ...BARE, ...BROKEN, workload: { replicas: 2, storage: { size: "1Gi" } } }, place);
  await eventually("the new number of pods", async () => {
    const deployment = await read(cluster, `/apis/apps/v1/namespaces/${place}/deployments/${name}`);
    return member(objectAt(deployment, "spec"), "replicas") === 2 ? true : undefined;
  });
};

export const write = (cluster: ControlPlane, name: string, spec: JsonObject, place = PLACE): Promise<string> =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-f", "-"],
    JSON.stringify({
      apiVersion: "llamastack.io/v1alpha2",
      kind: "LlamaStackDistribution",
      metadata: { name, namespace: place },
      spec: { distribution: { name: "starter" }, ...spec },
    }),
  );

/** Waits until there are so many objects of these kinds for the server. */
export const cleared = (
  cluster: ControlPlane,
  name: string,
  kinds: string,
  count: number,
  place = PLACE,
): Promise<true> =>
  eventually(`${count} of ${kinds} for ${name}`, async () => {
    const labels = `app.kubernetes.io/instance=${name},app.kubernetes.io/managed-by=llama-stack-operator`;
    const found = await cluster.kubectl(["get", kinds, "-n", place, "-l", labels, "-o", "name"]);
    return found.split("\n").filter((line) => line !== "").length === count ? true : undefined;
  });

const statusOf = async (cluster: ControlPlane, name: string, place: string): Promise<JsonObject> =>
  objectAt(
    await read(cluster, `/apis/llamastack.io/v1alpha2/namespaces/${place}/llamastackdistributions/${name}`),
    "status",
  );

export const told = (cluster: ControlPlane, name: string, place = PLACE): Promise<true> =>
  eventually(
    `a status of ${name}`,
    async () => member(await statusOf(cluster, name, place), "conditions") === undefined ? undefined : true,
  );

export const isReady = (cluster: ControlPlane, name: string, models: number, place = PLACE): Promise<true> =>
  eventually(`${name} with ${models} models`, async () => {
    const status = await statusOf(cluster, name, place);
    return stringAt(status, "phase") === "Ready" &&
        member(objectAt(status, "configGeneration"), "resourceCount") === models
      ? true
      : undefined;
  });

/** Requests of the operator since the audit log had so many. */
export const own = async (cluster: ControlPlane, from: number): Promise<ReadonlyArray<AuditEvent>> =>
  (await cluster.auditLog()).slice(from).filter(({ user }) => user.username === USER);

/** Those that were forbidden, each once. */
export const refused = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<string> => [
  ...new Set(
    events.filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`),
  ),
];
