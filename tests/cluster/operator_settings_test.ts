/** What the operator takes from its settings and from the namespaces of servers, on a real API server. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type JsonObject, objectAt, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { TRUSTED_BUNDLE } from "../../core/snapshot/references.ts";
import { makeAuthority } from "../../shell/webhooks/certificate_maker.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { apply } from "./settled.ts";
import { eventually } from "../waiting.ts";

const HOUR_MS = 3_600_000;
const authority = async () =>
  (await makeAuthority({ notBeforeMs: Date.now() - HOUR_MS, notAfterMs: Date.now() + HOUR_MS })).certificate;
const bundle = (data: Record<string, string>): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: TRUSTED_BUNDLE, namespace: "default", labels: { "app.kubernetes.io/part-of": "opendatahub" } },
  data,
});

Deno.test("the operator follows its settings and the CA bundle of each namespace", async (t) => {
  const cluster = await startControlPlane();
  const first = await authority();
  const second = await authority();
  // Blank, as the cluster's own injector leaves it before it has run.
  await apply(cluster, bundle({ "ca-bundle.crt": first, "odh-ca-bundle.crt": "\n" }));
  await namesakeOfTheGoOperator(cluster);
  const operator = await startOperator(cluster);
  try {
    await apply(cluster, manifest({}));
    await apply(cluster, manifest({ networking: { tls: { caBundle: { configMapName: "own" } } } }, "own"));
    await t.step(
      "a server trusts the bundle of its namespace from the first reconciliation on, if its resource names none",
      async () => {
        await trusts(cluster, first);
        await eventually("the other one misses its own bundle", async () => {
          const status = JSON.stringify((await read(cluster, `${RESOURCES}/own`))?.status);
          return status.includes("ConfigMapNotFound") ? true : undefined;
        });
        const own = await read(cluster, "/apis/apps/v1/namespaces/default/deployments/own");
        strictEqual(own, undefined);
      },
    );
    await t.step("settings in a namespace that is only named like that of the Go operator are not copied", async () => {
      const path = "/api/v1/namespaces/default/configmaps/llama-stack-operator-config";
      strictEqual(await read(cluster, path), undefined);
    });
    await t.step("a new authority is trusted, and rolls the pods out", async () => {
      const template = async () => JSON.stringify(objectAt(await deployment(cluster), "spec", "template"));
      const before = await template();
      await apply(cluster, bundle({ "ca-bundle.crt": first, "odh-ca-bundle.crt": second }));
      await trusts(cluster, second);
      // The copy is written before the Deployment.
      await eventually("another template", async () => await template() !== before || undefined);
    });
    await t.step("invalid content is reported, and the running server is unchanged", async () => {
      const before = await deployment(cluster);
      await apply(cluster, bundle({ "ca-bundle.crt": "no certificate" }));
      await eventually("the failure", async () => {
        const status = JSON.stringify((await read(cluster, `${RESOURCES}/my`))?.status);
        return status.includes(`${TRUSTED_BUNDLE}/ca-bundle.crt`) ? true : undefined;
      });
      deepStrictEqual((await deployment(cluster)).spec, before.spec);
      await apply(cluster, bundle({ "ca-bundle.crt": second }));
    });
    await t.step("a bundle that appears later is trusted, and one that is deleted is not", async () => {
      await cluster.kubectl(["delete", "configmap", TRUSTED_BUNDLE, "-n", "default"]);
      await eventually("no bundle", async () => mounts(await deployment(cluster)) ? undefined : true);
      await apply(cluster, bundle({ "ca-bundle.crt": second }));
      await trusts(cluster, second);
    });
    await t.step("the administrator can turn it off", async () => {
      const settings = ["create", "configmap", "llama-stack-operator-config", "-n", "default"];
      await cluster.kubectl([...settings, "--from-literal=namespaceCaBundle=Ignore"]);
      await eventually("no bundle", async () => mounts(await deployment(cluster)) ? undefined : true);
    });
    await t.step("the default instance of the settings is created once, and not again after its deletion", async () => {
      const instance = "namespace: default\nname: first\nspec: {distribution: {name: starter}, suspend: true}\n";
      const settings = { kind: "ConfigMap", apiVersion: "v1", data: { defaultInstance: instance } };
      await apply(cluster, { ...settings, metadata: { name: "llama-stack-operator-config", namespace: "default" } });
      await eventually("the instance", async () => await read(cluster, `${RESOURCES}/first`));
      const path = "/api/v1/namespaces/default/secrets/llama-stack-operator-hmac";
      await eventually("the record", async () => {
        const secret = await read(cluster, path);
        return stringAt(secret ?? null, "metadata", "annotations", "llamastack.io/default-instance") ?? undefined;
      });
      await cluster.kubectl(["delete", "llsd", "first", "-n", "default"]);
      // As `kubectl replace` of an old file does: whatever the settings carried is gone.
      await cluster.kubectl(["delete", "configmap", "llama-stack-operator-config", "-n", "default"]);
      await apply(cluster, { ...settings, metadata: { name: "llama-stack-operator-config", namespace: "default" } });
      await operator.stop();
      const next = await startOperator(cluster, { install: false });
      try {
        await apply(cluster, manifest({}, "later"));
        await eventually("a reconciliation", async () => await read(cluster, `${DEPLOYMENTS}/later`));
        strictEqual(await read(cluster, `${RESOURCES}/first`), undefined);
      } finally {
        await next.stop();
      }
    });
  } finally {
    await operator.stop();
    await cluster.stop();
  }
});

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
/** A tenant may create a namespace of that name, but no ClusterRoleBinding: the operator must not copy these settings. */
const namesakeOfTheGoOperator = async (cluster: ControlPlane): Promise<void> => {
  const namespace = "llama-stack-k8s-operator-system";
  const overrides = "image-overrides=starter: registry.example.com/mine:1";
  await cluster.kubectl(["create", "namespace", namespace]);
  await cluster.kubectl(["create", "configmap", SETTINGS_CONFIG_MAP, "-n", namespace, `--from-literal=${overrides}`]);
};

const RESOURCES = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions";

const read = async (cluster: ControlPlane, path: string): Promise<JsonObject | undefined> => {
  const answer = await cluster.fetch(path);
  const body = await answer.json() as JsonObject;
  return answer.ok ? body : undefined;
};
const deployment = async (cluster: ControlPlane): Promise<JsonObject> =>
  await read(cluster, "/apis/apps/v1/namespaces/default/deployments/my") ?? {};
const mounts = (object: JsonObject): boolean => JSON.stringify(object.spec ?? null).includes("my-ca-bundle");

const trusts = (cluster: ControlPlane, certificate: string): Promise<true> =>
  eventually("the authority is trusted", async () => {
    const name = /"(my-ca-bundle-[0-9a-f]{8})"/.exec(JSON.stringify((await deployment(cluster)).spec ?? null))?.[1];
    const copy = await read(cluster, `/api/v1/namespaces/default/configmaps/${name}`);
    const text = stringAt(copy ?? null, "data", "ca-bundle.crt") ?? "";
    return text.includes(certificate.trim()) ? true : undefined;
  });
