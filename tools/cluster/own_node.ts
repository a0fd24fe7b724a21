/** A node that this process simulates: enough for a few pods to be bound and called ready, with nothing to install. */
import { type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { crashes } from "./simulated_pods.ts";

interface Api {
  /** As `fetch`, with a path of the API server. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
}

const LOOK_EVERY_MS = 200;

/**
 * Binds every pod to the node, calls it ready, and removes it when it is deleted. The function that is returned ends
 * this.
 */
export const keepNode = async (api: Api, node: string): Promise<() => Promise<void>> => {
  const conditions = [{ type: "Ready", status: "True", reason: "Simulated", lastTransitionTime: now() }];
  await patchStatus(api, `/api/v1/nodes/${node}`, { conditions });
  const abort = new AbortController();
  const kept = (async () => {
    while (!abort.signal.aborted) {
      // The API server may be restarting.
      await lookOnce(api, node).catch(() => {});
      await pause(LOOK_EVERY_MS, abort.signal);
    }
  })();
  return () => {
    abort.abort();
    return kept;
  };
};

const lookOnce = async (api: Api, node: string): Promise<void> => {
  const pods = listAt(await (await api.fetch("/api/v1/pods")).json() as JsonObject, "items") as ReadonlyArray<
    JsonObject
  >;
  for (const [index, pod] of pods.entries()) await careFor(api, node, pod, index);
};

const careFor = async (api: Api, node: string, pod: JsonObject, index: number): Promise<void> => {
  const path = `/api/v1/namespaces/${stringAt(pod, "metadata", "namespace")}/pods/${stringAt(pod, "metadata", "name")}`;
  if (stringAt(pod, "metadata", "deletionTimestamp") !== undefined) {
    await send(api, "DELETE", `${path}?gracePeriodSeconds=0`, undefined);
  } else if (stringAt(pod, "spec", "nodeName") === undefined) {
    const name = stringAt(pod, "metadata", "name") ?? "";
    const target = { apiVersion: "v1", kind: "Node", name: node };
    await send(api, "POST", `${path}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target });
  } else if (stringAt(pod, "status", "podIP") === undefined) {
    await patchStatus(api, path, statusOf(pod, index));
  }
};

/** As the kubelet reports a pod whose containers have started, or one that ends again and again. */
const statusOf = (pod: JsonObject, index: number): JsonObject => {
  const containers = listAt(pod, "spec", "containers");
  const ready = !containers.some(crashes);
  const conditions = ["Initialized", "Ready", "ContainersReady"].map((type) => ({
    type,
    status: ready || type === "Initialized" ? "True" : "False",
    lastTransitionTime: now(),
  }));
  const podIP = `10.244.${Math.floor(index / 250)}.${index % 250 + 1}`;
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    hostIP: "10.0.0.1",
    startTime: now(),
    conditions,
    containerStatuses: containers.map((container) => containerStatus(container, ready)),
  };
};

const containerStatus = (container: Json, ready: boolean): JsonObject => ({
  name: stringAt(container, "name") ?? "",
  image: stringAt(container, "image") ?? "",
  imageID: "",
  ready,
  started: ready,
  restartCount: ready ? 0 : 4,
  state: ready
    ? { running: { startedAt: now() } }
    : { waiting: { reason: "CrashLoopBackOff", message: "restarting failed container" } },
});

const patchStatus = (api: Api, path: string, status: JsonObject): Promise<void> =>
  send(api, "PATCH", `${path}/status`, { status }, "application/strategic-merge-patch+json");

const send = async (
  api: Api,
  method: string,
  path: string,
  body: JsonObject | undefined,
  type = "application/json",
): Promise<void> => {
  const response = await api.fetch(path, {
    method,
    headers: { "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // A pod can disappear between two requests, and an object with a finalizer is deleted once.
  if (response.ok || response.status === 404 || response.status === 409) return;
  throw new Error(`${method} ${path}: ${response.status} ${text}`);
};

const now = (): string => new Date().toISOString();

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
