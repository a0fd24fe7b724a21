/**
 * `deno task bench:cluster`: the operator against a real API server, beside a bare client in the same run.
 *
 * The operator is the minified bundle as a process of its own, as it is installed. The bare client writes the same objects,
 * status and Events with nothing around them: what it needs is what the API server and the machine need. Figures are printed
 * as rows of Markdown; `--resources N` (1,000) sets the size, `--growth` also tells the time of a pass at 100 and 5,000.
 */
import { customResourceDefinition } from "../core/api/crd.ts";
import { API_VERSION, KIND } from "../core/api/v1alpha2.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../core/config/distributions.ts";
import type { JsonObject } from "../core/json.ts";
import { decide } from "../core/plan/decide.ts";
import { FIELD_MANAGER } from "../core/plan/scale.ts";
import type { Step } from "../core/plan/step.ts";
import type { World } from "../core/plan/world.ts";
import { NOWHERE } from "../core/resources/of_resource.ts";
import { SETTINGS_DEFAULT } from "../core/settings.ts";
import { type ControlPlane, startControlPlane } from "./cluster/control_plane.ts";
import { type Definition, installDefinition } from "./cluster/custom_resource_definition.ts";
import { inParallel } from "./in_parallel.ts";
import { bundleOperator } from "./bundle_operator.ts";
import { type BundledOperator, startBundledOperator } from "./cluster/operator_process.ts";
import { pathOf } from "../shell/object_path.ts";
import { EMPTY_WORLD } from "./empty_world.ts";

/** Resources that the bare client has in flight; more did not make this API server faster. */
const IN_FLIGHT = 32;
/** Namespaces of the cold starts; the operator of the last one goes on. */
const COLD = ["operated-1", "operated-2"];
const LAST_COLD = "operated";
const SAMPLES = 100;
/** Between two resources that are timed: the Service, the status and the Events of one are written after its Deployment. */
const ALONE_MS = 200;
const IDLE_SECONDS = 60;
/** V8 gives back what it does not need about 40 s after the last work. */
const SETTLE_SECONDS = 60;
const ASKED_EVERY_MS = 500;

const option = (name: string, fallback: number): number => {
  const index = Deno.args.indexOf(name);
  return index < 0 ? fallback : Number(Deno.args[index + 1]);
};

const main = async (): Promise<void> => {
  const count = option("--resources", 1000);
  const cluster = await startControlPlane();
  const folder = await Deno.makeTempDir();
  let before = 0;
  try {
    await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
    for (const name of ["operated", "alone", "one"]) await createNamespace(cluster, name);
    const bundle = await bundleOperator(folder);
    // The first start parses the whole bundle to see what kind of module it is; a compiled program does not, nor does a second.
    for (const which of ["first start of the bundle", "later one"]) {
      const idle = await startBundledOperator(cluster, bundle, { namespaces: ["operated", "one"] });
      await pause(SETTLE_SECONDS * 1000);
      before = await idle.residentBytes();
      row(
        `resident memory, no resources, ${SETTLE_SECONDS} s after the ${which}`,
        `${mebibytes(before)} MiB`,
        "60 MiB",
      );
      await idle.stop();
    }

    const operator = await coldStarts(cluster, bundle, count);
    const passes = await operator.passSeconds();
    row(
      `mean pass, 1 – ${count} resources`,
      `${(1000 * passes.sum / passes.count).toFixed(1)} ms`,
      undefined,
      `${passes.count} passes`,
    );
    await pause(SETTLE_SECONDS * 1000);
    const full = await operator.residentBytes();
    row(
      `resident memory, ${count} resources`,
      `${mebibytes(full)} MiB`,
      undefined,
      `${((full - before) / 1024 / count).toFixed(1)} KiB each, goal 25`,
    );

    const bareTimes = await createdToDeployment(cluster, "alone", (name) => bareOne(cluster, "alone", name));
    row("bare client, one resource created → Deployment written, median", `${percentile(bareTimes, 50).toFixed(0)} ms`);
    row("the same, 99th percentile", `${percentile(bareTimes, 99).toFixed(0)} ms`);
    const times = await createdToDeployment(cluster, "one", () => Promise.resolve());
    row("one resource created → Deployment written, median", `${percentile(times, 50).toFixed(0)} ms`, "30 ms");
    row("the same, 99th percentile", `${percentile(times, 99).toFixed(0)} ms`, "100 ms");

    await quiet(operator);
    const first = await operator.requests();
    await pause(IDLE_SECONDS * 1000);
    const idleRequests = (await operator.requests()).map((value, index) => value - (first[index] ?? 0));
    const perHour = (value: number) => (value * 3600 / IDLE_SECONDS / (count + SAMPLES)).toFixed(2);
    row(
      "requests per idle resource and hour",
      `${perHour(idleRequests[0] ?? 0)} reads, ${perHour(idleRequests[1] ?? 0)} writes`,
      "0 writes",
    );

    if (Deno.args.includes("--growth")) {
      await createMany(cluster, "operated", count, 5000);
      await until(async () => await deployments(cluster, "operated") >= 5000, 600_000);
      await quiet(operator);
      const more = await operator.passSeconds();
      row(
        `mean pass, ${count} – 5000 resources`,
        `${(1000 * (more.sum - passes.sum) / (more.count - passes.count)).toFixed(1)} ms`,
        "flat",
      );
      await pause(SETTLE_SECONDS * 1000);
      const grown = await operator.residentBytes();
      row(
        "resident memory, 5000 resources",
        `${mebibytes(grown)} MiB`,
        undefined,
        `${((grown - before) / 1024 / 5000).toFixed(1)} KiB each`,
      );
    }
    await operator.stop();
  } finally {
    await Deno.remove(folder, { recursive: true });
    await cluster.stop();
  }
};

/**
 * Rounds of the bare client and of an operator that starts beside as many resources, and the bare client once more. A shared
 * machine is not equally fast for a minute: each start is compared with the bare client before and after it. The operator of the
 * last round goes on.
 */
const coldStarts = async (cluster: ControlPlane, bundle: string, count: number): Promise<BundledOperator> => {
  const bare = async (name: string) => {
    await createNamespace(cluster, name);
    return await bareMany(cluster, name, count);
  };
  const ratios: Array<number> = [];
  let before = await bare("bare-before");
  const compared = async (namespace: string, cold: number): Promise<void> => {
    const after = await bare(`bare-after-${namespace}`);
    const mean = (before + after) / 2;
    before = after;
    ratios.push(cold / mean);
    row(
      `operator, ${count} resources cold, last Deployment`,
      seconds(cold),
      `1.25 × bare (${seconds(1.25 * mean)})`,
      `ratio ${(cold / mean).toFixed(2)}`,
    );
  };
  for (const namespace of COLD) {
    await createNamespace(cluster, namespace);
    const { operator, cold } = await coldStart(cluster, bundle, namespace, count);
    await operator.stop();
    await compared(namespace, cold);
  }
  const { operator, cold } = await coldStart(cluster, bundle, LAST_COLD, count);
  await compared(LAST_COLD, cold);
  row("median of these ratios", percentile(ratios, 50).toFixed(2), "1.25");
  return operator;
};

/** Milliseconds from the start of an operator until the last Deployment of the resources that it finds. */
const coldStart = async (cluster: ControlPlane, bundle: string, namespace: string, count: number) => {
  await createMany(cluster, namespace, 0, count);
  const started = performance.now();
  const operator = await startBundledOperator(cluster, bundle, { namespaces: [namespace, "one"] });
  await until(async () => await deployments(cluster, namespace) >= count, 300_000);
  const cold = performance.now() - started;
  await quiet(operator);
  return { operator, cold };
};

const createNamespace = (cluster: ControlPlane, name: string): Promise<JsonObject> =>
  post(cluster, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });

const row = (what: string, figure: string, goal = "", remark = ""): void =>
  console.log(`| ${what} | ${figure} | ${goal} | ${remark} |`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const percentile = (values: ReadonlyArray<number>, rank: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * rank / 100) - 1)] ?? 0;

/** Asks seldom: what counts Deployments takes the API server some milliseconds, in the very time that is measured. */
const until = async (isSo: () => Promise<boolean>, withinMs: number): Promise<void> => {
  const end = Date.now() + withinMs;
  while (!await isSo()) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms`);
    await pause(ASKED_EVERY_MS);
  }
};

/** No write for two seconds. Passes never end: what is not available, as all is here, is looked at every five minutes. */
const quiet = async (operator: BundledOperator): Promise<void> => {
  let last = -1;
  await until(async () => {
    const [, writes] = await operator.requests();
    const same = writes === last;
    last = writes;
    if (!same) await pause(2000);
    return same;
  }, 600_000);
};

const resource = (namespace: string, name: string): JsonObject => ({
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  metadata: { name, namespace },
  spec: {
    distribution: { name: "starter" },
    // Each its own, so that nothing that was made for one serves another.
    providers: { inference: [{ provider: "vllm", endpoint: `http://${name}.${namespace}:8000` }] },
    workload: { storage: { size: "1Gi" } },
  },
});

const collection = (namespace: string) =>
  `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions`;

const send = async (
  cluster: ControlPlane,
  method: string,
  path: string,
  body: JsonObject,
  type = "application/json",
): Promise<JsonObject> => {
  const answer = await cluster.fetch(path, { method, body: JSON.stringify(body), headers: { "content-type": type } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as JsonObject;
};
const post = (cluster: ControlPlane, path: string, body: JsonObject) => send(cluster, "POST", path, body);

const createMany = (cluster: ControlPlane, namespace: string, from: number, to: number): Promise<void> =>
  inParallel(
    to - from,
    IN_FLIGHT,
    async (index) => void await post(cluster, collection(namespace), resource(namespace, `r${from + index}`)),
  );

/** How many Deployments there are, without their bodies. */
const deployments = async (cluster: ControlPlane, namespace: string): Promise<number> => {
  const answer = await cluster.fetch(`/apis/apps/v1/namespaces/${namespace}/deployments?limit=1`);
  const { items, metadata } = await answer.json();
  return items.length + (metadata.remainingItemCount ?? 0);
};

/** Milliseconds from the first request of the bare client until its last Deployment. */
const bareMany = async (cluster: ControlPlane, namespace: string, count: number): Promise<number> => {
  await createMany(cluster, namespace, 0, count);
  const { lastDeploymentMs, requests } = await bareClient(cluster, namespace, count);
  row(`bare client, ${count} resources, last Deployment`, seconds(lastDeploymentMs), undefined, `${requests} requests`);
  return lastDeploymentMs;
};

/** The plan of each resource, written without an operator around it. */
const bareClient = async (cluster: ControlPlane, namespace: string, count: number) => {
  const found = await (await cluster.fetch(collection(namespace))).json();
  const resources = (found.items as ReadonlyArray<JsonObject>).map((one) => ({ ...TYPE, ...one }));
  const plans = resources.map((one) => decide(worldOf(one)).steps);
  let requests = 0;
  let lastDeploymentMs = 0;
  const started = performance.now();
  await inParallel(count, IN_FLIGHT, async (index) => {
    for (const step of plans[index] ?? []) {
      requests++;
      await writeStep(cluster, resources[index] ?? {}, step);
      if (isOf(step, "Deployment")) lastDeploymentMs = performance.now() - started;
    }
  });
  return { lastDeploymentMs, requests };
};

/** One resource up to its Deployment: what that needs at once, then the Deployment. */
const bareOne = async (cluster: ControlPlane, namespace: string, name: string): Promise<void> => {
  const resource = await (await cluster.fetch(`${collection(namespace)}/${name}`)).json() as JsonObject;
  const steps = decide(worldOf(resource)).steps;
  const needed = steps.filter((step) =>
    ["ServiceAccount", "PersistentVolumeClaim", "ConfigMap"].some((kind) => isOf(step, kind))
  );
  await Promise.all(needed.map((step) => writeStep(cluster, resource, step)));
  for (const step of steps.filter((step) => isOf(step, "Deployment"))) await writeStep(cluster, resource, step);
};

const TYPE = { apiVersion: API_VERSION, kind: KIND };
const isOf = (step: Step, kind: string): boolean => step._tag === "Apply" && step.manifest.kind === kind;

const writeStep = async (cluster: ControlPlane, resource: JsonObject, step: Step): Promise<void> => {
  const { name, namespace } = resource.metadata as { readonly name: string; readonly namespace: string };
  switch (step._tag) {
    case "Apply": {
      const { apiVersion, kind, metadata } = step.manifest;
      const path = pathOf({ apiVersion, kind, namespace, name: metadata.name });
      const query = `fieldManager=${FIELD_MANAGER}&force=true&fieldValidation=Ignore`;
      await send(cluster, "PATCH", `${path}?${query}`, step.manifest, "application/apply-patch+yaml");
      break;
    }
    case "Announce":
      await post(
        cluster,
        `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
        event(namespace, step.note.reason, step.note.note),
      );
      break;
    case "SetStatus":
      await send(cluster, "PUT", `${collection(namespace)}/${name}/status`, { ...resource, status: step.status });
      break;
  }
};

const event = (namespace: string, reason: string, note: string): JsonObject => ({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { generateName: "bare-", namespace },
  eventTime: new Date().toISOString().replace("Z", "000Z"),
  reportingController: "bare",
  reportingInstance: "bare",
  type: "Normal",
  reason,
  action: "Apply",
  note,
  regarding: { kind: "LlamaStackDistribution", namespace, name: "bare" },
});

const worldOf = (one: JsonObject): World => ({
  ...EMPTY_WORLD,
  nowMs: Date.now(),
  resource: one,
  operator: {
    version: "bench",
    surroundings: { distributions: EMBEDDED_DISTRIBUTIONS, overrides: { settings: new Map(), related: new Map() } },
    platform: NOWHERE.platform,
    hmacKey: "bench",
    rolloutOnUpgrade: SETTINGS_DEFAULT.rolloutOnUpgrade,
    upgradeParallelism: SETTINGS_DEFAULT.upgradeParallelism,
  },
});

/** Milliseconds from the order to create a resource until a watch tells of its Deployment; `then` follows the creation. */
const createdToDeployment = async (
  cluster: ControlPlane,
  namespace: string,
  then: (name: string) => Promise<void>,
): Promise<ReadonlyArray<number>> => {
  const seen = new Map<string, number>();
  const stopping = new AbortController();
  const watch = await cluster.fetch(`/apis/apps/v1/namespaces/${namespace}/deployments?watch=1`, {
    signal: stopping.signal,
  });
  const reading = (async () => {
    let rest = "";
    try {
      for await (const chunk of watch.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const { object } = JSON.parse(line);
          if (!seen.has(object.metadata.name)) seen.set(object.metadata.name, performance.now());
        }
      }
    } catch {
      // The watch was told to end.
    }
  })();
  const times: Array<number> = [];
  for (let index = 0; index < SAMPLES; index++) {
    const name = `one-${index}`;
    const started = performance.now();
    await post(cluster, collection(namespace), resource(namespace, name));
    await then(name);
    while (!seen.has(name)) await pause(1);
    times.push((seen.get(name) ?? 0) - started);
    await pause(ALONE_MS);
  }
  stopping.abort();
  await reading;
  return times;
};

if (import.meta.main) await main();
