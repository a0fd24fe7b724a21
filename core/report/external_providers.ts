/** The state of each external provider, from the init containers of the newest pods. */
import { conditionFalse, conditionTrue, conditionUnknown, type Finding } from "../api/conditions.ts";
import { statusOf } from "../api/status_of.ts";
import type { Status } from "../api/v1alpha2.ts";
import { byAge } from "../data/newest_first.ts";
import { observedTemplate, podsOfTemplate } from "../plan/rollout/rollout_state.ts";
import { EXTERNAL_VOLUME, installContainer, PREPARE_CONTAINER } from "../resources/external_containers.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
import { endedWell, type LiveContainer, type LivePod } from "../snapshot/live_pod.ts";
import { type LiveResource, liveResource } from "../snapshot/live_resource.ts";
import type { Decided } from "./decided.ts";
import type { Disclosure } from "./disclosure.ts";
import { externalFailure, fitted, type Installed, installedBy } from "./external_containers.ts";
import { disclosureOf } from "./trouble.ts";

type State = NonNullable<Status["externalProviders"]>[number];

export interface ExternalStates {
  readonly states: ReadonlyArray<State>;
  readonly warnings: ReadonlyArray<string>;
}

/** In the order of installation; empty without external providers. */
export const externalStates = (
  snapshot: ClusterSnapshot,
  { prepared, rollout }: Decided,
  deployment: LiveDeployment | undefined,
): ExternalStates => {
  const { externalProviders: wanted } = liveResource(snapshot.resource);
  if (wanted.length === 0) return { states: [], warnings: [] };
  const formerly = statusOf(snapshot.resource).externalProviders ?? [];
  const known = ({ id, image }: Wanted): State | undefined =>
    formerly.find((state) => state.providerId === id && state.image === image);
  const isObserved = deployment !== undefined && observedTemplate(deployment, snapshot);
  // After a rollback the failed pods are gone, and what is known of them must not be lost.
  const isRolledBack = rollout?.kind === "rollBack" || rollout?.kind === "rolledBack";
  const disclosure = disclosureOf(snapshot, prepared);
  const pods = deployment === undefined || !isObserved ? [] : podsOfTemplate(deployment, snapshot).toSorted(byAge)
    // A pod that was evicted stays as an object; another one has taken its place.
    .filter(({ phase }, index) => index === 0 || !["Failed", "Succeeded"].includes(phase))
    .map((pod) => podState(pod, wanted.map(({ id }) => id), disclosure));
  return {
    states: wanted.map((item) => {
      const before = known(item);
      const seen = pods.flatMap((pod) => stateIn(pod, item) ?? []);
      const state = PHASES.flatMap((phase) => seen.find((found) => found.phase === phase) ?? [])[0];
      const kept = !isObserved || isRolledBack ? before : undefined;
      return (isRolledBack ? kept ?? state : state ?? kept) ?? waiting(item);
    }),
    warnings: pods.find(({ installed }) => installed.warnings.length > 0)?.installed.warnings ?? [],
  };
};

type Wanted = LiveResource["externalProviders"][number];

/** The worst first: one pod without the provider is one too many. */
const PHASES: ReadonlyArray<State["phase"]> = ["Failed", "Installing", "Pending", "Ready"];

const waiting = ({ id, image }: Wanted): State => ({
  providerId: id,
  image,
  phase: "Pending",
  reason: "Waiting",
  message: "Waiting for a pod",
});

interface PodState {
  readonly containers: ReadonlyArray<LiveContainer>;
  readonly prepare: LiveContainer | undefined;
  readonly failures: ReadonlyArray<NonNullable<ReturnType<typeof externalFailure>>>;
  readonly installed: Installed;
  /** The image that the kubelet has pulled for a container; empty until then. */
  readonly imageID: (container: LiveContainer | undefined) => string;
  /** Why it was evicted because of the volume of the providers. */
  readonly evicted: string | undefined;
}

const podState = (
  { initContainers: containers, evicted }: LivePod,
  ids: ReadonlyArray<string>,
  disclosure: Disclosure,
): PodState => {
  const shown = disclosure.text;
  const prepare = containers.find(({ name }) => name === PREPARE_CONTAINER);
  return {
    containers,
    prepare,
    // A failure that is about no provider of the resource is about all of them.
    failures: containers.flatMap((container) => externalFailure(container, disclosure) ?? [])
      .map((failure) => failure.id === undefined || ids.includes(failure.id) ? failure : { ...failure, id: undefined }),
    imageID: (container) => fitted(shown(container?.imageID ?? "")),
    installed: installedBy(prepare, shown),
    evicted: evicted?.includes(EXTERNAL_VOLUME) === true ? shown(evicted) : undefined,
  };
};

/** Undefined if the pod does not have the provider. */
const stateIn = (
  { containers, prepare, failures, installed, imageID: imageOf, evicted }: PodState,
  { id, image }: Wanted,
): State | undefined => {
  const container = containers.find(({ name }) => name === installContainer(id));
  const imageID = imageOf(container);
  const state = (phase: State["phase"], reason: string, message: string): State => ({
    providerId: id,
    image,
    ...(imageID === "" ? {} : { imageID }),
    phase,
    reason,
    message,
  });
  if (evicted !== undefined) {
    return state(
      "Failed",
      "VolumeSizeExceeded",
      `The pod was evicted; increase spec.externalProviders.volumeSizeLimit: ${evicted}`.slice(0, 1024),
    );
  }
  if (container === undefined) return undefined;
  const failure = failures.find((found) => found.id === id) ?? failures.find((found) => found.id === undefined);
  if (failure !== undefined) return state("Failed", failure.reason, failure.message);
  if (!endedWell(container)) {
    return container.state._tag === "Running"
      ? state("Installing", "Copying", "Copying the packages from the image")
      : state("Pending", "Waiting", "Waiting for other containers, or for the image");
  }
  if (prepare === undefined || !endedWell(prepare)) {
    return failures.length > 0
      ? state("Pending", "Waiting", `Waiting until external provider "${failures[0]?.id}" can be installed`)
      : state("Installing", "Preparing", "Checking and unpacking the packages");
  }
  const version = installed.versions.get(id) ?? "";
  return { ...state("Ready", "Installed", "Installed"), ...(version === "" ? {} : { version }) };
};

/** No condition without external providers. */
export const externalFindings = ({ states, warnings }: ExternalStates): ReadonlyArray<Finding> => {
  if (states.length === 0) return [];
  const failed = states.filter(({ phase }) => phase === "Failed");
  if (failed.length > 0) {
    const messages = [...new Set(failed.map(({ message }) => message ?? ""))];
    return [conditionFalse("ExternalProvidersReady", "ExternalProviderFailed", messages.join("; "))];
  }
  const open = states.filter(({ phase }) => phase !== "Ready");
  return [
    open.length === 0
      ? conditionTrue(
        "ExternalProvidersReady",
        "ExternalProvidersInstalled",
        [`Installed ${states.map(({ providerId }) => providerId).join(", ")}`, ...warnings].join(". "),
      )
      : conditionUnknown(
        "ExternalProvidersReady",
        "Waiting",
        `Not installed yet: ${open.map(({ providerId }) => providerId).join(", ")}`,
      ),
  ];
};
