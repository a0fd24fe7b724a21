/**
 * `llamastack.io/v1alpha2`, kind LlamaStackDistribution: the one source of truth for the API.
 *
 * It is over 300 lines because it is the whole API, to be read from top to bottom.
 *
 * From these values come the TypeScript types (below), the decoders (decode.ts), the CRD (crd.ts), the schema for editors
 * and docs/api.md. Rules between fields stand in rules.ts.
 */
import * as Schema from "effect/Schema";
import { DISABLED_NAMES } from "./api_names.ts";
import { embedded } from "./embedded.ts";
import {
  bool,
  dataKey,
  freeForm,
  int32,
  int64,
  intOrString,
  list,
  map,
  namespaceName,
  objectName,
  oneOf,
  optional,
  quantity,
  set,
  struct,
  text,
} from "./fields.ts";

export const GROUP = "llamastack.io";
export const KIND = "LlamaStackDistribution";
export const PLURAL = "llamastackdistributions";
export const API_VERSION = `${GROUP}/v1alpha2`;

const SecretKeyRef = struct("A key of a Secret in the namespace of this resource.", {
  secretKeyRef: struct("The Secret and the key within it.", {
    name: objectName("Name of the Secret."),
    key: dataKey("Key within the Secret."),
  }),
});
export type SecretKeyRef = typeof SecretKeyRef.Type;

const Distribution = struct("Which Llama Stack server runs: a named distribution or an image, exactly one of them.", {
  name: optional(text("Name of a distribution that the operator knows, e.g. starter or ogx-starter.", { max: 63 })),
  image: optional(
    text("Container image of a server, for distributions that the operator does not know.", { max: 512 }),
  ),
  serverVersion: optional(
    text("Version of the server inside the image (x.y or x.y.z), where neither name, label nor tag tell it.", {
      max: 32,
      pattern: /^[0-9]+\.[0-9]+(\.[0-9]+)?$/u,
    }),
  ),
});

const ID_PATTERN = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/u;

const Provider = struct(
  "One provider of an API. An id that the base config has replaces that provider, a new id adds one.",
  {
    id: optional(
      text("Id of the provider. Needed where a list has more than one; a single one takes the last part of its type.", {
        max: 63,
        pattern: ID_PATTERN,
      }),
    ),
    provider: text(
      "Provider type: vllm is short for remote::vllm; inline types are written in full, e.g. inline::faiss.",
      {
        max: 128,
      },
    ),
    endpoint: optional(
      text(
        "URL or address of the service; it goes to the field that this provider type reads (base_url, url, uri, host, …).",
        {
          max: 2048,
        },
      ),
    ),
    apiKey: optional(SecretKeyRef.annotate({
      description:
        "Key or token of the service; it reaches the server as an environment variable, never as text in the config.",
    })),
    secretRefs: optional(
      map("Further secret fields of the provider's config, by field name.", SecretKeyRef, {
        min: 1,
        max: 32,
        keyMax: 63,
      }),
    ),
    settings: optional(
      freeForm("Further fields of the provider's config, passed through unchanged. Never searched for secrets."),
    ),
  },
);
export type Provider = typeof Provider.Type;

const providerList = (doc: string) => optional(list(doc, Provider, { min: 1, max: 32 }));

const Providers = struct("Providers laid over those of the distribution, per API.", {
  inference: providerList("Model servers and model services."),
  safety: providerList("Safety providers; Llama Stack only, OGX 1.x has no safety API."),
  vectorIo: providerList("Vector databases."),
  toolRuntime: providerList("Tools: web search, file search, Model Context Protocol."),
  files: providerList("Stores of uploaded files."),
  telemetry: providerList("Where telemetry goes; becomes OTEL_* environment on servers without a telemetry API."),
});

const Model = struct("A model that the server registers at start.", {
  name: text("Model id. Clients address it as <provider>/<providerModelId>.", { max: 256 }),
  provider: optional(
    text("Id of an inference provider; without it the first one of this resource, else of the base.", { max: 63 }),
  ),
  contextLength: optional(int32("Context window in tokens; no server since 0.5 reads it.", { min: 1 })),
  modelType: optional(oneOf("Kind of model; llm when absent.", ["llm", "embedding", "rerank"])),
  embeddingDimension: optional(int32("Length of the vectors of an embedding model.", { min: 1 })),
  quantization: optional(text("Quantization; read only by inline::meta-reference of old servers.", { max: 64 })),
  providerModelId: optional(text("The model's name at the provider, when it differs from name.", { max: 256 })),
});
export type Model = typeof Model.Type;

const Resources = struct("What the server registers at start.", {
  models: optional(list("Models.", Model, { min: 1, max: 256 })),
  tools: optional(
    set(
      "Tool groups: websearch, rag, wolfram_alpha, mcp::<name>, or a full name such as builtin::websearch.",
      text("Tool group.", { max: 253 }),
      {
        min: 1,
        max: 64,
      },
    ),
  ),
  shields: optional(
    set("Shields; Llama Stack only, OGX 1.x has none.", text("Shield id.", { max: 253 }), { min: 1, max: 64 }),
  ),
});

const Storage = struct("Where the server keeps its state. A part that is absent stays as the distribution has it.", {
  kv: optional(struct("Key-value state: registry, agents, vector store metadata.", {
    type: optional(
      oneOf("Backend; postgres uses the connection of storage.sql.", ["sqlite", "redis", "postgres"], "sqlite"),
    ),
    endpoint: optional(text("Redis address: host:port or redis://[user][:password]@host:port.", { max: 512 })),
    password: optional(SecretKeyRef.annotate({ description: "Password of Redis." })),
  })),
  sql: optional(struct("Relational state: responses, conversations, files.", {
    type: optional(oneOf("Backend.", ["sqlite", "postgres"], "sqlite")),
    connectionString: optional(
      SecretKeyRef.annotate({ description: "PostgreSQL connection: a postgres:// URL or libpq keywords." }),
    ),
  })),
});
export type Storage = typeof Storage.Type;

/** TCP port of the server where the resource names none. Source: the server's own default since 0.2. */
export const PORT_DEFAULT = 8321;

const Networking = struct("How the server is reached.", {
  port: optional(int32("Port of the server and of its Service.", { min: 1, max: 65535, fallback: PORT_DEFAULT })),
  tls: optional(struct("TLS: serving, and trust for outgoing calls.", {
    enabled: optional(bool("Serve HTTPS with the certificate of secretName.")),
    secretName: optional(objectName("Secret of type kubernetes.io/tls.")),
    caBundle: optional(struct("Certificate authorities that the server trusts in outgoing calls.", {
      configMapName: objectName("ConfigMap with PEM certificates."),
      configMapNamespace: optional(namespaceName("Namespace of the ConfigMap, when it is another one.")),
      configMapKeys: optional(
        list("Keys of the ConfigMap; ca-bundle.crt when absent.", dataKey("Key."), { max: 50 }),
      ),
      exclusive: optional(bool(
        "exclusive makes the server trust these authorities alone. Defaults to false: they are added to the public " +
          "authorities that the image trusts.",
      )),
    })),
  })),
  expose: optional(struct("Expose the server outside the cluster; {} is enough.", {
    enabled: optional(bool("false switches it off again.")),
    hostname: optional(text("Host name; without it the Route or Ingress controller chooses.", { min: 0, max: 253 })),
    ingressClassName: optional(text("Ingress class.", { max: 253 })),
    tlsSecretName: optional(objectName("Secret with the certificate of the Ingress.")),
    annotations: optional(
      map("Annotations of the Ingress or Route.", text("Value.", { min: 0, max: 4096 }), { max: 64 }),
    ),
  })),
  serviceAnnotations: optional(
    map("Annotations of the Service.", text("Value.", { min: 0, max: 4096 }), { min: 1, max: 64 }),
  ),
  allowedFrom: optional(struct("Who may connect; makes a NetworkPolicy.", {
    namespaces: optional(list("Names of namespaces; * allows all.", text("Namespace.", { max: 253 }), { max: 64 })),
    labels: optional(list("Keys of namespace labels.", text("Label key.", { max: 317 }), { max: 64 })),
  })),
});

/** Seconds that a start may take until it counts as failed, where the resource names none: model downloads take minutes. */
export const STARTUP_SECONDS_DEFAULT = 600;

const Overrides = struct("Changes to the pod; they win over what the operator sets.", {
  serviceAccountName: optional(objectName("ServiceAccount of the pod, instead of the operator's.")),
  env: optional(
    list("Environment variables; one of the same name replaces the operator's.", embedded("EnvVar"), { max: 256 }),
  ),
  envFrom: optional(list("Environment from ConfigMaps and Secrets.", embedded("EnvFromSource"), { max: 64 })),
  command: optional(list("Command, instead of the operator's.", text("Word.", { min: 0, max: 4096 }), { max: 128 })),
  args: optional(list("Arguments, instead of the operator's.", text("Word.", { min: 0, max: 4096 }), { max: 128 })),
  volumes: optional(list("Further volumes.", embedded("Volume"), { max: 64 })),
  volumeMounts: optional(list("Further mounts.", embedded("VolumeMount"), { max: 64 })),
  terminationGracePeriodSeconds: optional(int64("Seconds for a clean stop.")),
  nodeSelector: optional(map("Labels that the node must have.", text("Value.", { min: 0, max: 63 }), { max: 64 })),
  tolerations: optional(list("Tolerations.", embedded("Toleration"), { max: 64 })),
  affinity: optional(embedded("Affinity")),
  imagePullSecrets: optional(list("Secrets for image registries.", embedded("LocalObjectReference"), { max: 32 })),
  imagePullPolicy: optional(oneOf("When the image is pulled.", ["Always", "IfNotPresent", "Never"])),
  podAnnotations: optional(map("Annotations of the pod.", text("Value.", { min: 0, max: 4096 }), { max: 64 })),
  podLabels: optional(map("Labels of the pod.", text("Value.", { min: 0, max: 63 }), { max: 64 })),
  resourceClaims: optional(list("Dynamic resource claims.", embedded("PodResourceClaim"), { max: 32 })),
  priorityClassName: optional(text("Priority class.", { max: 253 })),
  runtimeClassName: optional(text("Runtime class.", { max: 253 })),
  securityContext: optional(embedded("PodSecurityContext")),
});

const Workload = struct("The Deployment and its pod.", {
  replicas: optional(int32("Pods; more than one needs storage that they can share.", { min: 0, fallback: 1 })),
  workers: optional(int32("Server processes per pod.", { min: 1 })),
  resources: optional(embedded("ResourceRequirements")),
  autoscaling: optional(struct("Horizontal autoscaling.", {
    minReplicas: optional(int32("Fewest pods.")),
    maxReplicas: int32("Most pods."),
    targetCPUUtilizationPercentage: optional(int32("CPU target in percent of the request.")),
    targetMemoryUtilizationPercentage: optional(int32("Memory target in percent of the request.")),
  })),
  storage: optional(struct("A volume for the server's data.", {
    size: optional(quantity("Size of the claim.")),
    mountPath: optional(text("Where the volume is mounted; /.llama when absent.", { min: 0, max: 4096 })),
    storageClassName: optional(text("Storage class.", { min: 0, max: 253 })),
    accessMode: optional(oneOf("Access mode of the claim.", ["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"])),
    existingClaim: optional(objectName("A claim that is there already.")),
    retentionPolicy: optional(
      oneOf("What becomes of the claim when this resource is deleted.", ["Retain", "Delete"], "Retain"),
    ),
  })),
  podDisruptionBudget: optional(struct("Limits voluntary disruption.", {
    minAvailable: optional(intOrString("Pods that stay.")),
    maxUnavailable: optional(intOrString("Pods that may go.")),
  })),
  topologySpreadConstraints: optional(list("How pods spread.", embedded("TopologySpreadConstraint"), { max: 16 })),
  overrides: optional(Overrides),
  probes: optional(struct("Probes.", {
    startupSeconds: optional(
      int32(`Seconds that a start may take; ${STARTUP_SECONDS_DEFAULT} when absent.`, { min: 10, max: 86400 }),
    ),
  })),
  restartPolicyOnSecretChange: optional(
    oneOf("Whether pods restart when a referenced Secret key changes.", ["Auto", "Never"], "Auto"),
  ),
});

const ExternalProvider = struct("A provider that comes as an image of its own.", {
  providerId: text("Id of the provider.", { max: 46, pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u }),
  image: text("Image that holds the provider.", { max: 512 }),
  imagePullPolicy: optional(oneOf("When the image is pulled.", ["Always", "IfNotPresent", "Never"])),
  config: optional(freeForm("Config of the provider.")),
  secretRefs: optional(map("Secret fields of the config.", SecretKeyRef, { min: 1, max: 32, keyMax: 63 })),
});
const externalList = () => optional(list("External providers of this API.", ExternalProvider, { max: 16 }));

const ExternalProviders = struct(
  "Providers that come as images of their own. Not built yet: refused with a clear message.",
  {
    inference: externalList(),
    safety: externalList(),
    agents: externalList(),
    vectorIo: externalList(),
    datasetIo: externalList(),
    scoring: externalList(),
    eval: externalList(),
    toolRuntime: externalList(),
    postTraining: externalList(),
  },
);

export const Spec = struct("What the server should be.", {
  distribution: Distribution,
  providers: optional(Providers),
  resources: optional(Resources),
  storage: optional(Storage),
  disabled: optional(
    set("APIs that are switched off, in snake_case or camelCase.", oneOf("API name.", DISABLED_NAMES), {
      min: 1,
      max: 32,
    }),
  ),
  networking: optional(Networking),
  workload: optional(Workload.annotate({ default: {} })),
  externalProviders: optional(ExternalProviders),
  overrideConfig: optional(struct("A complete config.yaml of your own, instead of a generated one.", {
    configMapName: objectName("ConfigMap in the namespace of this resource."),
    key: optional(dataKey("Key of the ConfigMap.").annotate({ default: "config.yaml" })),
  })),
  suspend: optional(bool("Pauses reconciliation; what runs goes on running.", false)),
});
export type Spec = typeof Spec.Type;

const Condition = struct("A condition as metav1.Condition has it.", {
  type: text("Type of the condition.", { max: 316 }),
  status: oneOf("Status.", ["True", "False", "Unknown"]),
  observedGeneration: optional(int64("The generation that this was said of.")),
  lastTransitionTime: text("When status last flipped.", { max: 64 }).annotate({ format: "date-time" }),
  reason: text("One word.", { max: 1024 }),
  message: text("A sentence.", { min: 0, max: 32768 }),
});
export type Condition = typeof Condition.Type;

const status = <Field extends Schema.Top>(field: Field) => optional(field);
const words = (doc: string, max = 1024) => status(text(doc, { min: 0, max }));

export const Status = struct("What the operator saw and did.", {
  observedGeneration: status(int64("Generation of the spec that this status speaks of.").annotate({ default: -1 })),
  phase: status(oneOf("Summary of the conditions.", ["Pending", "Initializing", "Ready", "Failed", "Terminating"])),
  conditions: status(
    Schema.Array(Condition).annotate({
      description: "Conditions by type.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    }).check(Schema.isMaxLength(32)),
  ),
  resolvedDistribution: status(struct("What distribution became.", {
    image: words("Image of the Deployment."),
    imageID: words("Image as the kubelet names it."),
    configSource: status(
      oneOf("Where the config comes from.", ["embedded", "oci-label", "override", "distribution-default"]),
    ),
    configHash: words("sha256 of the config in hex.", 64),
  })),
  configGeneration: status(struct("The generated config.", {
    configMapName: words("ConfigMap that holds it.", 253),
    generatedAt: words("When the name last changed.", 64),
    providerCount: status(int32("Providers in the config.")),
    resourceCount: status(int32("Models, tools and shields in the config.")),
    configVersion: status(int32("Version of the config's schema.")),
    warnings: status(list("What the reader should know.", text("Sentence.", { max: 1024 }), { max: 32 })),
  })),
  distributionConfig: status(struct("What the server says of itself.", {
    activeDistribution: words("Distribution in use.", 512),
    availableDistributions: status(map("Known names and their images.", text("Image.", { max: 512 }), { max: 64 })),
    providers: status(list(
      "Providers as the server lists them.",
      struct("Provider.", {
        api: text("API.", { max: 63 }),
        provider_id: text("Id.", { max: 253 }),
        provider_type: text("Type.", { max: 253 }),
        config: status(freeForm("Config, when the server redacted it.")),
        health: status(freeForm("Health as the server tells it.")),
      }),
      { max: 256 },
    )),
  })),
  models: status(list("Model ids that clients use.", text("Model id.", { max: 512 }), { max: 512 })),
  version: status(struct("Versions.", {
    operatorVersion: words("Operator.", 64),
    llamaStackServerVersion: words("Server.", 64),
    lastUpdated: words("When one of them last changed.", 64),
  })),
  availableReplicas: status(int32("Pods that are available.")),
  replicas: status(int32("Pods.")),
  selector: words("Label selector of the pods.", 1024),
  serviceURL: words("URL inside the cluster.", 512),
  routeURL: words("URL from outside.", 512),
  externalProviders: status(list(
    "External providers.",
    struct("External provider.", {
      providerId: text("Id.", { max: 46 }),
      image: text("Image.", { max: 512 }),
      phase: oneOf("State.", ["Pending", "Installing", "Ready", "Failed"]),
      message: words("Sentence."),
    }),
    { max: 144 },
  )),
});
export type Status = typeof Status.Type;
