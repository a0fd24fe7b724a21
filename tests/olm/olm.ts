/** OLM's own programs on a real API server, a catalog, and what a user of OLM does. */
import { join } from "node:path";
import { at, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { type BackgroundProcess, startInBackground } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { startServiceProxy } from "../../tools/cluster/service_proxy.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { olmDefinitions } from "../../tools/install/published_definitions.ts";
import { LOG_FOLDER } from "../../tools/soak_lengths.ts";
import { refused } from "../cluster/operator_account.ts";
import { list, read } from "../cluster/settled.ts";
import { CONTAINERS, type Pods, runPods } from "./pods.ts";
import { makeReleases, type Releases } from "./releases.ts";
import { eventually, pause } from "../waiting.ts";

export interface OlmCluster extends ControlPlane {
  readonly pods: Pods;
  readonly releases: Releases;
  /** Kills both programs of OLM and starts them again, as an eviction of their pods does. */
  readonly restartOlm: (downMs: number) => Promise<void>;
  /** The end of what OLM has written, for a message. */
  readonly olmLog: () => Promise<string>;
}

/** A cluster with OLM and a catalog that has both releases. */
export const startOlmCluster = async (): Promise<OlmCluster> => {
  const undo: Array<() => Promise<unknown>> = [];
  // Last started, first stopped.
  const stop = async () => {
    for (const end of undo.reverse()) await end();
  };
  try {
    return { ...await start(undo), stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};

const start = async (undo: Array<() => Promise<unknown>>): Promise<Omit<OlmCluster, "stop">> => {
  const programs = await installControlPlane(["olm", "catalog", "opm"]);
  const definitions = await olmDefinitions();
  const releases = await makeReleases();
  undo.push(releases.remove);
  const proxy = startServiceProxy();
  undo.push(proxy.close);
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-olm-" });
  undo.push(() => Deno.remove(folder, { recursive: true }));
  const cluster = await startControlPlane({
    node: "Scheduled",
    audit: true,
    podsOfOthers: CONTAINERS,
    serviceProxy: proxy.socket,
  });
  undo.push(cluster.stop);
  for (const definition of definitions) await installDefinition(cluster, definition);
  await create(cluster, [
    namespace(OLM),
    { apiVersion: "operators.coreos.com/v1", kind: "OLMConfig", metadata: { name: "cluster" } },
  ]);

  const logOf = (name: string): string => join(LOG_FOLDER ?? folder, `${name}.log`);
  const run = (name: "olm" | "catalog" | "opm", args: readonly string[], env = {}) =>
    startInBackground({
      command: [programs[name], ...args],
      env: { HOME: folder, TMPDIR: folder, KUBECONFIG: cluster.kubeconfig, ...env },
      logFile: logOf(name),
    });
  const [port] = freePorts(1) as [number];
  const served = await run("opm", [
    "serve",
    releases.catalogs.both,
    `--port=${port}`,
    `--cache-dir=${join(folder, "catalog")}`,
    "--cache-enforce-integrity=false",
    "--pprof-addr=",
    `--termination-log=${join(folder, "opm-end.log")}`,
  ]);
  undo.push(served.stop);
  const startOlm = async () => [
    await run("olm", ["--namespace", OLM], { OPERATOR_NAMESPACE: OLM, OPERATOR_NAME: "olm-operator" }),
    // The images are only named in the job, whose pod this test runs.
    await run("catalog", ["--namespace", OLM, "--util-image=olm", "--opmImage=opm"]),
  ];
  let olm: readonly BackgroundProcess[] = await startOlm();
  const killOlm = async () => {
    for (const process of olm) {
      if (!process.hasExited()) Deno.kill(process.pid, "SIGKILL");
      await process.stop();
    }
  };
  undo.push(killOlm);
  const pods = runPods(cluster, { ...releases, opm: programs.opm }, proxy);
  undo.push(pods.stop);
  await create(cluster, [{
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "CatalogSource",
    metadata: { name: CATALOG, namespace: OLM },
    spec: { sourceType: "grpc", address: `127.0.0.1:${port}`, displayName: "Releases", publisher: "Tests" },
  }]);
  return {
    ...cluster,
    pods,
    releases,
    restartOlm: async (downMs: number) => {
      await killOlm();
      await pause(downMs);
      olm = await startOlm();
    },
    olmLog: async () => {
      const texts = await Promise.all(["olm", "catalog", "opm"].map((name) => Deno.readTextFile(logOf(name))));
      return texts.map((text) =>
        text.split("\n").filter((line) => /level=(error|warn)/.test(line)).slice(-15).join("\n")
      ).join("\n---\n");
    },
  };
};

/** Where OLM itself is, and its catalogs for every namespace. */
export const OLM = "olm";
export const CATALOG = "releases";
const OPERATORS = "/apis/operators.coreos.com";

export const create = (cluster: ControlPlane, objects: ReadonlyArray<JsonObject>): Promise<string> =>
  cluster.kubectl(["create", "-f", "-"], manifestList(objects));

export const namespace = (name: string): JsonObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** Without namespaces to look after: all of them. */
export const operatorGroup = (
  place: string,
  targetNamespaces?: ReadonlyArray<string>,
  name = "group",
): JsonObject => ({
  apiVersion: "operators.coreos.com/v1",
  kind: "OperatorGroup",
  metadata: { name, namespace: place },
  spec: targetNamespaces === undefined ? {} : { targetNamespaces: [...targetNamespaces] },
});

/** Each plan waits for `approve`, so that a test says when an upgrade begins. */
export const subscription = (place: string, packageName: string, version: string): JsonObject => ({
  apiVersion: "operators.coreos.com/v1alpha1",
  kind: "Subscription",
  metadata: { name: packageName, namespace: place },
  spec: {
    channel: "stable",
    name: packageName,
    source: CATALOG,
    sourceNamespace: OLM,
    startingCSV: csvName(packageName, version),
    installPlanApproval: "Manual",
  },
});

export const csvName = (packageName: string, version: string): string => `${packageName}.v${version}`;

/**
 * Approves the plans for a version until one of them has created its ClusterServiceVersion. One without a phase is not
 * finished: an approval would make OLM's next write a conflict, after which it begins with another plan.
 */
export const approve = async (cluster: ControlPlane, place: string, csv: string): Promise<void> => {
  const plans = `${OPERATORS}/v1alpha1/namespaces/${place}/installplans`;
  await eventually(`${csv} in ${place} is created by an approved plan`, async () => {
    for (const plan of await list(cluster, plans)) {
      const isWanted = listAt(plan, "spec", "clusterServiceVersionNames").includes(csv);
      if (!isWanted || stringAt(plan, "status", "phase") !== "RequiresApproval") continue;
      const name = stringAt(plan, "metadata", "name") ?? "";
      await cluster.kubectl(["patch", "installplan", name, "-n", place, "--type=merge", "-p", APPROVED]);
    }
    return stringAt(await csvOf(cluster, place, csv), "kind") === "ClusterServiceVersion" ? true : undefined;
  });
};

const APPROVED = '{"spec":{"approved":true}}';

/** Waits for a phase of a ClusterServiceVersion; fails with what OLM says. */
export const inPhase = async (
  cluster: OlmCluster,
  place: string,
  csv: string,
  phase: string,
): Promise<JsonObject> => {
  let last: JsonObject = {};
  try {
    return await eventually(`${csv} in ${place} is ${phase}`, async () => {
      last = await csvOf(cluster, place, csv);
      return stringAt(last, "status", "phase") === phase ? last : undefined;
    });
  } catch (cause) {
    const plans = await list(cluster, `${OPERATORS}/v1alpha1/namespaces/${place}/installplans`);
    const told = [
      at(last, "status", "phase"),
      at(last, "status", "message"),
      ...plans.map((plan) => at(plan, "status")),
    ]
      .map((item) => JSON.stringify(item)?.slice(0, 1500));
    const log = await cluster.olmLog();
    throw new Error([...told, log, ...cluster.pods.failures()].join("\n"), { cause });
  }
};

export const csvOf = (cluster: ControlPlane, place: string, csv: string): Promise<JsonObject> =>
  read(cluster, `${OPERATORS}/v1alpha1/namespaces/${place}/clusterserviceversions/${csv}`);

const csvs = (cluster: ControlPlane, place: string): Promise<ReadonlyArray<Json>> =>
  list(cluster, `${OPERATORS}/v1alpha1/namespaces/${place}/clusterserviceversions`);

/** OLM deletes the former one a moment after the new one has succeeded. */
export const isAlone = (cluster: ControlPlane, place: string, csv: string): Promise<true> =>
  eventually(`${csv} is the only one in ${place}`, async () => {
    const names = (await csvs(cluster, place)).map((item) => stringAt(item, "metadata", "name"));
    return names.length === 1 && names[0] === csv ? true : undefined;
  });

/** Names of the running pods of the operator in a namespace, all of one image. */
export const runningOn = (cluster: OlmCluster, place: string, image: string): Promise<true> =>
  eventually(`the operator in ${place} runs ${image} alone`, () => {
    const ours = cluster.pods.running().filter((pod) => pod.namespace === place);
    return Promise.resolve(ours.length > 0 && ours.every((pod) => pod.image === image) ? true : undefined);
  });

/**
 * Requests of the operator in a namespace, and those that were forbidden. Without those through the API server's proxy to
 * servers: only an operator outside of a pod, as here, asks them in this way.
 */
export const requestsFrom = async (cluster: ControlPlane, place: string) => {
  const user = `system:serviceaccount:${place}:llama-stack-operator`;
  const own = (await cluster.auditLog()).filter((event) => event.user.username === user);
  return { count: own.length, forbidden: refused(own.filter(({ objectRef }) => objectRef?.subresource !== "proxy")) };
};

/** A figure of docs/olm.md. */
export const report = (what: string, startedMs: number): void =>
  console.log(`seen: ${what} ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);

/** A step; the steps after a failed one would only wait for what it did not do. */
export const step = async (t: Deno.TestContext, name: string, work: () => Promise<void>): Promise<void> => {
  if (!await t.step(name, work)) throw new Error(`"${name}" failed`);
};

/**
 * What an upgrade must leave alone: the pods of servers, and what their Deployments say. Not the generation of these: the
 * operator's version is an annotation of each, and Kubernetes counts a change of it as one of the Deployment.
 */
export const servers = async (cluster: ControlPlane, place = "default") => ({
  pods: (await list(cluster, `/api/v1/namespaces/${place}/pods`)).filter(isOfServer)
    .map((pod) => stringAt(pod, "metadata", "uid")).sort(),
  deployments: (await list(cluster, `/apis/apps/v1/namespaces/${place}/deployments`)).filter(isOfServer)
    .map((deployment) => [at(deployment, "metadata", "uid"), at(deployment, "spec")]),
});

const isOfServer = (object: Json): boolean => stringAt(object, "metadata", "labels", "app") === "llama-stack";
