/** What was seen and decided → the status of the resource, byte-identical while nothing changes. */
import { isExposed } from "../api/exposed.ts";
import { statusOf } from "../api/status_of.ts";
import { STATUS_WARNING_CHARACTERS_MAX, STATUS_WARNINGS_MAX } from "../data/limits.ts";
import type { Condition, Status } from "../api/v1alpha2.ts";
import { type JsonObject } from "../data/json.ts";
import { wordsFor } from "../api/convert/v1alpha1_paths.ts";
import { warningLine } from "../failure/warning.ts";
import { portOf, servesTls } from "../resources/blueprint.ts";
import { ingressName } from "../resources/ingress.ts";
import { serviceName } from "../resources/service.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { conditionsOf, type Finding } from "../api/conditions.ts";
import { externalStates } from "./external_providers.ts";
import { deploymentIn, type LiveDeployment } from "../snapshot/live_deployment.ts";
import { isDeploymentTaken } from "./availability.ts";
import { findingsOf } from "./findings.ts";
import { configDigest } from "../resources/config_map.ts";
import type { Prepared } from "../plan/prepare.ts";
import type { Decided } from "./decided.ts";
import { acceptedHost, ingressAddress, routeHost } from "../snapshot/live_route.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

export const summarise = (snapshot: ClusterSnapshot, decided: Decided): Status => {
  const { resource } = snapshot;
  const before = statusOf(resource);
  const { generation } = liveObject(resource);
  const now = new Date(snapshot.nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const deployment = ownDeployment(snapshot, decided);
  const external = externalStates(snapshot, decided, deployment);
  const words = wordsFor(resource);
  const findings = findingsOf(snapshot, decided, deployment, external)
    .map((finding) => ({ ...finding, message: words(finding.message) }));
  const conditions = conditionsOf(findings, (before.conditions ?? []) as ReadonlyArray<Condition>, generation, now);
  return withoutAbsent({
    observedGeneration: generation,
    phase: phaseOf(findings, deployment),
    conditions,
    ...configStatus(snapshot, decided, before, now, deployment),
    ...serverStatus(snapshot, before, now),
    ...replicaStatus(snapshot, deployment),
    ...urls(snapshot, decided),
    ...waiting(decided),
    ...(snapshot.labels?.kind === "unreadable"
      ? { imageLabelsError: snapshot.labels.detail.slice(0, STATUS_WARNING_CHARACTERS_MAX) }
      : {}),
    ...(external.states.length === 0 ? {} : { externalProviders: external.states }),
  }) as unknown as Status;
};

/** Not the one of somebody else that has its name: its pods do not serve for this resource. */
const ownDeployment = (snapshot: ClusterSnapshot, decided: Decided): LiveDeployment | undefined =>
  isDeploymentTaken(decided) ? undefined : deploymentIn(snapshot);

/** What the command line rolls out: its own version and settings may differ from those of the operator that runs. */
const waiting = ({ rollout }: Decided): Pick<Status, "waitingTemplate"> =>
  rollout?.kind === "hold" || rollout?.kind === "queue" ? { waitingTemplate: rollout.digest } : {};

const withoutAbsent = (status: object): object =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));

const phaseOf = (
  findings: ReadonlyArray<Finding>,
  deployment: LiveDeployment | undefined,
): Status["phase"] => {
  const available = findings.find(({ type }) => type === "Available");
  // The running Deployment counts more than a failed edit: Ready=False and Stalled report that one.
  if (available?.status === "True") return "Ready";
  if (findings.some(({ type, status }) => type === "Stalled" && status === "True")) return "Failed";
  if (available?.reason === "ScaledToZero") return "Ready";
  // A rollout during which pods of the former template serve is not an outage.
  if ((deployment?.availableReplicas ?? 0) > 0) return "Ready";
  return deployment === undefined ? "Pending" : "Initializing";
};

const configStatus = (
  snapshot: ClusterSnapshot,
  { prepared, warnings, rollout, failures }: Decided,
  before: Status,
  now: string,
  deployment: LiveDeployment | undefined,
) => {
  // What the API server refused does not run.
  const isRejected = failures.some((failure) =>
    (failure._tag === "ObjectRefused" || failure._tag === "WriteFailed") && failure.blocks
  );
  if (isRejected && deployment !== undefined) return runningStatus(before, deployment, true);
  if (prepared === undefined || (rollout?.kind !== "apply" && before.resolvedDistribution !== undefined)) {
    // Keep the status of the last successful reconciliation, which describes the running config.
    return runningStatus(before, deployment, rollout?.kind === "rolledBack");
  }
  const { derived } = prepared;
  const labels = derived.distribution.labels;
  const isLabelled = labels?.config !== undefined;
  const source = {
    Generated: prepared.resource.spec.baseConfig !== undefined ? "base-config" : isLabelled ? "oci-label" : "embedded",
    Override: "override",
    DistributionDefault: "distribution-default",
  } as const;
  const imageID = snapshot.pods.flatMap(({ containers }) => containers).map(({ imageID }) => imageID)
    .find((id) => id !== "");
  const resolvedDistribution = {
    image: derived.distribution.image,
    ...(imageID === undefined ? {} : { imageID }),
    configSource: source[derived._tag],
    ...hashOf(prepared),
    ...(labels?.config === undefined ? {} : {
      digest: labels.digest,
      namedImage: labels.image,
      config: labels.config.file,
    }),
  };
  const name = prepared.blueprint.configFile?.configMapName;
  const shown = warnings.slice(0, STATUS_WARNINGS_MAX)
    .map((warning) => wordsFor(snapshot.resource)(warningLine(warning)).slice(0, STATUS_WARNING_CHARACTERS_MAX));
  const configGeneration = {
    ...(name === undefined ? {} : {
      configMapName: name,
      generatedAt: before.configGeneration?.configMapName === name ? before.configGeneration.generatedAt ?? now : now,
    }),
    ...(derived._tag === "Generated" ? countsOf(derived) : {}),
    ...(shown.length === 0 ? {} : { warnings: shown }),
  };
  return Object.keys(configGeneration).length === 0
    ? { resolvedDistribution }
    : { resolvedDistribution, configGeneration };
};

/** Of what the server reads; the config built into an image is not known. */
const hashOf = ({ derived, objects }: Prepared): { readonly configHash?: string } => {
  if (derived._tag === "Generated") return { configHash: derived.config.digest };
  const [configHash] = objects.before.flatMap((manifest) => configDigest(manifest) ?? []);
  return configHash === undefined ? {} : { configHash };
};

const countsOf = ({ config }: Extract<Prepared["derived"], { readonly _tag: "Generated" }>) => {
  const { version } = config.tree;
  return {
    providerCount: config.providerCount,
    resourceCount: config.resourceCount,
    ...(typeof version === "number" && Number.isInteger(version) ? { configVersion: version } : {}),
  };
};

/** `isOther`: the running config may differ from the last one in the status, as after a rollback. */
const runningStatus = (before: Status, deployment: LiveDeployment | undefined, isOther: boolean) => {
  const { resolvedDistribution, configGeneration } = before;
  const { config: name, image } = deployment ?? {};
  if (!isOther || resolvedDistribution === undefined || image === undefined) {
    return { resolvedDistribution, configGeneration };
  }
  return {
    resolvedDistribution: { ...resolvedDistribution, image },
    configGeneration: configGeneration === undefined || name === undefined
      ? configGeneration
      : { ...configGeneration, configMapName: name },
  };
};

const serverStatus = ({ server, operator, resource }: ClusterSnapshot, before: Status, now: string) => {
  const serverVersion = server?.version ?? before.version?.llamaStackServerVersion;
  const same = before.version?.operatorVersion === operator.version &&
    before.version?.llamaStackServerVersion === serverVersion;
  return {
    version: {
      operatorVersion: operator.version,
      ...(serverVersion === undefined ? {} : { llamaStackServerVersion: serverVersion }),
      lastUpdated: same ? before.version?.lastUpdated ?? now : now,
    },
    models: server === undefined ? before.models : server.models,
    distributionConfig: {
      ...(server === undefined ? before.distributionConfig : { providers: server.providers }),
      activeDistribution: liveResource(resource).distribution,
      availableDistributions: Object.fromEntries(
        [...operator.surroundings.distributions].filter(([, { unpublishedSince }]) => unpublishedSince === undefined)
          .map(([name, { image }]): [string, string] => [name, image]),
      ),
    },
  };
};

const replicaStatus = ({ resource }: ClusterSnapshot, deployment: LiveDeployment | undefined) => ({
  availableReplicas: deployment?.availableReplicas ?? 0,
  replicas: deployment?.replicas ?? 0,
  selector: `app=llama-stack,app.kubernetes.io/instance=${liveObject(resource).name}`,
});

const urls = ({ resource, live }: ClusterSnapshot, { prepared }: Decided) => {
  if (prepared === undefined) {
    const { serviceURL, routeURL } = statusOf(resource);
    return { serviceURL, routeURL };
  }
  const { blueprint: { name, namespace }, servingSpec: spec } = prepared;
  const scheme = servesTls(spec) ? "https" : "http";
  return {
    serviceURL: `${scheme}://${serviceName(name)}.${namespace}.svc.cluster.local:${portOf(spec)}`,
    ...(isExposed(spec) ? { routeURL: routeUrl(name, live) } : {}),
  };
};

/** Empty until the Ingress or Route has an address, or a controller has accepted the HTTPRoute. */
const routeUrl = (name: string, live: ReadonlyMap<string, JsonObject>): string => {
  const accepted = acceptedHost(live.get(liveKey("HTTPRoute", name)));
  // An Ingress or Route is kept until then. Only the listener knows its scheme, and usually has TLS.
  if (accepted !== undefined) return accepted === "" ? "" : `https://${accepted}`;
  const route = live.get(liveKey("Route", name));
  if (route !== undefined) {
    const host = routeHost(route);
    return host === undefined ? "" : `https://${host}`;
  }
  const { host, hasTls } = ingressAddress(live.get(liveKey("Ingress", ingressName(name))));
  return host === undefined ? "" : `${hasTls ? "https" : "http"}://${host}`;
};
