/** The statuses of pods on the simulated node. */
import { type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";

/** A pod whose image has this word in it never becomes ready: its server ends again and again. */
export const CRASHING = "crashing";

/** Restarts that such a pod shows at once. */
const RESTARTS = 4;

const crashes = (container: Json): boolean => stringAt(container, "image")?.includes(CRASHING) === true;

/** As the kubelet reports a pod whose containers have started, or one that ends again and again. */
export const simulatedStatus = (pod: JsonObject, podIP: string, nodeIP: string): JsonObject => {
  const containers = listAt(pod, "spec", "containers");
  const isReady = !containers.some(crashes);
  const now = new Date().toISOString();
  const conditions = ["Initialized", "Ready", "ContainersReady"].map((type) => ({
    type,
    status: isReady || type === "Initialized" ? "True" : "False",
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
    containerStatuses: containers.map((container) => containerStatus(container, isReady, now)),
  };
};

const containerStatus = (container: Json, isReady: boolean, now: string): JsonObject => ({
  name: stringAt(container, "name") ?? "",
  image: stringAt(container, "image") ?? "",
  imageID: "",
  ready: isReady,
  started: isReady,
  restartCount: isReady ? 0 : RESTARTS,
  ...(isReady ? { state: { running: { startedAt: now } } } : {
    state: { waiting: { reason: "CrashLoopBackOff", message: "restarting failed container" } },
    lastState: {
      terminated: { exitCode: 1, reason: "Error", message: "Error: the simulated server does not start" },
    },
  }),
});
