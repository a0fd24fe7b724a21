/** What Argo CD, kstatus (Flux, kpt, cli-utils) and `kubectl wait` make of the status, in every state of a resource. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, objectAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { CRASHING } from "../../tools/cluster/simulated_pods.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { ended } from "../../tools/install/run_program.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { manifest, secret } from "../given.ts";
import { startOperator } from "./operator.ts";
import { condition, isObserved, read, RESOURCES } from "./settled.ts";
import { call, installWithWebhooks, pathIn, startWebhooks } from "./webhooks.ts";
import { eventually, KUBECTL_LIMIT } from "../waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPT = `${ROOT}deploy/argocd/health.lua`;
const SETTING = "resource.customizations.health.llamastack.io_LlamaStackDistribution";
const VERSIONS = ["v1alpha2", "v1alpha1"] as const;

/** A resource in some state, by name; in both versions. */
type Seen = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

const CLAIM = { size: "1Gi", storageClassName: "" };
const UNFIT = { storage: { sql: { type: "postgres", connectionString: secret("gone", "url") } } };

/** The first spec of each, and the later one that brings it into its state. */
const LIVES: Readonly<Record<string, { readonly first: JsonObject; readonly then?: JsonObject }>> = {
  ready: { first: {} },
  zero: { first: { workload: { replicas: 0 } } },
  unplaced: { first: { workload: { overrides: { nodeSelector: { disk: "none-like-that" } } } } },
  crashing: { first: { distribution: { image: `x.example/${CRASHING}:1` } } },
  unfit: { first: UNFIT },
  "unfit-edit": { first: {}, then: UNFIT },
  "suspended-at-once": { first: { suspend: true } },
  suspended: { first: {}, then: { suspend: true } },
  "rolled-back": {
    first: { workload: { storage: CLAIM } },
    then: { distribution: { image: `x.example/${CRASHING}:1` }, workload: { storage: CLAIM } },
  },
  unexposed: { first: {}, then: { networking: { expose: {} } } },
  "failed-upgrade": { first: { distribution: { name: "ogx-starter" } } },
  deleted: { first: {} },
};
const NAMES = Object.keys(LIVES);

/** What makes it known that the resource has reached its state: a condition with its reason. */
const REACHED: Readonly<Record<string, readonly [type: string, state: string]>> = {
  ready: ["Ready", "True Ready"],
  zero: ["Ready", "True ScaledToZero"],
  unplaced: ["Ready", "False Unschedulable"],
  crashing: ["Ready", "False CrashLoop"],
  unfit: ["Stalled", "True SecretNotFound"],
  "unfit-edit": ["Stalled", "True SecretNotFound"],
  "suspended-at-once": ["Ready", "False Suspended"],
  suspended: ["Ready", "False Suspended"],
  "rolled-back": ["Stalled", "True RolledBack"],
  unexposed: ["ObjectRefused", "True ObjectRefused"],
  "failed-upgrade": ["Stalled", "True UpgradeFailed"],
};

const IN_ITS_STATE: Readonly<Record<string, { readonly argo: string; readonly kstatus: string }>> = {
  ready: { argo: "Healthy", kstatus: "Current" },
  zero: { argo: "Healthy", kstatus: "Current" },
  unplaced: { argo: "Progressing", kstatus: "InProgress" },
  crashing: { argo: "Degraded", kstatus: "InProgress" },
  unfit: { argo: "Degraded", kstatus: "Failed" },
  "unfit-edit": { argo: "Degraded", kstatus: "Failed" },
  "suspended-at-once": { argo: "Suspended", kstatus: "InProgress" },
  suspended: { argo: "Suspended", kstatus: "InProgress" },
  "rolled-back": { argo: "Degraded", kstatus: "Failed" },
  unexposed: { argo: "Degraded", kstatus: "Current" },
  "failed-upgrade": { argo: "Degraded", kstatus: "Failed" },
  deleted: { argo: "Progressing", kstatus: "Terminating" },
};
const NOT_SEEN = { argo: "Progressing", kstatus: "InProgress" };

Deno.test("Argo CD's Lua engine, kstatus and kubectl read the status as a user expects", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const webhooks = await startWebhooks(cluster);
  try {
    await installWithWebhooks(cluster, webhooks);
    await t.step(
      "a resource that no operator has seen is in progress from its creation, in both versions",
      async () => {
        await apply(cluster, NAMES.map((name) => manifest(LIVES[name]?.first ?? {}, name)));
        const old = { ...manifest({}, "old"), apiVersion: "llamastack.io/v1alpha1" };
        await apply(cluster, [{ ...old, spec: { replicas: 1, server: { distribution: { name: "starter" } } } }]);
        const all = await seen(cluster, [...NAMES, "old"]);
        deepStrictEqual(await judged(all), expected([...NAMES, "old"], () => NOT_SEEN));
        deepStrictEqual(
          Object.keys(objectAt(all.old?.v1alpha1 ?? null, "metadata", "annotations"))
            .filter((key) => key.includes("leftover")),
          [],
          "the default adds nothing to the annotations",
        );
      },
    );

    await t.step("the command of docs/observability.md puts the script into Argo CD's ConfigMap", async () => {
      await cluster.kubectl(["create", "namespace", "argocd"]);
      await cluster.kubectl(["create", "configmap", "argocd-cm", "-n", "argocd", "--from-literal=url=https://argo"]);
      const commands = await commandsRunBy("tests/cluster/health_in_tools_test.ts");
      strictEqual(commands.length, 1);
      for (const { text } of commands) {
        const [program, ...words] = text.split(" ");
        strictEqual(program, "kubectl");
        await cluster.kubectl(words.map((word) => word.startsWith("deploy/") ? `${ROOT}${word}` : word));
      }
      const { data } = await read(cluster, "/api/v1/namespaces/argocd/configmaps/argocd-cm");
      deepStrictEqual(data, { url: "https://argo", [SETTING]: await Deno.readTextFile(SCRIPT) });
    });

    const operator = await startOperator(cluster, { install: false });
    try {
      await t.step("kubectl wait --for=condition=Ready ends once the server is ready", async () => {
        for (const name of ["ready", "deleted", "failed-upgrade", "rolled-back", "suspended", "unfit-edit"]) {
          await cluster.kubectl(["wait", `llsd/${name}`, "-n", "default", "--for=condition=Ready", KUBECTL_LIMIT]);
        }
      });

      await t.step("each state is healthy, in progress, suspended or failed", async () => {
        const edits = NAMES.flatMap((name) => {
          const { then } = LIVES[name] ?? {};
          return then === undefined ? [] : [manifest(then, name)];
        });
        await apply(cluster, [NO_INGRESS]);
        await apply(cluster, [...edits, BAD_IMAGE]);
        await cluster.kubectl([
          ...["patch", "llsd/deleted", "-n", "default", "--type=merge"],
          ...["-p", JSON.stringify({ metadata: { finalizers: ["example.com/kept"] } })],
        ]);
        await cluster.kubectl(["delete", "llsd/deleted", "-n", "default", "--wait=false"]);
        for (const [name, [type, state]] of Object.entries(REACHED)) await reached(cluster, name, type, state);
        deepStrictEqual(
          await judged(await seen(cluster, NAMES)),
          expected(NAMES, (name) => IN_ITS_STATE[name] ?? NOT_SEEN),
        );
      });
    } finally {
      await operator.stop();
    }

    await t.step("an edit that no operator has seen is in progress, in both versions", async () => {
      await apply(cluster, ["ready", "zero", "unfit"].map((name) => manifest({ workload: { workers: 2 } }, name)));
      const names = ["ready", "zero", "unfit"];
      deepStrictEqual(await judged(await seen(cluster, names)), expected(names, () => NOT_SEEN));
    });
  } finally {
    await webhooks.stop();
    await cluster.stop();
  }
});

const BAD_IMAGE: JsonObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "llama-stack-operator-config" },
  data: { "image-overrides": `ogx-starter: mirror.example/ogx:1.4.2-${CRASHING}` },
};

const NO_INGRESS: JsonObject = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "no-ingress" },
  spec: { hard: { "count/ingresses.networking.k8s.io": "0" } },
};

const apply = (cluster: ControlPlane, objects: ReadonlyArray<JsonObject>) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"],
    manifestList(objects),
  );

const reached = (cluster: ControlPlane, name: string, type: string, state: string): Promise<true> => {
  let last = "";
  return eventually(`${name} says ${type}=${state}`, async () => {
    const found = await read(cluster, `${RESOURCES}/${name}`);
    const now = condition(found, type);
    last = `${stringAt(now, "status")} ${stringAt(now, "reason")}`;
    return isObserved(found) && last === state ? true : undefined;
  }).catch((cause) => {
    throw new Error(`${name} says ${type}=${last}`, { cause });
  });
};

const seen = async (cluster: ControlPlane, names: ReadonlyArray<string>): Promise<Seen> =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => {
      const versions = await Promise.all(VERSIONS.map(async (version) => {
        const { status, body } = await call(cluster, "GET", pathIn(version, name));
        strictEqual(status, 200, JSON.stringify(body));
        return [version, body] as const;
      }));
      return [name, Object.fromEntries(versions)] as const;
    })),
  );

/** `name version: Argo CD's word, kstatus's word`. */
const judged = async (all: Seen): Promise<ReadonlyArray<string>> => {
  const programs = await installControlPlane(["argocd-health", "kstatus"]);
  const rows = Object.entries(all).flatMap(([name, versions]) =>
    Object.entries(versions).map(([version, object]) => ({ title: `${name} ${version}`, object }))
  );
  const objects = JSON.stringify(rows.map(({ object }) => object));
  const argo = await linesOf(programs["argocd-health"], [SCRIPT], objects);
  const kstatus = await linesOf(programs.kstatus, [], objects);
  for (const line of argo) ok(!line.endsWith('\t""'), `a message: ${line}`);
  return rows.map(({ title }, index) => `${title}: ${word(argo[index])}, ${word(kstatus[index])}`);
};

const word = (line: string | undefined): string => line?.split("\t")[0] ?? "";

const linesOf = async (program: string, args: ReadonlyArray<string>, stdin: string): Promise<ReadonlyArray<string>> => {
  const { code, stdout, stderr } = await ended(program, args, { stdin });
  strictEqual(code, 0, stderr);
  return stdout.trimEnd().split("\n");
};

const expected = (
  names: ReadonlyArray<string>,
  of: (name: string) => { readonly argo: string; readonly kstatus: string },
): ReadonlyArray<string> =>
  names.flatMap((name) => VERSIONS.map((version) => `${name} ${version}: ${of(name).argo}, ${of(name).kstatus}`));
