/** What a person does about a resource that is not ready, by the reason of a condition, with the command to paste. */
import type { Advice } from "../failure/advice.ts";
import { shell } from "../data/printable.ts";

export interface Place {
  readonly name: string;
  readonly namespace: string;
  /** The pod that the reason speaks of, where there is one. */
  readonly pod: string | undefined;
  /** Whether a new image or base config of the operator was rolled back, and no edit of the resource. */
  readonly isUpgrade?: boolean;
}

/** For the reason of a condition; undefined if there is nothing to do but wait, or no advice. */
export const adviceOnReason = (
  reason: string,
  { name, namespace, pod = "POD", isUpgrade = false }: Place,
): Advice | undefined => {
  const describe = shell`kubectl describe pod ${pod} -n ${namespace}`;
  switch (reason) {
    case "ImagePullFailed":
      return {
        say: "Check the image name, the access of the nodes to the registry, and workload.overrides.imagePullSecrets",
        command: describe,
      };
    case "CrashLoop":
      return {
        say: "Check the log of the previous container and fix the reported problem",
        command: shell`kubectl logs ${pod} -n ${namespace} --previous --all-containers`,
      };
    case "Unschedulable":
      return {
        say:
          "Add a node with enough capacity, or lower workload.resources. An unbound PersistentVolumeClaim has the same effect",
        command: describe,
      };
    case "ChangedByPolicy":
      return {
        say: "If the server does not work with the changed fields, exempt this namespace or object from the policy",
        command: "kubectl get mutatingadmissionpolicies,mutatingwebhookconfigurations",
      };
    case "Contested":
      return {
        say: "Find the controller or policy that changes the object, and exclude the object from it",
        command: shell`kubectl get deployment ${name} -n ${namespace} -o yaml --show-managed-fields`,
      };
    case "PodsRejected":
      return {
        say: "Fix the quota, limit range or policy named in the message; Kubernetes retries automatically",
        command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
      };
    case "RolloutInProgress":
      return {
        say:
          "Wait until the pods have started. A first start may download models; workload.probes.startupSeconds is the limit",
        command: shell`kubectl logs ${pod} -n ${namespace} --follow`,
      };
    case "ReplicasUnavailable":
      return {
        say: "Check why there are no pods",
        command: shell`kubectl describe deployment ${name} -n ${namespace}`,
      };
    case "ScaledToZero":
      return { say: "Scale up", command: shell`kubectl scale llsd ${name} -n ${namespace} --replicas=1` };
    case "Suspended":
      return {
        say: "Resume reconciliation",
        command: shell`kubectl patch llsd ${name} -n ${namespace} --type=merge -p '{"spec":{"suspend":false}}'`,
      };
    case "UpgradeQueued":
    case "TemplateHeld":
      return {
        say: "The running pods are unchanged. Roll out the new pods now, or wait for the next change of the resource",
        command: shell`llama-stack-operator rollout ${name} -n ${namespace}`,
      };
    case "RolledBack":
      if (isUpgrade) {
        return {
          say:
            "The previous revision is running, and the resource needs no edit. Fix the image in the operator's settings",
          command: "kubectl get configmap -A --field-selector metadata.name=llama-stack-operator-config -o yaml",
        };
      }
      return {
        say: "The previous revision is running. Fix the change that failed",
        command: shell`kubectl edit llsd ${name} -n ${namespace}`,
      };
    case "DeploymentUpdateFailed":
    case "ObjectRefused":
    case "WriteFailed":
      return {
        say:
          "Fix the quota, policy or webhook named in the message, or revert the change of a field that cannot be changed " +
          "in place; the operator retries automatically",
        command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
      };
    case "Waiting":
    case "Progressing":
      return undefined;
    default:
      return {
        say: "Fix the problem in the message above; the operator retries automatically",
        command: shell`kubectl get llsd ${name} -n ${namespace} -o yaml`,
      };
  }
};
