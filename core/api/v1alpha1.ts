/**
 * `llamastack.io/v1alpha1`: the API of the Go operator, as its CRD defines it. Still served for existing clients; the operator
 * itself works on v1alpha2 only.
 *
 * No bound is tighter than in that CRD: otherwise a stored object could no longer be updated.
 */
import * as Schema from "effect/Schema";
import { embedded } from "./embedded.ts";
import { bool, int32, int64, intOrString, oneOf, optional, quantity, struct } from "./fields.ts";
import type { Rule } from "./rule.ts";
import { ExternalProviders, GROUP } from "./v1alpha2.ts";

export const V1ALPHA1 = `${GROUP}/v1alpha1`;

/** The warning that the API server sends to every client that uses this version. */
export const DEPRECATION = `${V1ALPHA1} is deprecated: use ${GROUP}/v1alpha2; ` +
  "`llama-stack-operator convert -f FILE` prints a manifest in it";

/** Default of `spec.server.containerSpec.name`. */
export const CONTAINER_NAME_DEFAULT = "llama-stack";

const words = (doc: string) => optional(Schema.String.annotate({ description: doc }));
const wordList = (doc: string) => optional(Schema.Array(Schema.String).annotate({ description: doc }));
const several = <Item extends Schema.Top>(doc: string, item: Item) =>
  optional(Schema.Array(item).annotate({ description: doc }));

const ContainerSpec = struct("containerSpec configures the container of the server.", {
  name: optional(
    Schema.String.annotate({ description: "name of the container. Ignored.", default: CONTAINER_NAME_DEFAULT }),
  ),
  port: optional(int32("port is the TCP port of the server and of its Service. Defaults to 8321.")),
  resources: optional(
    embedded(
      "ResourceRequirements",
      "resources are the requests and limits of the container. Requests default to one CPU and 1Gi of memory per worker.",
    ),
  ),
  env: several("env adds environment variables to the container.", embedded("EnvVar")),
  command: wordList("command of the container. If command and args are unset, the operator sets them."),
  args: wordList("args of the container. If command and args are unset, the operator sets them."),
});

const Server = struct("server configures the server.", {
  distribution: struct("distribution selects the server: a distribution by name, or an image.", {
    name: words("name is a distribution known to the operator."),
    image: words("image is the container image of a server."),
  }),
  containerSpec: optional(ContainerSpec),
  workers: optional(
    int32("workers is the number of server processes per pod. If unset, one process runs.", { min: 1 }),
  ),
  podOverrides: optional(struct("podOverrides changes the pod.", {
    serviceAccountName: words("serviceAccountName is the ServiceAccount of the pod. Defaults to <name>-sa."),
    terminationGracePeriodSeconds: optional(
      int64("terminationGracePeriodSeconds is the time in seconds that the pod has to stop. Defaults to 30."),
    ),
    volumes: several("volumes adds volumes to the pod.", embedded("Volume")),
    volumeMounts: several("volumeMounts adds mounts to the container.", embedded("VolumeMount")),
  })),
  podDisruptionBudget: optional(struct("podDisruptionBudget limits voluntary disruptions.", {
    minAvailable: optional(
      intOrString("minAvailable is the number or percentage of pods that must stay available during an eviction."),
    ),
    maxUnavailable: optional(
      intOrString("maxUnavailable is the number or percentage of pods that may be unavailable. Defaults to 1."),
    ),
  })),
  topologySpreadConstraints: several(
    "topologySpreadConstraints says how pods are spread. If unset, pods are spread over regions, zones and nodes.",
    embedded("TopologySpreadConstraint"),
  ),
  autoscaling: optional(struct("autoscaling creates a HorizontalPodAutoscaler.", {
    minReplicas: optional(
      int32(
        "minReplicas is the lower limit for the number of replicas. Defaults to the value of replicas, at least 1.",
      ),
    ),
    maxReplicas: int32(
      "maxReplicas is the upper limit for the number of replicas, at least 1. New and changed resources cannot have 0; in a stored one it disables autoscaling, with a warning.",
    ),
    targetCPUUtilizationPercentage: optional(
      int32("targetCPUUtilizationPercentage is the target CPU utilization, in percent of the request."),
    ),
    targetMemoryUtilizationPercentage: optional(
      int32("targetMemoryUtilizationPercentage is the target memory utilization, in percent of the request."),
    ),
  })),
  storage: optional(struct("storage is the persistent volume for the server's data. If unset, an emptyDir is used.", {
    size: optional(quantity("size of the PersistentVolumeClaim. Defaults to 10Gi.")),
    mountPath: words("mountPath is the path of the volume inside the container. Defaults to /.llama."),
  })),
  externalProviders: optional(ExternalProviders),
  userConfig: optional(struct("userConfig is a complete config.yaml to use instead of a generated one.", {
    configMapName: Schema.String.annotate({ description: "configMapName is the name of the ConfigMap." }),
    configMapNamespace: words("configMapNamespace is the namespace of the ConfigMap."),
  })),
  tlsConfig: optional(struct("tlsConfig configures the trust for outgoing connections.", {
    caBundle: optional(struct("caBundle lists certificate authorities that the server trusts.", {
      configMapName: Schema.String.annotate({ description: "configMapName is the name of the ConfigMap." }),
      configMapNamespace: words(
        "configMapNamespace is the namespace of the ConfigMap. Defaults to the namespace of this resource.",
      ),
      configMapKeys: optional(
        Schema.Array(Schema.String).annotate({
          description: "configMapKeys are the keys of the ConfigMap to read. Defaults to ca-bundle.crt.",
        }).check(Schema.isMaxLength(50)),
      ),
    })),
  })),
});

export const SpecV1alpha1 = struct("spec is the desired state of the server.", {
  replicas: optional(int32("replicas is the desired number of pods. Defaults to 1.", { fallback: 1 })),
  server: Server,
  network: optional(struct("network configures how the server is reached.", {
    exposeRoute: optional(
      bool("exposeRoute makes the server reachable from outside the cluster. Defaults to false.", false),
    ),
    allowedFrom: optional(struct("allowedFrom restricts which namespaces may connect to the server.", {
      namespaces: wordList("namespaces that may connect, by name. * allows all."),
      labels: wordList("labels are label keys. Namespaces with one of these labels may connect."),
    })),
  })),
});

const Condition = struct("Condition is one observation of the resource's state.", {
  type: Schema.String.annotate({ description: "type of the condition." }).check(Schema.isMaxLength(316)),
  status: oneOf("status of the condition.", ["True", "False", "Unknown"]),
  observedGeneration: optional(
    int64("observedGeneration is the generation of the resource that the condition was set for."),
  ),
  lastTransitionTime: Schema.String.annotate({
    description: "lastTransitionTime is the last time status changed.",
    format: "date-time",
  }),
  reason: Schema.String.annotate({ description: "reason is a CamelCase word for the cause of the last transition." })
    .check(Schema.isMaxLength(1024)),
  message: Schema.String.annotate({ description: "message describes the state in a sentence." })
    .check(Schema.isMaxLength(32768)),
});

export const StatusV1alpha1 = struct("status is the observed state of the resource.", {
  // The Go operator does not have it. Without it, tools take a resource that nobody has reconciled for a finished one.
  observedGeneration: optional(
    int64(
      "observedGeneration is the generation of the spec that the status refers to. -1 before the first reconciliation.",
    ).annotate({ default: -1 }),
  ),
  phase: optional(
    oneOf("phase summarizes the conditions.", ["Pending", "Initializing", "Ready", "Failed", "Terminating"]),
  ),
  version: optional(struct("version lists the versions of the operator and the server.", {
    operatorVersion: words("operatorVersion is the version of the operator that last reconciled the resource."),
    llamaStackServerVersion: words("llamaStackServerVersion is the version reported by the server."),
    lastUpdated: optional(
      Schema.String.annotate({
        description: "lastUpdated is the last time one of the versions changed.",
        format: "date-time",
      }),
    ),
  })),
  distributionConfig: optional(struct("distributionConfig is what the running server reports.", {
    activeDistribution: words("activeDistribution is the distribution in use."),
    availableDistributions: optional(
      Schema.Record(Schema.String, Schema.String).annotate({
        description: "availableDistributions are the known distributions and their images.",
      }),
    ),
    providers: several(
      "providers as reported by the server.",
      struct("ProviderInfo is a provider as reported by the server.", {
        api: Schema.String.annotate({ description: "api of the provider." }),
        provider_id: Schema.String.annotate({ description: "provider_id is the id of the provider." }),
        provider_type: Schema.String.annotate({ description: "provider_type is the type of the provider." }),
        config: Schema.Json.annotate({
          description: "config of the provider as reported by the server.",
          "x-kubernetes-preserve-unknown-fields": true,
        }),
        health: struct("health of the provider as reported by the server.", {
          status: Schema.String.annotate({ description: "status of the provider." }),
          message: Schema.String.annotate({ description: "message describes the status." }),
        }),
      }),
    ),
  })),
  conditions: several("conditions are the latest observations of the resource's state.", Condition),
  availableReplicas: optional(int32("availableReplicas is the number of available pods.")),
  serviceURL: words("serviceURL is the URL of the server inside the cluster."),
  routeURL: words(
    "routeURL is the URL of the server from outside the cluster. Empty until the Ingress or Route has an address.",
  ),
});

/** The one rule of that CRD. */
export const RULES_V1ALPHA1: ReadonlyArray<Rule> = [{
  at: "spec.server.distribution",
  cel: "!(has(self.name) && has(self.image))",
  message: "Only one of name or image can be specified",
  broken: (self) =>
    Object.hasOwn(self, "name") && Object.hasOwn(self, "image")
      ? "Only one of name or image can be specified"
      : undefined,
}];
