/**
 * 29 resources that use every field of the Go operator 0.9, with its flag for NetworkPolicies off, on a real API server: what
 * this operator changes at once, and what it does with templates that contain a variable twice.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { isObject, type Json, type JsonObject, listAt, objectAt, omit, stringAt } from "../../core/data/json.ts";
import { RECORD_ANNOTATIONS } from "../../core/snapshot/record.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { cli } from "./compiled_command.ts";
import { GO_FILES, goObjects } from "../go_operator_objects.ts";
import { eventually, unchanged } from "../waiting.ts";
import { goDefinition } from "./go_operator.ts";
import { startOperator } from "./operator.ts";
import { read } from "./settled.ts";
import { installWithWebhooks, startWebhooks } from "./webhooks.ts";

const RESOURCES = "llamastackdistributions";
/** kubectl may remember that only v1alpha1 is served. */
const RESOURCE_V2 = "llamastackdistributions.v1alpha2.llamastack.io";
/** Rejected until the operator's settings allow what they ask for, or the resource is changed. */
const REFUSED = ["team-a/r09", "team-a/r22", "team-a/r23"];

Deno.test("servers with every field of the Go operator are adopted, or say why not, without a restart or a new NetworkPolicy", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const webhooks = await startWebhooks(cluster);
  try {
    await installDefinition(cluster, goDefinition() as unknown as Definition);
    await load(cluster);
    const names = goObjects(RESOURCES).map((object) => `${place(object)}/${nameOf(object)}`);
    const templates = async () =>
      new Map(await Promise.all(names.map(async (key) => [key, templateOf(await deployment(cluster, key))] as const)));
    const before = await templates();
    await t.step("takeover-check says the same before, and writes nothing", async () => {
      // The controllers of Kubernetes fill new namespaces and bind claims meanwhile.
      const written = await unchanged(() => contents(cluster));
      const { code, stdout, stderr } = await cli(cluster, ["takeover-check", "-o", "json"]);
      strictEqual(code, 0, stderr);
      const found = listAt(JSON.parse(stdout), "resources").filter(isObject);
      deepStrictEqual(found.map((one) => one.resource).sort(), names.toSorted());
      deepStrictEqual(found.filter((one) => one.state === "refused").map((one) => one.resource).sort(), REFUSED);
      const paths = found.flatMap((one) => listAt(one, "now")).flatMap((step) => listAt(step, "changes"))
        .map((change) => stringAt(change, "path") ?? "");
      deepStrictEqual(paths.filter((path) => path.startsWith("spec.template")), []);
      const text = await cli(cluster, ["takeover-check", "-n", "team-odh"]);
      match(text.stdout, /2 resources: pods of 0 restart, connections of 0 close, 0 not adopted/);
      strictEqual((await cli(cluster, ["takeover-check", "extra"])).code, 2);
      deepStrictEqual(await contents(cluster), written);
    });
    await t.step("takeover-check exits with 1 where a NetworkPolicy would be created", async () => {
      await cluster.kubectl(["create", "namespace", "llama-stack-operator-system"]);
      const settings = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "llama-stack-operator-config", namespace: "llama-stack-operator-system" },
        data: { featureFlags: "enableNetworkPolicy: {enabled: true}" },
      };
      await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(settings));
      const args = ["takeover-check", "--operator-namespace", "llama-stack-operator-system"];
      const { code, stdout } = await cli(cluster, args);
      strictEqual(code, 1);
      match(stdout, /NetworkPolicy r01-network-policy is created/);
      await cluster.kubectl(["delete", "namespace", "llama-stack-operator-system"]);
    });
    await t.step(
      "takeover-check shows a resource that is too large for the cache of the operator, and the others",
      async () => {
        const [namespace = "", name = ""] = (names.find((key) => key.startsWith("team-odh/")) ?? "").split("/");
        const annotation = (
          value: string,
        ) => ["annotate", "-n", namespace, RESOURCES, name, `example.com/large${value}`];
        await cluster.kubectl(annotation(`=${"x".repeat(100_000)}`));
        const { code, stdout, stderr } = await cli(cluster, ["takeover-check", "-n", namespace]);
        strictEqual(code, 0, stderr);
        match(stdout, /2 resources: pods of 0 restart/);
        await cluster.kubectl(annotation("-"));
      },
    );
    await installWithWebhooks(cluster, webhooks);
    const operator = await startOperator(cluster, { install: false });
    try {
      await t.step("every resource is reconciled, and no template is changed", async () => {
        for (const key of names) {
          await eventually(`${key} was reconciled`, async () => {
            // Before its definition is installed, v1alpha2 is not served.
            const found = await resource(cluster, key).catch(() => null);
            return listAt(found, "status", "conditions").length > 0 ? true : undefined;
          });
          if (REFUSED.includes(key)) continue;
          await eventually(
            `${key} is adopted`,
            async () =>
              stringAt(await deployment(cluster, key), "metadata", "annotations", RECORD_ANNOTATIONS.template),
          );
        }
        deepStrictEqual(await templates(), before);
      });

      await t.step("there is no NetworkPolicy", async () => {
        deepStrictEqual(listAt(await read(cluster, "/apis/networking.k8s.io/v1/networkpolicies"), "items"), []);
      });

      await t.step("those that are not adopted say whose template they run under", async () => {
        for (const key of REFUSED) {
          const message = await eventually(
            `${key} says so`,
            async () =>
              listAt(await resource(cluster, key), "status", "conditions")
                .map((item) => stringAt(item, "reason") === "NotAdopted" ? stringAt(item, "message") : undefined)
                .find((text) => text !== undefined),
          );
          match(message, /runs under another operator's template/);
        }
      });

      await t.step("the next template has each variable once, and not those that the resource dropped", async () => {
        strictEqual(env(await deployment(cluster, "team-a/r20")).filter((name) => name === "HF_HOME").length, 2);
        const edit = { spec: { workload: { overrides: { env: [{ name: "HF_HOME", value: "/hf" }] } } } };
        await cluster.kubectl([
          "patch",
          RESOURCE_V2,
          "r20",
          "-n",
          "team-a",
          "--type=merge",
          "-p",
          JSON.stringify(edit),
        ]);
        const found = await eventually("the operator's template", async () => {
          const live = await deployment(cluster, "team-a/r20");
          return env(live).includes("LLAMA_STACK_CONFIG") ? undefined : env(live);
        });
        strictEqual(new Set(found).size, found.length, found.join());
        ok(found.includes("HF_HOME"));
        ok(!found.includes("LLS_PORT"), found.join());
      });

      await t.step("an edit of allowedFrom creates the NetworkPolicy", async () => {
        const edit = { spec: { networking: { allowedFrom: { namespaces: ["team-c"] } } } };
        await cluster.kubectl([
          "patch",
          RESOURCE_V2,
          "r16",
          "-n",
          "team-a",
          "--type=merge",
          "-p",
          JSON.stringify(edit),
        ]);
        const policies = await eventually("a policy", async () => {
          const { items } = await read(cluster, "/apis/networking.k8s.io/v1/networkpolicies");
          return listAt({ items: items ?? [] }, "items").length > 0
            ? listAt({ items: items ?? [] }, "items")
            : undefined;
        });
        deepStrictEqual(policies.map((policy) => stringAt(policy, "metadata", "name")), ["r16-network-policy"]);
      });
    } finally {
      await operator.stop();
    }
  } finally {
    await webhooks.stop();
    await cluster.stop();
  }
});

const place = (object: JsonObject): string => stringAt(object, "metadata", "namespace") ?? "";
const nameOf = (object: JsonObject): string => stringAt(object, "metadata", "name") ?? "";
const templateOf = (object: JsonObject): Json => objectAt(object, "spec", "template");
const env = (object: JsonObject): ReadonlyArray<string> =>
  listAt(listAt(object, "spec", "template", "spec", "containers")[0], "env").map((item) =>
    stringAt(item, "name") ?? ""
  );

const deployment = (cluster: ControlPlane, key: string): Promise<JsonObject> => {
  const [namespace, name] = key.split("/");
  return read(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
};
const resource = (cluster: ControlPlane, key: string): Promise<JsonObject> => {
  const [namespace, name] = key.split("/");
  return read(cluster, `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/${RESOURCES}/${name}`);
};

/** Every object that a command could write; Kubernetes itself writes their status meanwhile. */
const contents = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const kinds = "deployment,service,serviceaccount,pvc,configmap,secret,networkpolicy,hpa,pdb,ingress,llsd,crd";
  const found = JSON.parse(await cluster.kubectl(["get", kinds, "--all-namespaces", "-o", "json"]));
  return listAt(found, "items").filter(isObject).map(({ kind, metadata, spec, data }) => {
    const { name, namespace, uid, labels, ownerReferences } = objectAt(metadata ?? null);
    // The autoscalers among them are at work.
    const { replicas: _, ...kept } = objectAt(spec ?? null);
    return JSON.stringify({ kind, namespace, name, uid, labels, ownerReferences, spec: kept, data });
  }).sort();
};

/** As the Go operator made them: created by it, with the resource as owner. */
const load = async (cluster: ControlPlane): Promise<void> => {
  const uids = new Map<string, string>();
  const files = [RESOURCES, ...GO_FILES.filter((file) => file !== "networkpolicies")];
  for (const namespace of ["team-a", "team-b", "team-odh", "llama-stack-k8s-operator-system"]) {
    await cluster.kubectl(["create", "namespace", namespace]);
  }
  await cluster.kubectl(["create", "secret", "generic", "tok", "-n", "team-a", "--from-literal=token=t"]);
  for (const file of files) {
    for (const recorded of goObjects(file)) {
      const owners = listAt(recorded, "metadata", "ownerReferences").filter(isObject)
        .map((owner) => ({ ...owner, uid: uids.get(`${place(recorded)}/${owner.name}`) ?? "" }));
      const metadata = {
        ...omit(objectAt(recorded, "metadata"), "uid"),
        ...(owners.length === 0 ? {} : { ownerReferences: owners }),
      };
      const spec = omit(objectAt(recorded, "spec"), "clusterIP", "clusterIPs", "volumeName");
      const body = { ...recorded, metadata, ...(Object.hasOwn(recorded, "spec") ? { spec } : {}) };
      const group = String(recorded.apiVersion).includes("/")
        ? `/apis/${recorded.apiVersion}`
        : `/api/${recorded.apiVersion}`;
      const path = `${group}/namespaces/${place(recorded)}/${file}?fieldManager=manager`;
      const answer = await cluster.fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const made = await answer.json() as JsonObject;
      ok(answer.ok || answer.status === 409, `${path}: ${made.message}`);
      if (file === RESOURCES) {
        uids.set(`${place(recorded)}/${nameOf(recorded)}`, stringAt(made, "metadata", "uid") ?? "");
      }
    }
  }
};
