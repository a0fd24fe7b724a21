/** What is said in Events, each thing once: failures, changes, what was undone or stopped. */
import type { Condition, Status } from "../api/v1alpha2.ts";
import type { ReconcileFailure } from "../failure.ts";
import { type JsonObject, listAt, stringAt } from "../json.ts";
import * as events from "../status/events.ts";
import { troubleIn } from "../status/findings.ts";
import type { Prepared } from "./prepare.ts";
import { podsOfTemplate } from "./rollout_state.ts";
import { Step } from "./step.ts";
import type { World } from "./world.ts";

/** Each failure is said once: not again while the condition carries the same sentence. */
export const announcements = (world: World, failures: ReadonlyArray<ReconcileFailure>): ReadonlyArray<Step> => {
  const said = listAt(world.resource, "status", "conditions").map((condition) => stringAt(condition, "message") ?? "")
    .join("\n");
  return failures.filter(({ message }) => !said.includes(message)).map((failure) => {
    switch (failure._tag) {
      case "SecretNotFound":
      case "SecretKeyMissing":
      case "ConfigMapNotFound":
      case "ConfigMapKeyMissing":
        return Step.Announce({ note: events.secretResolutionFailed(failure.message) });
      case "OwnershipConflict":
        return Step.Announce({ note: events.ownershipConflict(failure.message) });
      case "ObjectRefused":
        return Step.Announce({ note: events.objectRefused(failure.message) });
      default:
        return Step.Announce({ note: events.configGenerationFailed(failure.message) });
    }
  });
};

export const changesTold = (
  world: World,
  { derived, blueprint, resource }: Prepared,
  rolled: boolean,
  notices: ReadonlyArray<string>,
): ReadonlyArray<Step> => {
  const name = blueprint.configFile?.configMapName;
  const isNew = name !== undefined && stringAt(world.resource, "status", "configGeneration", "configMapName") !== name;
  return [
    ...(derived._tag === "Generated" && isNew && rolled
      ? [
        Step.Announce({
          note: events.configGenerated(
            name,
            derived.config.providerCount,
            resource.spec.resources?.models?.length ?? 0,
          ),
        }),
      ]
      : []),
    ...(rolled ? [Step.Announce({ note: events.deploymentUpdated(blueprint.image, name) })] : []),
    ...(rolled ? notices.map((one) => Step.Announce({ note: events.storedData(one) })) : []),
  ];
};

/** Said when the condition turns, and not again while it stays. */
export const stopTold = (world: World, status: Status): ReadonlyArray<Step> => {
  const failed = (list: ReadonlyArray<unknown>) =>
    (list as ReadonlyArray<Condition>).find(({ type, reason, message }) =>
      type === "DeploymentUpdated" && reason === "DeploymentUpdateFailed" && message.includes("its upgrade stopped")
    );
  const now = failed(status.conditions ?? []);
  return now === undefined || failed(listAt(world.resource, "status", "conditions")) !== undefined
    ? []
    : [Step.Announce({ note: events.upgradeStopped(now.message) })];
};

/** The pods that failed are gone a moment later: what they said is said now. */
export const rolledBackTold = (
  world: World,
  live: JsonObject | undefined,
  prepared: Prepared,
): ReadonlyArray<Step> => [
  Step.Announce({
    note: events.rolledBack(
      troubleIn(live === undefined ? world.pods : podsOfTemplate(live, world.pods, world.replicaSets), world, prepared),
    ),
  }),
];
