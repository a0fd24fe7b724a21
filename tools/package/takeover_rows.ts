/**
 * Every difference between the objects of the Go operator 0.9 and those of this operator, and when it arises. The test beside this
 * file compares recorded objects of resources that use every field: each difference has exactly one row, and each row a difference.
 */

export interface TakeOverRow {
  readonly when: "at once" | "next edit" | "next edit of spec.network";
  /** What a difference is in one line, e.g. `Deployment spec.template.spec.affinity`. */
  readonly is: RegExp;
  readonly go: string;
  readonly here: string;
}

const CONTAINER = String.raw`^Deployment spec\.template\.spec\.containers\[llama-stack\]`;

export const TAKE_OVER_ROWS: ReadonlyArray<TakeOverRow> = [
  {
    when: "at once",
    is: /^\w+ metadata\.(labels|annotations)|^\w+ metadata\.ownerReferences\[[^\]]*\]\.apiVersion$/,
    go: "labels `llamastack.io/watch` and, on some objects, `app`; the owner reference has `llamastack.io/v1alpha1`",
    here:
      "these labels are removed; `app.kubernetes.io/name` and `app.kubernetes.io/instance`, annotations `llamastack.io/…` and an owner reference with `llamastack.io/v1alpha2` are set",
  },
  {
    when: "at once",
    is: /^Deployment spec\.progressDeadlineSeconds$/,
    go: "a rollout fails after 10 minutes",
    here: "after the startup time of the server and 2 more minutes",
  },
  {
    when: "at once",
    is: /^Deployment spec\.strategy\.rollingUpdate\.maxUnavailable$/,
    go: "a rollout may stop a quarter of the pods before new ones are ready",
    here: "a rollout stops no pod before a new one is ready",
  },
  {
    when: "at once",
    is: /^PersistentVolumeClaim metadata\.ownerReferences$/,
    go: "the claim is deleted together with the resource",
    here: "the claim has no owner, and is kept",
  },
  {
    when: "at once",
    is: /^PodDisruptionBudget spec\.maxUnavailable$/,
    go: "an empty `podDisruptionBudget` allows every eviction",
    here: "at most one pod is evicted at a time",
  },
  {
    when: "at once",
    is: /^PodDisruptionBudget created$/,
    go: "`podDisruptionBudget` with both `minAvailable` and `maxUnavailable` is refused by the API server",
    here: "`minAvailable` applies, with a warning",
  },
  {
    when: "at once",
    is: /^HorizontalPodAutoscaler deleted$/,
    go: "`maxReplicas: 0` creates a HorizontalPodAutoscaler for one pod",
    here: "it is deleted, and `replicas` applies",
  },
  {
    when: "at once",
    is: /^Service created$/,
    go: "no Service, if the resource sets neither `port` nor `env`",
    here: "every server has a Service",
  },
  {
    when: "at once",
    is: /^NetworkPolicy spec\.ingress$/,
    go: "the namespace of the Go operator may connect",
    here: "the namespace of this operator too; every other peer stays",
  },
  {
    when: "at once",
    is: /^(Route created|Ingress deleted)$/,
    go: "on OpenShift, an Ingress without host name, which the router ignores",
    here: "a Route in its place",
  },
  {
    when: "next edit of spec.network",
    is: /^NetworkPolicy awaited$/,
    go: "`allowedFrom` has no effect while the flag `enableNetworkPolicy` is off",
    here:
      "there is still no NetworkPolicy, and the status warns. The next edit of `spec.network` creates it; name the namespace of your ingress controller in the setting `ingress.namespaceLabels` before",
  },
  {
    when: "next edit of spec.network",
    is: /^NetworkPolicy peers kept$/,
    go:
      "with the flag on, the Go operator's namespace may connect, and the router of OpenShift also where nothing is exposed",
    here: "these peers stay. The next edit of `spec.network` removes those that the resource does not allow",
  },
  {
    when: "next edit",
    is: new RegExp(String.raw`${CONTAINER}\.env\[(LLS_PORT|LLS_WORKERS|LLAMA_STACK_CONFIG)\]$`),
    go: "the container has `LLS_PORT`, `LLS_WORKERS` and `LLAMA_STACK_CONFIG`",
    here:
      "these are removed, unless the resource sets them. A variable that occurs twice then occurs once, with its last value",
  },
  {
    when: "next edit",
    is: new RegExp(
      String
        .raw`${CONTAINER}\.env\[(HOME|FILES_STORAGE_DIR|LLAMA_STACK_CONFIG_DIR|LLAMA_STACK_PORT|OGX_CONFIG_DIR|SQLITE_STORE_DIR)\]$`,
    ),
    go: "folders and port are the defaults of the image",
    here: "variables name the folders of the volume, and the port",
  },
  {
    when: "next edit",
    is:
      /\.env\[(AWS_CA_BUNDLE|REQUESTS_CA_BUNDLE)\]$|trusted-authorities|spec\.initContainers$|annotations\["(llamastack\.io\/ca-bundle-digest|configmap\.hash\/ca-bundle)"\]$/,
    go: "`SSL_CERT_FILE` names the CA bundle, which replaces the authorities of the image",
    here: "an init container adds the bundle to the authorities of the image; further variables name the file",
  },
  {
    when: "next edit",
    is: /\.volumes\[ca-bundle\]\.configMap\.name$/,
    go: "the copy of a CA bundle is the ConfigMap `<resource>-ca-bundle`",
    here:
      "its name also has a digest of the certificates, so that former pods keep theirs; the one of the Go operator " +
      "is deleted after the rollout",
  },
  {
    when: "next edit",
    is: /^Deployment spec\.template\.spec\.(affinity|topologySpreadConstraints)$/,
    go: "pods spread over nodes and zones if `replicas` is more than 1",
    here: "always preferred, so that scaling restarts no pod",
  },
  {
    when: "next edit",
    is: /^Deployment spec\.template\.spec\.containers\[(my-server|llama-stack)\]$/,
    go: "`containerSpec.name` names the container",
    here: "the container is called `llama-stack`",
  },
  {
    when: "next edit",
    is: new RegExp(
      String
        .raw`${CONTAINER}\.(command|volumeMounts\[(user-config|/etc/llama-stack/)\](\.mountPath)?)$|volumes\[user-config\]|annotations\["configmap\.hash/user-config"\]$`,
    ),
    go: "`userConfig` mounts your ConfigMap at `/etc/llama-stack/`, and a script starts the server",
    here:
      "a copy of your ConfigMap is mounted, so that a change of it is a rollout that can be rolled back; the server is started directly. `workers` without `userConfig` starts the server on a generated config, too",
  },
  {
    when: "next edit",
    is: new RegExp(String.raw`${CONTAINER}\.(lifecycle|readinessProbe|startupProbe\.\w+|terminationMessagePolicy)$`),
    go: "a startup probe; no readiness probe",
    here:
      "a startup probe of other periods, a readiness probe, 5 seconds for clients to leave a pod that stops, and the end of the log as termination message",
  },
  {
    when: "next edit",
    is: /^Deployment spec\.template\.spec\.(containers\[llama-stack\]\.)?securityContext(\.|$)/,
    go: "`fsGroup: 1001` alone; the user is that of the image",
    here: "the restricted Pod Security Standard; user and group 1001, unless OpenShift chooses them",
  },
  {
    when: "next edit",
    is: /\[tmp\]$/,
    go: "`/tmp` is in the file system of the container",
    here: "a volume of its own for `/tmp`",
  },
  {
    when: "next edit",
    is: /^Deployment spec\.template\.spec\.enableServiceLinks$/,
    go: "variables for every Service of the namespace",
    here: "none, because that of a Service called `ogx` would set the port of the server",
  },
  {
    when: "next edit",
    is: new RegExp(String.raw`${CONTAINER}\.resources\.`),
    go: "1 GiB of memory for all `workers`",
    here: "1 GiB for each worker",
  },
  {
    when: "next edit",
    is: /^Deployment spec\.template\.metadata\.annotations$/,
    go: "digests `configmap.hash/…` of ConfigMaps in the annotations of pods",
    here:
      "digests of Secrets and CA bundles in annotations `llamastack.io/…`; that of the config is the name of its ConfigMap",
  },
];
