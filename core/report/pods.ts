/** Why pods are not ready, in one message: pod, container, reason, exit code, what the end of the log means, next step. */
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import type { PodReason } from "../api/reasons.ts";
import { CONFIG_REASONS, PULL_REASONS } from "./container_reasons.ts";
import type { Disclosure } from "./disclosure.ts";
import { externalFailure } from "./external_containers.ts";
import { exceptionClass, knownEnd } from "./last_words.ts";
import { newestFirst } from "../data/newest_first.ts";

export interface Trouble {
  readonly reason: PodReason;
  readonly message: string;
}

/** The worst trouble of the pods, the newest template first; undefined when none has any. */
export const podTrouble = (pods: ReadonlyArray<JsonObject>, disclosure: Disclosure): Trouble | undefined => {
  // Lazily: redacting the text of each pod takes time.
  for (const pod of newestFirst(pods)) {
    const trouble = troubleOf(pod, disclosure);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
};

const troubleOf = (pod: JsonObject, disclosure: Disclosure): Trouble | undefined => {
  const name = stringAt(pod, "metadata", "name") ?? "?";
  const scheduled = listAt(pod, "status", "conditions").find((condition) =>
    member(condition, "type") === "PodScheduled"
  );
  if (member(scheduled, "status") === "False") {
    const why = stringAt(scheduled, "message") ?? "no suitable node";
    return { reason: "Unschedulable", message: `Pod ${name} cannot be scheduled: ${disclosure.text(why)}` };
  }
  const all = [
    // The good end of an init container is no trouble.
    ...listAt(pod, "status", "initContainerStatuses").filter((status) =>
      member(objectAt(status, "state", "terminated"), "exitCode") !== 0
    ),
    ...listAt(pod, "status", "containerStatuses"),
  ];
  return all.filter(isObject).map((status) => containerTrouble(name, status, disclosure))
    .find((trouble) => trouble !== undefined);
};

const containerTrouble = (
  pod: string,
  status: JsonObject,
  disclosure: Disclosure,
): Trouble | undefined => {
  const container = stringAt(status, "name") ?? "?";
  const external = externalFailure(status, disclosure);
  if (external !== undefined) {
    const { message } = external;
    return {
      reason: "ExternalProviderFailed",
      message: `Pod ${pod}: ${message}. See kubectl logs ${pod} -c ${container}`,
    };
  }
  const waiting = objectAt(status, "state", "waiting");
  const reason = stringAt(waiting, "reason") ?? "";
  if (PULL_REASONS.includes(reason)) {
    const image = stringAt(status, "image") ?? "?";
    return {
      reason: "ImagePullFailed",
      message: `Pod ${pod} cannot pull image ${image} (${reason}): ${
        disclosure.text(stringAt(waiting, "message") ?? "no reason given")
      }. ${disclosure.pull(image)}`,
    };
  }
  if (CONFIG_REASONS.includes(reason)) {
    return {
      reason: "CrashLoop",
      message: `Pod ${pod}, container ${container}: ${reason}: ${
        disclosure.text(stringAt(waiting, "message") ?? "no reason given")
      }`,
    };
  }
  const ended = endedState(status);
  if (ended === undefined) return undefined;
  // OGX 1.2 and newer end with 0 when their start failed: any early end is a failed start.
  const code = member(ended, "exitCode");
  const log = stringAt(ended, "message") ?? "";
  const [exception, words] = [exceptionClass(log), knownEnd(log, disclosure.isPublic)];
  const restarts = Number(member(status, "restartCount") ?? 0);
  return {
    reason: "CrashLoop",
    message: `Pod ${pod}, container ${container} ended with exit code ${code ?? "?"}` +
      `${exception === undefined ? "" : ` (${exception})`}` +
      `${
        stringAt(ended, "reason") === "OOMKilled"
          ? " (out of memory: increase spec.workload.resources.limits.memory)"
          : ""
      }` +
      ` after ${restarts} restart${restarts === 1 ? "" : "s"}${words === undefined ? "" : `: ${words}`}. ` +
      `See kubectl logs ${pod} -c ${container} --previous`,
  };
};

/** The end of a container that is not running now. */
const endedState = (status: JsonObject): Json | undefined => {
  if (Object.hasOwn(objectAt(status, "state"), "running")) return undefined;
  return member(objectAt(status, "state"), "terminated") ?? member(objectAt(status, "lastState"), "terminated");
};
