/** A node that this process simulates, on a real control plane: pods are called ready there, and nothing runs. */
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { manifestList } from "./manifest_list.ts";
import { simulatedStatus } from "./simulated_pods.ts";

interface Api {
  /** Runs kubectl with these arguments and this standard input. */
  readonly kubectl: (words: readonly string[], input?: string) => Promise<unknown>;
  /** As `fetch`, with a path of the API server. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
}

export interface SimulatedNodeOptions {
  /** There is no scheduler: every pod is bound to the node. */
  readonly binds: boolean;
  /** Names of containers whose pods are bound and deleted like all others; their status is the business of somebody else. */
  readonly except: readonly string[];
}

/**
 * Creates a node, with volumes that the controller manager binds to claims without a class, and keeps it: pods become
 * ready, and are removed when they are deleted. The function that is returned ends this.
 */
export const startSimulatedNode = async (api: Api, options: SimulatedNodeOptions): Promise<() => Promise<void>> => {
  const manifests = [node, ...Array.from({ length: VOLUMES }, (_, index) => volume(index))];
  await api.kubectl(["create", "-f", "-"], manifestList(manifests));
  await renewLease(api);
  const abort = new AbortController();
  const kept = Promise.all([
    again(abort.signal, LEASE_EVERY_MS, () => renewLease(api)),
    again(abort.signal, RETRY_AFTER_MS, () => followPods(api, options, abort.signal)),
  ]);
  return async () => {
    abort.abort();
    await kept;
  };
};

const NODE = "simulated";
/** What `kubectl get nodes` shows as the version of the kubelet. */
export const SIMULATED_VERSION = "simulated";
const NODE_ADDRESS = "10.0.0.1";

/** More claims than any test makes at once; a claim without a free volume leaves its pod pending forever. */
const VOLUMES = 32;

/** The controller manager calls a node unreachable that is silent for 50 seconds. */
const LEASE_EVERY_MS = 10_000;

/** The API server may be restarting. */
const RETRY_AFTER_MS = 200;

// Large enough for a thousand pods that each ask for a core.
const capacity = { cpu: "2k", memory: "8Ti", pods: "5k" };

const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: NODE, labels: { "kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux" } },
  status: {
    capacity,
    allocatable: capacity,
    addresses: [{ type: "InternalIP", address: NODE_ADDRESS }],
    nodeInfo: {
      kubeletVersion: SIMULATED_VERSION,
      ...Object.fromEntries(
        [
          "architecture",
          "bootID",
          "containerRuntimeVersion",
          "kernelVersion",
          "kubeProxyVersion",
          "machineID",
          "operatingSystem",
          "osImage",
          "systemUUID",
        ].map((name) => [name, ""]),
      ),
    },
    conditions: [{ type: "Ready", status: "True", reason: "Simulated", lastTransitionTime: new Date().toISOString() }],
  },
};

const volume = (index: number) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: `simulated-${index}` },
  spec: {
    storageClassName: "",
    capacity: { storage: "1Ti" },
    // The API server rejects ReadWriteOncePod together with other modes, so every fourth volume is of that kind.
    accessModes: index % 4 === 3 ? ["ReadWriteOncePod"] : ["ReadWriteOnce", "ReadWriteMany"],
    hostPath: { path: `/tmp/simulated-${index}` },
  },
});

/** Works until the signal, with a pause after each turn; a turn that fails is repeated. */
const again = async (signal: AbortSignal, pauseMs: number, work: () => Promise<void>): Promise<void> => {
  while (!signal.aborted) {
    await work().catch(() => {});
    await pause(pauseMs, signal);
  }
};

/** As the kubelet does; an applied Lease needs no version. */
const renewLease = (api: Api): Promise<void> =>
  send(
    api,
    "PATCH",
    `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE}?fieldManager=${NODE}&force=true`,
    {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: NODE, namespace: "kube-node-lease" },
      spec: {
        holderIdentity: NODE,
        leaseDurationSeconds: 40,
        renewTime: new Date().toISOString().replace(/(\.\d{3})Z$/, "$1000Z"),
      },
    },
    "application/apply-patch+yaml",
  );

/** One list, and one watch as long as the API server keeps it open. */
const followPods = async (api: Api, options: SimulatedNodeOptions, signal: AbortSignal): Promise<void> => {
  const pods = options.binds ? "/api/v1/pods?" : `/api/v1/pods?fieldSelector=spec.nodeName%3D${NODE}&`;
  const all = await (await api.fetch(pods, { signal })).json() as JsonObject;
  await careForAll(api, options, listAt(all, "items"));
  const from = stringAt(all, "metadata", "resourceVersion") ?? "";
  const events = await api.fetch(`${pods}watch=1&resourceVersion=${from}`, { signal });
  let rest = "";
  for await (const text of (events.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    const changed = lines.map((line) => JSON.parse(line) as JsonObject);
    if (changed.some(({ type }) => type === "ERROR")) return;
    await careForAll(api, options, changed.filter(({ type }) => type !== "DELETED").map(({ object = null }) => object));
  }
};

/** Several at a time; the last state of a pod counts. */
const careForAll = async (api: Api, options: SimulatedNodeOptions, pods: ReadonlyArray<Json>): Promise<void> => {
  const last = new Map(pods.filter(isObject).map((pod) => [stringAt(pod, "metadata", "uid") ?? "", pod]));
  await Promise.all([...last.values()].map((pod) => careFor(api, options, pod)));
};

const careFor = async (api: Api, { binds, except }: SimulatedNodeOptions, pod: JsonObject): Promise<void> => {
  const name = stringAt(pod, "metadata", "name") ?? "";
  const path = `/api/v1/namespaces/${stringAt(pod, "metadata", "namespace")}/pods/${name}`;
  const isOfOthers = listAt(pod, "spec", "containers").some((container) =>
    except.includes(stringAt(container, "name") ?? "")
  );
  if (stringAt(pod, "metadata", "deletionTimestamp") !== undefined) {
    // One with a finalizer ends slowly.
    if (listAt(pod, "metadata", "finalizers").length > 0) return;
    await send(api, "DELETE", `${path}?gracePeriodSeconds=0`, undefined);
  } else if (stringAt(pod, "spec", "nodeName") === undefined) {
    if (!binds) return;
    const target = { apiVersion: "v1", kind: "Node", name: NODE };
    await send(api, "POST", `${path}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target });
  } else if (stringAt(pod, "status", "podIP") === undefined && !isOfOthers) {
    const status = simulatedStatus(pod, nextAddress(), NODE_ADDRESS);
    await send(api, "PATCH", `${path}/status`, { status }, "application/strategic-merge-patch+json");
  }
};

let addresses = 0;
const nextAddress = (): string => {
  const count = addresses++;
  return `10.244.${Math.floor(count / 250) % 256}.${count % 250 + 1}`;
};

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
