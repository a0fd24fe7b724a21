/** What former pods, and a rollback to their template, need of the objects around them. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { secret } from "../../tests/given.ts";
import { after, converged, edited, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { at, type Json, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { livePod } from "../snapshot/live_pod.ts";
import { type LiveReplicaSet, liveReplicaSet } from "../snapshot/live_replica_set.ts";

const GENERATED: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
/** One pod with a claim: its former pod ends before the new one starts, and a failure is rolled back. */
const RECREATED: JsonObject = { ...GENERATED, workload: { replicas: 1, storage: { size: "1Gi" } } };

const deployment = (of: ClusterSnapshot): JsonObject => of.live.get("Deployment/my") ?? {};
const object = (of: ClusterSnapshot, key: string): JsonObject => of.live.get(key) ?? {};

const withDeployment = (of: ClusterSnapshot, path: ReadonlyArray<string>, value: Json): ClusterSnapshot => ({
  ...of,
  live: new Map([...of.live, ["Deployment/my", put(deployment(of), path, value)]]),
});

const replicaSetOf = (of: ClusterSnapshot, revision: string): LiveReplicaSet => {
  const { metadata, spec } = deployment(of) as { metadata: JsonObject; spec: JsonObject };
  const template = objectAt(spec, "template");
  const labels = { ...objectAt(template, "metadata", "labels"), "pod-template-hash": revision };
  return liveReplicaSet({
    kind: "ReplicaSet",
    metadata: {
      name: `my-${revision}`,
      labels,
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "my",
          uid: stringAt(metadata, "uid") ?? "",
          controller: true,
        },
      ],
      annotations: { ...objectAt(metadata, "annotations"), "deployment.kubernetes.io/revision": revision },
    },
    spec: { template: { ...template, metadata: { ...objectAt(template, "metadata"), labels } } },
    status: { replicas: 1 },
  });
};

/** A server that runs, and the same after an edit whose pods exit. */
const failingEdit = (
  spec: JsonObject,
  to: JsonObject,
  more: Partial<ClusterSnapshot> = {},
  /** What changes with the edit. */
  changes: Partial<ClusterSnapshot> = {},
) => {
  const { snapshot: good } = converged(snapshot(spec, more));
  const changed = { ...edited(good, to), ...changes, replicaSets: [replicaSetOf(good, "1")] };
  const applied = after(changed, planOf(changed));
  const second = withDeployment(applied, ["metadata", "annotations", "deployment.kubernetes.io/revision"], "2");
  const failing = withDeployment(second, ["status", "availableReplicas"], 0);
  const state = { waiting: { reason: "CrashLoopBackOff" } };
  const pod = livePod({
    metadata: { name: "my-2-x", labels: { "pod-template-hash": "2" } },
    status: { containerStatuses: [{ name: "llama-stack", ready: false, restartCount: 3, state }] },
  });
  const replicaSets = [replicaSetOf(good, "1"), replicaSetOf(failing, "2")];
  return { good, failing: { ...failing, replicaSets, pods: [pod] } };
};

/** Once the operator has taken the edit back. */
const undone = (failing: ClusterSnapshot): ClusterSnapshot =>
  converged({ ...after(failing, planOf(failing)), pods: [] }).snapshot;

/** Once the pods of the edit are available after all. */
const completed = (failing: ClusterSnapshot): ClusterSnapshot =>
  converged(withDeployment({ ...failing, pods: [] }, ["status", "availableReplicas"], 1)).snapshot;

const servicePort = (of: ClusterSnapshot) =>
  at(listAt(object(of, "Service/my-service"), "spec", "ports")[0], "targetPort");
const secretsOfPods = (of: ClusterSnapshot): ReadonlyArray<JsonObject> =>
  (deploymentIn(of)?.secrets ?? []).flatMap((name): ReadonlyArray<JsonObject> => {
    const own = of.live.get(`Secret/${name}`);
    return own === undefined ? [] : [own];
  });

const SECRETS = {
  secrets: secretsOf({
    db: { url: "postgresql://u:p@old-db:5432/d" },
    db2: { url: "postgresql://u:p@new-db:5432/d" },
  }),
};
const postgres = (name: string) => ({ storage: { sql: { type: "postgres", connectionString: secret(name, "url") } } });
const hostOf = (of: ClusterSnapshot) =>
  secretsOfPods(of).map((own) => atob(stringAt(own, "data", "LLSD_SQL_HOST") ?? "")).filter((host) => host !== "");

for (const [what, edit] of [["another", postgres("db2")], ["no", { storage: { sql: { type: "sqlite" } } }]] as const) {
  Deno.test(`a rollback from an edit with ${what} connection finds the connection of its template`, () => {
    const { failing } = failingEdit({ ...RECREATED, ...postgres("db") }, { ...RECREATED, ...edit }, SECRETS);
    const settled = undone(failing);
    deepStrictEqual(hostOf(settled), ["old-db"]);
    strictEqual(deploymentIn(settled)?.record.rolledBack !== undefined, true);
  });
}

Deno.test("the Secret of a former connection is deleted once all pods have the new one", () => {
  const { good, failing } = failingEdit(
    { ...RECREATED, ...postgres("db") },
    { ...RECREATED, ...postgres("db2") },
    SECRETS,
  );
  const secretsIn = (of: ClusterSnapshot) => [...of.live.keys()].filter((key) => key.startsWith("Secret/"));
  strictEqual(secretsIn(failing).length, 2);
  const settled = completed(failing);
  deepStrictEqual(hostOf(settled), ["new-db"]);
  strictEqual(secretsIn(settled).length, 1);
  ok(!secretsIn(good).includes(secretsIn(settled)[0] ?? ""));
});

Deno.test("the Secret of a connection with which no pod ever became available goes with it", () => {
  const unready = (of: ClusterSnapshot) => {
    const { replicas: _, ...counts } = objectAt(deployment(of), "status");
    const status = { ...counts, availableReplicas: 0, conditions: [] };
    return { ...of, live: new Map([...of.live, ["Deployment/my", put(deployment(of), ["status"], status)]]) };
  };
  const first = unready(converged(snapshot({ ...RECREATED, ...postgres("db") }, SECRETS)).snapshot);
  const changed = edited(first, { ...RECREATED, storage: { sql: { type: "sqlite" } } });
  const { steps } = planOf(changed);
  strictEqual(steps.filter((step) => step._tag === "Prune" && step.key.kind === "Secret").length, 1);
});

for (const [how, spec] of [["under Recreate", RECREATED], ["under RollingUpdate", GENERATED]] as const) {
  Deno.test(`the Service reaches the pods that serve until a new port is rolled out, ${how}`, () => {
    const { failing } = failingEdit(spec, {
      ...spec,
      networking: { port: 9000, expose: { hostname: "a.example.com" } },
    });
    for (const state of [failing, ...(spec === RECREATED ? [undone(failing)] : [])]) {
      strictEqual(servicePort(state), 8321);
      const [rule] = listAt(object(state, "Ingress/my-ingress"), "spec", "rules");
      const [path] = listAt(rule, "http", "paths");
      strictEqual(at(path, "backend", "service", "port", "number"), 8321);
    }
    strictEqual(servicePort(completed(failing)), 9000);
  });
}

Deno.test("the status has the address of the pods that serve", () => {
  const { failing } = failingEdit(RECREATED, { ...RECREATED, networking: { port: 9000 } });
  const url = (of: ClusterSnapshot) => stringAt(of.resource, "status", "serviceURL");
  strictEqual(url(undone(failing)), "http://my-service.default.svc.cluster.local:8321");
  strictEqual(url(completed(failing)), "http://my-service.default.svc.cluster.local:9000");
});

Deno.test("a NetworkPolicy lets in on the ports of both templates until the new one is rolled out", () => {
  const allowedFrom = { namespaces: ["team"] };
  const spec = { ...GENERATED, networking: { allowedFrom } };
  const { failing } = failingEdit(spec, { ...spec, networking: { allowedFrom, port: 9000 } });
  const ports = (of: ClusterSnapshot) =>
    listAt(listAt(object(of, "NetworkPolicy/my-network-policy"), "spec", "ingress")[0], "ports").map((one) =>
      at(one, "port")
    );
  deepStrictEqual(ports(failing), [8321, 9000]);
  deepStrictEqual(ports(completed(failing)), [9000]);
});

const OIDC = { oidc: { issuer: "https://i.example.com", audience: "a", jwksUri: "https://i.example.com/keys" } };
const peersOf = (of: ClusterSnapshot) =>
  JSON.stringify(
    listAt(object(of, "NetworkPolicy/my-network-policy"), "spec", "ingress").map((rule) => at(rule, "from")),
  );

for (
  const [what, auth] of [
    ["believe a header", { upstreamHeader: { principalHeader: "x-user" } }],
    ["ask for no credential", undefined],
  ] as const
) {
  for (const allowedFrom of [undefined, { namespaces: ["*"] }]) {
    Deno.test(`pods that ${what} are guarded until the last is gone, before ${JSON.stringify(allowedFrom)}`, () => {
      const spec = {
        ...GENERATED,
        distribution: { name: "ogx-starter" },
        ...(auth === undefined ? {} : { auth }),
        networking: { allowedFrom: { namespaces: ["gateway"] } },
      };
      const networking = allowedFrom === undefined ? {} : { allowedFrom };
      const { good, failing } = failingEdit(spec, { ...spec, auth: OIDC, networking });
      strictEqual(peersOf(failing), peersOf(good));
      ok(peersOf(good).includes("gateway"));
      const settled = completed(failing);
      strictEqual(settled.live.has("NetworkPolicy/my-network-policy"), allowedFrom !== undefined);
      ok(!peersOf(settled).includes("gateway"));
    });
  }
}

Deno.test("whom a server without authentication lets in can be changed at any time", () => {
  const spec = { ...GENERATED, networking: { allowedFrom: { namespaces: ["a"] } } };
  const { failing } = failingEdit(spec, { ...spec, networking: { port: 9000, allowedFrom: { namespaces: ["b"] } } });
  ok(peersOf(failing).includes('"b"') && !peersOf(failing).includes('"a"'));
});

const VALID = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2096, 0, 1) };
const { cert, key } = await makeLeaf(await makeAuthority(VALID), ["my-service.default.svc"], VALID);

/** Each is edited into each other one. */
const EDITS: ReadonlyArray<JsonObject> = [
  {},
  postgres("db"),
  { ...postgres("db2"), networking: { port: 8400 } },
  { storage: { kv: { type: "redis", endpoint: "redis://r:6379", password: secret("keys", "redis") } } },
  { networking: { tls: { caBundle: { configMapName: "ca" } } } },
  { networking: { tls: { caBundle: { configMapName: "ca", configMapKeys: ["other.crt"] } } } },
  { networking: { tls: { caBundle: { configMapName: "other-ca" } }, expose: {}, port: 9000 } },
  { networking: { tls: { enabled: true, secretName: "tls" }, expose: {} } },
  { networking: { allowedFrom: { namespaces: ["a"] } } },
  { auth: OIDC, networking: { port: 9000 } },
  { overrideConfig: { configMapName: "mine" } },
];
const MADE: Partial<ClusterSnapshot> = {
  secrets: secretsOf({
    db: { url: "postgresql://u:p@old-db:5432/d" },
    db2: { url: "postgresql://u:p@new-db:5432/d" },
    keys: { redis: "word" },
    tls: { "tls.crt": cert, "tls.key": key },
  }),
  configMaps: new Map(
    Object.entries({
      ca: { "ca-bundle.crt": "", "other.crt": cert },
      "other-ca": { "ca-bundle.crt": cert },
      mine: { "config.yaml": "version: 2\nproviders: {}\n" },
    }).map(([name, data]) => [`default/${name}`, { data, binaryData: {} }]),
  ),
};

for (const [index, from] of EDITS.entries()) {
  Deno.test(`whatever a failing edit changes, the former pods of resource ${index} and a rollback find what they need`, () => {
    for (const to of EDITS) {
      if (to === from) continue;
      const spec = (edits: JsonObject): JsonObject => ({
        ...(edits.overrideConfig === undefined ? RECREATED : { workload: RECREATED.workload ?? {} }),
        distribution: { name: "ogx-starter" },
        ...edits,
      });
      const { good, failing } = failingEdit(spec(from), spec(to), MADE);
      const wanted = deploymentIn(good);
      ok(wanted !== undefined, JSON.stringify(from));
      for (const state of [failing, undone(failing)]) {
        const names = [...state.live.keys(), ...state.configs.map((one) => `ConfigMap/${at(one, "metadata", "name")}`)];
        const needed: ReadonlyArray<string> = [
          ...wanted.secrets.map((name) => `Secret/${name}`),
          ...wanted.configMaps.map((name) => `ConfigMap/${name}`),
          ...wanted.claims.map((name) => `PersistentVolumeClaim/${name}`),
        ].filter((key) => key.split("/")[1]?.startsWith("my-"));
        deepStrictEqual(needed.filter((key) => !names.includes(key)), [], JSON.stringify([from, to]));
        for (const key of needed) deepStrictEqual(state.live.get(key)?.data, good.live.get(key)?.data, key);
        strictEqual(servicePort(state), wanted.serverPort?.port, JSON.stringify([from, to]));
      }
    }
  });
}

const bundleFrom = (pem: string): Pick<ClusterSnapshot, "configMaps"> => ({
  configMaps: new Map([["default/ca", { data: { "ca-bundle.crt": pem }, binaryData: {} }]]),
});
const CA: JsonObject = { networking: { tls: { caBundle: { configMapName: "ca" } } } };
const copies = (of: ClusterSnapshot): ReadonlyArray<string> =>
  [...of.live.keys()].filter((key) => key.startsWith("ConfigMap/my-ca-bundle-")).sort();
const mountedCopy = (of: ClusterSnapshot): string => `ConfigMap/${deploymentIn(of)?.caBundle}`;

Deno.test("a rollback finds the certificates of its template, also where their ConfigMap has other ones now", () => {
  const spec = { ...RECREATED, ...CA };
  const { good, failing } = failingEdit(spec, spec, bundleFrom(""), bundleFrom(cert));
  deepStrictEqual(object(failing, mountedCopy(failing)).data, { "ca-bundle.crt": cert });
  const settled = undone(failing);
  strictEqual(mountedCopy(settled), mountedCopy(good));
  deepStrictEqual(object(settled, mountedCopy(settled)).data, { "ca-bundle.crt": "" });
  deepStrictEqual(planOf(settled).steps, []);
  const corrected = converged({ ...settled, ...bundleFrom("") }).snapshot;
  deepStrictEqual(copies(corrected), [mountedCopy(good)]);
});

Deno.test("edits of a rollout that never completes leave only what one of its templates has", async () => {
  const others = await Promise.all(
    [1, 2, 3].map(async () => (await makeLeaf(await makeAuthority(VALID), ["a"], VALID)).cert),
  );
  const spec = { ...GENERATED, ...CA, ...postgres("db") };
  const { good, failing } = failingEdit(spec, spec, { ...SECRETS, ...bundleFrom("") }, bundleFrom(cert));
  const last = others.reduce((before: ClusterSnapshot, pem, index) => {
    const next = { ...edited(before, { ...spec, ...postgres(index === 0 ? "db2" : "db") }), ...bundleFrom(pem) };
    const applied = withDeployment(after(next, planOf(next)), ["status", "availableReplicas"], 0);
    // The pass that sees the edit, and one more.
    return withDeployment(after(applied, planOf(applied)), ["status", "availableReplicas"], 0);
  }, failing);
  deepStrictEqual(copies(last), [mountedCopy(good), mountedCopy(failing), mountedCopy(last)].sort());
  deepStrictEqual(secretsOfPods(last).length, 1);
  strictEqual([...last.live.keys()].filter((key) => key.startsWith("Secret/my-sql-")).length, 1);
});

Deno.test("a copy of certificates that is too large for the cache is deleted as others are", () => {
  const { snapshot: settled } = converged(snapshot({ ...GENERATED, ...CA }, bundleFrom("")));
  const former = put(
    omit(object(settled, mountedCopy(settled)), "data"),
    ["metadata", "name"],
    "my-ca-bundle-0123abcd",
  ) as JsonObject;
  const pruned = (largeBundles: ReadonlyArray<JsonObject>) =>
    planOf({ ...settled, largeBundles }).steps.flatMap((step) => step._tag === "Prune" ? [step.key.name] : []);
  deepStrictEqual(pruned([former]), ["my-ca-bundle-0123abcd"]);
  deepStrictEqual(pruned([omit(object(settled, mountedCopy(settled)), "data")]), []);
});

Deno.test("certificates of a former template that somebody deleted are reported, as nobody has them any more", () => {
  const spec = { ...RECREATED, ...CA };
  const { good, failing } = failingEdit(spec, spec, bundleFrom(""), bundleFrom(cert));
  const settled = undone(failing);
  const live = new Map(settled.live);
  live.delete(mountedCopy(good));
  const told = converged({ ...settled, live }).snapshot;
  const said = JSON.stringify(told.resource.status);
  ok(said.includes("ConfigMissing") && said.includes(`${deploymentIn(good)?.caBundle}`), said);
  ok(!JSON.stringify(settled.resource.status).includes("ConfigMissing"));
});

/** Its rollout is complete, as Kubernetes says it. */
const rolledOut = (of: ClusterSnapshot, revision: string): ClusterSnapshot => {
  const numbered = withDeployment(of, ["metadata", "annotations", "deployment.kubernetes.io/revision"], revision);
  const progressing = { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" };
  const live = put(deployment(numbered), ["status", "conditions"], [progressing]) as JsonObject;
  const known = { ...numbered, live: new Map([...numbered.live, ["Deployment/my", live]]) };
  const former = known.replicaSets.map((one) => ({ ...one, replicas: 0 }));
  return { ...known, replicaSets: [...former, { ...replicaSetOf(known, revision), replicas: 2 }] };
};

/** An edit of the Deployment that its controller has not seen yet. */
const unobserved = (of: ClusterSnapshot): ClusterSnapshot => withDeployment(of, ["metadata", "generation"], 99);

Deno.test("an edit of the Deployment that leaves its template alone is no rollout: nothing is written", () => {
  const spec = { ...GENERATED, workload: { replicas: 2 } };
  const first = rolledOut(converged(snapshot(spec)).snapshot, "1");
  const next = edited(first, { ...spec, networking: { port: 9000, allowedFrom: { namespaces: ["a"] } } });
  const settled = converged(rolledOut(after(next, planOf(next)), "2")).snapshot;
  strictEqual(servicePort(settled), 9000);
  deepStrictEqual(planOf(settled).steps, []);
  deepStrictEqual(planOf(unobserved(settled)).steps, []);
  // Pods that an autoscaler asks for, and one that is gone for now.
  for (const [field, value] of [["spec", 4], ["status", 1]] as const) {
    const counted = withDeployment(settled, [field, field === "spec" ? "replicas" : "availableReplicas"], value);
    strictEqual(servicePort(after(counted, planOf(unobserved(counted)))), 9000);
  }
});

Deno.test("a template whose ReplicaSet has not served is no part of what surrounds the pods, also before Kubernetes sees it", () => {
  const first = rolledOut(converged(snapshot(GENERATED)).snapshot, "1");
  const next = edited(first, { ...GENERATED, networking: { port: 9000 } });
  const applied = unobserved(after(next, planOf(next)));
  strictEqual(servicePort(after(applied, planOf(applied))), 8321);
  // Kubernetes numbers the Deployment before it counts pods.
  const numbered = withDeployment(applied, ["metadata", "annotations", "deployment.kubernetes.io/revision"], "2");
  const counted = { ...numbered, replicaSets: [...numbered.replicaSets, replicaSetOf(numbered, "2")] };
  strictEqual(servicePort(after(counted, planOf(counted))), 8321);
});

const restarted = (of: ClusterSnapshot): ClusterSnapshot =>
  withDeployment(of, ["spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"], "now");

Deno.test("a restart of the pods leaves the Service at their port, which an earlier edit has changed", () => {
  const first = rolledOut(converged(snapshot(GENERATED)).snapshot, "1");
  const next = edited(first, { ...GENERATED, networking: { port: 9000 } });
  const settled = converged(rolledOut(after(next, planOf(next)), "2")).snapshot;
  const started = rolledOut(restarted(settled), "3");
  const running = withDeployment(
    withDeployment(started, ["status", "conditions"], []),
    ["status", "availableReplicas"],
    0,
  );
  strictEqual(servicePort(after(running, planOf(running))), 9000);
});

Deno.test("a restart that fails is not rolled back to an earlier edit under Recreate, as its template once served", () => {
  const first = rolledOut(converged(snapshot(RECREATED)).snapshot, "1");
  const next = edited(first, { ...RECREATED, networking: { port: 9000 } });
  const settled = converged(rolledOut(after(next, planOf(next)), "2")).snapshot;
  deepStrictEqual(planOf(settled).steps, []);
  const started = rolledOut(restarted(settled), "3");
  const failed = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" };
  const counted = withDeployment(started, ["status", "conditions"], [failed]);
  const failing = withDeployment(counted, ["status", "availableReplicas"], 0);
  const left = after(failing, planOf(failing));
  strictEqual(servicePort(left), 9000);
  strictEqual(deploymentIn(left)?.serverPort?.port, 9000);
  strictEqual(deploymentIn(left)?.record.rolledBack, undefined);
});
