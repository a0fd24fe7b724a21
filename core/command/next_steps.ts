/** What to do about a resource that is not ready, by the reason of a condition, with a command to paste. */
import type { StateReason, WriteReason } from "../api/reasons.ts";
import { type Advice, adviceOnClaim, adviceOnWrite, ALLOW_DELETION, SHOW_SETTINGS } from "../report/advice.ts";
import { claimName } from "../resources/claim.ts";
import { shell } from "../data/printable.ts";

export interface Place {
  readonly name: string;
  readonly namespace: string;
  /** The pod that the reason refers to, if there is one. */
  readonly pod: string | undefined;
  /** Whether the last rollout was a new image or base config of the operator, and not an edit of the resource. */
  readonly isUpgrade?: boolean;
}

type Known = Required<{ readonly [Key in keyof Place]: NonNullable<Place[Key]> }>;

/** For the reason of a condition; undefined if the only thing to do is to wait. */
export const adviceOnReason = (
  reason: string,
  { name, namespace, pod = "POD", isUpgrade = false }: Place,
): Advice | undefined => (isListed(reason) ? NEXT_STEPS[reason] : readTheMessage)({ name, namespace, pod, isUpgrade });

const isListed = (reason: string): reason is StateReason | WriteReason => Object.hasOwn(NEXT_STEPS, reason);

/** For failures that are known from the status only, and for reasons that another version of the operator wrote. */
const readTheMessage = ({ name, namespace }: Known): Advice => ({
  action: "Fix the problem that the message names; the operator retries automatically",
  command: shell`kubectl get llsd ${name} -n ${namespace} -o yaml`,
});

const describePod = ({ pod, namespace }: Known): string => shell`kubectl describe pod ${pod} -n ${namespace}`;

const noAdvice = (): undefined => undefined;

const rollOut = ({ name, namespace }: Known): Advice => ({
  action: "The running pods are unchanged. Roll out the new pods now, or wait for the next change of the resource",
  command: shell`llama-stack-operator rollout ${name} -n ${namespace}`,
});

const fixRejectedWrite = ({ namespace }: Known): Advice => ({
  action:
    "Fix the quota, policy or webhook that the message names, or revert the change to an immutable field; the operator " +
    "retries automatically",
  command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
});

const fixImage = (action: string): Advice => ({
  action,
  command: SHOW_SETTINGS,
});

const NEXT_STEPS: Readonly<Record<StateReason | WriteReason, (place: Known) => Advice | undefined>> = {
  ImagePullFailed: (place) => ({
    action:
      "Check the image name, the access of the nodes to the registry, and spec.workload.overrides.imagePullSecrets",
    command: describePod(place),
  }),
  CrashLoop: ({ pod, namespace }) => ({
    action: "Check the log of the previous container and fix the reported problem",
    command: shell`kubectl logs ${pod} -n ${namespace} --previous --all-containers`,
  }),
  ExternalProviderFailed: ({ pod, namespace }) => ({
    action: "Fix the image of the provider, or the entry in spec.externalProviders, as the message says",
    command: shell`kubectl logs ${pod} -n ${namespace} --all-containers --prefix`,
  }),
  Unschedulable: (place) => ({
    action:
      "Add a node with enough capacity, or lower spec.workload.resources. A PersistentVolumeClaim that is not bound has the " +
      "same effect",
    command: describePod(place),
  }),
  ChangedByAdmission: () => ({
    action: "If the server does not work with the changed fields, exempt this namespace or object from the policy",
    command: "kubectl get mutatingadmissionpolicies,mutatingwebhookconfigurations",
  }),
  ChangedByOthers: ({ name, namespace }) => ({
    action: "Find the controller that the message names, and configure it to ignore this object",
    command: shell`kubectl get deployment ${name} -n ${namespace} -o yaml --show-managed-fields`,
  }),
  PodsRejected: ({ namespace }) => ({
    action: "Fix the quota, limit range or policy that the message names; Kubernetes retries automatically",
    command: shell`kubectl get resourcequota,limitrange -n ${namespace}`,
  }),
  RolloutInProgress: ({ pod, namespace }) => ({
    action:
      "Wait until the pods have started. The first start may download models; spec.workload.probes.startupSeconds limits how " +
      "long it may take",
    command: shell`kubectl logs ${pod} -n ${namespace} --follow`,
  }),
  ReplicasUnavailable: ({ name, namespace }) => ({
    action: "Check the Events of the Deployment, and the other conditions of the resource",
    command: shell`kubectl describe deployment ${name} -n ${namespace}`,
  }),
  GatewayRefused: ({ name, namespace }) => ({
    action: "Change spec.networking.expose or the Gateway, as the message of its controller says",
    command: shell`kubectl get httproute,backendtlspolicy ${name} -n ${namespace} -o yaml`,
  }),
  GatewayUnavailable: ({ name, namespace }) => ({
    action:
      "Change the field that the message names, or install the Gateway API where the message says that it is missing",
    command: shell`kubectl edit llsd ${name} -n ${namespace}`,
  }),
  MetricsUnavailable: ({ name, namespace }) => ({
    action: "Change the field that the message names, or remove spec.monitoring",
    command: shell`kubectl edit llsd ${name} -n ${namespace}`,
  }),
  ScaledToZero: ({ name, namespace }) => ({
    action: "Set the number of replicas to 1 or more; with scaling External, whatever scales the Deployment decides",
    command: shell`kubectl scale llsd ${name} -n ${namespace} --replicas=1`,
  }),
  Suspended: ({ name, namespace }) => ({
    action: "Resume reconciliation",
    command: shell`kubectl patch llsd ${name} -n ${namespace} --type=merge -p '{"spec":{"suspend":false}}'`,
  }),
  ConfigMissing: ({ name, namespace }) => ({
    action: "Roll out the new pods, whose config exists, or restore the ConfigMap that the message names from a backup",
    command: shell`llama-stack-operator rollout ${name} -n ${namespace}`,
  }),
  UpgradeQueued: rollOut,
  OperatorChanged: rollOut,
  RolledBack: ({ name, namespace, isUpgrade }) =>
    isUpgrade
      ? fixImage(
        "The previous revision is running, and the resource needs no edit. Set image-overrides in the operator's settings to " +
          "the previous image; an edit of the resource would roll out the new one again",
      )
      : {
        action: "The previous revision is running. Fix the cause in the resource; the next edit is rolled out",
        command: shell`kubectl edit llsd ${name} -n ${namespace}`,
      },
  UpgradeFailed: () =>
    fixImage(
      "Fix the cause that the message names in the resource, or set image-overrides in the operator's settings to the " +
        "previous image. Until then, other upgrades of the same distribution in this namespace wait",
    ),
  DeploymentUpdateFailed: fixRejectedWrite,
  ClaimUpdateFailed: ({ name, namespace }) => adviceOnClaim(claimName(name), namespace),
  DeletionRefused: ({ name, namespace }) => ({
    action: ALLOW_DELETION,
    command: shell`kubectl describe llsd ${name} -n ${namespace}`,
  }),
  ObjectRefused: fixRejectedWrite,
  WriteFailed: () => adviceOnWrite(undefined, {}),
  Progressing: noAdvice,
  Waiting: noAdvice,
  Unchanged: noAdvice,
  NotAdopted: noAdvice,
};
