/** What was seen and decided → the status of the resource, the same bytes while nothing changes. */
import type { Condition, Status } from "../api/v1alpha2.ts";
import type { ReconcileFailure } from "../failure.ts";
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../json.ts";
import { configMapName } from "../names.ts";
import { formatPath } from "../field_path.ts";
import { verdictOn } from "../verdict.ts";
import type { Warning } from "../warning.ts";
import { isExposed, portOf, replicasOf, servesTls } from "../resources/blueprint.ts";
import { autoscales } from "../resources/autoscaler.ts";
import { ingressName } from "../resources/ingress.ts";
import { mountedClaim } from "../resources/claim.ts";
import { serviceName } from "../resources/service.ts";
import type { Prepared } from "../plan/prepare.ts";
import { liveKey, type World } from "../plan/world.ts";
import { conditionsOf, type Finding, truth, unknown, untruth } from "./conditions.ts";
import { podTrouble } from "./pods.ts";

/** What a pass decided, as far as status tells of it. */
export interface Decided {
  /** Undefined when the resource could not be prepared. */
  readonly prepared: Prepared | undefined;
  readonly failures: ReadonlyArray<ReconcileFailure>;
  readonly warnings: ReadonlyArray<Warning>;
  /** Digest of a template that waits (R34). */
  readonly held: string | undefined;
  /** The failure came with a new version of the operator, not with an edit (FR-101). */
  readonly causedByUpgrade: boolean;
  readonly suspended: boolean;
}

/** Warnings kept in status, and characters of each; the schema allows 32 of 1,024. */
const WARNINGS_MAX = 32;
const WARNING_CHARACTERS_MAX = 1024;

export const summarise = (world: World, decided: Decided): Status => {
  const { resource } = world;
  const before = objectAt(resource, "status") as unknown as Status;
  const generation = Number(member(objectAt(resource, "metadata"), "generation") ?? 0);
  const now = new Date(world.nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const deployment = world.live.get(liveKey("Deployment", stringAt(resource, "metadata", "name") ?? ""));
  const findings = findingsOf(world, decided, deployment);
  const conditions = conditionsOf(findings, (before.conditions ?? []) as ReadonlyArray<Condition>, generation, now);
  return withoutAbsent({
    observedGeneration: generation,
    phase: phaseOf(resource, findings, deployment),
    conditions,
    ...configStatus(world, decided, before, now),
    ...serverStatus(world, before, now),
    ...replicaStatus(world, deployment),
    ...urls(world, decided),
  }) as unknown as Status;
};

const withoutAbsent = (status: object): object =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));

/** Ready comes first: it carries the first failing reason, which `kubectl get -o wide` shows. */
const findingsOf = (world: World, decided: Decided, deployment: JsonObject | undefined): ReadonlyArray<Finding> => {
  const config = configFinding(decided);
  const secrets = secretsFinding(decided);
  const updated = updatedFinding(decided, deployment);
  const available = availableFinding(world, decided, deployment);
  const rest = objectFindings(world, decided);
  const failing = [secrets, config, updated, available, ...rest].find(({ status, type }) =>
    status === "False" && type !== "HealthCheck"
  );
  const ready = decided.suspended
    ? untruth("Ready", "Suspended", "Reconciliation is suspended by spec.suspend")
    : failing === undefined
    ? [secrets, config, updated, available].some(({ status }) => status === "Unknown")
      ? unknown("Ready", "Progressing", "The server is being set up")
      : truth("Ready", "Ready", "The server is ready")
    : untruth("Ready", failing.reason, failing.message);
  const stalled = decided.failures.some((failure) => failure._tag !== "ObjectRefused" || failure.blocks);
  const reconciling = !decided.suspended && !stalled && available.status !== "True" &&
    available.reason !== "ScaledToZero";
  return [
    ready,
    config,
    secrets,
    updated,
    available,
    ...rest,
    // kstatus: abnormal-true, gone when over.
    ...(decided.suspended ? [untruth("Reconciling", "Suspended", "Reconciliation is suspended by spec.suspend")] : []),
    ...(reconciling ? [truth("Reconciling", available.reason, available.message)] : []),
    ...(stalled
      ? [truth("Stalled", failing?.reason ?? "InvalidSpec", failing?.message ?? "The resource has errors")]
      : []),
    ...refusedFindings(decided),
    ...(decided.held === undefined ? [] : [
      truth(
        "TemplateHeld",
        "OperatorChanged",
        "A new version of the operator would change the pods; what runs stays until the resource changes or " +
          `the annotation llamastack.io/rollout is set to ${decided.held}`,
      ),
    ]),
  ];
};

/** Abnormal-true: an object that the server can do without, and that the API server refuses. */
const refusedFindings = ({ failures }: Decided): ReadonlyArray<Finding> => {
  const refused = failures.filter((failure) => failure._tag === "ObjectRefused" && !failure.blocks);
  return refused.length === 0 ? [] : [truth("ObjectRefused", "ObjectRefused", sentences(refused))];
};

const REFERENCES = ["SecretNotFound", "SecretKeyMissing", "ConfigMapNotFound", "ConfigMapKeyMissing"];

const sentences = (failures: ReadonlyArray<ReconcileFailure>): string =>
  failures.map(({ message }) => message).join("; ");

const configFinding = ({ prepared, failures, causedByUpgrade }: Decided): Finding => {
  const own = failures.filter(({ _tag }) =>
    !REFERENCES.includes(_tag) && !["OwnershipConflict", "ObjectRefused"].includes(_tag)
  );
  const first = own[0];
  if (first !== undefined) {
    const reason = causedByUpgrade ? "UpgradeConfigFailure" : verdictOn(first).reason;
    return untruth("ConfigGenerated", reason, sentences(own));
  }
  if (prepared === undefined) return unknown("ConfigGenerated", "Waiting", "Waits for the references of the resource");
  const { derived, resource } = prepared;
  switch (derived._tag) {
    case "Generated":
      return truth(
        "ConfigGenerated",
        "ConfigGenerationSucceeded",
        `Generated config.yaml with ${derived.config.providerCount} providers and ${
          resource.spec.resources?.models?.length ?? 0
        } models`,
      );
    case "Override":
      return truth(
        "ConfigGenerated",
        "OverrideConfigUsed",
        `Uses key ${derived.key} of ConfigMap ${derived.configMapName}`,
      );
    case "DistributionDefault":
      return truth("ConfigGenerated", "DistributionDefaultUsed", "The image runs the config that it brings along");
  }
};

const secretsFinding = ({ prepared, failures }: Decided): Finding => {
  const missing = failures.filter(({ _tag }) => REFERENCES.includes(_tag));
  const first = missing[0];
  if (first !== undefined) return untruth("SecretsResolved", verdictOn(first).reason, sentences(missing));
  if (prepared === undefined) return unknown("SecretsResolved", "Waiting", "Waits for a valid resource");
  return truth("SecretsResolved", "AllSecretsFound", `Resolved ${prepared.secretReferences} secret references`);
};

const conflictOn = (failures: ReadonlyArray<ReconcileFailure>, kinds: ReadonlyArray<string> | undefined) =>
  failures.find((failure) =>
    failure._tag === "OwnershipConflict" &&
    (kinds === undefined ? !["PersistentVolumeClaim", "Service"].includes(failure.kind) : kinds.includes(failure.kind))
  );

const updatedFinding = ({ prepared, failures }: Decided, deployment: JsonObject | undefined): Finding => {
  const conflict = conflictOn(failures, undefined);
  if (conflict !== undefined) return untruth("DeploymentUpdated", "OwnershipConflict", conflict.message);
  const refusal = failures.find((failure) => failure._tag === "ObjectRefused" && failure.blocks);
  if (refusal !== undefined) return untruth("DeploymentUpdated", "DeploymentUpdateFailed", refusal.message);
  if (prepared === undefined) {
    return deployment === undefined
      ? unknown("DeploymentUpdated", "Waiting", "Nothing is deployed before the resource is free of errors")
      : unknown("DeploymentUpdated", "Unchanged", "The Deployment stays as it is until the resource is free of errors");
  }
  const config = prepared.blueprint.configFile?.configMapName;
  return truth(
    "DeploymentUpdated",
    "DeploymentUpdateSucceeded",
    config === undefined ? "Deployment updated" : `Deployment updated with config ${config}`,
  );
};

const availableFinding = (world: World, { prepared }: Decided, deployment: JsonObject | undefined): Finding => {
  if (deployment === undefined) {
    return prepared === undefined
      ? untruth("Available", "ReplicasUnavailable", "There is no Deployment")
      : unknown("Available", "RolloutInProgress", "The Deployment is being made");
  }
  const wanted = Number(member(objectAt(deployment, "spec"), "replicas") ?? 1);
  const status = objectAt(deployment, "status");
  const available = Number(member(status, "availableReplicas") ?? 0);
  const updated = Number(member(status, "updatedReplicas") ?? 0);
  const seen = Number(member(status, "observedGeneration") ?? 0) >=
    Number(member(objectAt(deployment, "metadata"), "generation") ?? 0);
  const said = `${available}/${wanted} replicas available with current config`;
  if (wanted === 0) return untruth("Available", "ScaledToZero", "0 replicas are asked for");
  if (seen && updated >= wanted && available >= wanted) return truth("Available", "MinimumReplicasAvailable", said);
  const trouble = podTrouble(world.pods);
  if (trouble !== undefined) return untruth("Available", trouble.reason, redacted(trouble.message, world));
  return untruth("Available", "RolloutInProgress", said);
};

/** Shortest secret that is looked for in the words of a server; shorter ones are in every text. */
const SECRET_CHARACTERS_MIN = 4;

/** A server may log what it was given: no referenced value goes into status. */
const redacted = (text: string, { secrets }: World): string =>
  [...secrets.values()].flatMap((values) => Object.values(values)).filter((value) =>
    value.length >= SECRET_CHARACTERS_MIN
  )
    .reduce((clean, value) => clean.replaceAll(value, "…"), text);

const objectFindings = (world: World, { prepared, failures }: Decided): ReadonlyArray<Finding> => {
  const service = conflictOn(failures, ["Service"]);
  const claim = conflictOn(failures, ["PersistentVolumeClaim"]);
  const name = stringAt(world.resource, "metadata", "name") ?? "";
  const live = world.live.get(liveKey("Service", serviceName(name)));
  const claimName = prepared === undefined ? undefined : mountedClaim(prepared.blueprint);
  const bound = claimName === undefined
    ? undefined
    : stringAt(world.live.get(liveKey("PersistentVolumeClaim", claimName)), "status", "phase");
  return [
    ...(service !== undefined
      ? [untruth("ServiceReady", "OwnershipConflict", service.message)]
      : live === undefined
      ? [unknown("ServiceReady", "Waiting", "The Service is not there yet")]
      : [truth("ServiceReady", "ServiceReady", "The Service is there")]),
    ...(claim !== undefined
      ? [untruth("StorageReady", "OwnershipConflict", claim.message)]
      : claimName === undefined
      ? []
      : bound === "Bound"
      ? [truth("StorageReady", "StorageReady", `Claim ${claimName} is bound`)]
      : [unknown("StorageReady", "Waiting", `Claim ${claimName} is ${bound ?? "not there"} yet`)]),
  ];
};

const phaseOf = (
  resource: JsonObject,
  findings: ReadonlyArray<Finding>,
  deployment: JsonObject | undefined,
): Status["phase"] => {
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return "Terminating";
  const available = findings.find(({ type }) => type === "Available");
  // What runs counts more than an edit that failed (R43): Ready=False and Stalled tell of that one.
  if (available?.status === "True") return "Ready";
  if (findings.some(({ type, status }) => type === "Stalled" && status === "True")) return "Failed";
  if (available?.reason === "ScaledToZero") return "Ready";
  return deployment === undefined ? "Pending" : "Initializing";
};

const configStatus = (world: World, { prepared, warnings }: Decided, before: Status, now: string) => {
  if (prepared === undefined) {
    // What the last good pass said of the config that still runs stays.
    return { resolvedDistribution: before.resolvedDistribution, configGeneration: before.configGeneration };
  }
  const { derived, resource } = prepared;
  const source = { Generated: "embedded", Override: "override", DistributionDefault: "distribution-default" } as const;
  const imageID = imageIdOf(world.pods);
  const resolvedDistribution = {
    image: derived.distribution.image,
    ...(imageID === undefined ? {} : { imageID }),
    configSource: source[derived._tag],
    ...(derived._tag === "Generated" ? { configHash: derived.config.digest } : {}),
  };
  if (derived._tag !== "Generated") return { resolvedDistribution };
  const name = configMapName(resource.name, derived.config.digest);
  const said = warnings.slice(0, WARNINGS_MAX)
    .map(({ path, message }) => `${formatPath(path)}: ${message}`.slice(0, WARNING_CHARACTERS_MAX));
  return {
    resolvedDistribution,
    configGeneration: {
      configMapName: name,
      generatedAt: before.configGeneration?.configMapName === name ? before.configGeneration.generatedAt ?? now : now,
      providerCount: derived.config.providerCount,
      resourceCount: derived.config.resourceCount,
      configVersion: "2",
      ...(said.length === 0 ? {} : { warnings: said }),
    },
  };
};

const imageIdOf = (pods: ReadonlyArray<JsonObject>): string | undefined =>
  pods.flatMap((pod) => listAt(pod, "status", "containerStatuses")).filter(isObject)
    .map((status) => stringAt(status, "imageID")).find((id) => id !== undefined && id !== "");

const serverStatus = ({ server, operator }: World, before: Status, now: string) => {
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
    distributionConfig: server === undefined ? before.distributionConfig : { providers: server.providers },
  };
};

const replicaStatus = ({ resource }: World, deployment: JsonObject | undefined) => ({
  availableReplicas: Number(member(objectAt(deployment, "status"), "availableReplicas") ?? 0),
  replicas: Number(member(objectAt(deployment, "status"), "replicas") ?? 0),
  selector: `app=llama-stack,app.kubernetes.io/instance=${stringAt(resource, "metadata", "name")}`,
});

const urls = ({ resource, live }: World, { prepared }: Decided) => {
  if (prepared === undefined) {
    const before = objectAt(resource, "status");
    return { serviceURL: stringAt(before, "serviceURL"), routeURL: stringAt(before, "routeURL") };
  }
  const { name, namespace, spec } = prepared.blueprint;
  const scheme = servesTls(spec) ? "https" : "http";
  return {
    serviceURL: `${scheme}://${serviceName(name)}.${namespace}.svc.cluster.local:${portOf(spec)}`,
    ...(isExposed(spec) ? { routeURL: routeUrl(name, live) } : {}),
  };
};

/** Empty while nobody has given the Ingress or Route an address. */
const routeUrl = (name: string, live: ReadonlyMap<string, JsonObject>): string => {
  const route = live.get(liveKey("Route", name));
  if (route !== undefined) {
    const host = stringAt(route, "spec", "host") ?? stringAt(listAt(route, "status", "ingress")[0], "host");
    return host === undefined ? "" : `https://${host}`;
  }
  const ingress = live.get(liveKey("Ingress", ingressName(name)));
  const balancer = listAt(ingress, "status", "loadBalancer", "ingress")[0];
  const host = stringAt(listAt(ingress, "spec", "rules")[0], "host") ?? stringAt(balancer, "hostname") ??
    stringAt(balancer, "ip");
  const tls = listAt(ingress, "spec", "tls").length > 0;
  return host === undefined ? "" : `${tls ? "https" : "http"}://${host}`;
};

/** For sentences elsewhere: how many pods are asked for. */
export const wantedReplicas = (prepared: Prepared): number | undefined =>
  autoscales(prepared.blueprint) ? undefined : replicasOf(prepared.resource.spec);
