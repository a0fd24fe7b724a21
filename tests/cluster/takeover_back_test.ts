/**
 * There and back: a cluster of the Go operator 0.9 (its recorded objects, simulated nodes) gets our operator and leaves it
 * again, by the commands of docs/go-operator.md as they are written there.
 */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { dirname } from "node:path";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { at, isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { RECORD_ANNOTATIONS } from "../../core/snapshot/record.ts";
import { CRD_PATH } from "../../core/operator/stored_versions.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { must } from "../../tools/install/run_program.ts";
import { commandsRunBy, documentedCommands } from "../documented_commands.ts";
import { manifest } from "../given.ts";
import { GO_NAMES, goDefinition, goOperator, loadGoObjects, recordedIn } from "./go_operator.ts";
import { type RunningOperator, startOperator } from "./operator.ts";
import { read } from "./settled.ts";
import { type RunningWebhooks, startWebhooks } from "./webhooks.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { eventually, pause } from "../waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PLACE = "models";
const CRD = "llamastackdistributions.llamastack.io";
const OLD_RESOURCES = "llamastackdistributions.v1alpha1.llamastack.io";

Deno.test("there and back to the Go operator, by the commands of docs/go-operator.md as written", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const webhooks = await startWebhooks(cluster);
  const folder = await Deno.makeTempDir();
  const ours = podsOfOurs(cluster);
  const run = async (command: string) => {
    await must("sh", ["-c", command], { cwd: folder, env: surroundings(cluster, folder) });
    await ours.follow();
  };
  const templates = async () =>
    new Map(
      await Promise.all(GO_NAMES.map(async (name) => [name, templateOf(await deployment(cluster, name))] as const)),
    );
  try {
    await Deno.symlink(`${ROOT}deploy`, `${folder}/deploy`);
    await Deno.writeTextFile(`${folder}/operator.yaml`, documents([goDefinition(), ...goOperator()]));
    await run("kubectl apply -f operator.yaml");
    await eventually("v1alpha1 is served", async () => (await cluster.fetch(resources("v1alpha1"))).ok || undefined);
    await cluster.kubectl(["create", "namespace", PLACE]);
    await loadGoObjects(cluster, PLACE, "pinned");
    for (const name of GO_NAMES) await runs(cluster, name);
    const [before, podsBefore] = [await templates(), await pods(cluster)];

    await t.step(
      "there: this operator holds the templates, rolls out one after an edit, and creates a new server",
      async () => {
        const commands = (await documentedCommands()).filter(({ heading }) => heading === "Take over");
        for (const { text } of commands) await run(text);
        await reachable(cluster, webhooks);
        await eventually(
          "all is stored in v1alpha2",
          async () => (await storedVersions(cluster)) === "v1alpha2" || undefined,
        );
        for (const name of GO_NAMES) {
          await eventually(`${name} is taken over`, async () => {
            const object = await deployment(cluster, name);
            return stringAt(object, "metadata", "annotations", RECORD_ANNOTATIONS.template);
          });
        }
        await cluster.kubectl(["patch", "llsd", EDITED, "-n", PLACE, "--type=merge", "-p", EDIT]);
        for (const name of ["fresh", "kept"]) {
          await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(fresh(name)));
        }
        for (const name of [EDITED, "fresh", "kept"]) await eventually(`${name} is ours`, () => isOurs(cluster, name));
      },
    );

    await t.step("back: every command succeeds", async () => {
      for (const { text } of await commandsRunBy("tests/cluster/takeover_back_test.ts")) await run(text);
    });
    const backMs = performance.now();

    await t.step("the definition of the Go operator is in force, and its program runs", async () => {
      const crd = await read(cluster, CRD_PATH);
      deepStrictEqual(listAt(crd, "spec", "versions").map((version) => stringAt(version, "name")), ["v1alpha1"]);
      deepStrictEqual(at(crd, "spec", "conversion"), { strategy: "None" });
      strictEqual(await storedVersions(cluster), "v1alpha1");
      const [, program = {}] = goOperator();
      const path = `/apis/apps/v1/namespaces/${stringAt(program, "metadata", "namespace")}/deployments`;
      strictEqual(at(await read(cluster, `${path}/${stringAt(program, "metadata", "name")}`), "spec", "replicas"), 1);
    });

    await t.step("nothing of this installation is left", async () => {
      const kinds =
        "validatingwebhookconfiguration,mutatingwebhookconfiguration,clusterrole,clusterrolebinding,namespace";
      const label = `app.kubernetes.io/part-of=${NAME}`;
      strictEqual((await cluster.kubectl(["get", kinds, "-o", "name", "-l", label])).trim(), "");
    });

    await t.step("the resources have their former content, in v1alpha1", async () => {
      for (const recorded of await recordedIn("llamastackdistributions", PLACE, "pinned")) {
        const name = stringAt(recorded, "metadata", "name") ?? "";
        const env = name === EDITED ? ["spec", "server", "containerSpec"] : undefined;
        const now = await read(cluster, `${resources("v1alpha1")}/${name}`);
        const wanted = env === undefined ? recorded : put(recorded, env, at(now, ...env));
        deepStrictEqual(now.spec, (wanted as JsonObject).spec, name);
        if (env !== undefined) deepStrictEqual(at(now, ...env, "env"), [{ name: "EDITED", value: "1" }]);
      }
    });

    await t.step("what only v1alpha2 can say is kept in annotations", async () => {
      const shown = await read(cluster, `${resources("v1alpha1")}/fresh`);
      const annotations = objectAt(shown, "metadata", "annotations");
      const providers = String(annotations["v1alpha2.leftovers.llamastack.io/spec.providers.inference"]);
      ok(providers.includes("http://vllm:8000"), Object.keys(annotations).join());
      deepStrictEqual(at(shown, "spec", "server", "distribution"), { name: "starter" });
    });

    await t.step(
      "no pod with the Go operator's template restarts, and its next reconciliation changes nothing",
      async () => {
        const kept = GO_NAMES.filter((name) => name !== EDITED);
        const same = async () => {
          const [now, podsNow] = [await templates(), await pods(cluster)];
          for (const name of kept) {
            deepStrictEqual(now.get(name), before.get(name), name);
            deepStrictEqual(podsNow.get(name), podsBefore.get(name), name);
            strictEqual(stringAt(await deployment(cluster, name), "metadata", "annotations", REVISION), "1", name);
          }
        };
        await same();
        await loadGoObjects(cluster, PLACE, "pinned", FILES_OF_A_PASS, kept);
        await same();
      },
    );

    await t.step("a Deployment rolled out by this operator is created again, and its pods run until then", async () => {
      const pod = (await pods(cluster)).get(EDITED);
      await run(`kubectl delete deployment ${EDITED} -n ${PLACE} --cascade=orphan`);
      deepStrictEqual((await pods(cluster)).get(EDITED), pod);
      await loadGoObjects(cluster, PLACE, "pinned", ["deployments"], [EDITED]);
      deepStrictEqual(templateOf(await deployment(cluster, EDITED)), before.get(EDITED));
      await runs(cluster, EDITED);
    });

    await t.step("all but volume claims goes with its resource", async () => {
      // The garbage collector looks for versions of resources every 30 s; before, it does not see that one is deleted.
      await pause(backMs + 40_000 - performance.now());
      await cluster.kubectl(["delete", OLD_RESOURCES, ...GO_NAMES, "fresh", "-n", PLACE]);
      await eventually("nothing is left", async () => {
        const kinds = "deployment,service,serviceaccount,configmap,secret,hpa,pdb,networkpolicy,ingress,pvc";
        const label = "app.kubernetes.io/managed-by=llama-stack-operator,app.kubernetes.io/instance!=kept";
        const left = await cluster.kubectl(["get", kinds, "-n", PLACE, "-o", "name", "-l", label]);
        return left.trim() === "persistentvolumeclaim/stored-pvc" ? true : undefined;
      });
    });

    await t.step("this operator, installed again, reads the annotations", async () => {
      await run("kubectl apply -f deploy/install.yaml");
      await reachable(cluster, webhooks);
      const providers = await eventually("kept is served in v1alpha2", async () => {
        const answer = await cluster.fetch(`${resources("v1alpha2")}/kept`);
        const found = await answer.json() as JsonObject;
        return answer.ok ? at(found, "spec", "providers") : undefined;
      });
      deepStrictEqual(providers, at(fresh("kept"), "spec", "providers"));
    });
  } finally {
    await ours.stop();
    await webhooks.stop();
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

const REVISION = "deployment.kubernetes.io/revision";

/** The one whose resource is edited while our operator runs. */
const EDITED = "plain";
const EDIT = JSON.stringify({ spec: { workload: { overrides: { env: [{ name: "EDITED", value: "1" }] } } } });

/** Made in v1alpha2, with what only that version can say. */
const fresh = (name: string): JsonObject =>
  put(
    manifest({ providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] } }, name),
    ["metadata", "namespace"],
    PLACE,
  ) as JsonObject;

/** What the Go operator applies in each pass; claims it makes once. */
const FILES_OF_A_PASS = ["deployments", "services", "serviceaccounts", "networkpolicies", "horizontalpodautoscalers"];

/** kubectl as on a machine of its own, and nothing else of ours. */
const surroundings = (cluster: ControlPlane, home: string) => ({
  PATH: `${dirname(cluster.kubectlPath)}:/usr/bin:/bin`,
  HOME: home,
  KUBECONFIG: cluster.kubeconfig,
});

/** The operator of this process stands for the pods of our Deployment: it starts, starts again and ends with them. */
const podsOfOurs = (cluster: ControlPlane) => {
  let running: { readonly operator: RunningOperator; readonly template: string } | undefined;
  const stop = async () => {
    await running?.operator.stop();
    running = undefined;
  };
  return {
    stop,
    follow: async () => {
      const answer = await cluster.fetch(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${NAME}`);
      const found = await answer.json() as JsonObject;
      const template = JSON.stringify(templateOf(found));
      const isWanted = answer.ok && objectAt(found, "spec").replicas !== 0;
      if (!isWanted || running?.template !== template) await stop();
      if (isWanted && running === undefined) {
        running = { operator: await startOperator(cluster, { install: false }), template };
      }
    },
  };
};

/** No Service leads anywhere here: the API server calls the webhooks of the test instead of ours. */
const reachable = async (cluster: ControlPlane, { url, caPem }: RunningWebhooks): Promise<void> => {
  const value = { url: `${url}/convert`, caBundle: btoa(caPem) };
  const patch = JSON.stringify([{ op: "replace", path: "/spec/conversion/webhook/clientConfig", value }]);
  await cluster.kubectl(["patch", "crd", CRD, "--type=json", "-p", patch]);
};

const storedVersions = async (cluster: ControlPlane): Promise<string> =>
  listAt(await read(cluster, CRD_PATH), "status", "storedVersions").join();

const resources = (version: string) => `/apis/llamastack.io/${version}/namespaces/${PLACE}/llamastackdistributions`;

const deployment = (cluster: ControlPlane, name: string): Promise<JsonObject> =>
  read(cluster, `/apis/apps/v1/namespaces/${PLACE}/deployments/${name}`);

const templateOf = (object: JsonObject): JsonObject => objectAt(object, "spec", "template");

const runs = (cluster: ControlPlane, name: string) =>
  eventually(`${name} runs`, async () => {
    const { spec, status, metadata } = await deployment(cluster, name);
    const { updatedReplicas, availableReplicas, replicas, observedGeneration } = objectAt(status ?? null);
    const isDone = observedGeneration === objectAt(metadata ?? null).generation && updatedReplicas === replicas &&
      availableReplicas === replicas && replicas === objectAt(spec ?? null).replicas;
    return replicas !== undefined && isDone ? true : undefined;
  });

/** Its pods have a template that another one than the Go operator made. */
const isOurs = async (cluster: ControlPlane, name: string): Promise<true | undefined> => {
  const found = await deployment(cluster, name);
  return JSON.stringify(templateOf(found)).includes(name === EDITED ? '"EDITED"' : "config.yaml") ? true : undefined;
};

/** Uids of the pods of each server. */
const pods = async (cluster: ControlPlane): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const found = listAt(await read(cluster, `/api/v1/namespaces/${PLACE}/pods`), "items").filter(isObject);
  const server = (pod: JsonObject) => stringAt(pod, "metadata", "labels", "app.kubernetes.io/instance") ?? "";
  return new Map(
    [...GO_NAMES, "fresh"].map((name) => [
      name,
      found.filter((pod) => server(pod) === name).map((pod) => stringAt(pod, "metadata", "uid") ?? "").sort(),
    ]),
  );
};

const documents = (objects: ReadonlyArray<JsonObject>): string => manifestList(objects);
