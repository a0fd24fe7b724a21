/** Base configs from the labels of images in other registries than Debian's, on a real API server (other_registries.ts). */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { type OperatorProcess, startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import { type OtherRegistry, startDistribution, startNginx, startZot } from "./other_registries.ts";
import { digestOf, layerWith, NAME, pushIndex } from "./protected_registry.ts";
import { apply, condition, imageOf, isObserved, read, RESOURCES } from "./settled.ts";
import { eventually } from "../waiting.ts";

const STARTER = await Deno.readTextFile(new URL("../../configs/bases/starter-1.5.yaml", import.meta.url));
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const KINDS: ReadonlyArray<readonly [name: string, start: (folder: string) => Promise<OtherRegistry>]> = [
  ["distribution", startDistribution],
  ["zot", startZot],
  ["nginx", startNginx],
];

const pullSecret = (name: string, host: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "kubernetes.io/dockerconfigjson",
  metadata: { name },
  data: { ".dockerconfigjson": btoa(JSON.stringify({ auths: { [host]: NAME } })) },
});

const resource = (name: string, image: string, pull: string, models: ReadonlyArray<string> = []): JsonObject =>
  manifest({
    distribution: { image },
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
    workload: { overrides: { imagePullSecrets: [{ name: pull }] } },
    ...(models.length === 0 ? {} : { resources: { models: models.map((model) => ({ name: model })) } }),
  }, name);

/** The base of a resource whose pods run the image, and the number of its models. */
const based = (cluster: ControlPlane, name: string, image: string, models = 0): Promise<string | undefined> => {
  let last = "";
  return eventually(`${name} runs ${image} with ${models} models`, async () => {
    const found = await read(cluster, `${RESOURCES}/${name}`);
    last = JSON.stringify(condition(found, "ConfigGenerated"));
    if (!isObserved(found) || imageOf(await read(cluster, `${DEPLOYMENTS}/${name}`)) !== image) return undefined;
    const generation = objectAt(found, "status", "configGeneration");
    if (Number(member(generation, "resourceCount")) !== models) return undefined;
    return stringAt(
      await read(cluster, `${CONFIG_MAPS}/${stringAt(generation, "configMapName")}`),
      "data",
      "base.yaml",
    );
  }).catch((cause) => Promise.reject(new Error(`${cause.message}: ${last}`)));
};

const stored = async (cluster: ControlPlane, name: string): Promise<string> => {
  const deployment = await read(cluster, `${DEPLOYMENTS}/${name}`);
  const maps = listAt(await read(cluster, CONFIG_MAPS), "items").filter((item) =>
    stringAt(item, "metadata", "labels", "app.kubernetes.io/instance") === name
  );
  return JSON.stringify([deployment.spec, maps]);
};

Deno.test("the operator reads base configs from distribution, from zot, and through a proxy that limits requests", (t) =>
  inFolder(async (folder) => {
    const registries = new Map<string, OtherRegistry>();
    const cluster = await startControlPlane();
    const program = await compiledOperator();
    let operator: OperatorProcess | undefined;
    const images = new Map<string, string>();
    try {
      await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
      for (const [name, start] of KINDS) registries.set(name, await start(join(folder, name)));
      const all = [...registries.values()];
      const mirror = registries.get("distribution")?.host ?? "";
      await apply(cluster, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: SETTINGS_CONFIG_MAP },
        data: {
          "registries.authorities": all.map(({ authority }) => authority).join(""),
          "registries.internal": JSON.stringify(all.flatMap(({ hosts }) => hosts)),
          "registries.mirrors": JSON.stringify({
            "upstream.example.com/team": ["mirror.invalid/team", `${mirror}/ai`],
          }),
        },
      });
      operator = await startCompiledOperator(cluster, program);

      for (const [name, { host, target, seen }] of registries) {
        await t.step(`${name}: an index gives its config by label, and an image by layer`, async () => {
          await apply(cluster, pullSecret(name, host));
          const labels = {
            "com.ogx.config.config.yaml": new TextEncoder().encode(STARTER).toBase64(),
            "com.ogx.distribution.version": "1.5.0",
          };
          const digest = await pushIndex(
            target,
            "ai/label",
            "1",
            ["amd64", "arm64"].map((architecture) => ({ architecture, labels })),
          );
          await apply(cluster, resource(`${name}-label`, `${host}/ai/label:1`, name));
          images.set(`${name}-label`, `${host}/ai/label@${digest}`);
          strictEqual(await based(cluster, `${name}-label`, `${host}/ai/label@${digest}`), STARTER);

          const layer = await layerWith(folder, "etc/llama/config.yaml", STARTER);
          const ofLayer = await pushIndex(target, "ai/layer", "1", [{
            architecture: "amd64",
            labels: {
              "io.llamastack.config.layer": await digestOf(layer),
              "io.llamastack.config.path": "/etc/llama/config.yaml",
              "io.llamastack.config.version": "1.5.0",
            },
            layers: [layer],
          }]);
          await apply(cluster, resource(`${name}-layer`, `${host}/ai/layer:1`, name));
          images.set(`${name}-layer`, `${host}/ai/layer@${ofLayer}`);
          strictEqual(await based(cluster, `${name}-layer`, `${host}/ai/layer@${ofLayer}`), STARTER);

          const counts = await seen();
          if (name === "distribution") {
            ok((counts.tokens ?? 0) > 0 && (counts.blobs ?? 0) > 0, JSON.stringify(counts));
            strictEqual(counts.credentials, 0, "no credential follows a redirect to another host");
          } else ok((counts.busy ?? 0) > 0, `${name} was never busy`);
        });
      }

      await t.step("an image is read from the first mirror that has it, and keeps its name", async () => {
        const digest = images.get("distribution-label")?.split("@")[1];
        await apply(cluster, resource("mirrored", "upstream.example.com/team/label:1", "distribution"));
        const image = `upstream.example.com/team/label@${digest}`;
        images.set("mirrored", image);
        strictEqual(await based(cluster, "mirrored", image), STARTER);
      });

      await t.step("with every registry down, a restart changes nothing, and edits go through", async () => {
        for (const [name, { stop }] of [...registries]) {
          registries.delete(name);
          await stop();
        }
        const before = await Promise.all([...images.keys()].map((name) => stored(cluster, name)));
        await operator?.stop();
        operator = await startCompiledOperator(cluster, program);
        await apply(cluster, manifest({}, "seen"));
        await eventually("the operator has worked", async () => {
          const answer = await cluster.fetch(`${DEPLOYMENTS}/seen`);
          await answer.body?.cancel();
          return answer.ok || undefined;
        });
        deepStrictEqual(await Promise.all([...images.keys()].map((name) => stored(cluster, name))), before);
        for (const [name, image] of images) {
          const [tagged = ""] = image.split("@");
          await apply(cluster, resource(name, `${tagged}:1`, name.replace(/-.*/, ""), ["m1"]));
          strictEqual(await based(cluster, name, image, 1), STARTER);
        }
      });
    } finally {
      await operator?.stop();
      await cluster.stop();
      for (const { stop } of registries.values()) await stop();
    }
  }));
