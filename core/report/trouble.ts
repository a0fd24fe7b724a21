/** Why a rollout failed or pods are not ready, in messages without values of Secrets. */
import { statusOf } from "../api/status_of.ts";
import type { Prepared } from "../plan/prepare.ts";
import type { Rollout } from "../plan/rollout/rollout.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
import { podCreationFailure, podsOfTemplate } from "../plan/rollout/rollout_state.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import type { LivePod } from "../snapshot/live_pod.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { valuesRead } from "../plan/secret_values.ts";
import { publicNames } from "./last_words.ts";
import type { Disclosure } from "./disclosure.ts";
import { podTrouble } from "./pods.ts";
import { pullAdvice } from "./pull_advice.ts";
import { withoutSecrets } from "../data/redaction.ts";

/** Kept from the first report: the pods that it describes are gone. */
export const rolledBack = (
  snapshot: ClusterSnapshot,
  deployment: LiveDeployment | undefined,
  rollout: Rollout,
  prepared: Prepared,
): string => {
  const before = statusOf(snapshot.resource).conditions?.find(({ reason }) => reason === "RolledBack")?.message;
  if (rollout.kind === "rolledBack" && before !== undefined) return before;
  const way = deployment?.record.cause === "upgrade"
    ? "The operator's new image or base config failed, and the server was rolled back to the previous revision. Nothing in " +
      "the resource is wrong: fix the image in the operator's settings (image-overrides), and do not edit the resource " +
      "meanwhile, which would roll it out again."
    : "The rollout failed and was rolled back to the previous revision. Edit the resource to roll out another change.";
  return `${way} Cause: ${whyUndone(rollout.kind === "rollBack" ? deployment : undefined, snapshot, prepared)}`;
};

/** Why the present template of the Deployment failed. */
export const whyUndone = (
  deployment: LiveDeployment | undefined,
  snapshot: ClusterSnapshot,
  prepared: Prepared,
): string => {
  if (deployment === undefined) return troubleIn([], snapshot, prepared);
  const refused = podCreationFailure(deployment, snapshot);
  return refused === undefined
    ? troubleIn(podsOfTemplate(deployment, snapshot), snapshot, prepared)
    : `Kubernetes could not create pods: ${disclosureOf(snapshot, prepared).text(refused)}`;
};

export const upgradeStopped = (snapshot: ClusterSnapshot, deployment: LiveDeployment, prepared: Prepared): string =>
  "The server did not become ready with the operator's new image or base config, and its upgrade stopped: " +
  troubleIn(podsOfTemplate(deployment, snapshot), snapshot, prepared);

/** Why pods are not ready, fit for people to read. */
const troubleIn = (
  pods: ReadonlyArray<LivePod>,
  snapshot: ClusterSnapshot,
  prepared: Prepared | undefined,
): string => podTrouble(pods, disclosureOf(snapshot, prepared))?.message ?? "the pods were not ready in time";

/** No value of a Secret may be written to the status. */
export const disclosureOf = (snapshot: ClusterSnapshot, prepared: Prepared | undefined): Disclosure => {
  const values = valuesRead(snapshot);
  return {
    text: (text) => withoutSecrets(text, values),
    isPublic: publicNames(
      JSON.stringify(liveResource(snapshot.resource).spec),
      prepared?.derived._tag === "Generated" ? prepared.derived.config.yaml : "",
    ),
    pull: (image) => pullAdvice(snapshot, image),
  };
};
