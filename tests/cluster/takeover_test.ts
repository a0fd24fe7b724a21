/**
 * A cluster that ran the Go operator 0.9 until now: its recorded objects (tests/fixtures) on a real API server with
 * simulated nodes, then this operator. No pod restarts without a request, field ownership changes once, then nothing is
 * written.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { RECORD_ANNOTATIONS } from "../../core/snapshot/record.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { CRD_PATH } from "../../core/operator/stored_versions.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { GO_NAMES, goDefinition, loadGoObjects } from "./go_operator.ts";
import { startOperator } from "./operator.ts";
import { isObserved, read } from "./settled.ts";
import { installWithWebhooks, startWebhooks } from "./webhooks.ts";
import { eventually, KUBECTL_LIMIT, unchanged } from "../waiting.ts";

Deno.test("objects of the Go operator are adopted on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const webhooks = await startWebhooks(cluster);
  try {
    await installDefinition(cluster, goDefinition() as unknown as Definition);
    await networkPoliciesOn(cluster);
    const before = new Map<string, Json>();
    for (const place of ["floating", "pinned"] as const) {
      await cluster.kubectl(["create", "namespace", place]);
      await loadGoObjects(cluster, place, place);
      for (const name of GO_NAMES) {
        await eventually(`${place}/${name} runs`, async () => {
          const { status } = await deployment(cluster, place, name);
          return Number(objectAt(status ?? null).availableReplicas ?? 0) > 0 ? true : undefined;
        });
        before.set(`${place}/${name}`, templateOf(await deployment(cluster, place, name)));
      }
    }
    await installWithWebhooks(cluster, webhooks);
    const operator = await startOperator(cluster, { install: false });
    try {
      await t.step("the settings of the Go operator are copied before the first reconciliation", async () => {
        const { data } = await eventually("the copy", async () => {
          const found = await read(cluster, `/api/v1/namespaces/default/configmaps/${SETTINGS_CONFIG_MAP}`);
          return found.data === undefined ? undefined : found;
        });
        deepStrictEqual(data as JsonObject, { featureFlags: "enableNetworkPolicy:\n  enabled: true\n" });
        // It follows the copy.
        await eventually("the Event", async () => {
          const events = await read(cluster, "/apis/events.k8s.io/v1/namespaces/default/events");
          return listAt(events, "items").some((event) => stringAt(event, "reason") === "SettingsCopied")
            ? true
            : undefined;
        });
      });

      await t.step("templates of own images and of the pinned image are unchanged byte for byte", async () => {
        for (const [place, names] of [["floating", ["custom-config"]], ["pinned", GO_NAMES]] as const) {
          for (const name of names) {
            const live = await eventually(`${place}/${name} is taken over`, async () => {
              const object = await deployment(cluster, place, name);
              return annotation(object, RECORD_ANNOTATIONS.template) === undefined ? undefined : object;
            });
            deepStrictEqual(templateOf(live), before.get(`${place}/${name}`), `${place}/${name}`);
          }
        }
      });

      await t.step(
        "a floating tag of a server whose version is unknown stays, until somebody names the version",
        async () => {
          for (const name of GO_NAMES) {
            await eventually(
              `floating/${name} is observed`,
              async () => isObserved(await read(cluster, `${RESOURCES("floating")}/${name}`)) || undefined,
            );
            const live = await deployment(cluster, "floating", name);
            deepStrictEqual(templateOf(live), before.get(`floating/${name}`), name);
          }
          // Its workers need a generated config, and that the version.
          await eventually("scaled says what it needs", async () => {
            const list = listAt(await read(cluster, `${RESOURCES("floating")}/scaled`), "status", "conditions");
            return list.some((item) =>
              stringAt(item, "message")?.includes("unknown server version; set spec.distribution.")
            );
          });
          const version = JSON.stringify({ spec: { distribution: { serverVersion: "0.7.1" } } });
          await cluster.kubectl(["patch", "llsd", "scaled", "-n", "floating", "--type=merge", "-p", version]);
          const named = await eventually("scaled has the operator's template", async () => {
            const live = await deployment(cluster, "floating", "scaled");
            return annotation(live, RECORD_ANNOTATIONS.template) === undefined ? undefined : live;
          });
          match(JSON.stringify(templateOf(named)), /"image":"[^"]*distribution-starter:latest"/);
        },
      );

      await t.step("the resources say what is held, and are ready", async () => {
        for (const name of GO_NAMES) {
          const conditions = await eventually(`${name} is ready`, async () => {
            const resource = await read(cluster, `${RESOURCES("pinned")}/${name}`);
            const list = listAt(resource, "status", "conditions");
            return list.some((value) => stringAt(value, "type") === "Ready" && stringAt(value, "status") === "True")
              ? list
              : undefined;
          });
          ok(conditions.some((condition) => stringAt(condition, "type") === "TemplateHeld"), name);
        }
      });

      await t.step("kubectl wait and kubectl get work in v1alpha1 as with the Go operator", async () => {
        const kind = "llamastackdistributions.v1alpha1.llamastack.io";
        const waited = ["wait", "--for=condition=DeploymentReady", KUBECTL_LIMIT, "-n", "pinned"];
        for (const name of GO_NAMES) {
          // As scripts name it: by the kind in the singular, with the version.
          const said = await cluster.kubectl([...waited, `llamastackdistribution.v1alpha1.llamastack.io/${name}`]);
          strictEqual(said.trim(), `llamastackdistribution.llamastack.io/${name} condition met`);
        }
        const available = (name: string) => name === "custom-config" ? 2 : 1;
        // One pod is enough to be ready.
        for (const name of GO_NAMES) {
          await eventually(`all pods of ${name} are available`, async () => {
            const { status } = await read(cluster, `${RESOURCES("pinned")}/${name}`);
            return objectAt(status ?? null).availableReplicas === available(name) || undefined;
          });
        }
        const [heading = "", ...rows] = (await cluster.kubectl(["get", kind, "-n", "pinned"])).trimEnd().split("\n");
        // A cell starts below its title; the server version is empty, since simulated pods answer no request.
        const cells = (row: string) =>
          ["NAME", "PHASE", "OPERATOR VERSION", "SERVER VERSION", "AVAILABLE"]
            .map((title) => row.slice(heading.indexOf(title)).split(" ")[0]);
        deepStrictEqual(
          rows.map(cells),
          GO_NAMES.map((name) => [name, "Ready", OPERATOR_VERSION, "", `${available(name)}`]),
        );
      });

      await t.step("the resources are stored in v1alpha2 only", async () => {
        await eventually("the former version is left behind", async () => {
          const crd = await read(cluster, CRD_PATH);
          return listAt(crd, "status", "storedVersions").join() === "v1alpha2" ? true : undefined;
        });
      });

      await t.step(
        "the operator owns every field, the claim has no owner, and nothing is written at rest",
        async () => {
          let seen: ReadonlyArray<JsonObject> = [];
          await unchanged(async () => versions(seen = await objects(cluster)));
          const foreign = seen.flatMap((object) =>
            listAt(object, "metadata", "managedFields")
              .filter((entry) => stringAt(entry, "subresource") === undefined)
              .map((entry) => `${object.kind} ${stringAt(object, "metadata", "name")}: ${stringAt(entry, "manager")}`)
              .filter((line) => /: (go-operator|custom-config|plain|scaled|stored)$/.test(line))
          );
          // Pods of the template that is held mount the bundle of the Go operator.
          deepStrictEqual(new Set(foreign), new Set(["ConfigMap custom-config-ca-bundle: go-operator"]));
          const claims = seen.filter(({ kind }) => kind === "PersistentVolumeClaim");
          strictEqual(claims.length, 2);
          for (const claim of claims) deepStrictEqual(listAt(claim, "metadata", "ownerReferences"), []);
        },
      );

      await t.step("an edit of a held resource rolls out the operator's template", async () => {
        await cluster.kubectl(["patch", "llsd", "plain", "-n", "pinned", "--type=merge", "-p", EDIT]);
        await eventually("our template", async () => {
          const value = templateOf(await deployment(cluster, "pinned", "plain"));
          return JSON.stringify(value).includes('"EDITED"') ? true : undefined;
        });
      });
    } finally {
      await operator.stop();
    }
  } finally {
    await webhooks.stop();
    await cluster.stop();
  }
});

const EDIT = JSON.stringify({ spec: { workload: { overrides: { env: [{ name: "EDITED", value: "1" }] } } } });

/** As the Go operator was set when it was recorded. */
const networkPoliciesOn = async (cluster: ControlPlane): Promise<void> => {
  const namespace = "llama-stack-k8s-operator-system";
  const rbac = "rbac.authorization.k8s.io";
  for (
    const object of [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name: "llama-stack-k8s-operator-manager-rolebinding" },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "llama-stack-k8s-operator-manager-role" },
        subjects: [{ kind: "ServiceAccount", name: "llama-stack-k8s-operator-controller-manager", namespace }],
      },
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: SETTINGS_CONFIG_MAP, namespace },
        data: { featureFlags: "enableNetworkPolicy:\n  enabled: true\n" },
      },
    ]
  ) await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(object));
};

const RESOURCES = (namespace: string) => `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions`;

const deployment = (cluster: ControlPlane, namespace: string, name: string): Promise<JsonObject> =>
  read(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);

const templateOf = (object: JsonObject): Json => objectAt(object, "spec", "template");
const annotation = (object: JsonObject, name: string) => stringAt(object, "metadata", "annotations", name);

/** All that carries our label, and the resources. */
const objects = async (cluster: ControlPlane): Promise<ReadonlyArray<JsonObject>> => {
  const kinds = "deployment,service,serviceaccount,pvc,configmap,networkpolicy,hpa,pdb,ingress";
  const found = await Promise.all(["floating", "pinned"].flatMap((namespace) => [
    cluster.kubectl(
      ["get", kinds, "-n", namespace, "-l", "app.kubernetes.io/managed-by=llama-stack-operator"]
        .concat("--show-managed-fields", "-o", "json"),
    ),
    cluster.kubectl(["get", "llsd", "-n", namespace, "-o", "json"]),
  ]));
  return found.flatMap((text) => listAt(JSON.parse(text), "items")).filter(isObject);
};

const versions = (list: ReadonlyArray<JsonObject>): string =>
  list.map((object) =>
    `${object.kind} ${stringAt(object, "metadata", "uid")} ${stringAt(object, "metadata", "resourceVersion")}`
  )
    .sort().join("\n");
