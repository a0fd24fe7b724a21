/** Which conditions hold after a pass, each with its reason word and sentence; the order is that of the status. */
import type { ReconcileFailure } from "../failure.ts";
import { type JsonObject, member, objectAt, stringAt } from "../json.ts";
import { verdictOn } from "../verdict.ts";
import { liveKey, type World } from "../plan/world.ts";
import { mountedClaim } from "../resources/claim.ts";
import { serviceName } from "../resources/service.ts";
import { type Finding, truth, unknown, untruth } from "./conditions.ts";
import { podTrouble } from "./pods.ts";
import type { Decided } from "./summarise.ts";

/** Ready comes first: it carries the first failing reason, which `kubectl get -o wide` shows. */
export const findingsOf = (
  world: World,
  decided: Decided,
  deployment: JsonObject | undefined,
): ReadonlyArray<Finding> => {
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
    world.server?.version === undefined
      ? unknown("HealthCheck", "Waiting", "The server has not told its version")
      : truth("HealthCheck", "HealthCheckPassed", `The server answers with version ${world.server.version}`),
  ];
};
