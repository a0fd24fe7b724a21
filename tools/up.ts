/**
 * `deno task up`: from nothing to a ready server on a Kubernetes API server, shown as it happens.
 *
 * On a terminal it runs until Ctrl-C; with --once or without a terminal it exits when the server is ready. It always
 * removes the objects that it created.
 */
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../core/config/default_surroundings.ts";
import { API_VERSION } from "../core/api/v1alpha2.ts";
import { PLAIN } from "../core/command/outcome.ts";
import { type JsonObject, listAt, objectAt, withMember } from "../core/data/json.ts";
import { explained } from "../shell/cli/commands/explain.ts";
import { looking } from "../shell/cli/look.ts";
import { connectionOf } from "../shell/kubernetes/kubeconfig.ts";
import { isSimulatedClusterInstalled } from "./cluster/control_plane.ts";
import { previewLines } from "./up/preview.ts";
import { type BackgroundProcess, lastLines } from "./cluster/background_process.ts";
import { type Api, apiOf, nameOf, namespaceOf } from "./up/api.ts";
import { type ClusterKind, installCluster, startCluster, type UpCluster, userCluster } from "./up/cluster.ts";
import { installedFor, type LocalServers, runLocalServers, whyNoServers } from "./up/local_server.ts";
import { type Options, optionsOf, USAGE } from "./up/options.ts";
import { isReady, type Look, NOTHING_SEEN, progressLines } from "./up/progress.ts";
import { goOn, showResult } from "./up/result.ts";
import { modelServersOf, modelsOf, readSample, type Sample } from "./up/sample.ts";
import { startModelServer } from "./model_server.ts";
import { installServer, type ServerVersion } from "./install/python_server.ts";
import { decodeResource } from "../core/api/decode.ts";
import { derive } from "../core/config/derive.ts";
import { applySample, installCrd, offerModels, operatorFor, type Print } from "./up/stage.ts";
import { pause, type Stop, untilSignal } from "./up/stop.ts";
import { tracesIn } from "./up/traces.ts";

const up = async (options: Options, sample: Sample, stop: Stop): Promise<0 | 1> => {
  await using cleanup = new AsyncDisposableStack();
  const print = printer();
  const isFirst = options.context === undefined && !options.realNode && !isSimulatedClusterInstalled();
  for (const resource of sample.resources) {
    for (const line of previewLines(resource, DEFAULT_SURROUNDINGS, isFirst)) console.log(line);
  }
  const kind = await kindFor(options, print);
  const cluster = await clusterFor(options, kind, sample, stop);
  if (cluster === undefined) return 1;
  cleanup.defer(() => cluster.stop());
  print(cluster.title);
  print(`kubectl: ${cluster.shellLine}`);
  const connection = connectionOf(cluster.kubeconfig, cluster.context);
  const api = apiOf(connection);
  cleanup.defer(() => api.close());
  const traces = tracesIn(api);
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-up-" });
  cleanup.defer(() => Deno.remove(folder, { recursive: true }));
  const until = Date.now() + options.timeoutMs;
  let removes = false;
  const inTime = () => !stop.signal.aborted && Date.now() < until;

  await installCrd(api, print);
  // An own control plane is removed as a whole; in the user's cluster only the objects of this run are removed.
  if (!cluster.isOurs) {
    removes = true;
    cleanup.defer(async () => {
      print("removing the objects of this run …");
      await traces.remove();
    });
  }
  const home = cluster.isOurs ? "llama-stack-operator-system" : `llama-stack-up-${crypto.randomUUID().slice(0, 8)}`;
  const usual = cluster.isOurs ? "default" : home;
  const resources = sample.resources.map((object) => placed(object, usual));
  const namespaces = [...new Set(resources.map((object) => namespaceOf(object) ?? usual))];
  for (const name of new Set([home, ...namespaces])) {
    const isNew = await traces.make({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, "");
    if (isNew) print(`namespace ${name} created`);
  }

  const operator = await operatorFor(api, {
    cluster,
    namespaces: cluster.isOurs ? [] : namespaces,
    ownNamespace: home,
    logFile: join(folder, "operator.log"),
  }, print);
  if (operator !== undefined) cleanup.defer(async () => void await operator.stop());
  await applySample(sample, resources, usual, traces, removes, print);
  const servers = kind === "local" ? startServers(api, sample, resources, folder, print, cleanup) : undefined;
  if (cluster.modelServer !== undefined) await offerModels(resources, usual, cluster.modelServer, traces, print);

  let looks: ReadonlyArray<Look> = resources.map(() => NOTHING_SEEN);
  const lookAgain = async () => {
    const now = await Promise.all(resources.map((object) => look(api, object)));
    now.forEach((item, index) => {
      const prefix = resources.length === 1 ? "" : `${nameOf(resources[index] ?? {})}: `;
      for (const line of progressLines(looks[index] ?? NOTHING_SEEN, item)) print(`${prefix}${line}`);
    });
    looks = now;
  };
  // A restart of the API server is not a failure.
  const lookOnce = () =>
    lookAgain().catch((cause) => print(`cannot read the resource: ${cause instanceof Error ? cause.message : cause}`));
  while (inTime() && !looks.every(isReady)) {
    if (operator?.hasExited() === true) throw new Error(await lastWords(operator));
    await lookOnce();
    if (!looks.every(isReady)) await pause(LOOK_EVERY_MS, stop);
  }
  if (!looks.every(isReady)) {
    if (stop.signal.aborted) return 1;
    console.error(`\nNot ready within ${options.timeoutMs / 1000} s.\n`);
    const asking = { connection, operatorNamespace: home, relatedImages: cluster.relatedImages };
    for (const object of resources) {
      const answer = explained(namespaceOf(object) ?? usual, nameOf(object), { format: "text", style: PLAIN });
      console.error((await Effect.runPromise(looking(answer, asking))).stdout);
    }
    return 1;
  }

  const urlOf = (resource: JsonObject) => servers?.url(namespaceOf(resource) ?? usual, nameOf(resource));
  for (const { resource = {} } of looks) await showResult(api, resource, urlOf(resource));
  const stays = !options.once && Deno.stdout.isTerminal();
  console.log(
    stays
      ? goOn(cluster, resources, urlOf(resources[0] ?? {}))
      : "\nReady. Stopping, because of --once or because this is not a terminal.",
  );
  while (stays && !stop.signal.aborted) {
    await pause(LOOK_EVERY_MS, stop);
    await lookOnce();
  }
  return 0;
};

const LOOK_EVERY_MS = 300;

const RESOURCES = "llamastackdistributions";
const pathOf = (resource: JsonObject): string =>
  `/apis/${API_VERSION}/namespaces/${namespaceOf(resource)}/${RESOURCES}/${nameOf(resource)}`;

const placed = (resource: JsonObject, namespace: string): JsonObject =>
  withMember(resource, "metadata", { namespace, ...objectAt(resource, "metadata") });

/** Undefined if the run was stopped while programs were being built: nothing runs then. */
const clusterFor = async (
  options: Options,
  kind: ClusterKind,
  sample: Sample,
  stop: Stop,
): Promise<UpCluster | undefined> => {
  if (options.context !== undefined) return userCluster(options.context, options.kubeconfig);
  const installed = Promise.all([
    installCluster(kind, stop.signal),
    // While the control plane is downloaded or built.
    ...(kind === "local" ? serversOf(sample).map(installServer) : []),
  ]);
  // A build ends at the signal and cleans up; waiting for the build of another process does not.
  await Promise.race([installed, stop.asked.then(() => Promise.race([installed, seconds(5)]))]).catch((cause) => {
    if (!stop.signal.aborted) throw cause;
  });
  return stop.signal.aborted ? undefined : await startCluster(kind, sample.resources.flatMap(modelsOf), stop.signal);
};

/** Servers run as processes where that is possible; in the cluster of a context they are its own business. */
const kindFor = async (options: Options, print: Print): Promise<ClusterKind> => {
  if (options.realNode) return "real";
  if (options.simulated || options.context !== undefined) return "simulated";
  const why = await whyNoServers();
  if (why === undefined) return "local";
  print(`no server is run, pods are only simulated: ${why}`);
  return "simulated";
};

/** The published servers that the resources ask for. */
const serversOf = (sample: Sample): ReadonlyArray<ServerVersion> => [
  ...new Set(sample.resources.flatMap((object) => {
    const resource = decodeResource(object, "lenient");
    if (Result.isFailure(resource)) return [];
    const derived = derive(resource.success, DEFAULT_SURROUNDINGS);
    const version = Result.isSuccess(derived) && "server" in derived.success
      ? derived.success.server?.version
      : undefined;
    return version === undefined ? [] : installedFor(version) ?? [];
  })),
];

/** Also a stand-in for the model servers that the resources name. */
const startServers = (
  api: Api,
  sample: Sample,
  resources: ReadonlyArray<JsonObject>,
  folder: string,
  print: Print,
  cleanup: AsyncDisposableStack,
): LocalServers => {
  const models = sample.resources.flatMap(modelsOf);
  const standIn = startModelServer(models.length === 0 ? {} : { models });
  cleanup.defer(() => standIn.stop());
  const hosts = new Map(
    resources.flatMap(modelServersOf).map(([host, port]) => [`//${host}:${port}`, `//127.0.0.1:${standIn.port}`]),
  );
  for (const host of hosts.keys()) print(`${host.slice(2)} is a stand-in for a model server that echoes its input`);
  const servers = runLocalServers(api, { folder, standIns: hosts, print });
  cleanup.defer(() => servers.stop());
  return servers;
};

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1000));

const look = async (api: Api, resource: JsonObject): Promise<Look> => {
  const labels = `app=llama-stack,app.kubernetes.io/instance=${nameOf(resource)}`;
  const query = new URLSearchParams({ labelSelector: labels });
  const [found, pods] = await Promise.all([
    api.get(pathOf(resource)),
    api.get(`/api/v1/namespaces/${namespaceOf(resource)}/pods?${query}`),
  ]);
  return { resource: found, pods: listAt(pods, "items") as ReadonlyArray<JsonObject> };
};

const printer = (): Print => {
  const startedMs = performance.now();
  return (line) => console.log(`[${((performance.now() - startedMs) / 1000).toFixed(1).padStart(5)} s] ${line}`);
};

const lastWords = async (operator: BackgroundProcess): Promise<string> =>
  `The operator exited with ${await operator.exited}. The end of its log:\n${lastLines(await operator.log(), 10)}`;

const readFile = async (name: string): Promise<Sample> => {
  const text = name === "-" ? await new Response(Deno.stdin.readable).text() : await Deno.readTextFile(name);
  const sample = readSample(name, text);
  if (Result.isFailure(sample)) throw new Error(sample.failure);
  return sample.success;
};

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(USAGE);
    return 0;
  }
  let options: Options;
  let sample: Sample;
  try {
    options = optionsOf(args);
    sample = await readFile(options.file);
  } catch (cause) {
    console.error(`${cause instanceof Error ? cause.message : cause}\n\n${USAGE}`);
    return 2;
  }
  try {
    return await up(options, sample, untilSignal());
  } catch (cause) {
    console.error(cause instanceof Error ? cause.message : cause);
    return 1;
  }
};

if (import.meta.main) Deno.exit(await main(Deno.args));
