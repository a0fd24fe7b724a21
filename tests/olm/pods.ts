/**
 * What a kubelet would do for the pods that matter here: the operator's run as processes of the compiled program, with what
 * their specs say (arguments, environment, Secrets as files, ServiceAccount), and OLM's jobs unpack bundles with opm. All
 * other pods are simulated.
 */
import { dirname, join } from "node:path";
import { at, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { type BackgroundProcess, startInBackground } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import type { ServiceProxy } from "../../tools/cluster/service_proxy.ts";
import { ended } from "../../tools/install/run_program.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";
import { list, read } from "../cluster/settled.ts";
import { pause } from "../waiting.ts";

/** Containers whose pods this file runs; OLM calls the one that unpacks `extract`. */
export const CONTAINERS = ["operator", "extract"];

export interface Images {
  /** Path of the program in each image of the operator. */
  readonly programs: ReadonlyMap<string, string>;
  /** Folder with the contents of each image of a bundle. */
  readonly bundles: ReadonlyMap<string, string>;
  readonly opm: string;
}

export interface Pods {
  /** Names of the operator's pods that run now, and the images they run. */
  readonly running: () => ReadonlyArray<{ readonly name: string; readonly namespace: string; readonly image: string }>;
  /** Ends of processes that nobody asked for, and bundles that could not be unpacked, with the end of the log. */
  readonly failures: () => ReadonlyArray<string>;
  /** Port of the metrics of a running pod, by its name. */
  readonly metricsPort: (pod: string) => number | undefined;
  /** Everything that the operator's pods have written. */
  readonly logs: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

interface RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly labels: JsonObject;
  readonly process: BackgroundProcess;
  /** Local port by container port. */
  readonly ports: ReadonlyMap<number, number>;
  readonly folder: string;
  isReady: boolean;
}

export const runPods = (cluster: ControlPlane, images: Images, proxy: ServiceProxy): Pods => {
  const pods = new Map<string, RunningPod>();
  const unpacked = new Set<string>();
  const failures: Array<string> = [];
  const texts: Array<string> = [];
  let isOver = false;

  const start = async (pod: Json): Promise<void> => {
    const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-pod-" });
    const started = await startPod(cluster, pod, images, folder);
    if (started === undefined) await Deno.remove(folder, { recursive: true });
    else pods.set(uidOf(pod), started);
  };

  const end = async (uid: string, pod: RunningPod): Promise<void> => {
    pods.delete(uid);
    await pod.process.stop();
    texts.push(await pod.process.log());
    await Deno.remove(pod.folder, { recursive: true });
  };

  const tick = async (): Promise<void> => {
    const all = await list(cluster, "/api/v1/pods");
    const wanted = all.filter((pod) => isBound(pod) && hasContainer(pod, "operator"));
    for (const [uid, pod] of pods) {
      if (!wanted.some((one) => uidOf(one) === uid)) await end(uid, pod);
      else if (pod.process.hasExited()) {
        failures.push(`${pod.name} ended with ${await pod.process.exited}: ${(await pod.process.log()).slice(-2000)}`);
        await end(uid, pod);
      }
    }
    for (const pod of wanted) {
      const known = pods.get(uidOf(pod));
      if (known === undefined) await start(pod);
      else {
        await mount(cluster, pod, known.folder);
        await probe(cluster, known);
      }
    }
    for (const pod of all.filter((one) => isBound(one) && hasContainer(one, "extract"))) {
      if (unpacked.has(uidOf(pod)) || stringAt(pod, "status", "phase") === "Succeeded") continue;
      const problem = await unpack(cluster, pod, images);
      if (problem === undefined) unpacked.add(uidOf(pod));
      else failures.push(problem);
    }
  };

  proxy.resolveWith(async (address, port) => {
    const services = await list(cluster, "/api/v1/services");
    const service = services.find((item) => stringAt(item, "spec", "clusterIP") === address);
    const target = listAt(service, "spec", "ports").find((item) => at(item, "port") === port);
    const behind = [...pods.values()].filter((pod) =>
      pod.isReady && pod.namespace === stringAt(service, "metadata", "namespace") &&
      isSelected(objectAt(service, "spec", "selector"), pod.labels)
    );
    return behind[Math.floor(Math.random() * behind.length)]?.ports.get(Number(at(target, "targetPort")));
  });

  const looping = (async () => {
    while (!isOver) {
      // An API server that restarts, or a pod that is deleted meanwhile: the next look is soon.
      await tick().catch(() => {});
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    running: () => [...pods.values()].filter(({ isReady }) => isReady),
    failures: () => failures,
    metricsPort: (name) => [...pods.values()].find((pod) => pod.name === name)?.ports.get(METRICS_PORT),
    logs: async () => [...texts, ...await Promise.all([...pods.values()].map(({ process }) => process.log()))].join(""),
    stop: async () => {
      isOver = true;
      await looping;
      for (const [uid, pod] of pods) await end(uid, pod);
    },
  };
};

const LOOK_EVERY_MS = 200;
const [WEBHOOK_PORT, METRICS_PORT, HEALTH_PORT] = [9443, 8443, 8081];

const uidOf = (pod: Json): string => stringAt(pod, "metadata", "uid") ?? "";
const isBound = (pod: Json): boolean =>
  stringAt(pod, "spec", "nodeName") !== undefined && stringAt(pod, "metadata", "deletionTimestamp") === undefined;
const hasContainer = (pod: Json, name: string): boolean =>
  listAt(pod, "spec", "containers").some((container) => stringAt(container, "name") === name);
const isSelected = (selector: JsonObject, labels: JsonObject): boolean =>
  Object.keys(selector).length > 0 && Object.entries(selector).every(([key, value]) => labels[key] === value);

/** Undefined while something is missing that the pod mounts, as a kubelet waits for it. */
const startPod = async (
  cluster: ControlPlane,
  pod: Json,
  { programs }: Images,
  folder: string,
): Promise<RunningPod | undefined> => {
  const [container] = listAt(pod, "spec", "containers");
  const image = stringAt(container, "image") ?? "";
  const program = programs.get(image);
  if (program === undefined || !await mount(cluster, pod, folder)) return undefined;
  const [webhook, metrics, health] = freePorts(3) as [number, number, number];
  const name = stringAt(pod, "metadata", "name") ?? "";
  const namespace = stringAt(pod, "metadata", "namespace") ?? "";
  const kubeconfig = await kubeconfigOf(cluster, folder, namespace, stringAt(pod, "spec", "serviceAccountName") ?? "");
  const args = listAt(container, "args").map(String).map((arg) =>
    arg.replace(/^(--webhook-address=).*/, `$1127.0.0.1:${webhook}`)
      .replace(/^(--certificate-directory=)/, `$1${folder}`)
  );
  const process = await startInBackground({
    command: [
      program,
      ...args,
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect",
      `--metrics-address=127.0.0.1:${metrics}`,
      `--health-address=127.0.0.1:${health}`,
    ],
    env: { HOME: folder, ...RUNTIME_ENV, ...environmentOf(pod, container) },
    logFile: join(folder, "operator.log"),
  });
  return {
    name,
    namespace,
    image,
    labels: objectAt(pod, "metadata", "labels"),
    process,
    ports: new Map([[WEBHOOK_PORT, webhook], [METRICS_PORT, metrics], [HEALTH_PORT, health]]),
    folder,
    isReady: false,
  };
};

const environmentOf = (pod: Json, container: Json | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    listAt(container, "env").map((entry) => {
      const field = stringAt(entry, "valueFrom", "fieldRef", "fieldPath") ?? "";
      const annotation = /^metadata\.annotations\['(.*)'\]$/.exec(field)?.[1];
      const value = annotation === undefined
        ? at(pod, ...field.split("."))
        : at(pod, "metadata", "annotations", annotation);
      return [stringAt(entry, "name") ?? "", stringAt(entry, "value") ?? String(value ?? "")];
    }),
  );

/** Writes the Secrets of the pod below the folder; false if one is missing. Only what has changed: the operator watches. */
const mount = async (cluster: ControlPlane, pod: Json, folder: string): Promise<boolean> => {
  const mounts = listAt(pod, "spec", "containers").flatMap((container) => listAt(container, "volumeMounts"));
  const namespace = stringAt(pod, "metadata", "namespace");
  for (const volume of listAt(pod, "spec", "volumes")) {
    const name = stringAt(volume, "secret", "secretName");
    if (name === undefined) continue;
    const data = objectAt(await read(cluster, `/api/v1/namespaces/${namespace}/secrets/${name}`), "data");
    const path = stringAt(mounts.find((item) => at(item, "name") === at(volume, "name")), "mountPath") ?? "";
    const items = listAt(volume, "secret", "items").filter(isObject)
      .map((item) => [String(item.key), String(item.path)] as const);
    for (const [key, file] of items.length > 0 ? items : Object.keys(data).map((key) => [key, key] as const)) {
      const value = data[key];
      if (typeof value !== "string") return false;
      const target = join(folder, path, file);
      if (await Deno.readTextFile(target).catch(() => "") === atob(value)) continue;
      await Deno.mkdir(dirname(target), { recursive: true });
      await Deno.writeTextFile(target, atob(value));
    }
  }
  return true;
};

const probe = async (cluster: ControlPlane, pod: RunningPod): Promise<void> => {
  const isReady = await fetch(`http://127.0.0.1:${pod.ports.get(HEALTH_PORT)}/readyz`).then(async (answer) => {
    await answer.body?.cancel();
    return answer.ok;
  }, () => false);
  if (isReady === pod.isReady) return;
  pod.isReady = isReady;
  const status = isReady ? "True" : "False";
  const now = new Date().toISOString().replace(/\.\d+/, "");
  await patchStatus(cluster, pod.namespace, pod.name, {
    phase: "Running",
    podIP: "127.0.0.1",
    conditions: ["Initialized", "ContainersReady", "Ready"].map((type) => ({ type, status, lastTransitionTime: now })),
    containerStatuses: [{
      name: "operator",
      image: pod.image,
      imageID: "",
      ready: isReady,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    }],
  });
};

/** What is wrong, or undefined when the bundle is in its ConfigMap. */
const unpack = async (cluster: ControlPlane, pod: Json, { bundles, opm }: Images): Promise<string | undefined> => {
  const namespace = stringAt(pod, "metadata", "namespace") ?? "";
  const name = stringAt(pod, "metadata", "name") ?? "";
  const pulled = listAt(pod, "spec", "initContainers").find((item) => stringAt(item, "name") === "pull");
  const bundle = bundles.get(stringAt(pulled, "image") ?? "");
  if (bundle === undefined) return `${name}: there is no image ${stringAt(pulled, "image")}`;
  const [container] = listAt(pod, "spec", "containers");
  const [, ...args] = listAt(container, "command").map(String);
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-unpack-" });
  try {
    const kubeconfig = await kubeconfigOf(cluster, folder, namespace, "default");
    const { code, stderr } = await ended(opm, args.map((arg) => arg === "/bundle/" ? `${bundle}/` : arg), {
      env: { HOME: folder, KUBECONFIG: kubeconfig, ...environmentOf(pod, container) },
    });
    if (code !== 0) return `${name}: opm ended with ${code}: ${stderr}`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  await patchStatus(cluster, namespace, name, {
    phase: "Succeeded",
    containerStatuses: [{
      name: "extract",
      image: "opm",
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 0, reason: "Completed" } },
    }],
  });
  return undefined;
};

const patchStatus = async (
  cluster: ControlPlane,
  namespace: string,
  pod: string,
  status: JsonObject,
): Promise<void> => {
  const answer = await cluster.fetch(`/api/v1/namespaces/${namespace}/pods/${pod}/status`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ status }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
};

const kubeconfigOf = async (
  cluster: ControlPlane,
  folder: string,
  namespace: string,
  account: string,
): Promise<string> => {
  const token = (await cluster.kubectl(["create", "token", account, "-n", namespace])).trim();
  const path = join(folder, "kubeconfig");
  await Deno.writeTextFile(path, (await Deno.readTextFile(cluster.kubeconfig)).replaceAll(cluster.adminToken, token));
  return path;
};
