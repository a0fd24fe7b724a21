/** The operator itself as pods: what it runs under, its own upgrade, its end. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { CRD_NAME } from "../../core/api/crd.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { type JsonObject, listAt, member, stringAt } from "../../core/data/json.ts";
import { ended } from "../../tools/install/run_program.ts";
import { joinCluster } from "./cluster.ts";
import { INSTALL_FILE } from "./installed_operator.ts";
import { readSession } from "./session.ts";
import { eventually, KUBECTL_LIMIT, pause } from "../waiting.ts";

const cluster = joinCluster();
const get = async (path: string): Promise<JsonObject> => await (await cluster.fetch(path)).json();

Deno.test("the installed operator runs with little, as any user, and its rolling upgrade loses no edit", async () => {
  const pods = listAt(await get(`/api/v1/namespaces/${NAMESPACE}/pods`), "items");
  strictEqual(pods.length, 2);
  for (const pod of pods) {
    const [status] = listAt(pod, "status", "containerStatuses");
    deepStrictEqual([member(status as JsonObject, "ready"), member(status as JsonObject, "restartCount")], [true, 0]);
    // The root file system is read-only, so there is no place to write to.
    const volumes = listAt(pod, "spec", "volumes").flatMap((volume) => Object.keys(volume as JsonObject));
    deepStrictEqual(volumes.sort(), ["name", "projected"]);
  }
  await kubectl("create", "namespace", PLACE);
  await edit(0);
  let edits = 0;
  let over = false;
  const upgrade = (async () => {
    await kubectl("patch", "deployment", NAME, "-n", NAMESPACE, "--patch", JSON.stringify(asAnotherUser));
    await kubectl("rollout", "status", `deployment/${NAME}`, "-n", NAMESPACE, KUBECTL_LIMIT);
    over = true;
  })();
  while (!over) {
    await edit(++edits);
    await pause(EDIT_EVERY_MS);
  }
  await upgrade;
  await edit(++edits);
  ok(edits > 5, String(edits));
  await eventually("the last edit is carried out", async () => {
    const deployment = await get(`/apis/apps/v1/namespaces/${PLACE}/deployments/edited`);
    const [container] = listAt(deployment, "spec", "template", "spec", "containers");
    const env = listAt(container ?? null, "env").find((value) => stringAt(value, "name") === "EDIT");
    return stringAt(env ?? null, "value") === String(edits) ? true : undefined;
  });
});

Deno.test("`kubectl delete -f install.yaml` leaves nothing of the operator, and of servers their claims alone", async () => {
  await collectorKnowsKind();
  await kubectl("delete", "-f", INSTALL_FILE, KUBECTL_LIMIT);
  const gone = async (what: string, ...args: ReadonlyArray<string>) =>
    await eventually(`${what} is gone`, async () => {
      const left = await kubectl("get", what, "-o", "name", ...args);
      return left.trim() === "" ? true : undefined;
    });
  const kinds = "crd,clusterrole,clusterrolebinding,validatingwebhookconfiguration,namespace";
  await gone(kinds, "-l", `app.kubernetes.io/part-of=${NAME}`);
  const own = "deployment,service,serviceaccount,configmap,secret,ingress,networkpolicy,hpa,pdb";
  await gone(own, "-n", PLACE, "-l", `app.kubernetes.io/managed-by=${NAME}`);
  const claims = await kubectl("get", "pvc", "-n", PLACE, "-o", "name");
  strictEqual(claims.trim(), "persistentvolumeclaim/edited-pvc");
});

/** As OpenShift chooses one. */
const asAnotherUser = { spec: { template: { spec: { securityContext: { runAsUser: 1_000_680_000 } } } } };

/** The garbage collector discovers kinds every 30 s, and leaves the objects of a kind that it never knew. */
const DISCOVERED_MS = 60_000;

const collectorKnowsKind = async (): Promise<void> => {
  const created = await kubectl("get", "crd", CRD_NAME, "-o", "jsonpath={.metadata.creationTimestamp}");
  const leftMs = DISCOVERED_MS - (Date.now() - Date.parse(created));
  await pause(Math.max(0, leftMs));
};

const PLACE = "life-of-the-operator";

const EDIT_EVERY_MS = 300;

/** No pods: an edit is seen in the Deployment. */
const edit = (count: number): Promise<string> =>
  kubectlWith(
    {
      apiVersion: "llamastack.io/v1alpha2",
      kind: "LlamaStackDistribution",
      metadata: { name: "edited", namespace: PLACE },
      spec: {
        distribution: { name: "starter" },
        workload: {
          replicas: 0,
          storage: { size: "1Gi" },
          overrides: { env: [{ name: "EDIT", value: String(count) }] },
        },
      },
    },
    "apply",
    "--server-side",
    "-f",
    "-",
  );

const kubectl = (...args: ReadonlyArray<string>): Promise<string> => kubectlWith(undefined, ...args);

const kubectlWith = async (input: JsonObject | undefined, ...args: ReadonlyArray<string>): Promise<string> => {
  const { kubeconfig, kubectlPath } = readSession();
  const stdin = input === undefined ? undefined : JSON.stringify(input);
  const { code, stdout, stderr } = await ended(kubectlPath, ["--kubeconfig", kubeconfig, ...args], { stdin });
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
};
