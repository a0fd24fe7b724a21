/**
 * `llamastack.io/v1alpha2`, kind LlamaStackDistribution: the single definition of the API.
 *
 * It is over 300 lines because it is the whole API, to be read from top to bottom; only spec.auth and
 * spec.tenancy are in auth.ts, and spec.resources and spec.connectors in server_resources.ts.
 *
 * The TypeScript types (below), the decoders (decode.ts), the CRD (crd.ts), the schema for editors and docs/api.md are
 * derived from these values. Rules between fields are in rules.ts.
 *
 * Descriptions follow the Kubernetes API: the field's name, what it is, its unit, its default or what happens if unset.
 */
import * as Schema from "effect/Schema";
import { DISABLED_EXPECTED, DISABLED_PATTERN } from "./api_names.ts";
import { Auth, Tenancy } from "./auth.ts";
import { embedded } from "./embedded.ts";
import {
  bool,
  byKey,
  byName,
  dataKey,
  freeForm,
  int32,
  int64,
  intOrString,
  keyed,
  list,
  map,
  named,
  namespaceName,
  objectName,
  oneOf,
  optional,
  quantity,
  set,
  struct,
  text,
} from "./fields.ts";
import { EgressRule, IngressRule } from "./network_rules.ts";
import { LABELS } from "./object_labels.ts";
import { SecretKeyRef } from "./secret_key_ref.ts";
import { Connector, Resources } from "./server_resources.ts";

export const GROUP = "llamastack.io";
export const KIND = "LlamaStackDistribution";
export const PLURAL = "llamastackdistributions";
export const API_VERSION = `${GROUP}/v1alpha2`;

const Distribution = struct(
  "distribution selects the Llama Stack or OGX server to run. Exactly one of name and image must be set.",
  {
    name: optional(
      text("name is a distribution known to the operator, such as starter or ogx-starter.", { max: 63 }),
    ),
    image: optional(
      text("image is the container image of a server, for distributions unknown to the operator.", { max: 512 }),
    ),
    serverVersion: optional(
      text(
        "serverVersion is the version of the server, as x.y or x.y.z. With name, it selects the release of the " +
          "distribution for that version; with image, it is the version of the server inside the image. Defaults to the " +
          "version that the operator pins for name, or to the tag of a published image. A server that runs Llama Stack " +
          "stays on its version until this field names one of OGX. If the version of an image is unknown, no config can " +
          "be generated for it.",
        {
          max: 32,
          pattern: /^[0-9]+\.[0-9]+(\.[0-9]+)?$/u,
        },
      ),
    ),
    config: optional(
      text(
        "config is the file to use as the base config, of those that the labels of the image contain, such as " +
          "config.yaml. Defaults to the one that the image names as its default.",
        { max: 253, pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/u },
      ),
    ),
  },
);

const ID_PATTERN = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/u;

const Provider = struct(
  "Provider replaces the provider of the base config with this id, or is added.",
  {
    id: optional(
      text(
        "id identifies the provider on the server. Required in a list of several. Defaults to the last part of provider.",
        {
          max: 63,
          pattern: ID_PATTERN,
        },
      ),
    ),
    provider: text(
      "provider is the provider type, such as remote::vllm, or vllm for short. A short name is that of the remote type " +
        "if there is one.",
      {
        max: 128,
      },
    ),
    endpoint: optional(
      text(
        "endpoint is the URL or address of the service, for the field that the provider type reads, such as base_url or " +
          "host.",
        {
          max: 2048,
        },
      ),
    ),
    apiKey: optional(SecretKeyRef.annotate({
      description: "apiKey selects the API key or token of the service. It is never written to the config.",
    })),
    secretRefs: optional(
      map("secretRefs sets further secret fields of the provider's config, by field name.", SecretKeyRef, {
        min: 1,
        max: 32,
        keyMax: 63,
      }),
    ),
    settings: optional(
      freeForm(
        "settings sets further fields of the provider's config, in clear text: use secretRefs for secrets.",
      ),
    ),
  },
);
export type Provider = typeof Provider.Type;

export const PROVIDERS_MAX = 32;
const providerList = (doc: string) => optional(list(doc, Provider, { min: 1, max: PROVIDERS_MAX }));

/** Of an API that has few providers: the API server allows a rule over all lists only if together they are short. */
const apiProviders = (doc: string) => optional(list(doc, Provider, { min: 1, max: 8 }));

const Providers = struct(
  "providers configures providers per API, in addition to those of the base config. If unset, the providers of the base " +
    "config are used.",
  {
    inference: providerList("inference configures model servers and hosted model services."),
    safety: providerList("safety configures safety providers. Not supported by OGX 1.x."),
    vectorIo: providerList("vectorIo configures vector databases."),
    toolRuntime: providerList("toolRuntime configures tools: web search, file search, Model Context Protocol servers."),
    files: providerList("files configures storage for uploaded files."),
    telemetry: providerList(
      "telemetry configures the export of telemetry. On servers without a telemetry API, it is converted to OTEL_* " +
        "environment variables.",
    ),
    responses: apiProviders(
      "responses configures the Responses API, which has one provider: how it compacts conversations, and which service " +
        "moderates them. Servers up to 0.6 call the API agents.",
    ),
    batches: apiProviders("batches configures batches of requests, which have one provider: how many run at once."),
    fileProcessors: apiProviders("fileProcessors configures how text is taken out of files. Supported from 0.6 on."),
    messages: apiProviders("messages configures the Anthropic Messages API. Supported from OGX 0.8 on."),
    interactions: apiProviders("interactions configures the Google Interactions API. Supported from OGX 0.8 on."),
    skills: apiProviders("skills configures agent skills. Supported from OGX 1.1 on."),
    datasetIo: apiProviders("datasetIo configures where datasets are read. Not supported by OGX."),
    scoring: apiProviders("scoring configures scoring functions. Not supported by OGX."),
    eval: apiProviders("eval configures evaluations. Not supported by OGX."),
    postTraining: apiProviders("postTraining configures fine-tuning. Supported up to Llama Stack 0.6."),
  },
);

/** What every file processor accepts. Source: default_chunk_size_tokens and the overlap in their config.py, 0.6 to 1.5. */
const CHUNK_TOKENS_MIN = 100;
const CHUNK_TOKENS_MAX = 4096;
const OVERLAP_TOKENS_MAX = 2048;

const VectorStores = struct(
  "vectorStores configures vector stores whose requests leave something open. If unset, the first provider of " +
    "providers.vectorIo and the first embedding model of resources.models are used, else those of the base config. " +
    "Existing stores stay where they are.",
  {
    defaultProvider: optional(
      text(
        "defaultProvider is the id of the vector_io provider, of this resource or of the base config, in which stores are " +
          "created whose request names none. Defaults to the first provider of providers.vectorIo; if there is none, to that " +
          "of the base config. An empty text means none.",
        { min: 0, max: 63 },
      ),
    ),
    defaultEmbeddingModel: optional(
      text(
        "defaultEmbeddingModel is the model that embeds the texts of stores whose request names none: the name of an entry of " +
          "resources.models, or the id by which clients address a model, such as <provider>/<name>. Its dimension is " +
          "embeddingDimension of that entry. Defaults to the first embedding model of resources.models; if there is none, to " +
          "that of the base config. An empty text means none. Not supported by Llama Stack 0.2.",
        { min: 0, max: 320 },
      ),
    ),
    defaultRerankerModel: optional(
      text(
        "defaultRerankerModel is the model that ranks the results of searches that ask for a neural ranker without naming a " +
          "model, written as defaultEmbeddingModel is. Defaults to that of the base config, if any. An empty text means " +
          "none. Supported by Llama Stack 0.7 and newer.",
        { min: 0, max: 320 },
      ),
    ),
    chunking: optional(struct(
      "chunking is how files are cut whose request does not say it: files that are named when a store is created, and those " +
        "of batches. A file that is attached by a request of its own is cut into 800 tokens by every server, unless that " +
        "request has a chunking_strategy. Supported by OGX 0.8 and newer.",
      {
        maxChunkSizeTokens: int32("maxChunkSizeTokens is the length of a chunk, in tokens.", {
          min: CHUNK_TOKENS_MIN,
          max: CHUNK_TOKENS_MAX,
        }),
        chunkOverlapTokens: optional(
          int32(
            "chunkOverlapTokens is how many tokens a chunk has in common with the next one, less than " +
              "maxChunkSizeTokens. Defaults to half of it.",
            { min: 0, max: OVERLAP_TOKENS_MAX },
          ),
        ),
      },
    )),
    searchMode: optional(
      oneOf(
        "searchMode is how the tool file_search searches. keyword and hybrid need a provider with keyword search, which " +
          "inline::faiss does not have. Requests to a store itself choose their own mode. Defaults to that of the base " +
          "config, usually vector. Supported by OGX 0.8 and newer.",
        ["vector", "keyword", "hybrid"],
      ),
    ),
  },
);
export type VectorStores = typeof VectorStores.Type;

const Backend = struct("Backend is a storage backend of the server.", {
  name: text("name is the name of the backend, such as sql_files. One of the base config with this name is replaced.", {
    max: 63,
    pattern: /^[A-Za-z][A-Za-z0-9_-]*$/u,
  }),
  type: oneOf("type is the type of the backend.", [
    "kv_sqlite",
    "kv_redis",
    "kv_postgres",
    "kv_mongodb",
    "sql_sqlite",
    "sql_postgres",
  ]),
  secretRefs: optional(
    map("secretRefs are fields of the backend whose values are in Secrets, such as password.", SecretKeyRef, {
      max: 8,
      keyMax: 63,
    }),
  ),
  settings: optional(freeForm("settings are further fields of the backend, in clear text, such as host.")),
});
export type Backend = typeof Backend.Type;

const Storage = struct(
  "storage configures where the server stores its state. If kv or sql is unset, that part of the base config is used.",
  {
    kv: optional(struct("kv configures the key-value store: registry, agents and vector store metadata.", {
      type: optional(
        oneOf(
          "type of the key-value store. postgres uses the connection of storage.sql. Defaults to sqlite.",
          ["sqlite", "redis", "postgres"],
          "sqlite",
        ),
      ),
      endpoint: optional(
        text(
          "endpoint is the address of Redis, as host:port or redis://[user][:password]@host:port. Required if type is " +
            "redis, and only valid then.",
          { max: 512 },
        ),
      ),
      password: optional(
        SecretKeyRef.annotate({
          description:
            "password selects the password of Redis. Only valid if type is redis. If unset, the password in " +
            "endpoint is used, if any.",
        }),
      ),
    })),
    sql: optional(struct("sql configures the relational store: responses, conversations and file metadata.", {
      type: optional(oneOf("type of the relational store. Defaults to sqlite.", ["sqlite", "postgres"], "sqlite")),
      connectionString: optional(
        SecretKeyRef.annotate({
          description:
            "connectionString selects the PostgreSQL connection, as a postgres:// URL or as libpq keywords. " +
            "Required if type is postgres, and only valid then.",
        }),
      ),
    })),
    backends: optional(byName(
      "backends are further backends, besides those of kv and sql. Settings of providers name them, as in " +
        "metadata_store.backend. Supported by Llama Stack 0.3 and newer.",
      Backend,
      { max: 8 },
    )),
  },
);
export type Storage = typeof Storage.Type;

/** TCP port of the server if the resource sets none. Source: the server's own default since 0.2. */
export const PORT_DEFAULT = 8321;

export const ParentRef = struct("ParentRef is a Gateway.", {
  name: objectName("name of the Gateway."),
  namespace: optional(namespaceName("namespace of the Gateway, if not that of this resource.")),
  sectionName: optional(objectName("sectionName is the listener. If unset, every one that fits.")),
});
export type ParentRef = typeof ParentRef.Type;

export const PARENT_REFS_MAX = 8;

const Networking = struct("networking configures how the server is reached.", {
  port: optional(
    int32("port is the TCP port of the server and of its Service. Defaults to 8321.", {
      min: 1,
      max: 65535,
      fallback: PORT_DEFAULT,
    }),
  ),
  tls: optional(struct("tls configures HTTPS, and the CAs trusted for outgoing connections.", {
    enabled: optional(
      bool("enabled makes the server serve HTTPS with the certificate of secretName. If unset, it serves HTTP."),
    ),
    secretName: optional(
      objectName(
        "secretName is the name of a Secret of type kubernetes.io/tls in the namespace of this resource. Required if " +
          "enabled is true, and only valid then.",
      ),
    ),
    clientSecretName: optional(
      objectName(
        "clientSecretName is the name of a Secret of type kubernetes.io/tls, whose certificate the server shows to " +
          "providers and PostgreSQL. Llama Stack 0.5 and newer.",
      ),
    ),
    caBundle: optional(
      struct(
        "caBundle lists certificate authorities that the server trusts for outgoing connections. If unset, only those " +
          "of the image are trusted.",
        {
          configMapName: objectName("configMapName is the name of a ConfigMap with PEM certificates."),
          configMapNamespace: optional(
            namespaceName(
              "configMapNamespace is the namespace of the ConfigMap. Defaults to the namespace of this resource; others " +
                "must be allowed by the operator's setting allow.caBundleNamespaces.",
            ),
          ),
          configMapKeys: optional(
            list("configMapKeys are the keys of the ConfigMap to read. Defaults to ca-bundle.crt.", dataKey("Key."), {
              max: 50,
            }),
          ),
          exclusive: optional(bool(
            "exclusive makes the server trust only these authorities. Defaults to false: they are added to the public " +
              "authorities that the image trusts.",
          )),
        },
      ),
    ),
  })),
  expose: optional(
    struct(
      "expose makes the server reachable from outside the cluster, with a Route on OpenShift and an Ingress elsewhere. " +
        "If unset, it is not exposed. An empty object exposes it with defaults.",
      {
        enabled: optional(bool("enabled can be set to false to stop exposing the server. If unset, it is exposed.")),
        hostname: optional(
          text(
            "hostname is the host name of the Ingress or Route. If unset, a Route receives a generated name, and an " +
              "Ingress matches every host.",
            { min: 0, max: 253 },
          ),
        ),
        ingressClassName: optional(
          text("ingressClassName is the class of the Ingress. If unset, the default class of the cluster is used.", {
            max: 253,
          }),
        ),
        tlsSecretName: optional(
          objectName(
            "tlsSecretName is the name of the Secret with the certificate of the Ingress. If unset, the Ingress has no " +
              "tls section. Ignored for a Route.",
          ),
        ),
        annotations: optional(
          map("annotations are added to the Ingress or Route.", text("Value.", { min: 0, max: 4096 }), { max: 64 }),
        ),
        gateway: optional(
          struct(
            "gateway exposes the server with an HTTPRoute (gateway.networking.k8s.io/v1), in place of an Ingress or Route.",
            {
              parentRefs: optional(
                list(
                  "parentRefs are the Gateways. If unset, those of the operator's setting gateway.parentRefs.",
                  ParentRef,
                  {
                    min: 1,
                    max: PARENT_REFS_MAX,
                  },
                ),
              ),
              caConfigMapName: optional(
                objectName(
                  "caConfigMapName is a ConfigMap whose key ca.crt has the CA of the server's certificate. Needed with tls.enabled.",
                ),
              ),
            },
          ),
        ),
      },
    ),
  ),
  policy: optional(
    struct("policy configures the NetworkPolicy of the server. An empty object creates one.", {
      enabled: optional(bool("enabled can be set to false to have no NetworkPolicy.")),
      ingress: optional(
        list("ingress is added to the rules of the operator.", IngressRule("Rule of networking.k8s.io/v1."), {
          max: 64,
        }),
      ),
      egress: optional(
        list(
          "egress is what the server may connect to, besides DNS. If unset, everything.",
          EgressRule("Rule of networking.k8s.io/v1."),
          { max: 64 },
        ),
      ),
    }),
  ),
  serviceAnnotations: optional(
    map("serviceAnnotations are added to the Service.", text("Value.", { min: 0, max: 4096 }), { min: 1, max: 64 }),
  ),
  allowedFrom: optional(
    struct(
      "allowedFrom restricts which namespaces may connect to the server; it creates a NetworkPolicy. The namespace of this " +
        "resource and that of the operator are always allowed. If unset, a NetworkPolicy is created only if the operator's " +
        "setting enableNetworkPolicy is on.",
      {
        namespaces: optional(
          list("namespaces that may connect, by name. * allows all.", text("Namespace.", { max: 253 }), { max: 64 }),
        ),
        labels: optional(
          list(
            "labels are label keys. Namespaces with one of these labels, whatever its value, may connect.",
            text("Label key.", { max: 317 }),
            { max: 64 },
          ),
        ),
      },
    ),
  ),
});

const Monitoring = struct(
  "monitoring makes Prometheus read the metrics of the server, from OGX 1.2 on. If unset, it does for new resources where " +
    "PodMonitors are served.",
  {
    enabled: optional(bool("enabled can be set to false to serve no metrics.")),
    port: optional(int32("port of the metrics. Defaults to 9464.", { min: 1024, max: 65535 })),
    labels: optional(
      map("labels are added to the PodMonitor and PrometheusRule.", text("Value.", { min: 0, max: 63 }), { max: 64 })
        .check(LABELS),
    ),
    rules: optional(bool("rules can be set to false to have no PrometheusRule.")),
  },
);

/** Seconds until a start counts as failed, if the resource sets none: model downloads take minutes. */
export const STARTUP_SECONDS_DEFAULT = 600;

const Overrides = struct(
  "overrides changes the pod. Unless noted otherwise, its values take precedence over those of the operator.",
  {
    serviceAccountName: optional(
      objectName(
        "serviceAccountName is the ServiceAccount of the pod. Defaults to the one that the operator creates, <name>-sa.",
      ),
    ),
    env: optional(
      list(
        "env adds environment variables to the container. A variable of the operator with the same name is replaced.",
        embedded("EnvVar"),
        { max: 256 },
      ),
    ),
    envFrom: optional(
      list("envFrom adds environment variables from ConfigMaps and Secrets.", embedded("EnvFromSource"), { max: 64 }),
    ),
    command: optional(
      list(
        "command of the container. If command and args are unset, the operator sets the command that fits the server.",
        text("Word.", { min: 0, max: 4096 }),
        { max: 128 },
      ),
    ),
    args: optional(
      list(
        "args of the container. If command and args are unset, the operator sets the command that fits the server.",
        text("Word.", { min: 0, max: 4096 }),
        { max: 128 },
      ),
    ),
    volumes: optional(
      list(
        "volumes adds volumes to the pod, of the kinds that the operator's setting allow.volumes allows.",
        embedded("Volume"),
        {
          max: 64,
        },
      ),
    ),
    volumeMounts: optional(list(
      "volumeMounts adds mounts to the container. A mount at /tmp replaces the one of the operator; mounts of its " +
        "data, config, certificate and CAs cannot be replaced.",
      embedded("VolumeMount"),
      { max: 64 },
    )),
    terminationGracePeriodSeconds: optional(
      int64("terminationGracePeriodSeconds is the time in seconds that the pod has to stop. Defaults to 30."),
    ),
    nodeSelector: optional(
      map("nodeSelector lists labels that a node must have to run the pod.", text("Value.", { min: 0, max: 63 }), {
        max: 64,
      }),
    ),
    tolerations: optional(list("tolerations of the pod.", embedded("Toleration"), { max: 64 })),
    affinity: optional(
      embedded("Affinity", "affinity of the pod. If unset, pods of this resource prefer different nodes."),
    ),
    imagePullSecrets: optional(
      list("imagePullSecrets are Secrets with credentials for image registries.", embedded("LocalObjectReference"), {
        max: 32,
      }),
    ),
    imagePullPolicy: optional(
      oneOf(
        "imagePullPolicy says when the image is pulled. Defaults to Always if the tag is latest, otherwise to IfNotPresent.",
        ["Always", "IfNotPresent", "Never"],
      ),
    ),
    podAnnotations: optional(
      map(
        "podAnnotations are added to the pod. They cannot replace annotations of the operator.",
        text("Value.", { min: 0, max: 4096 }),
        { max: 64 },
      ),
    ),
    podLabels: optional(
      map(
        "podLabels are added to the pod. They cannot replace labels of the operator.",
        text("Value.", { min: 0, max: 63 }),
        { max: 64 },
      ),
    ),
    resourceClaims: optional(
      list("resourceClaims are claims of dynamic resource allocation, such as GPUs.", embedded("PodResourceClaim"), {
        max: 32,
      }),
    ),
    priorityClassName: optional(
      text("priorityClassName is the PriorityClass of the pod. If unset, the default of the cluster is used.", {
        max: 253,
      }),
    ),
    runtimeClassName: optional(
      text("runtimeClassName is the RuntimeClass of the pod. If unset, the default container runtime is used.", {
        max: 253,
      }),
    ),
    securityContext: optional(
      embedded(
        "PodSecurityContext",
        "securityContext of the pod. If unset, the pod runs as user and group 1001, on OpenShift as a user that the cluster assigns.",
      ),
    ),
  },
);

const Workload = struct("workload configures the Deployment and its pods.", {
  replicas: optional(
    int32(
      "replicas is the desired number of pods. More than one requires shared storage (PostgreSQL, Redis or a " +
        "ReadWriteMany claim). With autoscaling it is a lower limit as well. Defaults to 1.",
      { min: 0, fallback: 1 },
    ),
  ),
  scaling: optional(
    oneOf(
      "scaling is Operator, or External if something else sets the number of pods: the operator then leaves it alone. " +
        "Defaults to Operator.",
      ["Operator", "External"],
    ),
  ),
  workers: optional(
    int32(
      "workers is the number of server processes per pod. If unset, one process runs and no default limits are set.",
      { min: 1 },
    ),
  ),
  resources: optional(
    embedded(
      "ResourceRequirements",
      "resources are the requests and limits of the container. Requests default to one CPU and 1Gi of memory per worker. " +
        "Limits default to the requests if workers is set; otherwise there are none.",
    ),
  ),
  autoscaling: optional(
    struct("autoscaling creates a HorizontalPodAutoscaler. If unset, replicas is the number of pods.", {
      minReplicas: optional(
        int32(
          "minReplicas is the lower limit for the number of replicas. The larger one of minReplicas and replicas applies, but never more than maxReplicas. Defaults to 1.",
        ),
      ),
      maxReplicas: int32(
        "maxReplicas is the upper limit for the number of replicas, at least 1. New and changed resources cannot have 0; in a stored one it disables autoscaling, with a warning.",
      ),
      targetCPUUtilizationPercentage: optional(
        int32(
          "targetCPUUtilizationPercentage is the target CPU utilization, in percent of the request. Defaults to 80 if " +
            "there is no memory target.",
        ),
      ),
      targetMemoryUtilizationPercentage: optional(
        int32(
          "targetMemoryUtilizationPercentage is the target memory utilization, in percent of the request. If unset, " +
            "memory is not considered.",
        ),
      ),
    }),
  ),
  storage: optional(
    struct(
      "storage is the persistent volume for the server's data. If unset, an emptyDir is used, and the data is lost with " +
        "the pod.",
      {
        size: optional(quantity("size of the PersistentVolumeClaim. Defaults to 10Gi.")),
        mountPath: optional(
          text("mountPath is the path of the volume inside the container. Defaults to /.llama.", { min: 0, max: 4096 }),
        ),
        storageClassName: optional(
          text(
            "storageClassName is the StorageClass of the claim. If unset, the default class of the cluster is used.",
            {
              min: 0,
              max: 253,
            },
          ),
        ),
        accessMode: optional(
          oneOf("accessMode of the claim. Defaults to ReadWriteOnce.", [
            "ReadWriteOnce",
            "ReadWriteMany",
            "ReadWriteOncePod",
          ]),
        ),
        existingClaim: optional(
          objectName(
            "existingClaim is the name of an existing PersistentVolumeClaim to use. If unset, the operator creates one.",
          ),
        ),
        retentionPolicy: optional(
          oneOf(
            "retentionPolicy says whether the claim is kept (Retain) or deleted (Delete) together with this resource. " +
              "Defaults to Retain.",
            ["Retain", "Delete"],
            "Retain",
          ),
        ),
      },
    ),
  ),
  podDisruptionBudget: optional(
    struct(
      "podDisruptionBudget limits voluntary disruptions. If unset, one pod may be unavailable, provided that replicas is " +
        "more than 1.",
      {
        minAvailable: optional(
          intOrString("minAvailable is the number or percentage of pods that must stay available during an eviction."),
        ),
        maxUnavailable: optional(
          intOrString(
            "maxUnavailable is the number or percentage of pods that may be unavailable. Mutually exclusive with " +
              "minAvailable. Defaults to 1.",
          ),
        ),
      },
    ),
  ),
  topologySpreadConstraints: optional(
    list(
      "topologySpreadConstraints says how pods are spread. If unset, pods are spread over regions, zones and nodes where " +
        "possible.",
      embedded("TopologySpreadConstraint"),
      { max: 16 },
    ),
  ),
  overrides: optional(Overrides),
  probes: optional(struct("probes configures the probes of the container.", {
    startupSeconds: optional(
      int32(
        `startupSeconds is the time in seconds that a start may take until it counts as failed. Defaults to ${STARTUP_SECONDS_DEFAULT}.`,
        { min: 10, max: 86400 },
      ),
    ),
  })),
  restartPolicyOnSecretChange: optional(
    oneOf(
      "restartPolicyOnSecretChange says whether pods restart when a referenced Secret key changes. Defaults to Auto.",
      ["Auto", "Never"],
      "Auto",
    ),
  ),
});

/** `install-provider-<id>` is the name of a container, which has at most 63 characters. */
const EXTERNAL_ID_MAX = 46;

const ExternalProvider = struct(
  "ExternalProvider is a provider that is delivered in a container image, and installed when a pod starts.",
  {
    providerId: text(
      "providerId is the id of the provider on the server. If the base config or spec.providers has a provider with this " +
        "id in the same API, this one replaces it. Unique among all external providers.",
      {
        max: EXTERNAL_ID_MAX,
        pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u,
      },
    ),
    image: text("image is the container image that contains the packages of the provider under /lls-provider.", {
      max: 512,
    }),
    imagePullPolicy: optional(
      oneOf(
        "imagePullPolicy says when the image is pulled. Defaults to Always for the tag latest, otherwise to IfNotPresent.",
        ["Always", "IfNotPresent", "Never"],
      ),
    ),
    config: optional(
      freeForm(
        "config is the configuration of the provider. Values are passed through unchanged, and are stored in clear text: " +
          "use secretRefs for secrets.",
      ),
    ),
    secretRefs: optional(
      map("secretRefs sets secret fields of config, by field name.", SecretKeyRef, { min: 1, max: 32, keyMax: 63 }),
    ),
  },
);
export type ExternalProvider = typeof ExternalProvider.Type;

const externalList = (api: string) =>
  optional(keyed(`${api} lists external providers of this API.`, ExternalProvider, "providerId", { max: 16 }));

/** Packages of the providers on the disk of the node, twice: as wheels and unpacked. */
export const VOLUME_SIZE_LIMIT_DEFAULT = "2Gi";

export const ExternalProviders = struct(
  "externalProviders lists providers that are delivered in container images. Their packages are installed when a pod " +
    "starts, without access to a package index. A provider runs inside the server process, and can read its secrets and data.",
  {
    inference: externalList("inference"),
    safety: externalList("safety"),
    agents: externalList("agents"),
    vectorIo: externalList("vectorIo"),
    datasetIo: externalList("datasetIo"),
    scoring: externalList("scoring"),
    eval: externalList("eval"),
    toolRuntime: externalList("toolRuntime"),
    postTraining: externalList("postTraining"),
    volumeSizeLimit: optional(
      quantity(
        "volumeSizeLimit limits the size of the volume with the packages of all external providers; a pod that exceeds it " +
          `is evicted. Defaults to ${VOLUME_SIZE_LIMIT_DEFAULT}.`,
      ),
    ),
  },
);

export const Spec = struct("spec is the desired state of the server.", {
  distribution: Distribution,
  providers: optional(Providers),
  resources: optional(Resources),
  connectors: optional(
    byKey(
      "connectors are MCP servers that requests name by an id, beside those of resources and of the base config. The server " +
        "deletes all others when it starts. Supported from 0.5 on.",
      Connector,
      "connectorId",
      { max: 64 },
    ),
  ),
  vectorStores: optional(VectorStores),
  storage: optional(Storage),
  disabled: optional(
    set(
      "disabled lists APIs to switch off, in snake_case or camelCase, and providers of the base config to remove: " +
        "vectorIo/faiss is the provider faiss of vectorIo, and inference/* is every provider of inference but those of " +
        "this resource. What depends on them goes with them.",
      named("API, or API and provider.", 128, DISABLED_PATTERN, DISABLED_EXPECTED),
      {
        min: 1,
        max: 32,
      },
    ),
  ),
  networking: optional(Networking),
  auth: optional(Auth),
  tenancy: optional(Tenancy),
  monitoring: optional(Monitoring),
  workload: optional(Workload.annotate({ default: {} })),
  externalProviders: optional(ExternalProviders),
  baseConfig: optional(
    struct(
      "baseConfig is a config.yaml to use as the base config, instead of that of the distribution or of the labels of the " +
        "image. All other fields are merged into it.",
      {
        configMapName: objectName("configMapName is the name of a ConfigMap in the namespace of this resource."),
        key: optional(dataKey("key of the ConfigMap. Defaults to config.yaml.").annotate({ default: "config.yaml" })),
      },
    ),
  ),
  overrideConfig: optional(
    struct(
      "overrideConfig is a complete config.yaml to use instead of a generated one; the command import makes a short resource " +
        "of it. It cannot be combined with baseConfig, providers, resources, connectors, vectorStores, storage, disabled, " +
        "auth, tenancy or externalProviders.",
      {
        configMapName: objectName("configMapName is the name of a ConfigMap in the namespace of this resource."),
        key: optional(
          dataKey("key of the ConfigMap. Defaults to config.yaml, or to run.yaml if the ConfigMap has only that one.")
            .annotate({ default: "config.yaml" }),
        ),
      },
    ),
  ),
  suspend: optional(
    bool("suspend pauses reconciliation. Existing objects are left unchanged. Defaults to false.", false),
  ),
});
export type Spec = typeof Spec.Type;

const Condition = struct("Condition is one observation of the resource's state, as metav1.Condition.", {
  type: text("type of the condition.", { max: 316 }),
  status: oneOf("status of the condition.", ["True", "False", "Unknown"]),
  observedGeneration: optional(
    int64("observedGeneration is the generation of the resource that the condition was set for."),
  ),
  lastTransitionTime: text("lastTransitionTime is the last time status changed.", { max: 64 }).annotate({
    format: "date-time",
  }),
  reason: text("reason is a CamelCase word for the cause of the last transition.", { max: 1024 }),
  message: text("message describes the state in a sentence.", { min: 0, max: 32768 }),
});
export type Condition = typeof Condition.Type;

const status = <Field extends Schema.Top>(field: Field) => optional(field);
const words = (doc: string, max = 1024) => status(text(doc, { min: 0, max }));

export const Status = struct("status is the observed state of the resource.", {
  observedGeneration: status(
    int64(
      "observedGeneration is the generation of the spec that the status refers to. -1 before the first reconciliation.",
    )
      .annotate({ default: -1 }),
  ),
  phase: status(
    oneOf("phase is Ready while pods serve, also those from before an edit that failed: see the condition Ready.", [
      "Pending",
      "Initializing",
      "Ready",
      "Failed",
      "Terminating",
    ]),
  ),
  conditions: status(
    Schema.Array(Condition).annotate({
      description: "conditions are the latest observations of the resource's state.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    }).check(Schema.isMaxLength(32)),
  ),
  resolvedDistribution: status(struct("resolvedDistribution is what spec.distribution was resolved to.", {
    image: words("image of the Deployment."),
    imageID: words("imageID is the image as reported by the kubelet."),
    configSource: status(
      oneOf(
        "configSource is the source of the config: generated from an embedded base config (embedded), from one in the " +
          "labels of the image (oci-label) or from spec.baseConfig (base-config), spec.overrideConfig (override), or the config built into the image " +
          "(distribution-default).",
        ["embedded", "oci-label", "base-config", "override", "distribution-default"],
      ),
    ),
    configHash: words(
      "configHash is the SHA-256 of the generated config, or of the files of spec.overrideConfig, in hex.",
      64,
    ),
    digest: words("digest is what the tag of the image meant when its labels were read.", 71),
    namedImage: words("namedImage is the image whose tag meant that digest."),
    config: words("config is the file of the image's labels that is the base config.", 253),
  })),
  configGeneration: status(struct("configGeneration describes the config of the server.", {
    configMapName: words(
      "configMapName is the ConfigMap with the generated config, or with the copy of spec.overrideConfig.",
      253,
    ),
    generatedAt: words("generatedAt is the last time configMapName changed.", 64),
    providerCount: status(int32("providerCount is the number of providers in the config.")),
    resourceCount: status(
      int32("resourceCount is the number of models, tools, shields and others of spec.resources in the config."),
    ),
    configVersion: status(int32("configVersion is the schema version of the config.")),
    warnings: status(
      list(
        "warnings about the resource that did not prevent the generation of a config.",
        text("Sentence.", { max: 1024 }),
        {
          max: 32,
        },
      ),
    ),
  })),
  distributionConfig: status(
    struct("distributionConfig describes the distribution, and the providers that the server reports.", {
      activeDistribution: words("activeDistribution is the distribution in use.", 512),
      availableDistributions: status(
        map("availableDistributions are the known distributions and their images.", text("Image.", { max: 512 }), {
          max: 64,
        }),
      ),
      providers: status(list(
        "providers as reported by the server.",
        struct("ProviderInfo is a provider as reported by the server.", {
          api: text("api of the provider.", { max: 63 }),
          provider_id: text("provider_id is the id of the provider.", { max: 253 }),
          provider_type: text("provider_type is the type of the provider.", { max: 253 }),
          config: status(freeForm("config of the provider. Not set by this operator.")),
          health: status(freeForm("health of the provider. Not set by this operator.")),
        }),
        { max: 256 },
      )),
    }),
  ),
  models: status(
    list("models are the ids under which clients can use the models.", text("Model id.", { max: 512 }), { max: 512 }),
  ),
  version: status(struct("version lists the versions of the operator and the server.", {
    operatorVersion: words("operatorVersion is the version of the operator that last reconciled the resource.", 64),
    llamaStackServerVersion: words("llamaStackServerVersion is the version reported by the server.", 64),
    lastUpdated: words("lastUpdated is the last time one of the versions changed.", 64),
  })),
  availableReplicas: status(int32("availableReplicas is the number of available pods.")),
  replicas: status(int32("replicas is the number of pods.")),
  selector: words("selector is the label selector of the pods, for the scale subresource.", 1024),
  serviceURL: words("serviceURL is the URL of the server inside the cluster.", 512),
  routeURL: words(
    "routeURL is the URL of the server from outside the cluster. Empty until the Ingress or Route has an address.",
    512,
  ),
  waitingTemplate: words(
    "waitingTemplate is the digest of the pod template that waits until it is rolled out. Unset if none waits.",
    64,
  ),
  imageLabelsError: words(
    "imageLabelsError says why the labels of the image cannot be read. Unset if they can, or are not needed.",
    1024,
  ),
  externalProviders: status(list(
    "externalProviders is the state of the external providers in the newest pods.",
    struct("ExternalProviderStatus is the state of an external provider.", {
      providerId: text("providerId is the id of the provider.", { max: EXTERNAL_ID_MAX }),
      image: text("image is the container image with the provider.", { max: 512 }),
      imageID: words("imageID is the image as reported by the kubelet, with its digest."),
      version: words("version of the provider, as its image declares it.", 128),
      phase: oneOf("phase of the installation.", ["Pending", "Installing", "Ready", "Failed"]),
      reason: words("reason is a CamelCase word for the cause of the phase.", 64),
      message: words("message describes the phase."),
    }),
    { max: 144 },
  )),
});
export type Status = typeof Status.Type;
