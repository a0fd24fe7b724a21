import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { objectOf, objects } from "../../tests/objects.ts";
import * as Result from "effect/Result";
import { decoded, secret, SURROUNDINGS } from "../../tests/given.ts";
import { derive } from "../config/derive.ts";
import { ALLOWANCES_DEFAULT } from "../operator/allowances.ts";
import { deployment } from "./deployment.ts";
import { at, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { blueprintOf, NOWHERE } from "./of_resource.ts";
import { policyWarnings, portNameWarnings } from "./network_policy.ts";

const OPENSHIFT = { platform: { ...NOWHERE.platform, openshift: true, served: ["Route"] } } as const;
const kinds = (spec: JsonObject, place = {}) => objects(spec, place).map(({ kind }) => kind);
const container = (spec: JsonObject, place = {}) =>
  listAt(objectOf("Deployment", spec, place), "spec", "template", "spec", "containers")[0];
const podSpec = (spec: JsonObject, place = {}) =>
  objectAt(objectOf("Deployment", spec, place), "spec", "template", "spec");
const script = (spec: JsonObject) => String(listAt(container(spec), "command")[2]);
const blueprint = (spec: JsonObject, platform = {}, isMonitored = false) => {
  const resource = decoded(spec);
  const place = { ...NOWHERE, platform: { ...NOWHERE.platform, ...platform }, isMonitored };
  return blueprintOf(resource, Result.getOrThrow(derive(resource, SURROUNDINGS)), place);
};
const GENERATED = { storage: { kv: {} } };

Deno.test("objectsOf() makes what a bare resource needs, and nothing else", () => {
  deepStrictEqual(kinds({}), ["ServiceAccount", "Deployment", "Service"]);
});

Deno.test("objectsOf() writes what the Deployment needs before it, and the rest after it", () => {
  const spec = {
    storage: {
      kv: { type: "redis", endpoint: "r", password: secret("s", "k") },
      sql: { type: "postgres", connectionString: secret("s", "k") },
    },
    networking: { expose: {}, allowedFrom: { namespaces: ["a"] }, tls: { caBundle: { configMapName: "c" } } },
    workload: { replicas: 2, storage: { size: "1Gi" }, autoscaling: { maxReplicas: 3 } },
  };
  deepStrictEqual(kinds(spec), [
    "ServiceAccount",
    "PersistentVolumeClaim",
    "Secret",
    "Secret",
    "ConfigMap",
    "ConfigMap",
    "Deployment",
    "Service",
    "NetworkPolicy",
    "Ingress",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
  ]);
});

Deno.test("configMap() is immutable and named after its digest", () => {
  const made = objectOf("ConfigMap", GENERATED);
  const digest = stringAt(made, "metadata", "annotations", "llamastack.io/config-digest") ?? "";
  ok(/^[0-9a-f]{64}$/.test(digest));
  deepStrictEqual([made?.metadata.name, made?.immutable], [`my-config-${digest.slice(0, 8)}`, true]);
});

Deno.test("metadataOf() names the owner of everything but a claim that is kept", () => {
  const spec = { ...GENERATED, workload: { storage: { size: "1Gi" } } };
  const owned = objects(spec, { uid: "u" }).filter(({ metadata }) => "ownerReferences" in metadata).map(({ kind }) =>
    kind
  );
  deepStrictEqual(owned, ["ServiceAccount", "ConfigMap", "Deployment", "Service"]);
  const deleted = { ...GENERATED, workload: { storage: { size: "1Gi", retentionPolicy: "Delete" } } };
  ok("ownerReferences" in (objectOf("PersistentVolumeClaim", deleted, { uid: "u" })?.metadata ?? {}));
});

for (
  const [name, storage, more, want] of [
    ["no claim", undefined, {}, "RollingUpdate"],
    ["ReadWriteOnce", { size: "1Gi" }, {}, "Recreate"],
    ["ReadWriteOncePod", { accessMode: "ReadWriteOncePod" }, {}, "Recreate"],
    ["ReadWriteMany with sqlite", { accessMode: "ReadWriteMany" }, {}, "Recreate"],
    ["ReadWriteMany without sqlite", { accessMode: "ReadWriteMany" }, {
      storage: { kv: { type: "postgres" }, sql: { type: "postgres", connectionString: secret("s", "k") } },
    }, "RollingUpdate"],
    ["an existing claim", { existingClaim: "c" }, {}, "Recreate"],
  ] as const
) {
  Deno.test(`deployment() uses ${want} for ${name}`, () => {
    const spec = { ...GENERATED, ...more, ...(storage === undefined ? {} : { workload: { storage } }) } as JsonObject;
    strictEqual(at(objectOf("Deployment", spec), "spec", "strategy", "type"), want);
  });
}

Deno.test("deployment() leaves replicas to the autoscaler", () => {
  strictEqual(at(objectOf("Deployment", {}), "spec", "replicas"), 1);
  strictEqual(at(objectOf("Deployment", { workload: { replicas: 0 } }), "spec", "replicas"), 0);
  strictEqual(
    at(objectOf("Deployment", { workload: { autoscaling: { maxReplicas: 3 } } }), "spec", "replicas"),
    undefined,
  );
});

Deno.test("startScript() starts the server's factory on port, workers and TLS of the resource", () => {
  const spec = {
    ...GENERATED,
    networking: { port: 9000, tls: { enabled: true, secretName: "t" } },
    workload: { workers: 2 },
  };
  strictEqual(
    script(spec),
    [
      "set -e",
      'mkdir -p "$SQLITE_STORE_DIR" "$FILES_STORAGE_DIR"',
      "export UVICORN_TIMEOUT_WORKER_HEALTHCHECK=${UVICORN_TIMEOUT_WORKER_HEALTHCHECK:-60}",
      "set -- python3 -m uvicorn --factory llama_stack.core.server.server:create_app --host '' --port 9000 --workers 2 " +
      "--lifespan on --ssl-certfile /etc/llama-stack/tls/tls.crt --ssl-keyfile /etc/llama-stack/tls/tls.key",
      'exec "$@"',
    ].join("\n"),
  );
  const probe = at(container(spec) as Json, "readinessProbe", "httpGet");
  deepStrictEqual(probe, { path: "/v1/health", port: 9000, scheme: "HTTPS" });
});

Deno.test("startScript() of OGX starts OGX", () => {
  ok(script({ distribution: { name: "ogx-starter" } }).includes("--factory ogx.core.server.server:create_app"));
});

Deno.test("startScript() detects the server of an image of unknown version", () => {
  const said = script({ distribution: { image: "x" }, overrideConfig: { configMapName: "c" } });
  ok(said.includes("if python3 -c 'import ogx'") && said.includes("elif python3 -c 'import llama_stack'"), said);
});

Deno.test("startScript() traces only where OTEL_* is set", () => {
  ok(!script(GENERATED).includes("opentelemetry-instrument"));
  ok(
    script({ providers: { telemetry: [{ provider: "otel", endpoint: "http://c" }] } }).includes(
      "opentelemetry-instrument",
    ),
  );
});

Deno.test("startCommand() leaves the image's entrypoint alone where the image runs its own config, and the author's own command", () => {
  deepStrictEqual([at(container({}), "command"), at(container({}), "args")], [undefined, undefined]);
  const own = container({ ...GENERATED, workload: { overrides: { command: ["run"], args: ["x"] } } });
  deepStrictEqual([at(own, "command"), at(own, "args")], [["run"], ["x"]]);
});

Deno.test("podTemplate() is restricted, and leaves users to OpenShift", () => {
  deepStrictEqual(podSpec({}).securityContext, {
    runAsNonRoot: true,
    runAsUser: 1001,
    runAsGroup: 1001,
    fsGroup: 1001,
    seccompProfile: { type: "RuntimeDefault" },
  });
  deepStrictEqual(podSpec({}, OPENSHIFT).securityContext, {
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  deepStrictEqual(at(container({}), "securityContext"), {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  strictEqual(podSpec({}).enableServiceLinks, false);
});

Deno.test("podTemplate() carries the overrides of the author", () => {
  const overrides = {
    serviceAccountName: "own",
    envFrom: [{ configMapRef: { name: "c" } }],
    volumes: [{ name: "v", emptyDir: {} }],
    volumeMounts: [{ name: "v", mountPath: "/v" }],
    terminationGracePeriodSeconds: 0,
    nodeSelector: { a: "b" },
    tolerations: [{ key: "k", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    imagePullSecrets: [{ name: "p" }],
    imagePullPolicy: "Always",
    podAnnotations: { a: "b" },
    podLabels: { l: "m", app: "not-this" },
    resourceClaims: [{ name: "gpu", resourceClaimName: "g" }],
    priorityClassName: "high",
    runtimeClassName: "kata",
    securityContext: { runAsUser: 7 },
  };
  const spec = { workload: { overrides } } as unknown as JsonObject;
  const pod = podSpec(spec);
  for (
    const key of [
      "serviceAccountName",
      "terminationGracePeriodSeconds",
      "nodeSelector",
      "tolerations",
      "affinity",
      "imagePullSecrets",
      "resourceClaims",
      "priorityClassName",
      "runtimeClassName",
      "securityContext",
    ] as const
  ) {
    deepStrictEqual(pod[key], overrides[key], key);
  }
  deepStrictEqual([at(container(spec), "envFrom"), at(container(spec), "imagePullPolicy")], [
    overrides.envFrom,
    "Always",
  ]);
  ok(listAt(pod, "volumes").some((volume) => isObject(volume) && volume.name === "v"));
  ok(listAt(container(spec), "volumeMounts").some((mount) => isObject(mount) && mount.mountPath === "/v"));
  const template = objectAt(objectOf("Deployment", spec), "spec", "template", "metadata");
  deepStrictEqual(template, {
    labels: { l: "m", app: "llama-stack", "app.kubernetes.io/instance": "my" },
    annotations: { a: "b" },
  });
});

Deno.test("placement() spreads pods independently of their number, unless the resource sets constraints", () => {
  const several = podSpec({ workload: { replicas: 2 } });
  strictEqual(listAt(several, "topologySpreadConstraints").length, 3);
  ok(isObject(several.affinity));
  deepStrictEqual(podSpec({}), several);
  const own = [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }];
  deepStrictEqual(
    podSpec({ workload: { replicas: 2, topologySpreadConstraints: own } }).topologySpreadConstraints,
    own,
  );
});

Deno.test("resources() requests a core and a GiB per worker, and sets limits once workers are set", () => {
  deepStrictEqual(at(container({}), "resources"), { requests: { cpu: "1", memory: "1Gi" } });
  const three = { cpu: "3", memory: "3Gi" };
  deepStrictEqual(at(container({ workload: { workers: 3 } }), "resources"), { requests: three, limits: three });
  deepStrictEqual(
    at(container({ workload: { workers: 2, resources: { requests: { memory: "4Gi" } } } }), "resources"),
    {
      requests: { cpu: "2", memory: "4Gi" },
      limits: { cpu: "2", memory: "4Gi" },
    },
  );
});

Deno.test("probes() allows ten minutes for a start, or the time set by the resource", () => {
  const budget = (spec: JsonObject) => {
    const { failureThreshold, periodSeconds } = objectAt(container(spec), "startupProbe");
    return Number(failureThreshold) * Number(periodSeconds);
  };
  deepStrictEqual([budget({}), budget({ workload: { probes: { startupSeconds: 900 } } })], [600, 900]);
  strictEqual(at(container({}), "livenessProbe"), undefined);
});

Deno.test("ingress() uses host, class and TLS of the resource", () => {
  const expose = { hostname: "h.example.com", ingressClassName: "nginx", tlsSecretName: "t", annotations: { a: "b" } };
  const made = objectOf("Ingress", { networking: { port: 9000, expose } });
  deepStrictEqual(made?.spec, {
    ingressClassName: "nginx",
    tls: [{ hosts: ["h.example.com"], secretName: "t" }],
    rules: [{
      host: "h.example.com",
      http: {
        paths: [{
          path: "/",
          pathType: "Prefix",
          backend: { service: { name: "my-service", port: { number: 9000 } } },
        }],
      },
    }],
  });
  strictEqual(at(made, "metadata", "annotations", "a"), "b");
});

Deno.test("ingress() is on for {}, off for false and for nothing", () => {
  const exposed = (expose: JsonObject | undefined) =>
    kinds({ networking: expose === undefined ? {} : { expose } }).includes("Ingress");
  deepStrictEqual([exposed({}), exposed({ enabled: true }), exposed({ enabled: false }), exposed(undefined)], [
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("route() replaces the Ingress if the cluster has Routes", () => {
  deepStrictEqual(kinds({ networking: { expose: {} } }, OPENSHIFT), [
    "ServiceAccount",
    "Deployment",
    "Service",
    "Route",
  ]);
  const tls = { enabled: true, secretName: "t" };
  const terminated = (networking: JsonObject) =>
    at(objectOf("Route", { networking }, OPENSHIFT), "spec", "tls", "termination");
  deepStrictEqual([terminated({ expose: {} }), terminated({ expose: {}, tls })], ["edge", "passthrough"]);
});

Deno.test("networkPolicy() allows the namespace of the resource, the operator, and the named namespaces", () => {
  const from = (allowedFrom: JsonObject) =>
    at(listAt(objectOf("NetworkPolicy", { networking: { allowedFrom } }), "spec", "ingress")[0], "from");
  const named = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });
  deepStrictEqual(from({ namespaces: ["apps"], labels: ["team"] }), [
    { podSelector: {} },
    named("llama-stack-operator-system"),
    named("apps"),
    { namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] } },
  ]);
  deepStrictEqual(from({ namespaces: ["*", "apps"] }), [{ namespaceSelector: {} }]);
  strictEqual(objectOf("NetworkPolicy", {}), undefined);
  ok(objectOf("NetworkPolicy", {}, { platform: { ...NOWHERE.platform, networkPolicies: true } }) !== undefined);
});

Deno.test("autoscaler() uses the targets of the resource, else 80 % CPU; a maximum of 0 disables it", () => {
  const hpa = (autoscaling: JsonObject, more = {}) =>
    objectOf("HorizontalPodAutoscaler", { workload: { autoscaling, ...more } });
  const targets = (made: Json | undefined) =>
    listAt(made, "spec", "metrics").map((
      metric,
    ) => [at(metric, "resource", "name"), at(metric, "resource", "target", "averageUtilization")]);
  deepStrictEqual(targets(hpa({ maxReplicas: 3 })), [["cpu", 80]]);
  deepStrictEqual(targets(hpa({ maxReplicas: 3, targetMemoryUtilizationPercentage: 70 })), [["memory", 70]]);
  deepStrictEqual(at(hpa({ maxReplicas: 5 }, { replicas: 2 }), "spec", "minReplicas"), 2);
  deepStrictEqual(at(hpa({ maxReplicas: 5, minReplicas: 1 }, { replicas: 2 }), "spec", "minReplicas"), 2);
  deepStrictEqual(at(hpa({ maxReplicas: 5, minReplicas: 3 }, { replicas: 0 }), "spec", "minReplicas"), 3);
  strictEqual(hpa({ maxReplicas: 0 }), undefined);
});

Deno.test("disruptionBudget() is made for several pods or on request", () => {
  const pdb = (workload: JsonObject) => objectAt(objectOf("PodDisruptionBudget", { workload }), "spec");
  deepStrictEqual(pdb({ replicas: 2 }).maxUnavailable, 1);
  deepStrictEqual(pdb({ podDisruptionBudget: { minAvailable: "50%" } }).minAvailable, "50%");
  strictEqual(objectOf("PodDisruptionBudget", {}), undefined);
});

Deno.test("claim() has the requested size, class and mode", () => {
  const made = objectOf("PersistentVolumeClaim", {
    workload: { storage: { size: "5Gi", storageClassName: "fast", accessMode: "ReadWriteMany" } },
  });
  deepStrictEqual(made?.spec, {
    accessModes: ["ReadWriteMany"],
    resources: { requests: { storage: "5Gi" } },
    storageClassName: "fast",
  });
  strictEqual(
    at(objectOf("PersistentVolumeClaim", { workload: { storage: {} } }), "spec", "resources", "requests", "storage"),
    "10Gi",
  );
  strictEqual(objectOf("PersistentVolumeClaim", { workload: { storage: { existingClaim: "c" } } }), undefined);
});

Deno.test("claim() that outlives its resource is not Argo CD's to delete", () => {
  const of = (storage: JsonObject) =>
    at(objectOf("PersistentVolumeClaim", { workload: { storage } }), "metadata", "annotations") as
      | JsonObject
      | undefined;
  const argo = (storage: JsonObject) =>
    Object.entries(of(storage) ?? {}).filter(([name]) => name.startsWith("argocd.argoproj.io/"));
  deepStrictEqual(argo({ size: "1Gi" }), [
    ["argocd.argoproj.io/compare-options", "IgnoreExtraneous"],
    ["argocd.argoproj.io/sync-options", "Prune=false,Delete=false"],
  ]);
  // A resource that owns its claim takes it along.
  deepStrictEqual(argo({ size: "1Gi", retentionPolicy: "Delete" }), []);
});

Deno.test("podVolumes() keeps /tmp in memory if the user starts OGX' own command line", () => {
  const tmp = (overrides: JsonObject) =>
    listAt(podSpec({ workload: { overrides } }), "volumes").find((volume) => isObject(volume) && volume.name === "tmp");
  deepStrictEqual(tmp({}), { name: "tmp", emptyDir: {} });
  deepStrictEqual(tmp({ command: ["ogx", "run", "x"] }), { name: "tmp", emptyDir: { medium: "Memory" } });
});

Deno.test("networkPolicy() adds the rules of the resource to its own, and allows DNS where it restricts egress", () => {
  const ingress = [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }];
  const egress = [{
    to: [{ podSelector: { matchLabels: { app: "vllm" } } }],
    ports: [{ protocol: "TCP", port: 8000 }],
  }];
  const spec = (policy: JsonObject) => objectOf("NetworkPolicy", { networking: { policy } })?.spec as JsonObject;
  const [usual, ...more] = listAt(spec({}), "ingress");
  deepStrictEqual([more, at(spec({}), "policyTypes"), at(spec({}), "egress")], [[], ["Ingress"], undefined]);
  deepStrictEqual(listAt(usual, "from")[0], { podSelector: {} });
  deepStrictEqual(spec({ ingress }).ingress, [usual, ...ingress]);
  const [dns, ...others] = listAt(spec({ egress }), "egress");
  deepStrictEqual([at(spec({ egress }), "policyTypes"), others], [["Ingress", "Egress"], egress]);
  deepStrictEqual(
    listAt(dns, "ports").map((port) => `${at(port, "protocol")} ${at(port, "port")}`).sort(),
    ["TCP 53", "TCP 5353", "UDP 53", "UDP 5353"],
  );
  deepStrictEqual([listAt(spec({ egress: [] }), "egress"), at(spec({ egress: [] }), "policyTypes")], [
    [dns],
    ["Ingress", "Egress"],
  ]);
  const everywhere = { platform: { ...NOWHERE.platform, networkPolicies: true } };
  strictEqual(objectOf("NetworkPolicy", { networking: { policy: { enabled: false } } }, everywhere), undefined);
});

Deno.test("networkPolicy() allows the ingress controller of the settings to reach an exposed server", () => {
  const labels = { "kubernetes.io/metadata.name": "traefik" };
  const platform = { ...NOWHERE.platform, ingressNamespaceLabels: labels };
  const from = (networking: JsonObject) =>
    listAt(listAt(objectOf("NetworkPolicy", { networking }, { platform }), "spec", "ingress")[0], "from");
  const allowedFrom = { namespaces: ["apps"] };
  deepStrictEqual(from({ allowedFrom, expose: {} }).at(-1), { namespaceSelector: { matchLabels: labels } });
  ok(!JSON.stringify(from({ allowedFrom })).includes("traefik"));
});

Deno.test("ingress() and service() declare to controllers that the server uses TLS, unless the user overrides it", () => {
  const tls = { enabled: true, secretName: "t" };
  const annotations = (kind: "Ingress" | "Service", networking: JsonObject) =>
    objectAt(objectOf(kind, { networking }), "metadata", "annotations");
  const nginx = "nginx.ingress.kubernetes.io/backend-protocol";
  const traefik = "traefik.ingress.kubernetes.io/service.serversscheme";
  deepStrictEqual(annotations("Ingress", { expose: {}, tls })[nginx], "HTTPS");
  deepStrictEqual(annotations("Service", { expose: {}, tls })[traefik], "https");
  deepStrictEqual(annotations("Ingress", { expose: { annotations: { [nginx]: "GRPCS" } }, tls })[nginx], "GRPCS");
  deepStrictEqual(annotations("Ingress", { expose: {} })[nginx], undefined);
  deepStrictEqual(annotations("Service", { expose: {} })[traefik], undefined);
});

Deno.test("the container runs as root if the resource requests it and the settings allow it", () => {
  const nonRoot = (spec: JsonObject) => {
    const allow = { ...ALLOWANCES_DEFAULT, privileged: true };
    const resource = decoded(spec);
    const derived = Result.getOrThrow(derive(resource, { ...SURROUNDINGS, allow }));
    const [first] = listAt(
      deployment(blueprintOf(resource, derived, NOWHERE)),
      "spec",
      "template",
      "spec",
      "containers",
    );
    return at(first, "securityContext", "runAsNonRoot");
  };
  const asking = (securityContext: JsonObject) => nonRoot({ workload: { overrides: { securityContext } } });
  deepStrictEqual([asking({ runAsUser: 0 }), asking({ runAsNonRoot: false })], [false, false]);
  deepStrictEqual([asking({ runAsUser: 1000 }), nonRoot({})], [true, true]);
});

const mountsOf = (spec: JsonObject) =>
  listAt(container(spec), "volumeMounts").map((mount) => `${stringAt(mount, "name")} ${stringAt(mount, "mountPath")}`);
const volumesOf = (spec: JsonObject) => listAt(podSpec(spec), "volumes").map((volume) => stringAt(volume, "name"));
const withVolume = (name: string, mountPath: string): JsonObject => ({
  workload: { overrides: { volumes: [{ name, emptyDir: {} }], volumeMounts: [{ name, mountPath }] } },
});

Deno.test("podVolumes() leaves out the /tmp of the operator where the resource mounts its own", () => {
  const spec = withVolume("tmp-dir", "/tmp");
  deepStrictEqual([volumesOf(spec), mountsOf(spec)], [
    ["lls-storage", "tmp-dir"],
    ["lls-storage /.llama", "tmp-dir /tmp"],
  ]);
  for (const path of ["/tmp/", "/tmp/./", "//tmp", "/var/../tmp"]) {
    deepStrictEqual(mountsOf(withVolume("mine", path)).length, 2);
  }
  const data = { workload: { storage: { mountPath: "/tmp/" } } };
  deepStrictEqual([volumesOf(data), mountsOf(data)], [["lls-storage"], ["lls-storage /tmp"]]);
  const part = { workload: { overrides: { volumeMounts: [{ name: "tmp", mountPath: "/tmp", subPath: "a" }] } } };
  deepStrictEqual([volumesOf(part), mountsOf(part)], [["lls-storage", "tmp"], ["lls-storage /.llama", "tmp /tmp"]]);
});

Deno.test("podVolumes() gives a volume of the operator another name where the resource uses its name", () => {
  const spec = withVolume("tmp", "/scratch");
  deepStrictEqual([volumesOf(spec), mountsOf(spec)], [
    ["lls-storage", "lls-tmp", "tmp"],
    ["lls-storage /.llama", "lls-tmp /tmp", "tmp /scratch"],
  ]);
  const trusted = {
    ...withVolume("ca-bundle", "/v"),
    networking: { tls: { caBundle: { configMapName: "c" } } },
  };
  deepStrictEqual(volumesOf(trusted), ["lls-storage", "lls-ca-bundle", "trusted-authorities", "tmp", "ca-bundle"]);
  const [init] = listAt(podSpec(trusted), "initContainers");
  deepStrictEqual(listAt(init, "volumeMounts").map((mount) => stringAt(mount, "name")), [
    "lls-ca-bundle",
    "trusted-authorities",
  ]);
});

Deno.test("podVolumes() changes nothing for mounts at other paths", () => {
  const spec = withVolume("v", "/tmp/v");
  deepStrictEqual([volumesOf(spec), mountsOf(spec)], [
    ["lls-storage", "tmp", "v"],
    ["lls-storage /.llama", "tmp /tmp", "v /tmp/v"],
  ]);
});

Deno.test("podVolumes() puts the further keys of an own config beside it", () => {
  deepStrictEqual(filesOf({ "stack.yaml": "version: 2", "extra.json": "{}" }, { key: "stack.yaml" }), [
    { key: "stack.yaml", path: "config.yaml" },
    { key: "extra.json", path: "extra.json" },
  ]);
});

Deno.test("podVolumes() takes run.yaml for the config where config.yaml is missing and no key is named", () => {
  const both = { "config.yaml": "version: 2", "run.yaml": "version: 2" };
  deepStrictEqual(filesOf(both), [
    { key: "config.yaml", path: "config.yaml" },
    { key: "run.yaml", path: "run.yaml" },
  ]);
  for (const overrides of [{}, { command: ["server", "/etc/llama-stack/run.yaml"] }]) {
    deepStrictEqual(filesOf({ "run.yaml": "version: 2" }, {}, { workload: { overrides } }), [
      { key: "run.yaml", path: "config.yaml" },
      { key: "run.yaml", path: "run.yaml" },
    ]);
  }
});

Deno.test("podVolumes() mounts every key for a command of the author's, and asks for none", () => {
  const workload = { overrides: { command: ["server", "/etc/llama-stack/mine.yaml"] } };
  deepStrictEqual(filesOf({ "mine.yaml": "a: 1", "more.json": "{}" }, {}, { workload }), [
    { key: "mine.yaml", path: "mine.yaml" },
    { key: "more.json", path: "more.json" },
  ]);
  deepStrictEqual(filesOf({ "mine.yaml": "a: 1" }, { key: "mine.yaml" }, { workload }), [
    { key: "mine.yaml", path: "config.yaml" },
    { key: "mine.yaml", path: "mine.yaml" },
  ]);
});

const filesOf = (data: Readonly<Record<string, string>>, more: JsonObject = {}, spec: JsonObject = {}) => {
  const configMaps = new Map([["default/c", { data, binaryData: {} }]]);
  const pod = podSpec({ ...spec, overrideConfig: { configMapName: "c", ...more } }, { configMaps });
  const volume = listAt(pod, "volumes").find((found) => isObject(found) && found.name === "user-config");
  return at(volume, "configMap", "items");
};

Deno.test("resources() requests no more than a limit of the resource", () => {
  const of = (resources: JsonObject) => at(container({ workload: { resources } }), "resources");
  deepStrictEqual(of({ limits: { cpu: "500m" } }), {
    requests: { cpu: "500m", memory: "1Gi" },
    limits: { cpu: "500m" },
  });
  deepStrictEqual(of({ limits: { memory: "4Gi" } }), {
    requests: { cpu: "1", memory: "1Gi" },
    limits: { memory: "4Gi" },
  });
  const bounded = { cpu: "1", memory: "4Gi" };
  deepStrictEqual(at(container({ workload: { workers: 4, resources: { limits: { cpu: "1" } } } }), "resources"), {
    requests: bounded,
    limits: bounded,
  });
});

Deno.test("policyWarnings() tells of an exposed server that the ingress controller cannot reach, and of no other", () => {
  const at = (networking: JsonObject, more: Partial<typeof NOWHERE.platform> = {}) =>
    policyWarnings(blueprint({ networking }, more)).map(({ path }) => path.at(-1));
  const closed = { expose: {}, allowedFrom: { namespaces: ["apps"] } };
  deepStrictEqual(at(closed), ["allowedFrom"]);
  deepStrictEqual(at({ expose: {} }, { networkPolicies: true }), ["expose"]);
  const named = (name: string) => at({ expose: {}, allowedFrom: { namespaces: [name] } });
  for (
    const name of ["alb", "aws-alb-controller", "gloo-system", "apisix", "ambassador", "public", "haproxy", "kong"]
  ) {
    deepStrictEqual(named(name), [], name);
  }
  for (const name of ["albums", "lbx", "team-a", "default"]) deepStrictEqual(named(name), ["allowedFrom"], name);
  deepStrictEqual(at({ expose: {} }), []);
  deepStrictEqual(at({ ...closed, expose: { enabled: false } }), []);
  deepStrictEqual(at(closed, { served: ["Route"] }), []);
  deepStrictEqual(at(closed, { ingressNamespaceLabels: { a: "b" } }), []);
  deepStrictEqual(at({ ...closed, policy: { ingress: [{}] } }), []);
  for (const allowedFrom of [{ namespaces: ["*"] }, { namespaces: ["ingress-nginx"] }, { labels: ["edge"] }]) {
    deepStrictEqual(at({ expose: {}, allowedFrom }), []);
  }
});

Deno.test("networkPolicy() leaves out names that no namespace can have, so that the API server accepts it", () => {
  const made = objectOf("NetworkPolicy", {
    networking: { allowedFrom: { namespaces: ["team-*", "a"], labels: ["b=c"] } },
  });
  ok(made !== undefined && !JSON.stringify(made).includes("team-*") && !JSON.stringify(made).includes("b=c"));
});

const OPERATED = { platform: { ...NOWHERE.platform, served: ["PodMonitor", "PrometheusRule"] } } as const;
const OGX = { distribution: { name: "ogx-starter" } };
const MONITORED = { ...OGX, monitoring: { labels: { release: "prometheus", "app.kubernetes.io/instance": "other" } } };

Deno.test("podMonitor() selects the pods of one resource by the labels of its Deployment, and has the labels of the author", () => {
  const made = objectOf("PodMonitor", MONITORED, OPERATED);
  const selector = { matchLabels: { app: "llama-stack", "app.kubernetes.io/instance": "my" } };
  deepStrictEqual(at(made, "spec", "selector"), selector);
  deepStrictEqual(at(made, "spec", "selector"), at(objectOf("Deployment", MONITORED), "spec", "selector"));
  deepStrictEqual(
    ["release", "app.kubernetes.io/instance"].map((label) => stringAt(made, "metadata", "labels", label)),
    ["prometheus", "my"],
  );
  const [endpoint] = listAt(made, "spec", "podMetricsEndpoints");
  deepStrictEqual(
    listAt(container(MONITORED), "ports").filter((port) => stringAt(port, "name") === stringAt(endpoint, "port")),
    [{ name: "metrics", containerPort: 9464, protocol: "TCP" }],
  );
});

Deno.test("kinds of the Prometheus Operator are made where the API server serves each, and for servers with metrics", () => {
  const made = (spec: JsonObject, served: ReadonlyArray<"PodMonitor" | "PrometheusRule">) =>
    objects(spec, { platform: { ...NOWHERE.platform, served } }).map(({ kind }) => kind)
      .filter((kind) => kind === "PodMonitor" || kind === "PrometheusRule");
  const both = ["PodMonitor", "PrometheusRule"] as const;
  deepStrictEqual(made({ ...OGX, monitoring: {} }, both), both);
  deepStrictEqual(made({ ...OGX, monitoring: {} }, []), []);
  deepStrictEqual(made({ ...OGX, monitoring: {} }, ["PrometheusRule"]), ["PrometheusRule"]);
  deepStrictEqual(made({ ...OGX, monitoring: { rules: false } }, both), ["PodMonitor"]);
  deepStrictEqual(made({ ...OGX, monitoring: { enabled: false } }, both), []);
  deepStrictEqual(made(OGX, both), []);
  deepStrictEqual(made({ monitoring: {} }, both), []);
});

Deno.test("deployment() opens the metrics port to others than the pod itself, and tells pods apart that send metrics", () => {
  const env = (spec: JsonObject) =>
    Object.fromEntries(
      listAt(container(spec), "env").map((item) => [stringAt(item, "name"), stringAt(item, "value")])
        .filter(([name]) => /^(OGX_METRICS|OTEL_RESOURCE)/.test(name ?? "")),
    );
  deepStrictEqual(env({ ...OGX, monitoring: { port: 9999 } }), {
    OGX_METRICS_ENDPOINT_ENABLED: "1",
    OGX_METRICS_HOST: "0.0.0.0",
    OGX_METRICS_PORT: "9999",
  });
  deepStrictEqual(env(OGX), {});
  const telemetry = [{ provider: "otlp", endpoint: "http://collector:4318" }];
  const sent = { monitoring: {}, providers: { telemetry } };
  deepStrictEqual(env(sent), { OTEL_RESOURCE_ATTRIBUTES: "service.instance.id=$(LLAMA_STACK_POD_NAME)" });
  deepStrictEqual(env({ providers: { telemetry } }), {});
  const own = { OTEL_RESOURCE_ATTRIBUTES: "a=b" };
  deepStrictEqual(env({ ...sent, providers: { telemetry: [{ ...telemetry[0], settings: own }] } }), own);
});

Deno.test("networkPolicy() opens the metrics port for the namespace of Prometheus and for clients of the server", () => {
  const networking = { allowedFrom: { namespaces: ["apps"] } };
  const rules = (spec: JsonObject, platform = {}) =>
    listAt(objectOf("NetworkPolicy", spec, { platform: { ...NOWHERE.platform, ...platform } }), "spec", "ingress");
  strictEqual(rules({ ...OGX, networking }).length, 1);
  const [server, metrics] = rules({ ...OGX, networking, monitoring: {} }, { monitoringNamespaceLabels: { a: "b" } });
  deepStrictEqual([at(listAt(server, "ports")[0], "port"), at(listAt(metrics, "ports")[0], "port")], [8321, 9464]);
  deepStrictEqual(listAt(metrics, "from"), [
    ...listAt(server, "from"),
    { namespaceSelector: { matchLabels: { "network.openshift.io/policy-group": "monitoring" } } },
    { namespaceSelector: { matchLabels: { a: "b" } } },
  ]);
});

Deno.test("policyWarnings() tells of a Prometheus that the NetworkPolicy may keep out, where nobody said which it is", () => {
  const at = (spec: JsonObject, more: Partial<typeof NOWHERE.platform> = {}, isMonitored = false) =>
    policyWarnings(blueprint({ ...OGX, ...spec }, more, isMonitored)).map(({ code }) => code);
  const from = (name: string) => ({ networking: { allowedFrom: { namespaces: [name] } } });
  deepStrictEqual(at({ ...from("apps"), monitoring: {} }), ["ScraperNotAllowed"]);
  deepStrictEqual(at({ monitoring: {} }, { networkPolicies: true }), ["ScraperNotAllowed"]);
  deepStrictEqual(at({ monitoring: {} }), []);
  deepStrictEqual(at(from("apps")), []);
  deepStrictEqual(at(from("apps"), {}, true), ["ScraperNotAllowed"], "metrics by default");
  deepStrictEqual(at({ ...from("apps"), monitoring: { enabled: false } }, {}, true), []);
  deepStrictEqual(at({ ...from("apps"), monitoring: {}, workload: { workers: 2 } }), [], "no port of metrics");
  deepStrictEqual(at({ ...from("kube-monitoring"), monitoring: {} }), []);
  deepStrictEqual(at({ ...from("apps"), monitoring: {} }, { monitoringNamespaceLabels: { a: "b" } }), []);
  deepStrictEqual(at({ ...from("apps"), monitoring: {} }, { openshift: true }), []);
});

Deno.test("portNameWarnings() names a port that the pods of the server do not have, and those that they have", () => {
  const warnings = (ingress: ReadonlyArray<JsonObject>, isMonitored = false) =>
    portNameWarnings(blueprint({ ...OGX, networking: { port: 8000, policy: { ingress } } }, {}, isMonitored))
      .map(({ path, message }) => `${path.join(".")}: ${message}`);
  const rules = [{ ports: [{ port: 8000 }, { protocol: "TCP" }] }, { from: [], ports: [{ port: "http" }] }];
  const said = 'spec.networking.policy.ingress.1.ports.0.port: no port of the server\'s pods has the name "http", so ' +
    "that nobody is allowed by it; use 8000, the number of the server's port";
  deepStrictEqual(warnings(rules), [said]);
  deepStrictEqual(warnings(rules, true), [`${said} or "metrics"`]);
  const metrics = [{ ports: [{ port: "metrics" }] }];
  deepStrictEqual([warnings(metrics).length, warnings(metrics, true).length], [1, 0]);
});

Deno.test("prometheusRule() counts one server alone: its namespace and name are in every selector and every sum", () => {
  const [group] = listAt(objectOf("PrometheusRule", MONITORED, OPERATED), "spec", "groups");
  const rules = listAt(group, "rules");
  ok(rules.length >= 3);
  for (const rule of rules) {
    const expression = stringAt(rule, "expr") ?? "";
    const selectors = [...expression.matchAll(/[a-z_]+\{([^}]*)\}/g)].map(([, labels]) => labels ?? "");
    ok(selectors.length > 0, expression);
    for (const labels of selectors) {
      ok(labels.startsWith('namespace="default",app_kubernetes_io_instance="my"'), expression);
    }
    const sums = [...expression.matchAll(/\b(?:sum|min|max|avg|count)\b([^(]*\([^)]*\))?/g)].map(([, by]) => by ?? "");
    for (const by of sums) ok(by.startsWith(" by (namespace, app_kubernetes_io_instance"), expression);
    ok(!expression.includes("_bucket"), expression);
  }
});
