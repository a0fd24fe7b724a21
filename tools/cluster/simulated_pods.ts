/** The statuses of pods on the simulated node. */
import { type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";

/** A pod whose image has this word in it never becomes ready: its server ends again and again. */
export const CRASHING = "crashing";

/** Restarts that such a pod shows at once. */
const RESTARTS = 4;

const crashes = (container: Json): boolean => stringAt(container, "image")?.includes(CRASHING) === true;

export interface Crash {
  readonly exitCode: number;
  readonly message: string;
}

/** As the kubelet reports a pod whose containers have started, or one that ends again and again. */
export const simulatedStatus = (pod: JsonObject, podIP: string, nodeIP: string): JsonObject =>
  listAt(pod, "spec", "containers").some(crashes)
    ? crashedStatus(pod, podIP, nodeIP, { exitCode: 1, message: "Error: the simulated server does not start" })
    : podStatus(pod, podIP, nodeIP, undefined);

/** As the kubelet reports a pod whose containers end again and again. */
export const crashedStatus = (pod: JsonObject, podIP: string, nodeIP: string, crash: Crash): JsonObject =>
  podStatus(pod, podIP, nodeIP, crash);

const podStatus = (pod: JsonObject, podIP: string, nodeIP: string, crash: Crash | undefined): JsonObject => {
  const now = new Date().toISOString();
  const conditions = ["Initialized", "Ready", "ContainersReady"].map((type) => ({
    type,
    status: crash === undefined || type === "Initialized" ? "True" : "False",
    lastTransitionTime: now,
  }));
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    hostIP: nodeIP,
    hostIPs: [{ ip: nodeIP }],
    startTime: now,
    conditions,
    containerStatuses: listAt(pod, "spec", "containers").map((container) => containerStatus(container, crash, now)),
  };
};

const containerStatus = (container: Json, crash: Crash | undefined, now: string): JsonObject => ({
  name: stringAt(container, "name") ?? "",
  image: stringAt(container, "image") ?? "",
  imageID: "",
  ready: crash === undefined,
  started: crash === undefined,
  restartCount: crash === undefined ? 0 : RESTARTS,
  ...(crash === undefined ? { state: { running: { startedAt: now } } } : {
    state: { waiting: { reason: "CrashLoopBackOff", message: "restarting failed container" } },
    lastState: { terminated: { reason: "Error", ...crash } },
  }),
});
