/** The component write-guard on a real API server: what it lets the operator do, and what it keeps it from. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { CRD_NAME } from "../../core/api/crd.ts";
import { DEFAULT } from "../../tools/package/choices.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { AUTHORITY_SECRET, HMAC_SECRET } from "../../core/api/own_objects.ts";
import { configMapsOf, templateSpec } from "../../core/resources/pod_spec.ts";
import { RECORD_ANNOTATIONS } from "../../core/snapshot/record.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { GO_NAMES, loadGoObjects } from "./go_operator.ts";
import { BARE, exerciseServer, install, isReady, own, prepare, refused, running, write } from "./operator_account.ts";
import { read } from "./settled.ts";
import { installWithWebhooks, startWebhooks } from "./webhooks.ts";
import { eventually } from "../waiting.ts";

const COMPONENT = fileURLToPath(new URL("../../deploy/kustomize/components/write-guard/", import.meta.url));
const POLICY = `${NAME}-write-guard`;

const TENANT = "tenant";

Deno.test("the write guard allows the operator's writes and protects everything else on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled", audit: true });
  try {
    await prepare(cluster, [TENANT]);
    await install(cluster, DEFAULT);
    const token = (await cluster.kubectl(["create", "token", NAME, "-n", NAMESPACE])).trim();
    await guard(cluster, token);

    await t.step("the API server finds no type error in its expressions", async () => {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${POLICY}`;
      const policy = await eventually("the policy is checked", async () => {
        const found = await read(cluster, path);
        return Object.hasOwn(objectAt(found, "status"), "typeChecking") ? found : undefined;
      });
      deepStrictEqual(listAt(policy, "status", "typeChecking", "expressionWarnings"), []);
    });

    await t.step(
      "the operator makes, changes and deletes the objects of a server, and makes its own Secrets",
      async () => {
        const operator = await running(cluster, DEFAULT);
        try {
          await exerciseServer(cluster, "server", TENANT);
          await write(cluster, "kept", BARE, TENANT);
          await isReady(cluster, "kept", 0, TENANT);
        } finally {
          await operator.stop();
        }
        const secrets = await cluster.kubectl(["get", "secrets", "-n", NAMESPACE, "-o", "name"]);
        for (const name of [HMAC_SECRET, AUTHORITY_SECRET]) ok(secrets.includes(`secret/${name}`), name);
      },
    );

    await t.step(
      "it adopts the objects of an older operator, and those that a backup restored without owners",
      async () => {
        const webhooks = await startWebhooks(cluster);
        // The operator of the step before had the CRD call its Service, which nobody serves here.
        const uncalled = JSON.stringify([{ op: "replace", path: "/spec/conversion", value: { strategy: "None" } }]);
        await cluster.kubectl(["patch", "customresourcedefinition", CRD_NAME, "--type=json", "-p", uncalled]);
        await installWithWebhooks(cluster, webhooks);
        await cluster.kubectl(["create", "namespace", "adopted"]);
        await loadGoObjects(cluster, "adopted", "floating");
        // As a release that labelled nothing: the owner alone tells whose they are.
        for (const object of ["deployment/plain", "service/stored-service", "serviceaccount/plain-sa"]) {
          await cluster.kubectl(["label", object, "-n", "adopted", "app.kubernetes.io/managed-by-"]);
        }
        // As after a restore from a backup that left owners out.
        const orphans = ["deployment/kept", "service/kept-service", await configOf(cluster, "kept")];
        const ownerless = JSON.stringify({ metadata: { ownerReferences: null } });
        for (const object of orphans) {
          await cluster.kubectl(["patch", object, "-n", TENANT, "--type=merge", "-p", ownerless]);
        }
        // It needs a generated config, and a floating tag does not say of which version its server is.
        const version = JSON.stringify({ spec: { distribution: { serverVersion: "0.7.1" } } });
        await cluster.kubectl(["patch", "llsd", "scaled", "-n", "adopted", "--type=merge", "-p", version]);
        const operator = await running(cluster, { ...DEFAULT, webhooks: false });
        try {
          // The template of a config of its own, on a floating tag, stays without a record until somebody edits the resource.
          for (const name of GO_NAMES.filter((text) => text !== "custom-config")) {
            await eventually(`${name} is adopted`, async () => {
              const live = await read(cluster, `/apis/apps/v1/namespaces/adopted/deployments/${name}`);
              return stringAt(live, "metadata", "annotations", RECORD_ANNOTATIONS.template) === undefined
                ? undefined
                : true;
            });
          }
          await eventually("every orphan has an owner again", async () => {
            const found = await cluster.kubectl(["get", ...orphans, "-n", TENANT, "-o", "json"]);
            return listAt(JSON.parse(found), "items").every((item) =>
                listAt(item, "metadata", "ownerReferences").length === 1
              )
              ? true
              : undefined;
          });
          await eventually("every object is labelled", async () => {
            const unlabelled = [
              "-n",
              "adopted",
              "-l",
              "app.kubernetes.io/managed-by!=llama-stack-operator",
              "-o",
              "name",
            ];
            const left = await cluster.kubectl(["get", "deployments,services,serviceaccounts", ...unlabelled]);
            return left.trim() === "serviceaccount/default" ? true : undefined;
          });
        } finally {
          await operator.stop();
          await webhooks.stop();
        }
      },
    );

    await t.step("the API server denied none of its requests", async () => {
      const events = (await own(cluster, 0)).filter(({ requestURI }) => !requestURI.includes(PROBE));
      ok(
        events.filter(({ verb, responseStatus }) => verb === "patch" && responseStatus?.code === 200).length > 30,
      );
      deepStrictEqual(refused(events), []);
    });

    const asOperator = (method: string, path: string, body?: JsonObject) => sent(cluster, token, method, path, body);
    await t.step("with the operator's token, objects that belong to no resource cannot be written", async () => {
      await foreignObjects(cluster);
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
      const deployment = { spec: { selector: { matchLabels: { a: "b" } }, template } };
      const owner = await ownerOf(cluster, "kept");
      const own = { "app.kubernetes.io/managed-by": NAME };
      const rows: ReadonlyArray<readonly [string, string, string, JsonObject | undefined]> = [
        ["create a Secret", "POST", SECRETS, named("Secret", "stolen", {})],
        ["create a labelled Secret", "POST", SECRETS, named("Secret", "x-sql-0123abcd", { labels: own })],
        [
          "create an owned Secret of another name",
          "POST",
          SECRETS,
          named("Secret", "kept-token", { labels: own, ownerReferences: [owner] }),
        ],
        [
          "create an owned Secret whose name only begins like one",
          "POST",
          SECRETS,
          named("Secret", "kept-sql-0123abcd-token", { labels: own, ownerReferences: [owner] }),
        ],
        [
          "create a connection Secret of another resource",
          "POST",
          SECRETS,
          named("Secret", "other-sql-0123abcd", { labels: own, ownerReferences: [owner] }),
        ],
        [
          "create a connection Secret without the label",
          "POST",
          SECRETS,
          named("Secret", "kept-sql-0123abcd", { ownerReferences: [owner] }),
        ],
        [
          "create a connection Secret that would receive the token of an account",
          "POST",
          SECRETS,
          {
            ...named("Secret", "kept-sql-0123abcd", {
              labels: own,
              ownerReferences: [owner],
              annotations: { "kubernetes.io/service-account.name": "default" },
            }),
            type: "kubernetes.io/service-account-token",
          },
        ],
        ["apply a Secret that somebody else made", "PATCH", `${SECRETS}/foreign`, { data: { key: btoa("other") } }],
        [
          "label and own a Secret that somebody else made",
          "PATCH",
          `${SECRETS}/kept-kv`,
          { metadata: { labels: own, ownerReferences: [owner] } },
        ],
        ["delete a Secret that somebody else made", "DELETE", `${SECRETS}/foreign`, undefined],
        [
          "create one of the operator's Secrets in another namespace",
          "POST",
          SECRETS,
          named("Secret", HMAC_SECRET, { labels: own }),
        ],
        [
          "delete the operator's own Secret",
          "DELETE",
          `/api/v1/namespaces/${NAMESPACE}/secrets/${HMAC_SECRET}`,
          undefined,
        ],
        [
          "create a ConfigMap",
          "POST",
          CONFIG_MAPS,
          named("ConfigMap", "kept-config-0123abcg", {
            labels: own,
            ownerReferences: [owner],
          }),
        ],
        [
          "create a ConfigMap of a longer name",
          "POST",
          CONFIG_MAPS,
          named("ConfigMap", "kept-config-0123abcd0", {
            labels: own,
            ownerReferences: [owner],
          }),
        ],
        ["change a ConfigMap that somebody else made", "PATCH", `${CONFIG_MAPS}/foreign`, { data: { key: "other" } }],
        ["delete a ConfigMap that somebody else made", "DELETE", `${CONFIG_MAPS}/foreign`, undefined],
        ["create a Deployment", "POST", DEPLOYMENTS, { ...named("Deployment", "new", { labels: own }), ...deployment }],
        ["change a Deployment that somebody else made", "PATCH", `${DEPLOYMENTS}/foreign`, { spec: { paused: true } }],
        [
          "take the label from a Service of a resource",
          "PATCH",
          `/api/v1/namespaces/${TENANT}/services/kept-service`,
          { metadata: { labels: { "app.kubernetes.io/managed-by": null } } },
        ],
        [
          "take the owner from a Service of a resource",
          "PATCH",
          `/api/v1/namespaces/${TENANT}/services/kept-service`,
          { metadata: { ownerReferences: null } },
        ],
        [
          "create a claim without the label",
          "POST",
          `/api/v1/namespaces/${TENANT}/persistentvolumeclaims`,
          {
            ...named("PersistentVolumeClaim", "claim", {}),
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      ];
      for (const [what, method, path, body] of rows) {
        const { status, message } = await asOperator(method, path, body);
        strictEqual(status, 403, `${what}: ${status} ${message}`);
        match(message, new RegExp(`ValidatingAdmissionPolicy '${POLICY}'`), what);
      }
    });

    await t.step("with the operator's token its own objects can be written, and others write as before", async () => {
      const owner = await ownerOf(cluster, "kept");
      const mine = { labels: { "app.kubernetes.io/managed-by": NAME }, ownerReferences: [owner] };
      const rows: ReadonlyArray<readonly [string, string, JsonObject | undefined]> = [
        ["POST", SECRETS, named("Secret", "kept-sql-0123abcd", mine)],
        ["POST", CONFIG_MAPS, named("ConfigMap", "kept-config-0123abcd", mine)],
        ["POST", SECRETS, named("Secret", "kept-kv-0123abcd", mine)],
        ["POST", CONFIG_MAPS, named("ConfigMap", "kept-ca-bundle-0123abcd", mine)],
        ["DELETE", `${CONFIG_MAPS}/kept-config-0123abcd`, undefined],
        ["DELETE", `${SECRETS}/kept-sql-0123abcd`, undefined],
        ["PATCH", `${DEPLOYMENTS}/kept`, { spec: { replicas: 3 } }],
      ];
      for (const [method, path, body] of rows) {
        const { status, message } = await asOperator(method, path, body);
        ok(status < 300, `${method} ${path}: ${message}`);
      }
      const admin = await sent(cluster, cluster.adminToken, "DELETE", `${SECRETS}/foreign`);
      strictEqual(admin.status, 200, admin.message);
    });
  } finally {
    await cluster.stop();
  }
});

const SECRETS = `/api/v1/namespaces/${TENANT}/secrets`;
const CONFIG_MAPS = `/api/v1/namespaces/${TENANT}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${TENANT}/deployments`;

/** Name of the Secret by which the test learns that the policy is in force. */
const PROBE = "is-the-guard-there";

/** As it is shipped; the API server follows policies some moments later. */
const guard = async (cluster: ControlPlane, token: string): Promise<void> => {
  for await (const { name } of Deno.readDir(COMPONENT)) {
    if (name !== "kustomization.yaml") {
      await cluster.kubectl(["apply", "--validate=strict", "-f", `${COMPONENT}${name}`]);
    }
  }
  const path = `${SECRETS}?dryRun=All&fieldManager=${PROBE}`;
  await eventually("the policy is in force", async () => {
    const { status } = await sent(cluster, token, "POST", path, named("Secret", PROBE, {}));
    return status === 403 ? true : undefined;
  });
};

const named = (kind: string, name: string, metadata: JsonObject): JsonObject => ({
  apiVersion: kind === "Deployment" ? "apps/v1" : "v1",
  kind,
  metadata: { name, ...metadata },
});

const sent = async (cluster: ControlPlane, token: string, method: string, path: string, body?: JsonObject) => {
  const client = Deno.createHttpClient({ caCerts: [cluster.caPem] });
  try {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const answer = await fetch(`${cluster.url}${path}`, {
      method,
      client,
      headers: { authorization: `Bearer ${token}`, "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await answer.json() as JsonObject;
    return { status: answer.status, message: stringAt(said, "message") ?? "" };
  } finally {
    client.close();
  }
};

/** Made by the administrator; `kept-kv` has a name that the operator could use. */
const foreignObjects = async (cluster: ControlPlane): Promise<void> => {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const objects = [
    named("Secret", "foreign", {}),
    named("Secret", "kept-kv", {}),
    named("ConfigMap", "foreign", {}),
    {
      ...named("Deployment", "foreign", {}),
      spec: { selector: { matchLabels: { a: "b" } }, template },
    },
  ];
  for (const object of objects) await cluster.kubectl(["apply", "-n", TENANT, "-f", "-"], JSON.stringify(object));
};

/** The ConfigMap that its pods run on. */
const configOf = async (cluster: ControlPlane, name: string): Promise<string> => {
  const found = await read(cluster, `${DEPLOYMENTS}/${name}`);
  const [config = ""] = configMapsOf(templateSpec(found));
  return `configmap/${config}`;
};

/** As the operator writes it. */
const ownerOf = async (cluster: ControlPlane, name: string): Promise<JsonObject> => {
  const resource = await read(
    cluster,
    `/apis/llamastack.io/v1alpha2/namespaces/${TENANT}/llamastackdistributions/${name}`,
  );
  return {
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    name,
    uid: stringAt(resource, "metadata", "uid") ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
};
