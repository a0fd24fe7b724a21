import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import types from "../../core/api/kubernetes_types.json" with { type: "json" };
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";

const SCHEMAS: Readonly<Record<string, unknown>> = types;

/** One value of each type; together they make the pod further down, which Kubernetes itself has to accept. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  Affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "gpu", operator: "In", values: ["a", "b"] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{
        weight: 10,
        podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { app: "server" } } },
      }],
    },
  },
  EnvFromSource: { prefix: "P_", secretRef: { name: "secret", optional: true } },
  EnvVar: { name: "POD", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
  LocalObjectReference: { name: "pull" },
  PodResourceClaim: { name: "gpu", resourceClaimTemplateName: "gpu" },
  PodSecurityContext: {
    runAsNonRoot: true,
    fsGroup: 1001,
    fsGroupChangePolicy: "OnRootMismatch",
    supplementalGroups: [1, 2],
    seccompProfile: { type: "RuntimeDefault" },
    sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }],
  },
  ResourceRequirements: {
    requests: { cpu: "100m", memory: "1Gi" },
    limits: { cpu: 2, memory: "1.5e9", "nvidia.com/gpu": "1" },
    claims: [{ name: "gpu", request: "one" }],
  },
  SecurityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsUser: 1001,
  },
  Toleration: { key: "gpu", operator: "Equal", value: "yes", effect: "NoExecute", tolerationSeconds: 30 },
  TopologySpreadConstraint: {
    maxSkew: 1,
    topologyKey: "zone",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchExpressions: [{ key: "app", operator: "Exists" }] },
    matchLabelKeys: ["pod-template-hash"],
  },
  Volume: {
    name: "data",
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { labels: { app: "server" }, annotations: { note: "kept" } },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
      },
    },
  },
  VolumeMount: { name: "data", mountPath: "/data", subPath: "a", mountPropagation: "None" },
};

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "sample", namespace: "default" },
  spec: {
    containers: [{
      name: "server",
      image: "none",
      env: [SAMPLES.EnvVar],
      envFrom: [SAMPLES.EnvFromSource],
      resources: SAMPLES.ResourceRequirements,
      securityContext: SAMPLES.SecurityContext,
      volumeMounts: [SAMPLES.VolumeMount],
    }],
    affinity: SAMPLES.Affinity,
    imagePullSecrets: [SAMPLES.LocalObjectReference],
    resourceClaims: [SAMPLES.PodResourceClaim],
    securityContext: SAMPLES.PodSecurityContext,
    tolerations: [SAMPLES.Toleration],
    topologySpreadConstraints: [SAMPLES.TopologySpreadConstraint],
    volumes: [SAMPLES.Volume],
  },
};

const fieldOf = (type: string): string => type.charAt(0).toLowerCase() + type.slice(1);

const recorded = Object.keys(SCHEMAS).filter((key) => !key.startsWith("$"));

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "holders.test.llamastack.io" },
  spec: {
    group: "test.llamastack.io",
    names: { kind: "Holder", plural: "holders", singular: "holder", listKind: "HolderList" },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: Object.fromEntries(recorded.map((type) => [fieldOf(type), SCHEMAS[type]])),
            },
          },
        },
      },
    }],
  },
};

const holder = (spec: unknown) => ({
  apiVersion: "test.llamastack.io/v1",
  kind: "Holder",
  metadata: { generateName: "sample-", namespace: "default" },
  spec,
});

const HOLDERS = "/apis/test.llamastack.io/v1/namespaces/default/holders?fieldValidation=Strict";

const PODS = "/api/v1/namespaces/default/pods?dryRun=All&fieldValidation=Strict";

const post = async (controlPlane: ControlPlane, path: string, body: unknown) => {
  const headers = { "content-type": "application/json" };
  const answer = await controlPlane.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
};

Deno.test("kubernetes_types.json holds on a real API server", async (t) => {
  const controlPlane = await startControlPlane();
  try {
    await t.step("is accepted in a CRD by a real API server", async () => {
      const stored = await installDefinition(controlPlane, definition);
      const conditions = stored.status?.conditions ?? [];
      deepStrictEqual(
        conditions.map(({ type, status }) => `${type}=${status}`).sort(),
        ["Established=True", "NamesAccepted=True"],
      );
    });

    await t.step("has a sample of each type, which Kubernetes accepts in a pod", async () => {
      deepStrictEqual(Object.keys(SAMPLES), recorded);
      const answer = await post(controlPlane, PODS, pod);
      strictEqual(answer.status, 201, JSON.stringify(answer.body));
    });

    await t.step("accepts each sample completely: nothing unknown, nothing pruned", async () => {
      const spec = Object.fromEntries(Object.entries(SAMPLES).map(([type, value]) => [fieldOf(type), value]));
      const answer = await post(controlPlane, HOLDERS, holder(spec));
      strictEqual(answer.status, 201, JSON.stringify(answer.body));
      deepStrictEqual(answer.body.spec, spec);
    });

    await t.step("accepts the empty strings that Kubernetes accepts", async () => {
      const toleration = { key: "gpu", operator: "", effect: "" };
      const volume = { name: "model", image: { reference: "model:1", pullPolicy: "" } };
      const bare = { containers: [{ name: "server", image: "none" }], tolerations: [toleration], volumes: [volume] };
      const inPod = await post(controlPlane, PODS, { ...pod, spec: bare });
      strictEqual(inPod.status, 201, JSON.stringify(inPod.body));
      const inHolder = await post(controlPlane, `${HOLDERS}&dryRun=All`, holder({ toleration, volume }));
      strictEqual(inHolder.status, 201, JSON.stringify(inHolder.body));
    });

    for (
      const [what, spec, complaint] of [
        [
          "a quantity that is none",
          { resourceRequirements: { limits: { cpu: "a lot" } } },
          /limits\.cpu.*should match/,
        ],
        ["a missing required field", { envVar: { value: "x" } }, /spec\.envVar\.name: Required value/],
        [
          "a misspelt field",
          { volumeMount: { name: "a", mountpath: "/" } },
          /unknown field "spec\.volumeMount\.mountpath"/,
        ],
        [
          "the same claim twice",
          { resourceRequirements: { claims: [{ name: "a" }, { name: "a" }] } },
          /Duplicate value/,
        ],
      ] as const
    ) {
      await t.step(`rejects ${what}`, async () => {
        const answer = await post(controlPlane, HOLDERS, holder(spec));
        strictEqual(answer.body.kind, "Status");
        match(answer.body.message, complaint);
      });
    }
  } finally {
    await controlPlane.stop();
  }
});
