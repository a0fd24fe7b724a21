/** What a person does about a resource that is not ready, by the reason of a condition, with the command to paste. */
import type { Advice } from "../failure/advice.ts";
import { shell } from "../data/printable.ts";

export interface Place {
  readonly name: string;
  readonly namespace: string;
  /** The pod that the reason speaks of, where there is one. */
  readonly pod: string | undefined;
}

/** For the reason of a condition; undefined where there is nothing to do but wait, or nothing to say. */
export const adviceOnReason = (reason: string, { name, namespace, pod = "POD" }: Place): Advice | undefined => {
  const describe = shell`kubectl describe pod ${pod} -n ${namespace}`;
  switch (reason) {
    case "ImagePullFailed":
      return {
        say:
          "Check the name of the image, whether the nodes reach the registry, and workload.overrides.imagePullSecrets",
        command: describe,
      };
    case "CrashLoop":
      return {
        say: "Read the last words of the server; mend what they name, in the resource or in what it refers to",
        command: shell`kubectl logs ${pod} -n ${namespace} --previous --all-containers`,
      };
    case "Unschedulable":
      return {
        say:
          "Give the cluster a node that fits, or ask for less in workload.resources; a claim that is not bound also waits here",
        command: describe,
      };
    case "ChangedByPolicy":
      return {
        say: "If the server does not work with the changed fields, exempt this namespace or object from the policy",
        command: "kubectl get mutatingadmissionpolicies,mutatingwebhookconfigurations",
      };
    case "Contested":
      return {
        say: "Find out which controller or policy changes the object, and exclude the object from it",
        command: shell`kubectl get deployment ${name} -n ${namespace} -o yaml --show-managed-fields`,
      };
    case "PodsRejected":
      return {
        say: "Fix the quota, limit range or policy named in the message; Kubernetes retries automatically",
        command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
      };
    case "RolloutInProgress":
      return {
        say: "Wait: the pods are starting. A first start may download models; workload.probes.startupSeconds bounds it",
        command: shell`kubectl logs ${pod} -n ${namespace} --follow`,
      };
    case "ReplicasUnavailable":
      return { say: "See why there are no pods", command: shell`kubectl describe deployment ${name} -n ${namespace}` };
    case "ScaledToZero":
      return { say: "Ask for pods", command: shell`kubectl scale llsd ${name} -n ${namespace} --replicas=1` };
    case "Suspended":
      return {
        say: "Let the operator work again",
        command: shell`kubectl patch llsd ${name} -n ${namespace} --type=merge -p '{"spec":{"suspend":false}}'`,
      };
    case "UpgradeQueued":
    case "TemplateHeld":
      return {
        say: "What runs stays as it is. Let the new pods through now, or wait for the next change of the resource",
        command: shell`llama-stack-operator rollout ${name} -n ${namespace}`,
      };
    case "RolledBack":
      return {
        say: "The last good template runs again. Mend the edit that did not start",
        command: shell`kubectl edit llsd ${name} -n ${namespace}`,
      };
    case "Waiting":
    case "Progressing":
      return undefined;
    default:
      return {
        say: "Mend what the sentence above names; the operator tries again by itself",
        command: shell`kubectl get llsd ${name} -n ${namespace} -o yaml`,
      };
  }
};
