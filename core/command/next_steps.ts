/** What a person does about a resource that is not ready, by the reason of a condition, with the command to paste. */
import type { StateReason, WriteReason } from "../api/reasons.ts";
import type { Advice } from "../failure/advice.ts";
import { shell } from "../data/printable.ts";

export interface Place {
  readonly name: string;
  readonly namespace: string;
  /** The pod that the reason refers to, if there is one. */
  readonly pod: string | undefined;
  /** Whether a new image or base config of the operator was rolled back, and no edit of the resource. */
  readonly isUpgrade?: boolean;
}

type Known = Required<{ readonly [Key in keyof Place]: NonNullable<Place[Key]> }>;

/** For the reason of a condition; undefined if the only thing to do is to wait. */
export const adviceOnReason = (
  reason: string,
  { name, namespace, pod = "POD", isUpgrade = false }: Place,
): Advice | undefined => (isListed(reason) ? NEXT_STEPS[reason] : readTheMessage)({ name, namespace, pod, isUpgrade });

const isListed = (reason: string): reason is StateReason | WriteReason => Object.hasOwn(NEXT_STEPS, reason);

/** Of failures whose names only the status knows, and of reasons that another version of the operator wrote. */
const readTheMessage = ({ name, namespace }: Known): Advice => ({
  action: "Fix the problem in the message above; the operator retries automatically",
  command: shell`kubectl get llsd ${name} -n ${namespace} -o yaml`,
});

const describePod = ({ pod, namespace }: Known): string => shell`kubectl describe pod ${pod} -n ${namespace}`;

const wait = (): undefined => undefined;

const rollOut = ({ name, namespace }: Known): Advice => ({
  action: "The running pods are unchanged. Roll out the new pods now, or wait for the next change of the resource",
  command: shell`llama-stack-operator rollout ${name} -n ${namespace}`,
});

const allowWrite = ({ namespace }: Known): Advice => ({
  action:
    "Fix the quota, policy or webhook named in the message, or revert the change of a field that cannot be changed " +
    "in place; the operator retries automatically",
  command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
});

const fixImage = (action: string): Advice => ({
  action,
  command: "kubectl get configmap -A --field-selector metadata.name=llama-stack-operator-config -o yaml",
});

const NEXT_STEPS: Readonly<Record<StateReason | WriteReason, (place: Known) => Advice | undefined>> = {
  ImagePullFailed: (place) => ({
    action: "Check the image name, the access of the nodes to the registry, and workload.overrides.imagePullSecrets",
    command: describePod(place),
  }),
  CrashLoop: ({ pod, namespace }) => ({
    action: "Check the log of the previous container and fix the reported problem",
    command: shell`kubectl logs ${pod} -n ${namespace} --previous --all-containers`,
  }),
  Unschedulable: (place) => ({
    action:
      "Add a node with enough capacity, or lower workload.resources. An unbound PersistentVolumeClaim has the same effect",
    command: describePod(place),
  }),
  ChangedByAdmission: () => ({
    action: "If the server does not work with the changed fields, exempt this namespace or object from the policy",
    command: "kubectl get mutatingadmissionpolicies,mutatingwebhookconfigurations",
  }),
  ChangedByOthers: ({ name, namespace }) => ({
    action: "Find the controller or policy that changes the object, and exclude the object from it",
    command: shell`kubectl get deployment ${name} -n ${namespace} -o yaml --show-managed-fields`,
  }),
  PodsRejected: ({ namespace }) => ({
    action: "Fix the quota, limit range or policy named in the message; Kubernetes retries automatically",
    command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
  }),
  RolloutInProgress: ({ pod, namespace }) => ({
    action:
      "Wait until the pods have started. A first start may download models; workload.probes.startupSeconds is the limit",
    command: shell`kubectl logs ${pod} -n ${namespace} --follow`,
  }),
  ReplicasUnavailable: ({ name, namespace }) => ({
    action: "Check why there are no pods",
    command: shell`kubectl describe deployment ${name} -n ${namespace}`,
  }),
  ScaledToZero: ({ name, namespace }) => ({
    action: "Scale up",
    command: shell`kubectl scale llsd ${name} -n ${namespace} --replicas=1`,
  }),
  Suspended: ({ name, namespace }) => ({
    action: "Resume reconciliation",
    command: shell`kubectl patch llsd ${name} -n ${namespace} --type=merge -p '{"spec":{"suspend":false}}'`,
  }),
  UpgradeQueued: rollOut,
  OperatorChanged: rollOut,
  RolledBack: ({ name, namespace, isUpgrade }) =>
    isUpgrade
      ? fixImage(
        "The previous revision is running, and the resource needs no edit. Fix the image in the operator's settings",
      )
      : {
        action: "The previous revision is running. Fix the change that failed",
        command: shell`kubectl edit llsd ${name} -n ${namespace}`,
      },
  UpgradeFailed: () =>
    fixImage(
      "Fix the problem named in the message, or set the image back in the operator's settings (image-overrides)",
    ),
  DeploymentUpdateFailed: allowWrite,
  ObjectRefused: allowWrite,
  WriteFailed: allowWrite,
  Progressing: wait,
  Waiting: wait,
  Unchanged: wait,
};
