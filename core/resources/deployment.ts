/** The Deployment `<cr>`: image, config, environment and digests change in one write. */
import { mayBeRoot } from "../api/root_user.ts";
import type {
  V1Container,
  V1DeploymentStrategy,
  V1HTTPGetAction,
  V1PodSecurityContext,
  V1PodSpec,
  V1PodTemplateSpec,
  V1ResourceRequirements,
  V1SecurityContext,
  V1VolumeMount,
} from "@kubernetes/client-node";
import { amount } from "../data/quantity.ts";
import { METRICS_PORT_NAME } from "../config/metrics.ts";
import { STARTUP_SECONDS_DEFAULT } from "../api/v1alpha2.ts";
import { isScaledElsewhere } from "./autoscaler.ts";
import { type Blueprint, type Manifest, portOf, replicasOf, servesTls } from "./blueprint.ts";
import { mountedClaim } from "./claim.ts";
import { metadataOf, selectorOf } from "./metadata.ts";
import { metricsEnv } from "./metrics_env.ts";
import { placement } from "./placement.ts";
import { EXTERNAL_VOLUME, externalContainers } from "./external_containers.ts";
import {
  addsAuthorities,
  authoritiesCommand,
  CONFIG_VOLUME,
  freeName,
  podVolumes,
  temporaryMount,
} from "./pod_volumes.ts";
import { serviceAccountName } from "./service_account.ts";
import { pulled } from "./pull_policy.ts";
import { startCommand } from "./start_command.ts";
import { type AsJson, manifest } from "./kubernetes_objects.ts";

const CONTAINER = "llama-stack";

export const deployment = (blueprint: Blueprint): Manifest => {
  const { name, spec } = blueprint;
  return manifest<"Deployment">({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(blueprint, name, {
      annotations: blueprint.isMonitored ? { [METRICS_ANNOTATION]: "default" } : {},
    }),
    spec: {
      // The field belongs to whoever scales; a value here would revert each of its decisions.
      ...(isScaledElsewhere(blueprint) ? {} : { replicas: replicasOf(spec) }),
      selector: { matchLabels: selectorOf(name) },
      strategy: strategy(blueprint),
      progressDeadlineSeconds: startupSeconds(spec) + PULL_SECONDS,
      template: podTemplate(blueprint),
    },
  });
};

/** What an image of a few gigabytes takes on a fresh node, on top of the start of the server. */
const PULL_SECONDS = 120;

export const startupSeconds = (spec: Blueprint["spec"]): number =>
  spec.workload?.probes?.startupSeconds ?? STARTUP_SECONDS_DEFAULT;

/** Two pods cannot hold one ReadWriteOnce claim on two nodes, nor share sqlite files on any claim. */
const strategy = (blueprint: Blueprint): AsJson<V1DeploymentStrategy> => {
  const storage = blueprint.spec.workload?.storage;
  const shared = storage?.accessMode === "ReadWriteMany";
  return mountedClaim(blueprint) !== undefined && (!shared || blueprint.usesSqlite)
    ? { type: "Recreate" }
    : { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } };
};

/** What the API server fills in. */
export const GRACE_SECONDS_DEFAULT = 30;

const podTemplate = (blueprint: Blueprint): AsJson<V1PodTemplateSpec> => {
  const { name, spec, platform, podAnnotations } = blueprint;
  const own = spec.workload?.overrides ?? {};
  const { volumes, mounts } = podVolumes(blueprint);
  const annotations = { ...own.podAnnotations, ...podAnnotations };
  const init = [
    ...(addsAuthorities(spec) ? [authorities(blueprint)] : []),
    ...externalContainers(
      blueprint,
      {
        external: freeName(spec, EXTERNAL_VOLUME),
        config: freeName(spec, CONFIG_VOLUME),
        tmp: temporaryMount(blueprint),
      },
      { resources: resources(blueprint), securityContext: containerSecurity(blueprint) },
      // The server, and what writes the authorities.
      addsAuthorities(spec) ? 2 : 1,
    ),
  ];
  return {
    metadata: {
      labels: { ...own.podLabels, ...selectorOf(name) },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      serviceAccountName: own.serviceAccountName ?? serviceAccountName(name),
      // A Service called ogx or llama-stack would put its address into the variable of the server's port.
      enableServiceLinks: false,
      securityContext: own.securityContext === undefined
        ? podSecurity(platform.openshift)
        : own.securityContext as unknown as AsJson<V1PodSecurityContext>,
      ...([undefined, GRACE_SECONDS_DEFAULT].includes(own.terminationGracePeriodSeconds)
        ? {}
        : { terminationGracePeriodSeconds: own.terminationGracePeriodSeconds ?? GRACE_SECONDS_DEFAULT }),
      ...(own.imagePullSecrets === undefined
        ? {}
        : { imagePullSecrets: own.imagePullSecrets as unknown as NonNullable<AsJson<V1PodSpec>["imagePullSecrets"]> }),
      ...(own.priorityClassName === undefined ? {} : { priorityClassName: own.priorityClassName }),
      ...(own.runtimeClassName === undefined ? {} : { runtimeClassName: own.runtimeClassName }),
      ...(own.resourceClaims === undefined
        ? {}
        : { resourceClaims: own.resourceClaims as unknown as NonNullable<AsJson<V1PodSpec>["resourceClaims"]> }),
      ...placement(blueprint),
      ...(init.length === 0 ? {} : { initContainers: init }),
      containers: [container(blueprint, mounts)],
      volumes,
    },
  };
};

/** Annotation of the Deployment: its server began with metrics as the default, which stays the default for it. */
export const METRICS_ANNOTATION = "llamastack.io/metrics";

const container = (
  blueprint: Blueprint,
  mounts: ReadonlyArray<AsJson<V1VolumeMount>>,
): AsJson<V1Container> => {
  const { spec, image, env, platform } = blueprint;
  const own = spec.workload?.overrides ?? {};
  const home = env.some(({ name }) => name === "HOME") || platform.openshift ? [] : [{ name: "HOME", value: "/" }];
  return {
    name: CONTAINER,
    image,
    ...pulled(image, own.imagePullPolicy),
    ...startCommand(blueprint),
    ports: [
      { containerPort: portOf(spec), protocol: "TCP" },
      ...(blueprint.metrics.kind === "served"
        ? [{ name: METRICS_PORT_NAME, containerPort: blueprint.metrics.port, protocol: "TCP" }]
        : []),
    ],
    env: [...home, ...metricsEnv(blueprint), ...env] as unknown as NonNullable<AsJson<V1Container>["env"]>,
    ...(own.envFrom === undefined
      ? {}
      : { envFrom: own.envFrom as unknown as NonNullable<AsJson<V1Container>["envFrom"]> }),
    resources: resources(blueprint),
    ...probes(blueprint),
    // The last lines of the log explain a failed start; the status tells what they mean.
    terminationMessagePolicy: "FallbackToLogsOnError",
    // New connections still arrive for a moment after a pod begins to stop; a delay lets them go elsewhere.
    lifecycle: { preStop: { exec: { command: ["sleep", String(DRAIN_SECONDS)] } } },
    securityContext: containerSecurity(blueprint),
    volumeMounts: mounts,
  };
};

/** The restricted Pod Security Standard. */
const RESTRICTED: AsJson<V1SecurityContext> = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};

/** Where the resource asks for the root user, as it may by a setting of the operator, the container must not insist on another. */
const containerSecurity = ({ spec }: Blueprint): AsJson<V1SecurityContext> =>
  mayBeRoot(spec) ? { ...RESTRICTED, runAsNonRoot: false } : RESTRICTED;

/**
 * Runs the server's own image, whose public CAs it copies. It requests no more resources than the server that follows
 * it.
 */
const authorities = (blueprint: Blueprint): AsJson<V1Container> => {
  const { spec, image } = blueprint;
  const own = spec.workload?.overrides ?? {};
  const { command, mounts } = authoritiesCommand(spec);
  return {
    name: "trusted-authorities",
    image,
    ...pulled(image, own.imagePullPolicy),
    command,
    resources: resources(blueprint),
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: containerSecurity(blueprint),
    volumeMounts: mounts,
  };
};

/** Seconds between the order to stop and the stop; endpoint changes reach the nodes within about two. */
const DRAIN_SECONDS = 5;

/**
 * One core and 1 GiB per worker, if the resource sets none: every worker is a whole server, and each of OGX 1.5 starts
 * two more processes and takes 0.7 GiB with them. With 1 GiB for all workers, as the Go operator has it, the kernel keeps killing them.
 */
const resources = ({ spec }: Blueprint): AsJson<V1ResourceRequirements> => {
  const { limits = {}, requests = {}, claims } = (spec.workload?.resources ?? {}) as {
    readonly limits?: Readonly<Record<string, string>>;
    readonly requests?: Readonly<Record<string, string>>;
    readonly claims?: NonNullable<AsJson<V1ResourceRequirements>["claims"]>;
  };
  const workers = spec.workload?.workers;
  const wanted = {
    cpu: atMost(String(workers ?? 1), limits.cpu),
    memory: atMost(`${workers ?? 1}Gi`, limits.memory),
    ...requests,
  };
  const bounded = workers === undefined ? limits : { cpu: wanted.cpu, memory: wanted.memory, ...limits };
  return {
    requests: wanted,
    ...(Object.keys(bounded).length === 0 ? {} : { limits: bounded }),
    ...(claims === undefined ? {} : { claims }),
  };
};

/** Kubernetes rejects a request above the limit, and the author of a small limit has not asked for the default. */
const atMost = (request: string, limit: string | number | undefined): string =>
  limit !== undefined && (amount(limit) ?? Infinity) < (amount(request) ?? 0) ? String(limit) : request;

/** Seconds between two probes of a starting server. */
const STARTUP_PERIOD_SECONDS = 5;

/** Liveness stays off: a server that is busy with a long answer is not dead. Numeric ports, see service.ts. */
const probes = ({ spec, family }: Blueprint): AsJson<Pick<V1Container, "startupProbe" | "readinessProbe">> => {
  const httpGet: AsJson<V1HTTPGetAction> = {
    path: family?.process.healthPath ?? "/v1/health",
    port: portOf(spec),
    scheme: servesTls(spec) ? "HTTPS" : "HTTP",
  };
  return {
    startupProbe: {
      httpGet,
      periodSeconds: STARTUP_PERIOD_SECONDS,
      timeoutSeconds: 5,
      failureThreshold: Math.ceil(startupSeconds(spec) / STARTUP_PERIOD_SECONDS),
    },
    readinessProbe: { httpGet, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
  };
};

/** The user that the published images can run as, outside OpenShift. */
const IMAGE_USER = 1001;

/** OpenShift chooses users and groups per namespace itself, and refuses others. */
const podSecurity = (openshift: boolean): AsJson<V1PodSecurityContext> => ({
  runAsNonRoot: true,
  ...(openshift ? {} : { runAsUser: IMAGE_USER, runAsGroup: IMAGE_USER, fsGroup: IMAGE_USER }),
  seccompProfile: { type: "RuntimeDefault" },
});
