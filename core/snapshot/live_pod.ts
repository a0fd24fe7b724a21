/** A pod as the API server reports it: what decisions and reports read of it. */
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { type Age, ageOf } from "../data/newest_first.ts";
import { configMapsOf } from "../resources/pod_spec.ts";
import { liveCondition } from "./live_condition.ts";

export interface LivePod extends Age {
  readonly name: string;
  readonly isGoing: boolean;
  /** Of its label `pod-template-hash`, which its ReplicaSet has too. */
  readonly templateHash: string | undefined;
  /** Names of the ConfigMaps that it mounts. */
  readonly configMaps: ReadonlyArray<string>;
  readonly phase: string;
  readonly isReady: boolean;
  /** Why no node takes it. */
  readonly unschedulable: string | undefined;
  /** Why its node evicted it. */
  readonly evicted: string | undefined;
  readonly initContainers: ReadonlyArray<LiveContainer>;
  readonly containers: ReadonlyArray<LiveContainer>;
}

export interface LiveContainer {
  readonly name: string;
  readonly image: string;
  /** Empty until its node has pulled the image. */
  readonly imageID: string;
  readonly isReady: boolean;
  readonly restartCount: number;
  readonly state:
    | { readonly _tag: "Running" }
    | { readonly _tag: "Waiting"; readonly reason: string | undefined; readonly message: string | undefined }
    | ContainerEnd;
  /** Of its run before the present state. */
  readonly lastEnd: ContainerEnd | undefined;
}

export interface ContainerEnd {
  readonly _tag: "Terminated";
  readonly exitCode: number;
  readonly reason: string | undefined;
  /** Its termination message, or the end of its log. */
  readonly message: string;
}

export const livePod = (object: JsonObject): LivePod => {
  const scheduled = liveCondition(object, "PodScheduled");
  return {
    ...ageOf(object),
    name: stringAt(object, "metadata", "name") ?? "?",
    isGoing: member(objectAt(object, "metadata"), "deletionTimestamp") !== undefined,
    templateHash: stringAt(object, "metadata", "labels", "pod-template-hash"),
    configMaps: configMapsOf(objectAt(object, "spec")),
    phase: stringAt(object, "status", "phase") ?? "Pending",
    isReady: liveCondition(object, "Ready")?.status === "True",
    unschedulable: scheduled?.status === "False" ? scheduled.message ?? "no suitable node" : undefined,
    evicted: stringAt(object, "status", "reason") === "Evicted"
      ? stringAt(object, "status", "message") ?? ""
      : undefined,
    initContainers: containersIn(object, "initContainerStatuses"),
    containers: containersIn(object, "containerStatuses"),
  };
};

const containersIn = (object: JsonObject, list: string): ReadonlyArray<LiveContainer> =>
  listAt(object, "status", list).filter(isObject).map((status) => ({
    name: stringAt(status, "name") ?? "?",
    image: stringAt(status, "image") ?? "?",
    imageID: stringAt(status, "imageID") ?? "",
    isReady: member(status, "ready") === true,
    restartCount: Number(member(status, "restartCount") ?? 0),
    state: stateIn(objectAt(status, "state")),
    lastEnd: endIn(objectAt(status, "lastState")),
  }));

/** One that the kubelet has not seen yet waits, too. */
const stateIn = (state: JsonObject): LiveContainer["state"] =>
  Object.hasOwn(state, "running") ? { _tag: "Running" } : endIn(state) ?? {
    _tag: "Waiting",
    reason: stringAt(state, "waiting", "reason"),
    message: stringAt(state, "waiting", "message"),
  };

const endIn = (state: JsonObject): ContainerEnd | undefined => {
  const ended = member(state, "terminated");
  return ended === undefined ? undefined : {
    _tag: "Terminated",
    exitCode: Number(member(ended, "exitCode")),
    reason: stringAt(ended, "reason"),
    message: stringAt(ended, "message") ?? "",
  };
};

/** Its present end, else the last one; also while it runs again. */
export const endOf = ({ state, lastEnd }: LiveContainer): ContainerEnd | undefined =>
  state._tag === "Terminated" ? state : lastEnd;

export const endedWell = ({ state }: LiveContainer): boolean => state._tag === "Terminated" && state.exitCode === 0;

/** All but the init containers that have ended well. */
export const openContainers = ({ initContainers, containers }: LivePod): ReadonlyArray<LiveContainer> => [
  ...initContainers.filter((container) => !endedWell(container)),
  ...containers,
];
