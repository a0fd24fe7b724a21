/**
 * Values of fields that become parts of Kubernetes objects, each with what the message contains if the API server
 * rejects it. The rules and a real API server have to agree on every row.
 */
import type { Json, JsonObject } from "../core/data/json.ts";

export interface ObjectCase {
  readonly spec: JsonObject;
  /** A part of the message; undefined: the value is valid. */
  readonly rejected: string | undefined;
}

type Row = readonly [value: Json, rejected?: string];

/** The rows of one field; `around` puts the value in its place. */
const cases = (around: (value: Json) => JsonObject, rows: ReadonlyArray<Row>): ReadonlyArray<ObjectCase> =>
  rows.map(([value, rejected]) => ({ spec: around(value), rejected }));

const workload = (field: string) => (value: Json): JsonObject => ({ workload: { [field]: value } });
const overrides = (field: string) => (value: Json): JsonObject => ({ workload: { overrides: { [field]: value } } });
const expose = (field: string) => (value: Json): JsonObject => ({ networking: { expose: { [field]: value } } });
const budget = (field: string) => (value: Json): JsonObject => ({
  workload: { podDisruptionBudget: { [field]: value } },
});
const storage = (field: string) => (value: Json): JsonObject => ({ workload: { storage: { [field]: value } } });
const volume = (source: Json): JsonObject => overrides("volumes")([{ name: "v", ...(source as JsonObject) }]);
const claimed = (metadata: JsonObject, accessModes: ReadonlyArray<string>): JsonObject => ({
  ephemeral: {
    volumeClaimTemplate: { metadata, spec: { accessModes, resources: { requests: { storage: "1Gi" } } } },
  },
});
const mount = (more: Json): JsonObject => ({
  workload: {
    overrides: {
      volumes: [{ name: "v", emptyDir: {} }],
      volumeMounts: [{ name: "v", mountPath: "/v", ...(more as JsonObject) }],
    },
  },
});
const env = (more: Json): JsonObject => overrides("env")([{ name: "A", ...(more as JsonObject) }]);
const toleration = (item: Json): JsonObject => overrides("tolerations")([item]);
const spread = (more: Json): JsonObject =>
  workload("topologySpreadConstraints")([
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", ...(more as JsonObject) },
  ]);
const resources = workload("resources");
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const nodeTerm = (term: Json): JsonObject =>
  overrides("affinity")({ nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [term] } } });
const nodeExpression = (expression: Json): JsonObject => nodeTerm({ matchExpressions: [expression] });
const podTerm = (term: Json): JsonObject =>
  overrides("affinity")({ podAntiAffinity: { [REQUIRED]: [{ topologyKey: "zone", ...(term as JsonObject) }] } });
const podExpression = (expression: Json): JsonObject => podTerm({ labelSelector: { matchExpressions: [expression] } });
const projected = (...sources: ReadonlyArray<Json>): JsonObject => volume({ projected: { sources } });

const BUDGETS = [
  ...cases(budget("maxUnavailable"), [
    ["50", "a number in quotes"],
    ["150%", "more than 100%"],
    ["x", "not a number of pods"],
    ["1.5%", "not a number of pods"],
    ["", "not a number of pods"],
    [-1, "must not be negative"],
    ["100%"],
    ["0%"],
    [0],
    [500],
  ]),
  ...cases(budget("minAvailable"), [["5", "a number in quotes"], ["101%", "more than 100%"], ["007%"], [1]]),
];

const SCHEDULING = [
  ...cases(nodeTerm, [
    [{}],
    [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-1"] }] }],
    [
      { matchFields: [{ key: "metadata.name", operator: "Exists" }] },
      "use In or NotIn",
    ],
    [{ matchFields: [{ key: "name", operator: "In", values: ["a"] }] }, "use metadata.name"],
    [
      { matchFields: [{ key: "metadata.name", operator: "In", values: ["a", "b"] }] },
      "exactly one value",
    ],
    [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a b"] }] }, "not the name of a node"],
  ]),
  ...cases(nodeExpression, [
    [{ key: "a", operator: "In" }, "needs values"],
    [{ key: "a", operator: "In", values: ["b"] }],
    [{ key: "a", operator: "In", values: ["b c"] }, "not a label value"],
    [{ key: "a b", operator: "Exists" }, "not a label key"],
    [{ key: "a", operator: "Exists", values: ["b"] }, "has no values"],
    [{ key: "a", operator: "Gt", values: ["1"] }],
    [{ key: "a", operator: "Gt", values: [] }, "exactly one value"],
  ]),
  ...cases((value) => overrides("affinity")({ nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: value } } }), [
    [[], "needs at least one term"],
  ]),
  ...cases((value) => overrides("affinity")({ nodeAffinity: { [PREFERRED]: [value] } }), [
    [{ weight: 0, preference: {} }, "use 1 to 100"],
    [{ weight: 101, preference: {} }, "use 1 to 100"],
    [{ weight: 100, preference: { matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] } }],
    [{ weight: 1, preference: { matchExpressions: [{ key: "a", operator: "In" }] } }, "needs values"],
  ]),
  ...cases((value) => overrides("affinity")({ podAffinity: { [PREFERRED]: [value] } }), [
    [{ weight: 0, podAffinityTerm: { topologyKey: "zone" } }, "use 1 to 100"],
    [{ weight: 1, podAffinityTerm: { topologyKey: "" } }, "use a label of nodes"],
    [{ weight: 1, podAffinityTerm: { topologyKey: "zone" } }],
  ]),
  ...cases(podTerm, [
    [{}],
    [{ topologyKey: "a b" }, "not a label key"],
    [{ namespaces: ["team-*"] }, "not the name of a namespace"],
    [{ namespaceSelector: {} }],
    [{ matchLabelKeys: ["a"] }, "needs a labelSelector"],
    [{ labelSelector: {}, matchLabelKeys: ["a"], mismatchLabelKeys: ["a"] }, "also in mismatchLabelKeys"],
    [{ labelSelector: {}, matchLabelKeys: ["a"], mismatchLabelKeys: ["b"] }],
    [{ labelSelector: { matchLabels: { a: "b c" } } }, "not a label value"],
  ]),
  ...cases(podExpression, [
    [{ key: "a", operator: "Equals", values: ["b"] }, 'unknown operator: "Equals"'],
    [{ key: "a", operator: "Gt", values: ["1"] }, 'unknown operator: "Gt"'],
    [{ key: "a", operator: "NotIn" }, "needs values"],
    [{ key: "a", operator: "DoesNotExist", values: ["b"] }, "has no values"],
    [{ key: "a", operator: "In", values: ["b"] }],
  ]),
  ...cases(toleration, [
    [{ operator: "Exists" }],
    [{ key: "a", value: "b" }],
    [{ key: "a", operator: "Exists", value: "b" }, "Exists has no value"],
    [{ operator: "Equal", value: "b" }, "only operator Exists may omit it"],
    [{ value: "b" }, "only operator Exists may omit it"],
    [{ key: "a", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 1 }, "only valid with effect NoExecute"],
    [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 }],
    [{ key: "a b", operator: "Exists" }, "not the key of a taint"],
    [{ key: "a", value: "b c" }, "not the value of a taint"],
    [{ key: "a", operator: "Gt", value: "5" }, "off by default"],
  ]),
  ...cases(spread, [
    [{}],
    [{ maxSkew: 0 }, "must be at least 1"],
    [{ topologyKey: "" }, "use a label of nodes"],
    [{ minDomains: 0, whenUnsatisfiable: "DoNotSchedule" }, "must be at least 1"],
    [{ minDomains: 2 }, "only valid with whenUnsatisfiable"],
    [{ minDomains: 2, whenUnsatisfiable: "DoNotSchedule" }],
    [{ labelSelector: { matchExpressions: [{ key: "a", operator: "Equals" }] } }, "unknown operator"],
    [{ matchLabelKeys: ["pod-template-hash"] }, "needs a labelSelector"],
    [{ matchLabelKeys: ["pod-template-hash"], labelSelector: {} }],
  ]),
  ...cases(workload("topologySpreadConstraints"), [
    [[
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" },
      { maxSkew: 2, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" },
    ], "a second constraint"],
    [[
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" },
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" },
    ]],
  ]),
];

const APPARMOR = "container.apparmor.security.beta.kubernetes.io";

const SECURITY = cases(overrides("securityContext"), [
  [{ windowsOptions: { hostProcess: true } }, "uses the network of pods"],
  [{}],
  [{ fsGroup: -1 }, "out of range: -1"],
  [{ runAsUser: -5 }, "out of range: -5"],
  [{ runAsGroup: 2147483648 }, "out of range"],
  [{ supplementalGroups: [1, -1] }, "out of range: -1"],
  [{ fsGroup: 2147483647, runAsUser: 1, runAsGroup: 0, supplementalGroups: [0] }],
  [{ seccompProfile: { type: "Localhost" } }, "required with type Localhost"],
  [{ seccompProfile: { type: "Localhost", localhostProfile: "../a" } }, "leaves the folder"],
  [{ seccompProfile: { type: "Localhost", localhostProfile: "a/b.json" } }],
  [{ seccompProfile: { type: "RuntimeDefault", localhostProfile: "a" } }, "only valid with type Localhost"],
  [{ appArmorProfile: { type: "Localhost" } }, "required with type Localhost"],
  [{ appArmorProfile: { type: "Localhost", localhostProfile: " a" } }, "without spaces"],
  [{ appArmorProfile: { type: "RuntimeDefault", localhostProfile: "a" } }, "only valid with type Localhost"],
  [{ sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }] }],
  [{ sysctls: [{ name: "Net", value: "1" }] }, "not the name of a sysctl"],
  [{ sysctls: [{ name: "a.b", value: "1" }, { name: "a.b", value: "2" }] }, 'a second "a.b"'],
  [{ seLinuxChangePolicy: "Never" }, "use Recursive or MountOption"],
  [{ seLinuxChangePolicy: "Recursive" }],
]);

const ENVIRONMENT = [
  ...cases(env, [
    [{ name: "my.name-1", value: "=" }],
    [{ name: "A B" }],
    [{ name: "A=B" }, "not the name of an environment variable"],
    [{ name: "Ä" }, "not the name of an environment variable"],
    [{ name: "" }, "not the name of an environment variable"],
    [{ valueFrom: {} }, "has no source"],
    [{ value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }, "cannot be combined with value"],
    [{ value: "", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    [{
      valueFrom: { fieldRef: { fieldPath: "metadata.name" }, secretKeyRef: { name: "s", key: "k" } },
    }, "more than one source"],
    [{ valueFrom: { fieldRef: { fieldPath: "foo" } } }, "not a field of the pod"],
    [{ valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }, "not a field of the pod"],
    [{ valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } }, "not a field of the pod"],
    [{ valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } }],
    [{ valueFrom: { fieldRef: { fieldPath: "metadata.annotations['A.B/c']" } } }],
    [{ valueFrom: { fieldRef: { fieldPath: "metadata.name['a']" } } }, "not a field of the pod"],
    [{ valueFrom: { fieldRef: { fieldPath: "spec.host" } } }],
    [{ valueFrom: { fieldRef: { fieldPath: "status.phase" } } }, "not a field of the pod"],
    [{ valueFrom: { fieldRef: { apiVersion: "v2", fieldPath: "metadata.name" } } }, "use v1"],
    [{ valueFrom: { resourceFieldRef: { resource: "foo" } } }, 'unknown resource: "foo"'],
    [{ valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } }, "use 1m or 1"],
    [{ valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "3Mi" } } }, "use 1, or a unit"],
    [{ valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } } }],
    [{ valueFrom: { resourceFieldRef: { resource: "limits.hugepages-2Mi" } } }],
    [{ valueFrom: { configMapKeyRef: { name: "c", key: "a.b", optional: true } } }],
  ]),
  ...cases(overrides("envFrom"), [
    [[{}], "has no source"],
    [[{ secretRef: {} }], "name the object"],
    [[{ configMapRef: { name: "c" }, secretRef: { name: "s" } }], "has two sources"],
    [[{ prefix: "a=", secretRef: { name: "s" } }], "not a prefix"],
    [[{ prefix: "A_", secretRef: { name: "s" } }]],
  ]),
];

const VOLUMES = [
  ...cases(volume, [
    [{}],
    [{ emptyDir: {}, configMap: { name: "c" } }, "more than one kind"],
    [{ emptyDir: { sizeLimit: "-1" } }, "must not be negative"],
    [{ emptyDir: { sizeLimit: "0" } }],
    [{ name: "A", emptyDir: {} }, "not the name of a volume"],
    [{ name: "lls-storage", emptyDir: {} }, "used by the operator"],
    [{ configMap: {} }, "name a ConfigMap"],
    [{ configMap: { name: "c", defaultMode: 644 } }, "out of range: 644"],
    [{ configMap: { name: "c", defaultMode: 511 } }],
    [{ configMap: { name: "c", items: [{ key: "k", path: "/a" }] } }, "not a path inside the volume"],
    [{ configMap: { name: "c", items: [{ key: "k", path: "../a" }] } }, "not a path inside the volume"],
    [{ configMap: { name: "c", items: [{ key: "k", path: "..a" }] } }, "not a path inside the volume"],
    [{ configMap: { name: "c", items: [{ key: "k", path: "" }] } }, "name a file"],
    [{ configMap: { name: "c", items: [{ key: "", path: "a" }] } }, "name a key"],
    [{ configMap: { name: "c", items: [{ key: "k", path: "a/..b", mode: 256 }] } }],
    [{ secret: {} }, "name a Secret"],
    [{ secret: { secretName: "s", defaultMode: -1 } }, "out of range: -1"],
    [{ downwardAPI: { items: [{ path: "a" }] } }, "has no source"],
    [{ downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "metadata.labels" } }] } }],
    [{ downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "spec.nodeName" } }] } }, "not a field of the pod"],
    [{ downwardAPI: { items: [{ path: "a", resourceFieldRef: { resource: "limits.cpu" } }] } }, "name the container"],
    [{
      downwardAPI: {
        items: [{ path: "a", resourceFieldRef: { resource: "limits.cpu", containerName: "llama-stack" } }],
      },
    }],
    [{ persistentVolumeClaim: { claimName: "" } }, "name a claim"],
    [{ persistentVolumeClaim: { claimName: "A B" } }],
    [{ csi: { driver: "a b" } }, "not the name of a CSI driver"],
    [{ csi: { driver: "secrets-store.csi.k8s.io", nodePublishSecretRef: { name: "s" } } }],
    [{ ephemeral: {} }, "describe the claim"],
    [{
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
      },
    }],
    [{
      ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: "1Gi" } } } } },
    }, "at least one mode"],
    [{ ephemeral: { volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"] } } } }, "use a size"],
    [claimed({ labels: { a: "b c" } }, ["ReadWriteOnce"]), "not a label value"],
    [claimed({ labels: { a: "b" } }, ["ReadWriteOncePod"])],
    [claimed({}, ["ReadWriteOncePod", "ReadWriteOnce"]), "cannot be combined"],
  ]),
  ...cases(overrides("volumes"), [
    [[{ name: "a", emptyDir: {} }, { name: "a", emptyDir: {} }], 'two volumes are named "a"'],
  ]),
  { spec: projected({}), rejected: undefined },
  { spec: projected({ secret: { name: "s" }, configMap: { name: "c" } }), rejected: "more than one kind" },
  { spec: projected({ secret: {} }), rejected: "name a Secret" },
  {
    spec: projected(
      { secret: { name: "s", items: [{ key: "k", path: "a" }] } },
      { configMap: { name: "c", items: [{ key: "k", path: "a" }] } },
    ),
    rejected: 'two files have the path "a"',
  },
  { spec: projected({ serviceAccountToken: { path: "token", expirationSeconds: 60 } }), rejected: "out of range: 60" },
  { spec: projected({ serviceAccountToken: { path: "token" } }), rejected: undefined },
];

const TLS = { tls: { enabled: true, secretName: "t" } };
const CA = { tls: { caBundle: { configMapName: "c" } } };
const EXTERNAL = { externalProviders: { inference: [{ providerId: "p", image: "example/p:1" }] } };
const mounting = (more: JsonObject, name: string, mountPath: string): JsonObject => ({
  ...more,
  workload: { overrides: { volumes: [{ name, emptyDir: {} }], volumeMounts: [{ name, mountPath }] } },
});

const MOUNTS = [
  ...cases(mount, [
    [{}],
    [{ name: "b" }, 'no volume is named "b"'],
    [{ mountPath: "" }, "use a path of the container"],
    [{ subPath: "../z" }, "not a path inside the volume"],
    [{ subPath: "/z" }, "not a path inside the volume"],
    [{ subPath: "a", subPathExpr: "b" }, "cannot be combined with subPath"],
    [{ subPathExpr: "$(POD)/..a" }],
    [{ recursiveReadOnly: "Enabled" }, "only valid with readOnly"],
    [{ recursiveReadOnly: "Enabled", readOnly: true }],
    [{ recursiveReadOnly: "Always" }, "use Enabled"],
    [{ mountPropagation: "HostToContainer" }],
    [{ name: "lls-storage", subPath: "a" }],
    [{ name: "tmp", subPath: "a" }],
    [{ mountPath: "/tmp" }],
    [{ mountPath: "/tmp/" }],
    [{ name: "tmp", mountPath: "/tmp", subPath: "a" }],
    [{ mountPath: "/.llama" }, "spec.workload.storage"],
    [{ mountPath: "/etc/llama-stack" }],
  ]),
  { spec: mounting({}, "tmp", "/tmp"), rejected: undefined },
  { spec: mounting({}, "tmp", "/scratch"), rejected: undefined },
  { spec: mounting({ overrideConfig: { configMapName: "c" } }, "user-config", "/v"), rejected: undefined },
  {
    spec: mounting({ overrideConfig: { configMapName: "c" } }, "v", "/etc/llama-stack"),
    rejected: "use spec.overrideConfig",
  },
  { spec: mounting({ storage: { kv: {} } }, "v", "/etc/llama-stack"), rejected: "use spec.overrideConfig" },
  {
    // Its base config needs a fix, so that there is a generated one in any case.
    spec: mounting({ distribution: { name: "ogx-starter" } }, "v", "/etc/llama-stack"),
    rejected: "use spec.overrideConfig",
  },
  { spec: mounting({ distribution: { name: "ogx-starter" } }, "user-config", "/v"), rejected: undefined },
  { spec: mounting({ networking: TLS }, "tls", "/v"), rejected: undefined },
  { spec: mounting({ networking: TLS }, "v", "/etc/llama-stack/tls"), rejected: "networking.tls.secretName" },
  { spec: mounting({ networking: CA }, "ca-bundle", "/v"), rejected: undefined },
  { spec: mounting({ networking: CA }, "trusted-authorities", "/v"), rejected: undefined },
  { spec: mounting({ networking: CA }, "v", "/etc/ssl/certs/ca-bundle"), rejected: "networking.tls.caBundle" },
  { spec: mounting(EXTERNAL, "external-providers", "/v"), rejected: undefined },
  {
    spec: mounting(EXTERNAL, "v", "/opt/llama-stack/external-providers"),
    rejected: "it holds the packages of spec.externalProviders",
  },
  ...cases(storage("mountPath"), [["/tmp"], ["/tmp/"], ["/data"], ["/etc/llama-stack"]]),
  {
    spec: { storage: { kv: {} }, workload: { storage: { mountPath: "/etc/llama-stack" } } },
    rejected: "used by the operator for another volume",
  },
];

const RESOURCES = [
  ...cases(resources, [
    [{ requests: { cpu: "2" }, limits: { cpu: "500m" } }, "larger than limits.cpu"],
    [{ limits: { cpu: "-1" } }, "must not be negative"],
    [{ limits: { gpu: 1 } }, "unknown resource"],
    [{ limits: { "a b/c": 1 } }, "unknown resource"],
    [{ requests: { "nvidia.com/gpu": 1 } }, "set limits.nvidia.com/gpu"],
    [{ requests: { "nvidia.com/gpu": 1 }, limits: { "nvidia.com/gpu": 2 } }, "set limits.nvidia.com/gpu"],
    [{ limits: { "nvidia.com/gpu": "1500m" } }, "whole number"],
    [{ limits: { "nvidia.com/gpu": 1 } }],
    [{ requests: { "nvidia.com/gpu": 1 }, limits: { "nvidia.com/gpu": "1" } }],
    [{ requests: { "hugepages-2Mi": "4Mi" } }, "set limits.hugepages-2Mi"],
    [{ limits: { "hugepages-2Mi": "3Mi" } }, "multiple of the size"],
    [{ limits: { "hugepages-2Mi": "4Mi" } }],
    [{ requests: { cpu: "500m", memory: "1Gi" }, limits: { memory: "2Gi" } }],
    [{ claims: [{ name: "gpu" }] }, 'no claim is named "gpu"'],
  ]),
  ...cases(
    (value) => ({
      workload: {
        resources: { claims: value },
        overrides: { resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "t" }] },
      },
    }),
    [
      [[{ name: "gpu" }]],
      [[{ name: "gpu", request: "one" }]],
      [[{ name: "gpu", request: "A" }], "not the name of a request"],
      [[{ name: "gpu", request: "a" }, { name: "gpu", request: "b" }], "a second entry"],
    ],
  ),
  ...cases(overrides("resourceClaims"), [
    [[{ name: "a" }], "set either"],
    [[{ name: "a", resourceClaimName: "b", resourceClaimTemplateName: "c" }], "set either"],
    [[{ name: "A", resourceClaimName: "b" }], "not the name of a claim"],
    [[{ name: "a", resourceClaimName: "B" }], "not the name of an object"],
    [[{ name: "a", resourceClaimName: "b" }, { name: "a", resourceClaimName: "c" }], "two claims are named"],
    [[{ name: "a", resourceClaimName: "b" }]],
  ]),
];

const NAMES = [
  ...cases(storage("storageClassName"), [["Foo Bar", "not the name of an object"], ["fast"], [""]]),
  ...cases(expose("ingressClassName"), [["X Y", "not the name of a class"], ["nginx"]]),
  ...cases(expose("hostname"), [
    ["https://llama.example.com/", "without scheme"],
    ["10.0.0.1", "not a host name"],
    ["*", "not a host name"],
    ["*.example.com"],
    ["llama"],
    ["1.2.3"],
  ]),
  ...cases(expose("annotations"), [[{ "bad key": "x" }, '"bad key"'], [{ "Example.com/x": "any text" }], [
    { "a..b/c": "x" },
    "not an annotation key",
  ]]),
  ...cases(overrides("podLabels"), [
    [{ "a b": "c" }, 'not a label key: "a b"'],
    [{ a: "x y" }, 'not a label value: "x y"'],
    [{ "Example.com/a": "b" }, "not a label key"],
    [{ "a/b": "" }],
  ]),
  ...cases(overrides("nodeSelector"), [[{ gpu: "a b" }, 'not a label value: "a b"'], [{
    "kubernetes.io/arch": "amd64",
  }]]),
  ...cases(overrides("podAnnotations"), [
    [{ "a b": "c" }, "not an annotation key"],
    [{ A: "" }],
    [{ [`${APPARMOR}/other`]: "unconfined" }, "no container is named"],
    [{ [`${APPARMOR}/llama-stack`]: "runtime/default" }],
  ]),
  ...cases(overrides("priorityClassName"), [["X Y", "not the name of an object"], ["high"]]),
  ...cases(overrides("runtimeClassName"), [["X Y", "not the name of an object"], ["gvisor"]]),
  ...cases(overrides("imagePullSecrets"), [[[{ name: "a" }, { name: "a" }], 'a second Secret "a"'], [[{ name: "a" }]], [
    [
      {},
    ],
  ]]),
  ...cases(overrides("terminationGracePeriodSeconds"), [[-1], [0]]),
];

export const OBJECT_CASES: ReadonlyArray<ObjectCase> = [
  ...BUDGETS,
  ...SCHEDULING,
  ...SECURITY,
  ...ENVIRONMENT,
  ...VOLUMES,
  ...MOUNTS,
  ...RESOURCES,
  ...NAMES,
];
