/** Base configs from the labels of images: a real API server, and a real registry with TLS of its own authority and passwords. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { type OperatorProcess, startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { ended } from "../../tools/install/run_program.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import {
  digestOf,
  layerWith,
  type ProtectedRegistry,
  pushIndex,
  startProtectedRegistry,
} from "./protected_registry.ts";
import { apply, condition, imageOf, isObserved, read, RESOURCES } from "./settled.ts";
import { eventually, unchanged } from "../waiting.ts";

const STARTER = await Deno.readTextFile(new URL("../../configs/bases/starter-1.5.yaml", import.meta.url));
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const ARCHITECTURES = ["amd64", "arm64"];

const labels = (text: string, version = "v1.5.0+rhaiv.0"): Readonly<Record<string, string>> => ({
  "com.ogx.config.config.yaml": new TextEncoder().encode(text).toBase64(),
  "com.ogx.config.other.yaml": new TextEncoder().encode(`${text}# other\n`).toBase64(),
  "com.ogx.distribution.version": version,
  "com.ogx.distribution.default-config": "config.yaml",
});
const parts = (of: Readonly<Record<string, string>>) =>
  ARCHITECTURES.map((architecture) => ({ architecture, labels: of }));

const VLLM: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] } };
const running = (image: string, name: string, spec: JsonObject = VLLM, distribution: JsonObject = {}): JsonObject =>
  manifest({ distribution: { image, ...distribution }, ...spec }, name);

const pullSecret = ({ host, username, password }: ProtectedRegistry): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "kubernetes.io/dockerconfigjson",
  metadata: { name: "pull" },
  data: { ".dockerconfigjson": btoa(JSON.stringify({ auths: { [host]: { auth: btoa(`${username}:${password}`) } } })) },
});
const settings = (data: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: SETTINGS_CONFIG_MAP },
  data,
});

const updated = (cluster: ControlPlane, name: string, image: string): Promise<JsonObject> => {
  let last: Json = null;
  return eventually(`${name} runs ${image}`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    last = resource.status ?? null;
    const deployment = await read(cluster, `${DEPLOYMENTS}/${name}`);
    // The status is written after the Deployment, and names the config of the same image.
    return imageOf(deployment) === image && isObserved(resource) &&
        stringAt(resource, "status", "resolvedDistribution", "image") === image &&
        stringAt(condition(resource, "ConfigGenerated"), "status") === "True"
      ? resource
      : undefined;
  }).catch((cause) => Promise.reject(new Error(`${cause.message}: ${JSON.stringify(last)}`)));
};
const refused = (cluster: ControlPlane, name: string, why: RegExp): Promise<string> => {
  let last = "";
  return eventually(`${name} has no base config: ${why}`, async () => {
    const found = condition(await read(cluster, `${RESOURCES}/${name}`), "ConfigGenerated");
    last = `${stringAt(found, "reason")}: ${stringAt(found, "message")}`;
    return /^(BaseConfigRequired|ImageLabelsUnread)/.test(last) && why.test(last) ? last : undefined;
  }).catch((cause) => Promise.reject(new Error(`${cause.message}; last seen: ${last}`)));
};

/** Deployment and config of a resource, as they are stored. */
const stored = async (cluster: ControlPlane, name: string): Promise<string> => {
  const deployment = await read(cluster, `${DEPLOYMENTS}/${name}`);
  const maps = listAt(await read(cluster, CONFIG_MAPS), "items").filter((item) =>
    stringAt(item, "metadata", "labels", "app.kubernetes.io/instance") === name
  );
  return JSON.stringify([deployment.spec, objectAt(deployment, "metadata").generation, maps]);
};
const configOf = async (cluster: ControlPlane, resource: JsonObject): Promise<JsonObject> =>
  await read(cluster, `${CONFIG_MAPS}/${stringAt(resource, "status", "configGeneration", "configMapName")}`);

Deno.test("the operator reads base configs from the labels of images in a real registry", (t) =>
  inFolder(async (folder) => {
    const registry = await startProtectedRegistry(join(folder, "registry"));
    const cluster = await startControlPlane();
    // The compiled program trusts no public authority by itself.
    const program = await compiledOperator();
    await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
    let operator: OperatorProcess | undefined;
    const restart = async () => {
      await operator?.stop();
      operator = await startCompiledOperator(cluster, program);
    };
    const image = (name: string, tag = "1") => `${registry.host}/ai/${name}:${tag}`;
    const at = (name: string, digest: string) => `${registry.host}/ai/${name}@${digest}`;
    const reached = { "registries.authorities": registry.authority, "registries.internal": `[${registry.host}]` };
    let first = "";
    try {
      first = await pushIndex(registry, "ai/mine", "1", parts(labels(STARTER)));
      await restart();

      const applyElsewhere = ({ metadata, ...object }: JsonObject) =>
        cluster.kubectl(
          ["apply", "--server-side", "-f", "-"],
          JSON.stringify({ ...object, metadata: { ...(metadata as JsonObject), namespace: "elsewhere" } }),
        );

      await t.step("a registry on loopback is not asked until the administrator allows it", async () => {
        await apply(cluster, running(image("mine"), "mine"));
        await refused(
          cluster,
          "mine",
          /its address is loopback, link-local or reserved; the setting registries\.internal/,
        );
        deepStrictEqual(await registry.requests(), []);
      });

      await t.step("its authority has to be trusted, and its password known", async () => {
        await apply(cluster, settings({ "registries.internal": `[${registry.host}]` }));
        await refused(cluster, "mine", /cannot be reached: .*certificate/i);
        await apply(cluster, settings(reached));
        await refused(cluster, "mine", /does not allow to read ai\/mine: there are no credentials for it/);
        await cluster.kubectl(["create", "namespace", "elsewhere"]);
        const early = { ...VLLM, workload: { overrides: { imagePullSecrets: [{ name: "pull" }] } } };
        await applyElsewhere(running(image("mine"), "early", early));
      });

      await t.step(
        "with the pull Secret of the namespace, an index gives its config, and pods run its digest",
        async () => {
          await apply(cluster, pullSecret(registry));
          await apply(cluster, {
            apiVersion: "v1",
            kind: "ServiceAccount",
            metadata: { name: "default" },
            imagePullSecrets: [{ name: "pull" }],
          });
          const resource = await updated(cluster, "mine", at("mine", first));
          deepStrictEqual(objectAt(resource, "status", "resolvedDistribution"), {
            image: at("mine", first),
            configSource: "oci-label",
            configHash: stringAt(resource, "status", "resolvedDistribution", "configHash"),
            digest: first,
            namedImage: image("mine"),
            config: "config.yaml",
          });
          const config = await configOf(cluster, resource);
          match(stringAt(config, "data", "config.yaml") ?? "", /remote::vllm/);
          strictEqual(stringAt(config, "data", "base.yaml"), STARTER);
        },
      );

      await t.step("a resource can choose another file of the image, and name its own pull Secret", async () => {
        const spec = { ...VLLM, workload: { overrides: { imagePullSecrets: [{ name: "pull" }] } } };
        await apply(cluster, running(image("mine"), "other", spec, { config: "other.yaml" }));
        const resource = await updated(cluster, "other", at("mine", first));
        strictEqual(stringAt(resource, "status", "resolvedDistribution", "config"), "other.yaml");
        strictEqual(stringAt(await configOf(cluster, resource), "data", "base.yaml"), `${STARTER}# other\n`);
        await apply(cluster, running(image("mine"), "gone", VLLM, { config: "gone.yaml" }));
        await refused(cluster, "gone", /there is no such config in the image; it has config\.yaml, other\.yaml/);
      });

      await t.step("a config in a layer is found, also if a mirror has compressed it anew", async () => {
        for (const compression of ["gzip", "zstd", "none"] as const) {
          const layer = await layerWith(folder, "etc/llama/config.yaml", STARTER, compression);
          const named = compression === "none" ? `sha256:${"0".repeat(64)}` : await digestOf(layer);
          const digest = await pushIndex(registry, "ai/layer", compression, [{
            architecture: "amd64",
            labels: {
              "io.llamastack.config.layer": named,
              "io.llamastack.config.path": "/etc/llama/config.yaml",
              "io.llamastack.config.version": "1.5.0",
            },
            layers: [layer],
          }]);
          await apply(cluster, running(image("layer", compression), `layer-${compression}`));
          const resource = await updated(cluster, `layer-${compression}`, at("layer", digest));
          strictEqual(stringAt(await configOf(cluster, resource), "data", "base.yaml"), STARTER);
        }
      });

      await t.step("architectures with different configs are refused by name", async () => {
        await pushIndex(registry, "ai/split", "1", [
          { architecture: "amd64", labels: labels(STARTER) },
          { architecture: "arm64", labels: labels(`${STARTER}# different\n`) },
        ]);
        await apply(cluster, running(image("split"), "split"));
        await refused(cluster, "split", /the configs of the architectures amd64 and arm64 of the image differ/);
      });

      await t.step("only architectures that the cluster has count", async () => {
        const node = {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name: "one", labels: { "kubernetes.io/arch": "arm64" } },
        };
        await apply(cluster, node);
        await restart();
        const resource = await eventually("split is read", async () => {
          const found = await read(cluster, `${RESOURCES}/split`);
          return stringAt(condition(found, "ConfigGenerated"), "status") === "True" ? found : undefined;
        });
        match(stringAt(await configOf(cluster, resource), "data", "base.yaml") ?? "", /# different/);
      });

      await t.step("nothing is asked for a resource that needs no generated config", async () => {
        await apply(cluster, running(image("plain"), "plain", {}));
        await eventually("plain is there", async () => {
          const found = await read(cluster, `${DEPLOYMENTS}/plain`);
          return imageOf(found) === image("plain") || undefined;
        });
        // Those before it are still asked about.
        deepStrictEqual((await registry.requests()).filter((path) => path.includes("/ai/plain/")), []);
      });

      await t.step("after a restart with the registry down nothing changes, and an edit goes through", async () => {
        await registry.stop();
        const before = await Promise.all(["mine", "other", "layer-zstd"].map((name) => stored(cluster, name)));
        const differences = async (name: string) => {
          const place = ["-n", "default", "--operator-namespace", "default", "--kubeconfig", cluster.kubeconfig];
          const args = ["diff", name, ...place];
          return (await ended(program, args, { env: { ...RUNTIME_ENV, HOME: folder } })).stdout;
        };
        deepStrictEqual(await differences("mine"), "default/mine: no differences\n");
        const version = async () => stringAt(await read(cluster, `${RESOURCES}/mine`), "metadata", "resourceVersion");
        const status = await unchanged(version);
        await restart();
        await apply(cluster, running(image("mine"), "new"));
        await refused(cluster, "new", /cannot be reached/);
        await cluster.kubectl(["delete", "llsd", "new", "-n", "default"]);
        deepStrictEqual(
          await Promise.all(["mine", "other", "layer-zstd"].map((name) => stored(cluster, name))),
          before,
        );
        strictEqual(await version(), status);
        await apply(cluster, running(image("mine"), "mine", { ...VLLM, resources: { models: [{ name: "m1" }] } }));
        await eventually("the model is in the config", async () => {
          const resource = await read(cluster, `${RESOURCES}/mine`);
          return Number(member(objectAt(resource, "status", "configGeneration"), "resourceCount")) === 1 || undefined;
        });
        const resource = await updated(cluster, "mine", at("mine", first));
        strictEqual(stringAt(await configOf(cluster, resource), "data", "base.yaml"), STARTER);
      });

      await t.step("the running Deployment is unchanged if an edit names an image that cannot be read", async () => {
        const before = await stored(cluster, "other");
        await apply(cluster, running(image("mine", "2"), "other"));
        await refused(cluster, "other", /cannot be reached/);
        strictEqual(await stored(cluster, "other"), before);
        await registry.start();
      });

      await t.step("a tag that moved is followed only on request", async () => {
        const second = await pushIndex(registry, "ai/mine", "1", parts(labels(`${STARTER}# second\n`)));
        const more = { ...VLLM, workload: { overrides: { podAnnotations: { edit: "1" } } } };
        await apply(cluster, running(image("mine"), "mine", more));
        const told = await updated(cluster, "mine", at("mine", first));
        const map = stringAt(told, "status", "configGeneration", "configMapName") ?? "";
        await cluster.kubectl(["delete", "configmap", map, "-n", "default"]);
        await eventually("the config is there again", async () => {
          const items = listAt(await read(cluster, CONFIG_MAPS), "items");
          return items.some((item) => stringAt(item, "metadata", "name") === map) || undefined;
        });
        // The config is written before the Deployment; the next edit shows what that pass made of it.
        const again = { ...VLLM, workload: { overrides: { podAnnotations: { edit: "2" } } } };
        await apply(cluster, running(image("mine"), "mine", again));
        await updated(cluster, "mine", at("mine", first));
        const roll = (...args: ReadonlyArray<string>) =>
          ended(program, ["rollout", "mine", ...args, "-n", "default", "--kubeconfig", cluster.kubeconfig], {
            env: { ...RUNTIME_ENV, HOME: folder },
          });
        match((await roll()).stdout, /no rollout is held; .*\n.*--image-digest sha256:DIGEST/s);
        const asked = await roll("--image-digest", second);
        strictEqual(asked.code, 0, asked.stderr);
        const resource = await updated(cluster, "mine", at("mine", second));
        strictEqual(stringAt(await configOf(cluster, resource), "data", "base.yaml"), `${STARTER}# second\n`);
      });

      await t.step(
        "a digest that cannot be read leaves the server as it is, and is replaced by another request",
        async () => {
          const before = await stored(cluster, "mine");
          const place = ["-n", "default", "--kubeconfig", cluster.kubeconfig];
          const roll = async (digest: string) => {
            const args = ["rollout", "mine", "--image-digest", digest, ...place];
            strictEqual((await ended(program, args, { env: { ...RUNTIME_ENV, HOME: folder } })).code, 0);
          };
          const second = imageOf(await read(cluster, `${DEPLOYMENTS}/mine`)).split("@")[1] ?? "";
          await roll(`sha256:${"0".repeat(64)}`);
          const why = await refused(cluster, "mine", /no image ai\/mine@sha256:0+|ai\/mine@sha256:0+/);
          match(why, /`llama-stack-operator rollout NAME --image-digest sha256:DIGEST` requests another one/);
          strictEqual(await stored(cluster, "mine"), before);
          await roll(first);
          await updated(cluster, "mine", at("mine", first));
          await roll(second);
          await updated(cluster, "mine", at("mine", second));
        },
      );

      await t.step("a record that somebody else has written is not believed", async () => {
        const resource = await read(cluster, `${RESOURCES}/mine`);
        const config = await configOf(cluster, resource);
        const name = stringAt(config, "metadata", "name") ?? "";
        const { labels, annotations, ownerReferences } = objectAt(config, "metadata");
        const forged = {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: {
            name,
            labels: labels ?? {},
            annotations: annotations ?? {},
            ownerReferences: ownerReferences ?? [],
          },
          data: { ...objectAt(config, "data"), "base.yaml": `${STARTER}# forged\n` },
        };
        await operator?.stop();
        operator = undefined;
        await cluster.kubectl(["delete", "configmap", name, "-n", "default"]);
        await apply(cluster, forged);
        await restart();
        await apply(cluster, running(image("mine"), "mine", { ...VLLM, resources: { models: [{ name: "m2" }] } }));
        await eventually("the config is made from the image", async () => {
          const found = await read(cluster, `${RESOURCES}/mine`);
          const now = await configOf(cluster, found);
          return stringAt(now, "metadata", "name") !== name &&
              stringAt(now, "data", "base.yaml") === `${STARTER}# second\n` || undefined;
        });
      });

      await t.step(
        "a name with an overridden image uses its labels, and its own base config without them",
        async () => {
          const overridden = (tag: string) =>
            settings({ ...reached, "image-overrides": `{ogx-starter: "${image("mine", tag)}"}` });
          const named = (name: string) => manifest({ distribution: { name: "ogx-starter" }, ...VLLM }, name);
          const second = imageOf(await read(cluster, `${DEPLOYMENTS}/mine`));
          await apply(cluster, overridden("1"));
          await apply(cluster, named("named"));
          await updated(cluster, "named", second);
          await registry.stop();
          const before = await stored(cluster, "named");
          await restart();
          await apply(cluster, named("late"));
          await updated(cluster, "late", image("mine"));
          const late = await read(cluster, `${RESOURCES}/late`);
          match(
            JSON.stringify(objectAt(late, "status", "configGeneration").warnings),
            /could not be read, and the base config/,
          );
          strictEqual(await stored(cluster, "named"), before);
          await registry.start();
          await apply(cluster, settings(reached));
          await cluster.kubectl(["delete", "llsd", "named", "late", "-n", "default"]);
        },
      );

      await t.step("many resources with few images share their requests", async () => {
        for (const name of ["a", "b"]) {
          await pushIndex(registry, `ai/${name}`, "1", parts(labels(`${STARTER}# ${name}\n`)));
        }
        const before = (await registry.requests()).length;
        await Promise.all(
          Array.from(
            { length: 30 },
            (_, index) => apply(cluster, running(image(index % 2 === 0 ? "a" : "b"), `many-${index}`)),
          ),
        );
        for (let index = 0; index < 30; index++) {
          await eventually(`many-${index} is there`, async () => {
            const found = await read(cluster, `${DEPLOYMENTS}/many-${index}`);
            return imageOf(found).includes("@sha256:") || undefined;
          });
        }
        const asked = (await registry.requests()).slice(before).filter((path) => /\/ai\/[ab]\/manifests\//.test(path));
        // The index and its image for the nodes; the first request is made without credentials as well.
        ok(asked.length <= 2 * 3, asked.join("\n"));
      });

      await t.step("a pull Secret that is created later is used at once, however long it was missing", async () => {
        const config = async () => {
          const path = RESOURCES.replace("default", "elsewhere");
          return condition(await read(cluster, `${path}/early`), "ConfigGenerated");
        };
        const why = /there are no credentials for it|cannot be reached/;
        await eventually(
          "it is refused",
          async () => why.test(stringAt(await config(), "message") ?? "") || undefined,
        );
        await applyElsewhere(pullSecret(registry));
        await eventually(
          "its config is generated",
          async () => stringAt(await config(), "status") === "True" || undefined,
        );
      });

      await t.step("no password of the registry is in any object or message", async () => {
        const kinds = "configmaps,deployments,events,llamastackdistributions,replicasets,pods";
        const all = await cluster.kubectl(["get", kinds, "-A", "-o", "json"]);
        ok(!all.includes(registry.password) && !all.includes(btoa(`${registry.username}:${registry.password}`)));
      });
    } finally {
      await operator?.stop();
      await cluster.stop();
      await registry.stop();
    }
  }));
