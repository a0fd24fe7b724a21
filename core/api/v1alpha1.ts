/**
 * `llamastack.io/v1alpha1`: the API of the Go operator, as its CRD has it. Served for those who still use it; the operator
 * itself works on v1alpha2 only.
 *
 * Nothing here is tighter than that CRD, or an object that is stored today could not be written any more.
 */
import * as Schema from "effect/Schema";
import { embedded } from "./embedded.ts";
import { bool, int32, int64, intOrString, oneOf, optional, quantity, struct } from "./fields.ts";
import type { Rule } from "./rules.ts";
import { GROUP } from "./v1alpha2.ts";

export const V1ALPHA1 = `${GROUP}/v1alpha1`;

/** What the API server tells everyone who uses this version. */
export const DEPRECATION = `${V1ALPHA1} is deprecated: use ${GROUP}/v1alpha2; ` +
  "`llama-stack-operator convert -f FILE` rewrites a manifest";

/** Name that the API server gives the container where an author names none. */
export const CONTAINER_NAME_DEFAULT = "llama-stack";

const words = (doc: string) => optional(Schema.String.annotate({ description: doc }));
const wordList = (doc: string) => optional(Schema.Array(Schema.String).annotate({ description: doc }));
const several = <Item extends Schema.Top>(doc: string, item: Item) =>
  optional(Schema.Array(item).annotate({ description: doc }));

const ContainerSpec = struct("The container of the server.", {
  name: optional(Schema.String.annotate({ description: "Name.", default: CONTAINER_NAME_DEFAULT })),
  port: optional(int32("Port.")),
  resources: optional(embedded("ResourceRequirements")),
  env: several("Environment variables.", embedded("EnvVar")),
  command: wordList("Command."),
  args: wordList("Arguments."),
});

const Server = struct("The server.", {
  distribution: struct("A named distribution or an image.", {
    name: words("Name of a distribution."),
    image: words("Image of a server."),
  }),
  containerSpec: optional(ContainerSpec),
  workers: optional(int32("Server processes per pod.", { min: 1 })),
  podOverrides: optional(struct("Changes to the pod.", {
    serviceAccountName: words("ServiceAccount."),
    terminationGracePeriodSeconds: optional(int64("Seconds for a clean stop.")),
    volumes: several("Volumes.", embedded("Volume")),
    volumeMounts: several("Mounts.", embedded("VolumeMount")),
  })),
  podDisruptionBudget: optional(struct("Limits voluntary disruption.", {
    minAvailable: optional(intOrString("Pods that stay.")),
    maxUnavailable: optional(intOrString("Pods that may go.")),
  })),
  topologySpreadConstraints: several("How pods spread.", embedded("TopologySpreadConstraint")),
  autoscaling: optional(struct("Horizontal autoscaling.", {
    minReplicas: optional(int32("Fewest pods.")),
    maxReplicas: int32("Most pods."),
    targetCPUUtilizationPercentage: optional(int32("CPU target in percent.")),
    targetMemoryUtilizationPercentage: optional(int32("Memory target in percent.")),
  })),
  storage: optional(struct("A volume for the server's data.", {
    size: optional(quantity("Size of the claim.")),
    mountPath: words("Where the volume is mounted."),
  })),
  userConfig: optional(struct("A config of your own.", {
    configMapName: Schema.String.annotate({ description: "ConfigMap." }),
    configMapNamespace: words("Namespace of the ConfigMap."),
  })),
  tlsConfig: optional(struct("Trust for outgoing calls.", {
    caBundle: optional(struct("Certificate authorities.", {
      configMapName: Schema.String.annotate({ description: "ConfigMap." }),
      configMapNamespace: words("Namespace of the ConfigMap."),
      configMapKeys: optional(
        Schema.Array(Schema.String).annotate({ description: "Keys of the ConfigMap." }).check(Schema.isMaxLength(50)),
      ),
    })),
  })),
});

export const SpecV1alpha1 = struct("What the server should be.", {
  replicas: optional(int32("Pods.", { fallback: 1 })),
  server: Server,
  network: optional(struct("How the server is reached.", {
    exposeRoute: optional(bool("Whether it is reached from outside.", false)),
    allowedFrom: optional(struct("Who may connect.", {
      namespaces: wordList("Names of namespaces; * allows all."),
      labels: wordList("Keys of namespace labels."),
    })),
  })),
});

const Condition = struct("A condition.", {
  type: Schema.String.annotate({ description: "Type." }).check(Schema.isMaxLength(316)),
  status: oneOf("Status.", ["True", "False", "Unknown"]),
  observedGeneration: optional(int64("The generation that this was said of.")),
  lastTransitionTime: Schema.String.annotate({ description: "When status last flipped.", format: "date-time" }),
  reason: Schema.String.annotate({ description: "One word." }).check(Schema.isMaxLength(1024)),
  message: Schema.String.annotate({ description: "A sentence." }).check(Schema.isMaxLength(32768)),
});

export const StatusV1alpha1 = struct("What the operator saw and did.", {
  phase: optional(oneOf("Summary.", ["Pending", "Initializing", "Ready", "Failed", "Terminating"])),
  version: optional(struct("Versions.", {
    operatorVersion: words("Operator."),
    llamaStackServerVersion: words("Server."),
    lastUpdated: optional(Schema.String.annotate({ description: "When it was read.", format: "date-time" })),
  })),
  distributionConfig: optional(struct("What the server says of itself.", {
    activeDistribution: words("Distribution in use."),
    availableDistributions: optional(
      Schema.Record(Schema.String, Schema.String).annotate({ description: "Known names and their images." }),
    ),
    providers: several(
      "Providers as the server lists them.",
      struct("Provider.", {
        api: Schema.String.annotate({ description: "API." }),
        provider_id: Schema.String.annotate({ description: "Id." }),
        provider_type: Schema.String.annotate({ description: "Type." }),
        config: Schema.Json.annotate({ "x-kubernetes-preserve-unknown-fields": true }),
        health: struct("Health.", {
          status: Schema.String.annotate({ description: "Word." }),
          message: Schema.String.annotate({ description: "Sentence." }),
        }),
      }),
    ),
  })),
  conditions: several("Conditions.", Condition),
  availableReplicas: optional(int32("Pods that are available.")),
  serviceURL: words("URL inside the cluster."),
  routeURL: words("URL from outside; empty while it has no address."),
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
