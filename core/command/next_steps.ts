/** What a person does about a resource that is not ready: one advice per failure or reason, with the command to type. */
import { Result } from "effect";
import { decodeResource } from "../api/decode.ts";
import type { ReconcileFailure } from "../reconcile_failure.ts";
import { type JsonObject, stringAt } from "../json.ts";
import { referencesOf } from "../plan/references.ts";
import { shell, shellWord } from "../printable.ts";

export interface Advice {
  readonly say: string;
  /** Ready to be typed, but for what stands as `…`. */
  readonly command?: string;
}

const GOES_ON = "the operator goes on by itself then";

/** For a failure whose parts are known, so that the command can name them. */
export const adviceOnFailure = (failure: ReconcileFailure, resource: JsonObject): Advice => {
  const [own, name] = [stringAt(resource, "metadata", "namespace") ?? "", stringAt(resource, "metadata", "name") ?? ""];
  switch (failure._tag) {
    case "SecretNotFound": {
      const keys = keysOf(resource, "Secret", failure.name).map((key) => ` --from-literal=${shellWord(key)}=…`);
      return {
        say: `Create the Secret; ${GOES_ON}`,
        command: `${shell`kubectl create secret generic ${failure.name} -n ${failure.namespace}`}${keys.join("")}`,
      };
    }
    case "SecretKeyMissing":
      return {
        say: `Add the key to the Secret, or name another key in the resource; ${GOES_ON}`,
        command: shell`kubectl patch secret ${failure.name} -n ${failure.namespace} -p ${
          JSON.stringify({ stringData: { [failure.key]: "…" } })
        }`,
      };
    case "ConfigMapNotFound": {
      const keys = keysOf(resource, "ConfigMap", failure.name).map((key) => ` --from-file=${shellWord(key)}=…`);
      return {
        say: `Create the ConfigMap; ${GOES_ON}`,
        command: `${shell`kubectl create configmap ${failure.name} -n ${failure.namespace}`}${keys.join("")}`,
      };
    }
    case "ConfigMapKeyMissing":
      return {
        say: `Add the key ${failure.key} to the ConfigMap, or name another key in the resource; ${GOES_ON}`,
        command: shell`kubectl edit configmap ${failure.name} -n ${failure.namespace}`,
      };
    case "SecretValueUnusable":
    case "OverrideConfigInvalid":
    case "CaBundleInvalid": {
      const kind = failure._tag === "SecretValueUnusable" ? "secret" : "configmap";
      return {
        say: `Put another value into ${failure.key}; ${GOES_ON}`,
        command: shell`kubectl edit ${kind} ${failure.key.split("/")[0] ?? ""} -n ${own}`,
      };
    }
    case "OwnershipConflict":
      return {
        say:
          `Check who manages that ${failure.kind}. Then rename this resource, or free the name; the operator retries automatically`,
        command: shell`kubectl get ${failure.kind.toLowerCase()} ${failure.name} -n ${own} -o yaml`,
      };
    case "DeletionPending":
      return {
        say: "Wait until Kubernetes has removed the object. If it stays, see which finalizers hold it",
        command: shell`kubectl get ${failure.kind.toLowerCase()} ${failure.name} -n ${own} -o yaml`,
      };
    case "WriteFailed":
      return {
        say: "Check the API server, or the webhook that the message names; the operator retries automatically",
        command: "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
      };
    case "ObjectRefused":
      return {
        say:
          "The API server's words name the quota, policy or webhook: mend it, and the operator tries again by itself",
        command: shell`kubectl get events -n ${own} --sort-by=.lastTimestamp`,
      };
    default:
      return {
        say:
          "Edit the resource; `llama-stack-operator lint -f FILE` finds the same mistakes before they reach a cluster",
        command: shell`kubectl edit llsd ${name} -n ${own}`,
      };
  }
};

/** Keys that the resource reads of a Secret or ConfigMap, for a command that makes them all at once. */
const keysOf = (resource: JsonObject, kind: "Secret" | "ConfigMap", name: string): ReadonlyArray<string> => {
  const decoded = decodeResource(resource, "lenient");
  if (Result.isFailure(decoded)) return [];
  const keys = referencesOf(decoded.success.spec).filter((one) => one.kind === kind && one.name === name)
    .flatMap(({ key }) => key ?? []);
  return [...new Set(keys)];
};

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
