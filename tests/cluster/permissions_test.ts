/** The operator under its own account and the Roles that we ship: no call is refused, and no rule is without a call. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { CRD_NAME } from "../../core/api/crd.ts";
import { AUTHORITY_KEY } from "../../core/certificates/authorities.ts";
import { type Choices, DEFAULT } from "../../core/install/choices.ts";
import { installation } from "../../core/install/installation.ts";
import { NAME, NAMESPACE } from "../../core/install/names.ts";
import { type Permission, permissionsFor } from "../../core/install/permissions.ts";
import { type JsonObject, member, objectAt, stringAt } from "../../core/json.ts";
import { AUTHORITY_SECRET } from "../../core/own_objects.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/settings.ts";
import { type AuditEvent, type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { secret } from "../given.ts";
import { HMAC_SECRET } from "../../core/own_objects.ts";
import { eventually, startOperator } from "./operator.ts";

const USER = `system:serviceaccount:${NAMESPACE}:${NAME}`;
const PLACE = "servers";

/** Asked for by admission plugins of OpenShift alone, which no audit log shows. */
const NEVER_SEEN = ["update llamastackdistributions/finalizers", "create routes/custom-host"];

Deno.test("the operator's account may do what it does, and nothing else, on a real API server", async (t) => {
  const cluster = await startControlPlane({ kwok: true, audit: true });
  try {
    await prepare(cluster);
    await t.step("in the whole cluster: no call is refused, no rule is without a call", async () => {
      const choices = DEFAULT;
      await install(cluster, choices);
      // As after a restore that lost its content.
      await cluster.kubectl(["create", "secret", "generic", HMAC_SECRET, "-n", NAMESPACE]);
      await lifeOfAServer(cluster, choices, "all");
      await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(ROUTE_DEFINITION));
      // As after an upgrade from a release that stored the former version.
      await cluster.kubectl([
        ...["patch", "customresourcedefinition", CRD_NAME, "--subresource=status", "--type=merge"],
        ...["-p", JSON.stringify({ status: { storedVersions: ["v1alpha1", "v1alpha2"] } })],
      ]);
      const broken = JSON.stringify({ data: { [AUTHORITY_KEY]: btoa("no authorities") } });
      await cluster.kubectl(["patch", "secret", AUTHORITY_SECRET, "-n", NAMESPACE, "-p", broken]);
      await lifeOfARoute(cluster, choices);
      await cluster.kubectl(["delete", "customresourcedefinition", "routes.route.openshift.io"]);
      const events = await own(cluster, 0);
      deepStrictEqual(refused(events), []);
      deepStrictEqual(unused(permissionsFor(choices), events), NEVER_SEEN);
    });

    for (
      const [what, choices] of Object.entries({
        "in one namespace": { ...DEFAULT, watched: [PLACE] },
        "with Secrets read by name only": { ...DEFAULT, secretPolling: true },
      })
    ) {
      await t.step(`${what}: no call is refused`, async () => {
        const before = (await cluster.auditLog()).length;
        await cluster.kubectl(["delete", "--ignore-not-found", "clusterrolebinding,clusterrole", NAME]);
        await install(cluster, choices);
        await lifeOfAServer(cluster, choices, choices.secretPolling ? "polled" : "one");
        const events = await own(cluster, before);
        ok(events.length > 50, String(events.length));
        deepStrictEqual(refused(events), []);
        const lists = events.filter(({ verb, objectRef }) =>
          (verb === "list" || verb === "watch") && objectRef?.resource === "secrets"
        );
        deepStrictEqual(lists.length === 0, choices.secretPolling);
      });
    }
  } finally {
    await cluster.stop();
  }
});

const prepare = async (cluster: ControlPlane): Promise<void> => {
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: PLACE } },
    keys("database", { url: "postgresql://u:p@db:5432/d" }),
    keys("redis", { password: "word" }),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: SETTINGS_CONFIG_MAP, namespace: NAMESPACE },
      data: { upgradeParallelism: "many" },
    },
  ];
  for (const one of objects) await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(one));
};

const keys = (name: string, stringData: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: PLACE },
  stringData,
});

/** Account, Roles and webhooks only: the operator itself runs in this process. */
const install = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  const objects = installation(choices);
  const definition = objects.find(({ kind }) => kind === "CustomResourceDefinition");
  await installDefinition(cluster, definition as unknown as Parameters<typeof installDefinition>[1]);
  for (
    const one of objects.filter(({ kind }) =>
      /^(ServiceAccount|.*Role.*|ValidatingWebhookConfiguration)$/.test(String(kind))
    )
  ) {
    await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(one));
  }
};

const running = async (cluster: ControlPlane, { watched, secretPolling, webhooks }: Choices) => {
  const token = (await cluster.kubectl(["create", "token", NAME, "-n", NAMESPACE])).trim();
  return await startOperator(cluster, {
    connection: { url: cluster.url, caPem: cluster.caPem, clientCertificate: undefined, token: () => token },
    namespaces: watched,
    secretPolling,
    operatorNamespace: NAMESPACE,
    install: false,
    webhooks: { webhookAddress: webhooks ? "127.0.0.1:0" : "0", drainMs: 0 },
    leaderElect: true,
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

const BARE: JsonObject = { providers: FULL.providers ?? null, workload: { replicas: 1, storage: { size: "1Gi" } } };

const BROKEN: JsonObject = { storage: { sql: { type: "postgres", connectionString: secret("gone", "url") } } };

/** Every kind of object comes; most of them go again; configs follow each other; a failure leaves scaling possible. */
const lifeOfAServer = async (cluster: ControlPlane, choices: Choices, name: string): Promise<void> => {
  const operator = await running(cluster, choices);
  try {
    // Under a resource that has a status already each name is looked up before it is written.
    await write(cluster, name, { ...FULL, ...BROKEN });
    await told(cluster, name);
    await write(cluster, name, FULL);
    await cleared(cluster, name, "pdb,hpa,networkpolicy,ingress", 4);
    await write(cluster, name, BARE);
    await cleared(cluster, name, "pdb,hpa,networkpolicy,ingress,secret", 0);
    for (const count of [1, 2, 3]) {
      await write(cluster, name, {
        ...BARE,
        resources: { models: Array.from({ length: count }, (_, index) => ({ name: `m${index}` })) },
      });
      await isReady(cluster, name, count);
    }
    // The ReplicaSets of former edits keep their configs.
    await cluster.kubectl(["delete", "replicasets", "-n", PLACE, "-l", `app.kubernetes.io/instance=${name}`]);
    await eventually("former configs are gone", async () => {
      const labels = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=generated-config`;
      const found = await cluster.kubectl(["get", "configmaps", "-n", PLACE, "-l", labels, "-o", "name"]);
      return found.trim().split("\n").length === 2 ? true : undefined;
    });
    await write(cluster, name, { ...BARE, ...BROKEN, workload: { replicas: 2, storage: { size: "1Gi" } } });
    await eventually("the new number of pods", async () => {
      const deployment = await get(cluster, `/apis/apps/v1/namespaces/${PLACE}/deployments/${name}`);
      return member(objectAt(deployment, "spec"), "replicas") === 2 ? true : undefined;
    });
  } finally {
    await operator.stop();
  }
};

/** What of a Route is looked at; OpenShift's own definition is of no public package. */
const ROUTE_DEFINITION: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "routes.route.openshift.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
  },
  spec: {
    group: "route.openshift.io",
    names: { kind: "Route", plural: "routes" },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    }],
  },
};

const lifeOfARoute = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  await eventually("Routes are served", async () => {
    const answer = await cluster.fetch("/apis/route.openshift.io/v1");
    await answer.body?.cancel();
    return answer.ok ? true : undefined;
  });
  const operator = await running(cluster, choices);
  try {
    await write(cluster, "routed", BARE);
    await told(cluster, "routed");
    await write(cluster, "routed", { ...BARE, networking: { expose: {} } });
    await cleared(cluster, "routed", "routes.route.openshift.io", 1);
    await write(cluster, "routed", BARE);
    await cleared(cluster, "routed", "routes.route.openshift.io", 0);
  } finally {
    await operator.stop();
  }
};

const write = (cluster: ControlPlane, name: string, spec: JsonObject): Promise<string> =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-f", "-"],
    JSON.stringify({
      apiVersion: "llamastack.io/v1alpha2",
      kind: "LlamaStackDistribution",
      metadata: { name, namespace: PLACE },
      spec: { distribution: { name: "starter" }, ...spec },
    }),
  );

const cleared = (cluster: ControlPlane, name: string, kinds: string, count: number): Promise<true> =>
  eventually(`${count} of ${kinds} for ${name}`, async () => {
    const labels = `app.kubernetes.io/instance=${name},app.kubernetes.io/managed-by=llama-stack-operator`;
    const found = await cluster.kubectl(["get", kinds, "-n", PLACE, "-l", labels, "-o", "name"]);
    return found.split("\n").filter((line) => line !== "").length === count ? true : undefined;
  }, 60_000);

const statusOf = async (cluster: ControlPlane, name: string): Promise<JsonObject> =>
  objectAt(
    await get(cluster, `/apis/llamastack.io/v1alpha2/namespaces/${PLACE}/llamastackdistributions/${name}`),
    "status",
  );

const told = (cluster: ControlPlane, name: string): Promise<true> =>
  eventually(
    `a status of ${name}`,
    async () => member(await statusOf(cluster, name), "conditions") === undefined ? undefined : true,
  );

const isReady = (cluster: ControlPlane, name: string, models: number): Promise<true> =>
  eventually(`${name} with ${models} models`, async () => {
    const status = await statusOf(cluster, name);
    return stringAt(status, "phase") === "Ready" &&
        member(objectAt(status, "configGeneration"), "resourceCount") === models
      ? true
      : undefined;
  }, 90_000);

const get = async (cluster: ControlPlane, path: string): Promise<JsonObject> =>
  await (await cluster.fetch(path)).json() as JsonObject;

const own = async (cluster: ControlPlane, from: number): Promise<ReadonlyArray<AuditEvent>> =>
  (await cluster.auditLog()).slice(from).filter(({ user }) => user.username === USER);

const refused = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<string> => [
  ...new Set(
    events.filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`),
  ),
];

const unused = (permissions: ReadonlyArray<Permission>, events: ReadonlyArray<AuditEvent>): ReadonlyArray<string> =>
  permissions.flatMap(({ apiGroup, resource, verbs, names, where }) =>
    verbs.filter((verb) =>
      !events.some(({ verb: seen, objectRef, responseStatus }) =>
        // An apply that makes its object needs both verbs, and is noted as `patch`.
        (seen === verb || (verb === "create" && seen === "patch" && responseStatus?.code === 201)) &&
        (objectRef?.apiGroup ?? "") === apiGroup &&
        [objectRef?.resource, objectRef?.subresource].filter((one) => one !== undefined).join("/") === resource &&
        (names === undefined || names.includes(objectRef?.name ?? "")) &&
        (where !== "own" || objectRef?.namespace === NAMESPACE)
      )
    ).map((verb) => `${verb} ${resource}`)
  );
