import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { secret } from "../../tests/given.ts";
import {
  after,
  converged,
  edited,
  OPERATOR,
  type Plan,
  planOf,
  secretsOf,
  snapshot,
  UID,
} from "../../tests/snapshots.ts";
import { at, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { readManifests } from "../data/yaml.ts";
import { tlsPair } from "../../tools/tls_pair.ts";
import { referencesOf } from "../snapshot/references.ts";
import { decodeResource } from "../api/decode.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { livePod } from "../snapshot/live_pod.ts";
import { liveReplicaSet } from "../snapshot/live_replica_set.ts";
import type { ConfigMapContent } from "../config/config_map_content.ts";

const GENERATED: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const WITH_KEY: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", apiKey: secret("s", "token") }] },
};
const SECRETS = secretsOf({ "s": { token: "value-one" } });

const said = ({ steps }: Plan): ReadonlyArray<string> =>
  steps.map((step) => {
    switch (step._tag) {
      case "Apply":
        return `Apply ${step.manifest.kind}`;
      case "TakeOver":
        return `TakeOver ${step.key.kind}`;
      case "Prune":
        return `Prune ${step.key.kind}/${step.key.name}`;
      case "Scale":
        return `Scale ${step.replicas}`;
      case "Announce":
        return step.note.reason;
      case "SetStatus":
        return "SetStatus";
    }
  });
const condition = (plan: Plan | ClusterSnapshot, type: string): string => {
  const status = "steps" in plan
    ? plan.steps.flatMap((step) => step._tag === "SetStatus" ? [step.status as unknown as Json] : [])[0]
    : plan.resource.status;
  const found = listAt(status, "conditions").find((value) => stringAt(value, "type") === type);
  return found === undefined ? "absent" : `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};
const deployment = (clusterSnapshot: ClusterSnapshot): Json | undefined => clusterSnapshot.live.get("Deployment/my");

/** What a failure must leave byte for byte. */
const running = (clusterSnapshot: ClusterSnapshot): string =>
  JSON.stringify([...clusterSnapshot.live].filter(([key]) => !key.startsWith("Secret/")));

Deno.test("decide() creates a resource in one reconciliation, reports it, and then has nothing to do", () => {
  const first = planOf(snapshot(GENERATED));
  deepStrictEqual(said(first), [
    "Apply ServiceAccount",
    "Apply ConfigMap",
    "Apply Deployment",
    "Apply Service",
    "DeploymentUpdated",
    "SetStatus",
  ]);
  const { snapshot: settled, passes } = converged(snapshot(GENERATED));
  strictEqual(passes, 1);
  strictEqual(condition(settled, "Ready"), "True Ready");
  deepStrictEqual([at(settled.resource, "status", "phase"), at(settled.resource, "status", "observedGeneration")], [
    "Ready",
    1,
  ]);
});

const PAIR: Readonly<Record<string, string>> = await tlsPair(["my-service.default.svc"]);

/** Snapshots in which everything that a resource names is there. */
const satisfied = (resource: JsonObject): ClusterSnapshot => {
  const { spec } = Result.getOrThrow(decodeResource(resource, "strict"));
  const secrets = new Map<string, Record<string, string>>();
  const configMaps = new Map<string, ConfigMapContent>();
  for (const { kind, name, key = "any" } of referencesOf(spec)) {
    if (kind === "Secret") {
      const value = name === "database" ? "postgresql://stack:pw@db:5432/stack" : PAIR[key] ?? `value of ${key}`;
      secrets.set(name, { ...secrets.get(name), [key]: value });
    } else {configMaps.set(`default/${name}`, {
        data: { [key]: key === "config.yaml" ? "version: 2" : "" },
        binaryData: {},
      });}
  }
  return snapshot(resource.spec as JsonObject, { secrets: secretsOf(Object.fromEntries(secrets)), configMaps });
};

const SAMPLES = new URL("../../deploy/samples/", import.meta.url);
for (const { name } of Deno.readDirSync(SAMPLES)) {
  Deno.test(`planOf() has an empty second plan for the sample ${name}`, async () => {
    const documents = Result.getOrThrow(readManifests(await Deno.readTextFile(new URL(name, SAMPLES))));
    const { snapshot: settled } = converged(satisfied(documents[0] as JsonObject));
    strictEqual(condition(settled, "Ready"), "True Ready");
  });
}

Deno.test("decide() rolls once for an edit, and writes nothing when the result is the same", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const changed = edited(before, { ...GENERATED, resources: { models: [{ name: "m" }] } });
  deepStrictEqual(said(planOf(changed)).slice(0, 2), ["Apply ConfigMap", "Apply Deployment"]);
  const same = edited(before, { ...GENERATED, resources: {} });
  ok(!said(planOf(same)).includes("Apply ConfigMap"));
  deepStrictEqual(at(after(same, planOf(same)).live.get("Deployment/my"), "spec"), at(deployment(before), "spec"));
});

Deno.test("decide() changes image, config, environment and digest in one write", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const plan = planOf(edited(before, { ...GENERATED, distribution: { name: "ogx-starter" } }));
  const writes = plan.steps.flatMap((step) =>
    step._tag === "Apply" && step.manifest.kind === "Deployment" ? [step.manifest] : []
  );
  strictEqual(writes.length, 1);
  const container = listAt(writes[0], "spec", "template", "spec", "containers")[0];
  ok(stringAt(container, "image")?.includes("ogxai/"));
  ok(listAt(container, "env").some((env) => isObject(env) && env.name === "OGX_CONFIG"));
});

const BROKEN: ReadonlyArray<readonly [string, JsonObject, Partial<ClusterSnapshot>, string]> = [
  ["a Secret that is gone", WITH_KEY, { secrets: new Map() }, "SecretsResolved False SecretNotFound"],
  ["a key that is gone", WITH_KEY, { secrets: secretsOf({ "s": {} }) }, "SecretsResolved False SecretKeyMissing"],
  [
    "a ConfigMap that is not there",
    { ...GENERATED, networking: { tls: { caBundle: { configMapName: "c" } } } },
    {},
    "SecretsResolved False ConfigMapNotFound",
  ],
  [
    "a base config that is not there",
    { ...GENERATED, baseConfig: { configMapName: "base" } },
    {},
    "SecretsResolved False ConfigMapNotFound",
  ],
  [
    "an unknown provider type",
    { providers: { inference: [{ provider: "nope" }] } },
    {},
    "ConfigGenerated False UnknownProvider",
  ],
  [
    "a model of an unknown provider",
    { ...GENERATED, resources: { models: [{ name: "m", provider: "x" }] } },
    {},
    "ConfigGenerated False UnknownProvider",
  ],
  [
    "an image without a base",
    { ...GENERATED, distribution: { image: "x:1" } },
    {},
    "ConfigGenerated False BaseConfigRequired",
  ],
  [
    "an unknown distribution",
    { ...GENERATED, distribution: { name: "x" } },
    {},
    "ConfigGenerated False UnknownDistribution",
  ],
  [
    "a secret value that no server takes",
    WITH_KEY,
    { secrets: secretsOf({ "s": { token: "12345" } }) },
    "ConfigGenerated False SecretValueUnusable",
  ],
  [
    "a connection that cannot be split",
    { ...GENERATED, storage: { sql: { type: "postgres", connectionString: secret("s", "token") } } },
    { secrets: SECRETS },
    "ConfigGenerated False SecretValueUnusable",
  ],
  ["a broken own config", { overrideConfig: { configMapName: "c" } }, {
    configMaps: new Map([["default/c", { data: { "config.yaml": "a: [" }, binaryData: {} }]]),
  }, "ConfigGenerated False OverrideConfigInvalid"],
  ["a bundle that holds no certificate", { ...GENERATED, networking: { tls: { caBundle: { configMapName: "c" } } } }, {
    configMaps: new Map([["default/c", { data: { "ca-bundle.crt": "hello" }, binaryData: {} }]]),
  }, "ConfigGenerated False ConfigGenerationFailed"],
  ["a rule that is broken", { storage: { kv: { type: "redis" } } }, {}, "ConfigGenerated False InvalidSpec"],
  ["a field of the wrong type", { providers: { inference: "x" } }, {}, "ConfigGenerated False InvalidSpec"],
  [
    "an external provider of an API that the server lacks",
    { externalProviders: { postTraining: [{ providerId: "x", image: "y" }] } },
    {},
    "ConfigGenerated False NotSupportedByServer",
  ],
];

for (const [name, spec, more, want] of BROKEN) {
  Deno.test(`planOf() leaves the running Deployment byte for byte with ${name}, still scales, reports it once, and recovers`, () => {
    const { snapshot: before } = converged(snapshot(WITH_KEY, { secrets: SECRETS }));
    const broken: ClusterSnapshot = { ...edited(before, { ...spec, workload: { replicas: 3 } }), ...more };
    const plan = planOf(broken);
    strictEqual(`${want.split(" ")[0]} ${condition(plan, want.split(" ")[0] ?? "")}`, want);
    ok(plan.steps.every(({ _tag }) => ["Scale", "Announce", "SetStatus"].includes(_tag)), said(plan).join());
    ok(said(plan).includes("Scale 3") && plan.steps.some(({ _tag }) => _tag === "Announce"));
    const settled = converged(broken).snapshot;
    const template = (clusterSnapshot: ClusterSnapshot) =>
      JSON.stringify(at(deployment(clusterSnapshot), "spec", "template"));
    strictEqual(template(settled), template(before));
    strictEqual(condition(settled, "Stalled").split(" ")[0], "True");
    strictEqual(at(settled.resource, "status", "phase"), "Ready");
    const repaired = converged({ ...edited(settled, WITH_KEY), secrets: SECRETS }).snapshot;
    deepStrictEqual([condition(repaired, "Ready"), condition(repaired, "Stalled")], ["True Ready", "absent"]);
  });

  Deno.test(`planOf() leaves nothing half-made when a first install has ${name}`, () => {
    const { snapshot: settled } = converged(snapshot(spec, more));
    deepStrictEqual([...settled.live.keys()], []);
    strictEqual(at(settled.resource, "status", "phase"), "Failed");
  });
}

Deno.test("decide() reports UpgradeConfigFailure if only the operator changed", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const upgraded: ClusterSnapshot = {
    ...before,
    operator: { ...OPERATOR, version: "0.2.0", surroundings: { ...OPERATOR.surroundings, distributions: new Map() } },
  };
  const { snapshot: settled } = converged(upgraded);
  strictEqual(condition(settled, "ConfigGenerated"), "False UpgradeConfigFailure");
  strictEqual(running(settled), running(before));
});

Deno.test("a failure is the operator's where only an image override changed, and the user's where his ConfigMap did", () => {
  const overrides = {
    settings: new Map([["starter", "mirror.example/llamastack/distribution-starter:0.2.24"]]),
    related: new Map(),
  };
  const { snapshot: before } = converged(snapshot(GENERATED));
  const operator = { ...OPERATOR, surroundings: { ...OPERATOR.surroundings, overrides } };
  strictEqual(condition(converged({ ...before, operator }).snapshot, "ConfigGenerated"), "False UpgradeConfigFailure");
  const own = { overrideConfig: { configMapName: "own" } };
  const holding = (text: string) =>
    new Map([["default/own", { data: { "config.yaml": text }, binaryData: {} } satisfies ConfigMapContent]]);
  const { snapshot: good } = converged(snapshot(own, { configMaps: holding("version: 2") }));
  // The template of a new version of the operator is held meanwhile.
  const newer = { ...OPERATOR, version: "0.2.0", platform: { ...OPERATOR.platform, openshift: true } };
  const { snapshot: broken } = converged({ ...good, operator: newer, configMaps: holding("a: [") });
  strictEqual(condition(broken, "ConfigGenerated"), "False OverrideConfigInvalid");
});

Deno.test("decide() holds a template that only the operator changed, and applies it on request", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const operator = { ...OPERATOR, version: "0.2.0", platform: { ...OPERATOR.platform, openshift: true } };
  const { snapshot: held } = converged({ ...before, operator });
  strictEqual(condition(held, "TemplateHeld"), "True OperatorChanged");
  strictEqual(running(held), running(before));
  const digest = /llamastack\.io\/rollout is set to ([0-9a-f]{64})/.exec(JSON.stringify(held.resource.status))?.[1] ??
    "";
  const metadata = { ...(held.resource.metadata as JsonObject), annotations: { "llamastack.io/rollout": digest } };
  const { snapshot: rolled } = converged({ ...held, resource: { ...held.resource, metadata } });
  strictEqual(condition(rolled, "TemplateHeld"), "absent");
  ok(running(rolled) !== running(before));
});

Deno.test("decide() rolls a held template along with the next edit", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const operator = { ...OPERATOR, version: "0.2.0", platform: { ...OPERATOR.platform, openshift: true } };
  const plan = planOf(edited({ ...before, operator }, { ...GENERATED, resources: { models: [{ name: "m" }] } }));
  ok(said(plan).includes("Apply Deployment"));
});

Deno.test("decide() restarts pods once for a rotated referenced key, never for another key, and never when it is turned off", () => {
  const spec = WITH_KEY;
  const { snapshot: before } = converged(snapshot(spec, { secrets: SECRETS }));
  ok(said(planOf({ ...before, secrets: secretsOf({ "s": { token: "value-two" } }) })).includes("Apply Deployment"));
  deepStrictEqual(said(planOf({ ...before, secrets: secretsOf({ "s": { token: "value-one", other: "x" } }) })), []);
  const never = { ...spec, workload: { replicas: 1, restartPolicyOnSecretChange: "Never" } };
  const { snapshot: quiet } = converged(snapshot(never, { secrets: SECRETS }));
  // Only the record of the Deployment changes, once.
  const { snapshot: rotated } = converged({ ...quiet, secrets: secretsOf({ "s": { token: "value-two" } }) });
  const template = ({ live }: ClusterSnapshot) => at(live.get("Deployment/my") ?? null, "spec", "template");
  deepStrictEqual(template(rotated), template(quiet));
  deepStrictEqual(said(planOf(rotated)), []);
});

Deno.test("a bad value in a Secret is its author's, under every policy of restarts", () => {
  for (const restartPolicyOnSecretChange of ["Auto", "Never"]) {
    const spec = {
      ...GENERATED,
      storage: { sql: { type: "postgres", connectionString: secret("db", "dsn") } },
      workload: { replicas: 1, restartPolicyOnSecretChange },
    };
    const of = (dsn: string) => secretsOf({ db: { dsn } });
    const { snapshot: before } = converged(snapshot(spec, { secrets: of("postgresql://u:p@h/d") }));
    const { snapshot: failed } = converged({ ...before, secrets: of("mysql://u:p@h/d") });
    const conditions = listAt(failed.resource, "status", "conditions");
    const reasons = conditions.map((item) => stringAt(item, "reason"));
    ok(reasons.includes("SecretValueUnusable") && !reasons.includes("UpgradeConfigFailure"), reasons.join());
    strictEqual(running(failed), running(before));
  }
});

Deno.test("decide() puts no secret value into anything but the Secret that is made for it", () => {
  const canary = "canary-5a1d";
  const spec = {
    ...WITH_KEY,
    storage: {
      kv: { type: "redis", endpoint: "redis", password: secret("s", "token") },
      sql: { type: "postgres", connectionString: secret("s", "dsn") },
    },
  };
  const secrets = secretsOf({ "s": { token: canary, dsn: `postgresql://u:${canary}@h/d` } });
  const pods = [{
    metadata: { name: "p" },
    status: { containerStatuses: [{ name: "c", state: { terminated: { exitCode: 1, message: `bad ${canary}` } } }] },
  }];
  const start = snapshot(spec, { secrets, pods: pods.map(livePod) });
  const plan = planOf(start);
  const next = planOf({
    ...after(start, plan),
    live: new Map(
      [...after(start, plan).live].map(([key, one]) => [key, key === "Deployment/my" ? { ...one, status: {} } : one]),
    ),
  });
  const text = JSON.stringify(
    [...plan.steps, ...next.steps].filter((step) => !(step._tag === "Apply" && step.manifest.kind === "Secret")),
  );
  ok(!text.includes(canary) && !text.includes(btoa(canary)));
  ok(JSON.stringify(next.steps).includes("exit code 1 after 0 restarts. See kubectl logs"), JSON.stringify(next.steps));
  deepStrictEqual(said(plan).filter((word) => word === "Apply Secret").length, 2);
});

Deno.test("decide() changes no object of another owner, and names the owner", () => {
  const foreign = (kind: string, apiVersion: string, name: string): [string, JsonObject] => [
    `${kind}/${name}`,
    {
      kind,
      apiVersion,
      metadata: {
        name,
        namespace: "default",
        ownerReferences: [{ controller: true, kind: "Other", name: "o", uid: "x" }],
      },
    },
  ];
  const blocked = planOf(snapshot(GENERATED, { live: new Map([foreign("Deployment", "apps/v1", "my")]) }));
  ok(blocked.steps.every(({ _tag }) => _tag === "Announce" || _tag === "SetStatus"));
  strictEqual(condition(blocked, "DeploymentUpdated"), "False OwnershipConflict");
  const service = planOf(snapshot(GENERATED, { live: new Map([foreign("Service", "v1", "my-service")]) }));
  ok(said(service).includes("Apply Deployment") && !said(service).includes("Apply Service"));
  strictEqual(condition(service, "ServiceReady"), "False OwnershipConflict");
});

Deno.test("decide() adopts the kept claim of a former resource of this name", () => {
  const claim: JsonObject = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: "my-pvc",
      namespace: "default",
      labels: { "app.kubernetes.io/managed-by": "llama-stack-operator" },
    },
    spec: { resources: { requests: { storage: "20Gi" } } },
    status: { phase: "Bound" },
  };
  const start = snapshot({ workload: { replicas: 1, storage: { size: "10Gi" } } }, {
    live: new Map([["PersistentVolumeClaim/my-pvc", claim]]),
  });
  const plan = planOf(start);
  const size = plan.steps.flatMap((step) =>
    step._tag === "Apply" && step.manifest.kind === "PersistentVolumeClaim"
      ? [at(step.manifest, "spec", "resources", "requests", "storage")]
      : []
  );
  deepStrictEqual(size, ["20Gi"]);
  strictEqual(converged(start).passes, 1);
});

Deno.test("decide() keeps the config before and every config that something still names, and prunes the rest", () => {
  let current = converged(snapshot(GENERATED)).snapshot;
  const first = stringAt(current.configs[0], "metadata", "name") ?? "";
  for (const name of ["a", "b", "c"]) {
    current = converged(edited(current, { ...GENERATED, resources: { models: [{ name }] } })).snapshot;
  }
  strictEqual(current.configs.length, 2);
  ok(!current.configs.some((config) => stringAt(config, "metadata", "name") === first));
  const pinned = stringAt(current.configs[1], "metadata", "name") ?? "";
  const replicaSets = [{ spec: { template: { spec: { volumes: [{ configMap: { name: pinned } }] } } } }];
  current = converged(
    edited({ ...current, replicaSets: replicaSets.map(liveReplicaSet) }, {
      ...GENERATED,
      resources: { models: [{ name: "d" }] },
    }),
  ).snapshot;
  current = converged(edited(current, { ...GENERATED, resources: { models: [{ name: "e" }] } })).snapshot;
  ok(current.configs.some((config) => stringAt(config, "metadata", "name") === pinned));
});

Deno.test("decide() keeps two configs, in whatever order the cluster shows those of one second", () => {
  const runs = ["a", "b", "c"].map((name) =>
    converged(snapshot({ ...GENERATED, resources: { models: [{ name }] } })).snapshot
  );
  const [a, b, c] = runs.map(({ configs }) => configs[0]);
  const last = runs.at(-1);
  ok(last !== undefined);
  for (const order of [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]) {
    const { snapshot: after } = converged({ ...last, configs: order.filter((item) => item !== undefined) });
    strictEqual(after.configs.length, 2);
    ok(after.configs.includes(c ?? {}));
  }
});

Deno.test("decide() prunes objects that the resource no longer requires, and no claim", () => {
  const full = {
    ...GENERATED,
    networking: { expose: {}, allowedFrom: {} },
    workload: { replicas: 2, storage: { size: "1Gi" }, autoscaling: { maxReplicas: 3 } },
  };
  const { snapshot: before } = converged(snapshot(full));
  const plan = planOf(edited(before, GENERATED));
  deepStrictEqual(said(plan).filter((text) => text.startsWith("Prune")).sort(), [
    "Prune HorizontalPodAutoscaler/my-hpa",
    "Prune Ingress/my-ingress",
    "Prune NetworkPolicy/my-network-policy",
    "Prune PodDisruptionBudget/my-pdb",
  ]);
});

Deno.test("decide() warns of autoscalers that would change the number of pods in turns", () => {
  const told = (workload: JsonObject, ...scalers: ReadonlyArray<string>) => {
    const { decision } = planOf(snapshot({ ...GENERATED, workload }, { scalers }));
    return (decision.kind === "rollout" ? decision.prepared.warnings : []).filter(({ code }) =>
      code === "SeveralAutoscalers"
    )
      .map(({ path }) => path.join("."));
  };
  deepStrictEqual(told({ scaling: "External" }, "keda-hpa-my"), []);
  deepStrictEqual(told({ scaling: "External" }, "keda-hpa-my", "mine"), ["spec.workload.scaling"]);
  deepStrictEqual(told({ autoscaling: { maxReplicas: 8 } }, "mine", "my-hpa"), ["spec.workload.autoscaling"]);
});

Deno.test("decide() hands the number of pods over to the autoscaler before it gives up the field", () => {
  const { snapshot: before } = converged(snapshot({ ...GENERATED, workload: { replicas: 4 } }));
  const owned = { manager: "llama-stack-operator", operation: "Apply", fieldsV1: { "f:spec": { "f:replicas": {} } } };
  const live = new Map(before.live);
  const old = live.get("Deployment/my") ?? {};
  live.set("Deployment/my", { ...old, metadata: { ...(old.metadata as JsonObject), managedFields: [owned] } });
  const plan = planOf(
    edited({ ...before, live }, { ...GENERATED, workload: { replicas: 4, autoscaling: { maxReplicas: 8 } } }),
  );
  const order = said(plan);
  ok(order.indexOf("Scale 4") >= 0 && order.indexOf("Scale 4") < order.indexOf("Apply Deployment"), order.join());
});

Deno.test("decide() applies under the version that it read, or under that which an earlier step leaves", () => {
  const { snapshot: before } = converged(snapshot({ ...GENERATED, workload: { replicas: 4 } }));
  const owned = { manager: "llama-stack-operator", operation: "Apply", fieldsV1: { "f:spec": { "f:replicas": {} } } };
  const live = new Map(before.live);
  live.delete("Service/my-service");
  const old = live.get("Deployment/my") ?? {};
  const metadata = { ...(old.metadata as JsonObject), resourceVersion: "41", managedFields: [owned] };
  live.set("Deployment/my", { ...old, metadata });
  const preconditions = (spec: JsonObject) =>
    Object.fromEntries(
      planOf(edited({ ...before, live }, spec)).steps.flatMap((step) =>
        step._tag === "Apply" && ["Deployment", "Service"].includes(step.manifest.kind)
          ? [[step.manifest.kind, step.precondition]]
          : []
      ),
    );
  deepStrictEqual(preconditions({ ...GENERATED, workload: { replicas: 5 } }), {
    Deployment: { version: "41" },
    Service: "must not exist",
  });
  deepStrictEqual(preconditions({ ...GENERATED, workload: { replicas: 4, autoscaling: { maxReplicas: 8 } } }), {
    Deployment: "as just written",
    Service: "must not exist",
  });
});

Deno.test("decide() only reports a suspended resource, and does nothing for a deleted one", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const paused =
    converged(edited(before, { ...GENERATED, suspend: true, resources: { models: [{ name: "m" }] } })).snapshot;
  strictEqual(running(paused), running(before));
  strictEqual(condition(paused, "Reconciling"), "False Suspended");
  const metadata = { ...(before.resource.metadata as JsonObject), deletionTimestamp: "2026-01-01T00:00:00Z" };
  deepStrictEqual(said(planOf({ ...before, resource: { ...before.resource, metadata } })), ["SetStatus"]);
});

Deno.test("decide() repairs manual changes", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const live = new Map(before.live);
  live.delete("Service/my-service");
  const old = live.get("Deployment/my") ?? {};
  live.set("Deployment/my", { ...old, spec: { ...(old.spec as JsonObject), replicas: 7 } });
  deepStrictEqual(said(planOf({ ...before, live })).filter((text) => text.startsWith("Apply")), [
    "Apply Deployment",
    "Apply Service",
  ]);
  ok(UID.length > 0);
});

Deno.test("decide() serves a stored resource whose bounds exclude each other, with a warning, as v1alpha1 accepts it", () => {
  const of = (workload: JsonObject) => {
    const plan = planOf(snapshot({ ...GENERATED, workload: { replicas: 4, ...workload } }));
    const kept = plan.decision.kind === "rollout" ? plan.decision.prepared : undefined;
    return {
      warnings: kept?.warnings.filter(({ code }) => code === "AcceptedBefore").map(({ path }) => path.join(".")),
      spec: (kind: string) =>
        plan.steps.flatMap((step) =>
          step._tag === "Apply" && step.manifest.kind === kind ? [step.manifest.spec] : []
        )[0],
    };
  };
  const budget = of({ podDisruptionBudget: { minAvailable: 1, maxUnavailable: 2 } });
  deepStrictEqual(budget.warnings, ["spec.workload.podDisruptionBudget.maxUnavailable"]);
  const { selector: _, ...bounds } = objectAt(budget.spec("PodDisruptionBudget"));
  deepStrictEqual(bounds, { minAvailable: 1 });
  const scaled = of({ autoscaling: { minReplicas: 5, maxReplicas: 2 } });
  deepStrictEqual(scaled.warnings, ["spec.workload.autoscaling.maxReplicas"]);
  const { minReplicas, maxReplicas } = objectAt(scaled.spec("HorizontalPodAutoscaler"));
  deepStrictEqual([minReplicas, maxReplicas], [2, 2]);
});

const GATEWAY: JsonObject = {
  distribution: { name: "ogx-starter" },
  auth: { upstreamHeader: { principalHeader: "x-user" } },
  networking: { allowedFrom: { namespaces: ["gateway"] } },
};

Deno.test("decide() guards a server that believes its gateway before it starts it, and does not start it unguarded", () => {
  const { steps } = planOf(snapshot(GATEWAY));
  const applied = steps.flatMap((step) => step._tag === "Apply" ? [step] : []);
  const order = applied.map(({ manifest }) => manifest.kind);
  ok(order.indexOf("NetworkPolicy") < order.indexOf("Deployment"), order.join());
  strictEqual(applied.find(({ manifest }) => manifest.kind === "NetworkPolicy")?.blocks, true);
  const taken = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "my-network-policy" } };
  const { decision } = planOf(snapshot(GATEWAY, { live: new Map([["NetworkPolicy/my-network-policy", taken]]) }));
  deepStrictEqual([decision.kind, decision.steps], ["preserved", []]);
});
