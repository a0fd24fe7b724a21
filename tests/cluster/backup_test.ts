/** Backup and restore by the commands of docs/backup.md as written, and by other tools: in any order, with and without owners. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Json, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../../core/data/json.ts";
import { groupPath, OWN_KINDS } from "../../core/snapshot/kinds.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { installProgram } from "../../tools/install/debian_packages.ts";
import { must } from "../../tools/install/run_program.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { manifest, secret } from "../given.ts";
import { startOperator } from "./operator.ts";
import { changesSince, isReady, read } from "./settled.ts";
import { eventually } from "../waiting.ts";

const OPERATOR = "llama-stack-operator-system";
const NAMES = ["claimed", "shared"];

/** A server on a claim, and one on a database with everything that the operator makes besides. */
const RESOURCES: ReadonlyArray<JsonObject> = [
  manifest({
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", apiKey: secret("keys", "token") }] },
    workload: { replicas: 1, storage: { size: "1Gi" } },
  }, "claimed"),
  manifest({
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
    storage: {
      kv: { type: "redis", endpoint: "redis:6379", password: secret("keys", "token") },
      sql: { type: "postgres", connectionString: secret("keys", "url") },
    },
    networking: { expose: { hostname: "shared.example.com" }, allowedFrom: { namespaces: ["web"] } },
    workload: {
      replicas: 2,
      podDisruptionBudget: { minAvailable: 1 },
    },
  }, "shared"),
];

const resources = (namespace: string) => `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions`;

const itemsOf = async (cluster: ControlPlane, path: string) => listAt(await read(cluster, path), "items");

const allReady = async (cluster: ControlPlane, namespace: string) => {
  let seen: ReadonlyArray<Json> = [];
  await eventually(`the resources of ${namespace} are ready`, async () => {
    const found = await itemsOf(cluster, resources(namespace));
    seen = found.map((value) => stringAt(listAt(value, "status", "conditions")[0], "message") ?? "no condition");
    return found.filter(isReady).length === NAMES.length || undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(seen)}`);
  });
};

/** What the operator made, with its owners. */
const OWNED = OWN_KINDS.map(({ apiVersion, plural }) => `${groupPath(apiVersion)}/namespaces/NS/${plural}`);

const owned = async (cluster: ControlPlane, namespace: string): Promise<ReadonlyArray<Json>> =>
  (await Promise.all(
    OWNED.map((path) =>
      itemsOf(
        cluster,
        `${path.replace("NS", namespace)}?labelSelector=app.kubernetes.io/managed-by%3Dllama-stack-operator`,
      )
    ),
  )).flat();

const orphansIn = async (cluster: ControlPlane, namespace: string): Promise<ReadonlyArray<string>> => {
  const uids = (await itemsOf(cluster, resources(namespace))).map((value) => stringAt(value, "metadata", "uid"));
  return (await owned(cluster, namespace)).filter((value) =>
    stringAt(value, "metadata", "name") !== "claimed-pvc" &&
    !listAt(value, "metadata", "ownerReferences").some((owner) => uids.includes(stringAt(owner, "uid")))
  ).map((value) => stringAt(value, "metadata", "name") ?? "");
};

const reasons = async (cluster: ControlPlane, namespace: string): Promise<ReadonlySet<string>> =>
  new Set(
    (await itemsOf(cluster, `/apis/events.k8s.io/v1/namespaces/${namespace}/events`))
      .filter((value) => stringAt(value, "reportingController") === "llama-stack-operator")
      .map((value) => stringAt(value, "reason") ?? ""),
  );

/** Every ReplicaSet stands for a template that ran once, every pod for a start. */
const startsIn = async (cluster: ControlPlane, namespace: string, from: string) => {
  const events = await changesSince(cluster, `/api/v1/namespaces/${namespace}/pods`, from);
  const added = events.filter(({ type }) => type === "ADDED").length;
  return { replicaSets: (await itemsOf(cluster, `/apis/apps/v1/namespaces/${namespace}/replicasets`)).length, added };
};

const ONCE = { replicaSets: 2, added: 3 };

const versionNow = async (cluster: ControlPlane): Promise<string> =>
  stringAt(await read(cluster, "/api/v1/namespaces"), "metadata", "resourceVersion") ?? "";

/** A reproducible order. */
const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  let state = seed;
  const next = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  return items.map((item) => ({ item, at: next() })).sort((a, b) => a.at - b.at).map(({ item }) => item);
};

Deno.test("resources are restored by the commands of docs/backup.md, and by other tools, without a restart", async (t) => {
  await installProgram("jq", ["jq"]);
  const folder = await Deno.makeTempDir();
  const commands = (await commandsRunBy("tests/cluster/backup_test.ts")).map(({ heading, text }) => ({
    heading,
    text,
  }));
  const run = async (cluster: ControlPlane, text: string) => {
    const PATH = `${cluster.kubectlPath.replace(/\/[^/]+$/, "")}:${Deno.env.get("PATH")}`;
    await must("sh", ["-c", text], { cwd: folder, env: { PATH, KUBECONFIG: cluster.kubeconfig, HOME: folder } });
  };
  const log = console.log;
  console.log = () => {};
  try {
    const before = await startControlPlane({ node: "Scheduled" });
    try {
      for (const name of [OPERATOR, "team"]) await before.kubectl(["create", "namespace", name]);
      const operator = await startOperator(before, { operatorNamespace: OPERATOR });
      try {
        const literals = [
          "--from-literal=token=t0ken-of-tests",
          "--from-literal=url=postgresql://u:pass-word@pg:5432/db",
        ];
        await before.kubectl(["create", "secret", "generic", "keys", "-n", "team", ...literals]);
        for (const object of RESOURCES) {
          await before.kubectl(["create", "-f", "-"], JSON.stringify(put(object, ["metadata", "namespace"], "team")));
        }
        await allReady(before, "team");
        for (const { text } of commands.filter(({ heading }) => heading === "Back up one namespace")) {
          await run(before, text);
        }
      } finally {
        await operator.stop();
      }
    } finally {
      await before.stop();
    }
    const after = await startControlPlane({ node: "Scheduled" });
    try {
      const operatorAfter = async () => await startOperator(after, { operatorNamespace: OPERATOR });
      let operator: { readonly stop: () => Promise<void> } | undefined;
      try {
        await t.step("by the commands as written", async () => {
          const from = await versionNow(after);
          for (const { text } of commands.filter(({ heading }) => heading === "Restore it")) {
            // The definition comes with the operator.
            if (text === "kubectl create namespace team") operator = await operatorAfter();
            await run(after, text);
          }
          await allReady(after, "team");
          deepStrictEqual(await orphansIn(after, "team"), []);
          deepStrictEqual(await startsIn(after, "team", from), ONCE);
          const told = await reasons(after, "team");
          ok(told.has("Adopted") && !told.has("OwnershipConflict"), [...told].join());
        });
        const backup = await Deno.readTextFile(`${folder}/restore.json`);
        for (const seed of [1, 2]) {
          await t.step(`in random order ${seed}, without owners`, async () => {
            // Into the same namespace: digests of Secret values are made with a key for each namespace.
            const namespace = "team";
            await after.kubectl(["delete", "namespace", namespace]);
            const from = await versionNow(after);
            await after.kubectl(["create", "namespace", namespace]);
            const items = listAt(JSON.parse(backup), "items");
            for (const item of shuffled(items, seed)) {
              await after.kubectl(["create", "-f", "-"], JSON.stringify(item)).catch((error: Error) => {
                // The operator was faster.
                ok(error.message.includes("AlreadyExists"), error.message);
              });
            }
            await allReady(after, namespace);
            await eventually(
              "everything has its owner",
              async () => (await orphansIn(after, namespace)).length === 0 || undefined,
            );
            deepStrictEqual(await startsIn(after, namespace, from), ONCE);
            const told = await reasons(after, namespace);
            ok(!told.has("OwnershipConflict"), [...told].join());
          });
        }
        await t.step("with the owners of the former cluster: recreated, and the claim is kept", async () => {
          await after.kubectl(["create", "namespace", "team-owned"]);
          const whole = JSON.parse(
            (await Deno.readTextFile(`${folder}/team.json`)).replaceAll(
              '"namespace": "team"',
              '"namespace": "team-owned"',
            ),
          ) as JsonObject;
          for (const item of shuffled(listAt(whole, "items") as ReadonlyArray<JsonObject>, 5)) {
            const { name, namespace, labels, annotations, ownerReferences } = objectAt(item, "metadata") as Record<
              string,
              Json
            >;
            const { clusterIP: _, clusterIPs: __, volumeName: ___, ...spec } = objectAt(item, "spec");
            const { status: ____, ...rest } = item;
            const restored = {
              ...rest,
              ...(Object.hasOwn(item, "spec") ? { spec } : {}),
              metadata: {
                name,
                namespace,
                labels,
                annotations: omit(
                  annotations as JsonObject ?? {},
                  "pv.kubernetes.io/bind-completed",
                  "pv.kubernetes.io/bound-by-controller",
                ),
                ownerReferences,
              },
            };
            await after.kubectl(["create", "-f", "-"], JSON.stringify(restored)).catch((error: Error) => {
              ok(error.message.includes("AlreadyExists"), error.message);
            });
          }
          const claim = "/api/v1/namespaces/team-owned/persistentvolumeclaims/claimed-pvc";
          const uid = stringAt(await read(after, claim), "metadata", "uid");
          await eventually(
            "the former objects are gone, and all have their owner",
            async () => {
              const names = (await owned(after, "team-owned")).length;
              return names >= 10 && (await orphansIn(after, "team-owned")).length === 0 || undefined;
            },
          );
          await allReady(after, "team-owned");
          strictEqual(stringAt(await read(after, claim), "metadata", "uid"), uid);
          const told = await reasons(after, "team-owned");
          ok(!told.has("OwnershipConflict"), [...told].join());
        });
      } finally {
        await operator?.stop();
      }
    } finally {
      await after.stop();
    }
  } finally {
    console.log = log;
    await Deno.remove(folder, { recursive: true });
  }
});
