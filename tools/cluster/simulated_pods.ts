/** The lifecycle of pods on the simulated node, as stages of kwok. */
import { type Json, stringAt } from "../../core/data/json.ts";

/** A pod whose image has this word in it never becomes ready: its server ends again and again. */
export const CRASHING = "crashing";

/** Restarts that such a pod shows at once. */
const RESTARTS = 4;

/** Whether a container is one of such a pod. */
export const crashes = (container: Json): boolean => stringAt(container, "image")?.includes(CRASHING) === true;

const crashesInKwok = `.spec.containers.[] | .image | contains("${CRASHING}")`;
const going = (operator: "Exists" | "DoesNotExist") => ({ key: ".metadata.deletionTimestamp", operator });
const fresh = { key: ".status.podIP", operator: "DoesNotExist" };

const condition = (type: string, status: string) =>
  `- {type: ${type}, status: "${status}", lastTransitionTime: {{ Now | Quote }}}`;

const pod = (phase: string, ready: boolean, state: string) => `
conditions:
${condition("Initialized", "True")}
${condition("Ready", ready ? "True" : "False")}
${condition("ContainersReady", ready ? "True" : "False")}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: ${ready}
${state}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName false ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
phase: ${phase}
startTime: {{ Now | Quote }}
`;

const stage = (name: string, matchExpressions: ReadonlyArray<object>, next: object) => ({
  apiVersion: "kwok.x-k8s.io/v1alpha1",
  kind: "Stage",
  metadata: { name },
  spec: { resourceRef: { apiGroup: "v1", kind: "Pod" }, selector: { matchExpressions }, next },
});

const runs = `  restartCount: 0
  started: true
  state: {running: {startedAt: {{ Now | Quote }}}}`;

const ends = `  restartCount: ${RESTARTS}
  started: false
  state: {waiting: {reason: CrashLoopBackOff, message: restarting failed container}}
  lastState: {terminated: {exitCode: 1, reason: Error, message: "Error: the simulated server does not start"}}`;

/**
 * As kwok reads them: one YAML document each. Pods with a container of one of the names `except` are bound and deleted
 * like all others; their status is the business of somebody else.
 */
export const podStages = (except: readonly string[] = []): string => {
  const ours = except.length === 0 ? [] : [{ key: ".spec.containers.[] | .name", operator: "NotIn", values: except }];
  return [
    stage("pod-runs", [going("DoesNotExist"), fresh, ...ours, {
      key: crashesInKwok,
      operator: "NotIn",
      values: ["true"],
    }], {
      statusTemplate: pod("Running", true, runs),
    }),
    stage("pod-crashes", [going("DoesNotExist"), fresh, ...ours, {
      key: crashesInKwok,
      operator: "In",
      values: ["true"],
    }], {
      statusTemplate: pod("Running", false, ends),
    }),
    // One with a finalizer ends slowly.
    stage("pod-goes", [going("Exists"), { key: ".metadata.finalizers", operator: "DoesNotExist" }], { delete: true }),
  ].map((item) => JSON.stringify(item)).join("\n---\n");
};
