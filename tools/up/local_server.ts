/**
 * The real server of a pod as a process of this machine, in place of a container: with the generated config.yaml, environment and
 * command. What differs is where files are, the host it listens on, and stand-ins for model servers.
 */
import { dirname, join } from "node:path";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { type BackgroundProcess, lastLines, startInBackground, waitUntilReady } from "../cluster/background_process.ts";
import { freePorts } from "../cluster/free_ports.ts";
import { crashedStatus, simulatedStatus } from "../cluster/simulated_pods.ts";
import { findPython, installServer, SERVER_VERSIONS, type ServerVersion } from "../install/python_server.ts";
import { type Api, nameOf, namespaceOf } from "./api.ts";

/** The container that runs the server; the simulated node leaves the status of its pods alone. */
export const SERVER_CONTAINER = "llama-stack";

export interface LocalServers {
  /** Of the running server of a resource; undefined if there is none. */
  url(namespace: string, name: string): string | undefined;
  stop(): Promise<void>;
}

interface Running {
  readonly process: BackgroundProcess;
  readonly url: string;
  readonly resource: string;
}

export interface LocalServersOptions {
  /** For the files of the pods. */
  readonly folder: string;
  /** What the server reaches in place of a host and port, e.g. `vllm:8000`. */
  readonly standIns: ReadonlyMap<string, string>;
  readonly print: (line: string) => void;
}

/** The server that there is for the version of a distribution: the last release of its minor version; undefined: none. */
export const installedFor = (version: string): ServerVersion | undefined => {
  const [major, minor] = version.split(".");
  return SERVER_VERSIONS.find((name) => name.split(" ")[1]?.startsWith(`${major}.${minor}.`));
};

/** Why servers cannot run here; undefined if they can. */
export const whyNoServers = (): Promise<string | undefined> =>
  findPython().then(() => undefined, (cause) => cause instanceof Error ? cause.message : String(cause));

/** Starts a server for each pod that is bound to the node, and ends it with the pod. */
export const runLocalServers = (api: Api, options: LocalServersOptions): LocalServers => {
  const running = new Map<string, Promise<Running | undefined>>();
  const ready = new Map<string, Running>();
  let isOver = false;
  const look = async (): Promise<void> => {
    const pods = listAt(await api.get("/api/v1/pods?labelSelector=app%3Dllama-stack"), "items").filter(isObject);
    const alive = pods.filter((pod) => stringAt(pod, "metadata", "deletionTimestamp") === undefined);
    for (const pod of alive) {
      const uid = stringAt(pod, "metadata", "uid") ?? "";
      if (running.has(uid) || stringAt(pod, "spec", "nodeName") === undefined) continue;
      running.set(
        uid,
        started(api, pod, options).then((server) => {
          if (server !== undefined) ready.set(uid, server);
          return server;
        }).catch((cause) => {
          options.print(
            `cannot start the server of pod ${nameOf(pod)}: ${cause instanceof Error ? cause.message : cause}`,
          );
          return undefined;
        }),
      );
    }
    for (const [uid, starting] of running) {
      if (alive.some((pod) => stringAt(pod, "metadata", "uid") === uid)) continue;
      running.delete(uid);
      ready.delete(uid);
      await (await starting)?.process.stop();
    }
  };
  const looking = (async () => {
    while (!isOver) {
      // The API server may be restarting.
      await look().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    url: (namespace, name) => [...ready.values()].findLast(({ resource }) => resource === `${namespace}/${name}`)?.url,
    stop: async () => {
      isOver = true;
      await looking;
      for (const starting of running.values()) await (await starting)?.process.stop();
    },
  };
};

const LOOK_EVERY_MS = 300;
/** A first start compiles what it imports. */
const START_WITHIN_MS = 300_000;

const started = async (api: Api, pod: JsonObject, options: LocalServersOptions): Promise<Running | undefined> => {
  const namespace = namespaceOf(pod) ?? "";
  const name = stringAt(pod, "metadata", "labels", "app.kubernetes.io/instance") ?? "";
  const deployment = await api.get(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  const version = stringAt(deployment, "metadata", "annotations", "llamastack.io/server-version") ?? "";
  const server = installedFor(version);
  if (server === undefined) throw new Error(`there is no server ${version || "of unknown version"} to run here`);
  const installed = await installServer(server);
  const folder = join(options.folder, nameOf(pod));
  const [container = null] = listAt(pod, "spec", "containers");
  const wantedPort = Number(objectAt(listAt(container, "ports")[0] ?? null).containerPort ?? 8321);
  const port = isFree(wantedPort) ? wantedPort : freePorts(1)[0] ?? wantedPort;
  const paths = await mounted(api, pod, container, folder);
  const here = onThisMachine(new Map([...paths, ...options.standIns]));
  await rewritten(join(folder, "volumes"), here);
  const command = [...listAt(container, "command"), ...listAt(container, "args")].map((word) =>
    here(String(word)).replaceAll("--host ''", "--host 127.0.0.1").replaceAll(`--port ${wantedPort}`, `--port ${port}`)
  );
  const env = Object.fromEntries(
    (await environment(api, namespace, pod, container)).map(([key, value]) => [key, here(value)]),
  );
  const process = await startInBackground({
    command: command as [string, ...string[]],
    env: {
      TIKTOKEN_CACHE_DIR: installed.tiktokenDir,
      PYTHONPATH: installed.pythonPath,
      ...env,
      PATH: `${dirname(installed.python)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
    },
    workingFolder: folder,
    logFile: join(folder, "server.log"),
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/v1/health`).then(async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    }, () => false);
  const path = `/api/v1/namespaces/${namespace}/pods/${nameOf(pod)}/status`;
  if (await waitUntilReady(process, answers, START_WITHIN_MS)) {
    await api.patch(path, { status: simulatedStatus(pod, POD_ADDRESS, POD_ADDRESS) });
    return { process, url, resource: `${namespace}/${name}` };
  }
  const last = lastLines(await process.log(), 20);
  const exitCode = await process.stop();
  await api.patch(path, { status: crashedStatus(pod, POD_ADDRESS, POD_ADDRESS, { exitCode, message: last }) });
  throw new Error(`it did not become healthy; the end of its log:\n${last}`);
};

/** Replaces paths of the container and hosts of model servers, each as a whole, by what they are here. */
const onThisMachine = (places: ReadonlyMap<string, string>): (text: string) => string => {
  const known = [...places.keys()].toSorted((a, b) => b.length - a.length)
    .map((place) => place.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  const anyOf = new RegExp(`(?<![\\w.-])(${known.join("|")})(?![\\w.-])`, "g");
  return (text) => text.replaceAll(anyOf, (place) => places.get(place) ?? place);
};

/** Addresses of loopback are refused; nobody connects to this one. */
const POD_ADDRESS = "10.244.0.1";

const isFree = (port: number): boolean => {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch {
    return false;
  }
};

const DATA_FOLDER = "/.llama";

/** Puts the content of the volumes into the folder, and returns where each path of the container is. */
const mounted = async (
  api: Api,
  pod: JsonObject,
  container: Json,
  folder: string,
): Promise<ReadonlyMap<string, string>> => {
  const namespace = namespaceOf(pod) ?? "";
  const paths = new Map<string, string>();
  for (const mount of listAt(container, "volumeMounts")) {
    const volume = listAt(pod, "spec", "volumes").find((item) => stringAt(item, "name") === stringAt(mount, "name"));
    const root = join(folder, "volumes", stringAt(mount, "name") ?? "");
    await Deno.mkdir(root, { recursive: true });
    for (const [file, content] of await filesOf(api, namespace, volume ?? null)) {
      await Deno.writeFile(join(root, file), content);
    }
    paths.set(stringAt(mount, "mountPath") ?? "", join(root, stringAt(mount, "subPath") ?? ""));
  }
  // Where an image keeps data that no volume holds.
  if (!paths.has(DATA_FOLDER)) paths.set(DATA_FOLDER, join(folder, "data"));
  return paths;
};

const filesOf = async (
  api: Api,
  namespace: string,
  volume: Json,
): Promise<ReadonlyArray<readonly [string, Uint8Array<ArrayBuffer>]>> => {
  const configMap = stringAt(volume, "configMap", "name");
  const secret = stringAt(volume, "secret", "secretName");
  const kind = configMap !== undefined ? "configmaps" : "secrets";
  const name = configMap ?? secret;
  if (name === undefined) return [];
  const found = await api.get(`/api/v1/namespaces/${namespace}/${kind}/${name}`);
  const items = listAt(volume, kind === "configmaps" ? "configMap" : "secret", "items");
  return Object.entries(objectAt(found ?? null, "data"))
    .map(([key, value]) => {
      const item = items.find((each) => stringAt(each, "key") === key);
      const bytes = kind === "secrets" ? Uint8Array.fromBase64(String(value)) : new TextEncoder().encode(String(value));
      return [stringAt(item ?? null, "path") ?? key, bytes, item !== undefined || items.length === 0] as const;
    })
    .filter(([, , isMounted]) => isMounted)
    .map(([file, bytes]) => [file, bytes] as const);
};

/** Paths and hosts in the configs of a folder. */
const rewritten = async (folder: string, here: (text: string) => string): Promise<void> => {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await rewritten(path, here);
    else if (/\.ya?ml$/.test(name)) await Deno.writeTextFile(path, here(await Deno.readTextFile(path)));
  }
};

/** What the kubelet makes of the environment. */
const environment = async (
  api: Api,
  namespace: string,
  pod: JsonObject,
  container: Json,
): Promise<ReadonlyArray<readonly [string, string]>> => {
  const made: Array<readonly [string, string]> = [];
  for (const entry of listAt(container, "env")) {
    const name = stringAt(entry, "name") ?? "";
    const value = stringAt(entry, "value") ?? await referenced(api, namespace, pod, objectAt(entry, "valueFrom"));
    if (value !== undefined) made.push([name, value]);
  }
  return made;
};

const referenced = async (
  api: Api,
  namespace: string,
  pod: JsonObject,
  from: JsonObject,
): Promise<string | undefined> => {
  const field = stringAt(from, "fieldRef", "fieldPath");
  if (field !== undefined) return stringAt(pod, ...field.split("."));
  const kind = from.secretKeyRef === undefined ? "configMapKeyRef" : "secretKeyRef";
  const { name = "", key = "" } = objectAt(from, kind);
  const plural = kind === "secretKeyRef" ? "secrets" : "configmaps";
  const value = stringAt(await api.get(`/api/v1/namespaces/${namespace}/${plural}/${name}`), "data", String(key));
  return value === undefined || plural === "configmaps"
    ? value
    : new TextDecoder().decode(Uint8Array.fromBase64(value));
};
