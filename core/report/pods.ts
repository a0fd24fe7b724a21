/** Why pods are not ready, in one message: pod, container, reason, exit code, what the end of the log means, next step. */
import type { PodReason } from "../api/reasons.ts";
import { CONFIG_REASONS, PULL_REASONS } from "./container_reasons.ts";
import type { Disclosure } from "./disclosure.ts";
import { externalFailure } from "./external_containers.ts";
import { exceptionClass, knownEnd } from "./last_words.ts";
import { byAge } from "../data/newest_first.ts";
import { endOf, type LiveContainer, type LivePod, openContainers } from "../snapshot/live_pod.ts";

export interface Trouble {
  readonly reason: PodReason;
  readonly message: string;
}

/** The worst trouble of the pods, the newest template first; undefined when none has any. */
export const podTrouble = (pods: ReadonlyArray<LivePod>, disclosure: Disclosure): Trouble | undefined => {
  // Lazily: redacting the text of each pod takes time.
  for (const pod of pods.toSorted(byAge)) {
    const trouble = troubleOf(pod, disclosure);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
};

const troubleOf = (pod: LivePod, disclosure: Disclosure): Trouble | undefined => {
  const { name, unschedulable } = pod;
  if (unschedulable !== undefined) {
    return { reason: "Unschedulable", message: `Pod ${name} cannot be scheduled: ${disclosure.text(unschedulable)}` };
  }
  return openContainers(pod).map((container) => containerTrouble(name, container, disclosure))
    .find((trouble) => trouble !== undefined);
};

const containerTrouble = (
  pod: string,
  container: LiveContainer,
  disclosure: Disclosure,
): Trouble | undefined => {
  const { name, image, state, restartCount } = container;
  const external = externalFailure(container, disclosure);
  if (external !== undefined) {
    const { message } = external;
    return {
      reason: "ExternalProviderFailed",
      message: `Pod ${pod}: ${message}. See kubectl logs ${pod} -c ${name}`,
    };
  }
  if (state._tag === "Running") return undefined;
  if (state._tag === "Waiting") {
    const { reason = "", message = "no reason given" } = state;
    if (PULL_REASONS.includes(reason)) {
      return {
        reason: "ImagePullFailed",
        message: `Pod ${pod} cannot pull image ${image} (${reason}): ${disclosure.text(message)}. ${
          disclosure.pull(image)
        }`,
      };
    }
    if (CONFIG_REASONS.includes(reason)) {
      return { reason: "CrashLoop", message: `Pod ${pod}, container ${name}: ${reason}: ${disclosure.text(message)}` };
    }
  }
  const ended = endOf(container);
  if (ended === undefined) return undefined;
  const { exitCode, message: log } = ended;
  const [exception, words] = [exceptionClass(log), knownEnd(log, disclosure.isPublic)];
  return {
    reason: "CrashLoop",
    // OGX 1.2 and newer end with 0 when their start failed: any early end is a failed start.
    message: `Pod ${pod}, container ${name} ended with exit code ${exitCode}` +
      `${exception === undefined ? "" : ` (${exception})`}` +
      `${ended.reason === "OOMKilled" ? " (out of memory: increase spec.workload.resources.limits.memory)" : ""}` +
      ` after ${restartCount} restart${restartCount === 1 ? "" : "s"}${words === undefined ? "" : `: ${words}`}. ` +
      `See kubectl logs ${pod} -c ${name} --previous`,
  };
};
