/** External providers judged by labels of their images, before a pod starts: a real API server, and a registry in this process. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { providerLabels } from "../../core/image/provider_labels.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { serveProviders } from "../provider_registry.ts";
import { type RunningOperator, startOperator } from "./operator.ts";
import { apply, condition, isObserved, list, read, RESOURCES } from "./settled.ts";
import { call, installWithWebhooks, pathIn, startWebhooks, validatingConfiguration } from "./webhooks.ts";
import { aWhile, eventually } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/** Labels as `provider pack` makes them. */
const labels = (api: string, version = "1.0", requires: ReadonlyArray<string> = ["llama-stack>=0.2"]) => {
  const text = [
    "apiVersion: llamastack.io/v1alpha1",
    "kind: ProviderPackage",
    `metadata: { name: own, version: "${version}", vendor: team }`,
    `spec: { packageName: own, providerType: "remote::own", api: ${api} }`,
  ].join("\n");
  const wheel = {
    file: `own-${version}-py3-none-any.whl`,
    name: "own",
    version,
    requires,
    files: [],
    author: undefined,
  };
  return Object.fromEntries(providerLabels(text, [wheel]));
};

const settings = (host: string, imageLabels = "Auto"): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: SETTINGS_CONFIG_MAP },
  data: { "registries.plainHttp": `[${host}]`, "registries.internal": `[${host}]`, imageLabels },
});

const deploymentOf = (cluster: ControlPlane, name: string) => read(cluster, `${DEPLOYMENTS}/${name}`);
const imagesIn = (deployment: JsonObject): ReadonlyArray<string> =>
  listAt(deployment, "spec", "template", "spec", "initContainers")
    .filter((container) => stringAt(container, "name")?.startsWith("install-provider-"))
    .flatMap((container) => stringAt(container, "image") ?? []);

const rolledOut = (cluster: ControlPlane, name: string, images: ReadonlyArray<string>) => {
  let last: JsonObject = {};
  return eventually(`${name} runs ${images.join()}`, async () => {
    const deployment = await deploymentOf(cluster, name);
    last = await read(cluster, `${RESOURCES}/${name}`);
    return isObserved(last) && JSON.stringify(imagesIn(deployment)) === JSON.stringify(images) ? deployment : undefined;
  }).catch((cause) => Promise.reject(new Error(`${cause.message}: ${JSON.stringify(last.status)}`)));
};

const failed = async (cluster: ControlPlane, name: string, id: string) => {
  const resource = await eventually(`${id} of ${name} has failed`, async () => {
    const found = await read(cluster, `${RESOURCES}/${name}`);
    const state = listAt(found, "status", "externalProviders").find((item) => stringAt(item, "providerId") === id);
    return isObserved(found) && stringAt(state, "phase") === "Failed" ? found : undefined;
  });
  strictEqual(stringAt(condition(resource, "ExternalProvidersReady"), "reason"), "ExternalProviderFailed");
  strictEqual(stringAt(condition(resource, "ExternalProvidersReady"), "status"), "False");
  const state = listAt(resource, "status", "externalProviders").find((item) => stringAt(item, "providerId") === id);
  return `${stringAt(state, "reason")}: ${stringAt(state, "message")}`;
};

Deno.test("labels of images of external providers are judged before a pod starts", async (t) => {
  await using registry = serveProviders();
  const cluster = await startControlPlane();
  let operator: RunningOperator | undefined;
  const restart = async () => {
    await operator?.stop();
    operator = await startOperator(cluster, { install: operator === undefined });
  };
  const image = (tag: string) => `${registry.host}/team/own:${tag}`;
  const own = (tag: string, id = "own") => ({ providerId: id, image: image(tag) });
  const running = (name: string, externalProviders: JsonObject, more: JsonObject = {}) =>
    apply(cluster, manifest({ externalProviders, ...more }, name));
  const spec = async (name: string) => JSON.stringify((await deploymentOf(cluster, name)).spec);
  registry.images.set("team/own:good", labels("eval"))
    .set("team/own:safety", labels("safety"))
    .set("team/own:ogx", labels("eval", "1.0", ["ogx-api>=1.5"]))
    .set("team/own:first", labels("eval"))
    .set("team/own:next", labels("scoring", "2.0"))
    .set("team/own:late", labels("safety"))
    .set("team/own:silent", {});
  try {
    await restart();
    await apply(cluster, settings(registry.host));

    await t.step("a provider that fits is rolled out, and one without labels, too", async () => {
      await running("good", { eval: [own("good")] });
      await rolledOut(cluster, "good", [image("good")]);
      await running("unlabelled", { eval: [own("silent")] });
      await rolledOut(cluster, "unlabelled", [image("silent")]);
      ok(registry.requests.includes("/v2/team/own/manifests/good"));
    });

    await t.step(
      "whether two providers conflict is left to the pod, which knows the packages of the server",
      async () => {
        await running("both", { eval: [own("first")], scoring: [own("next", "later")] });
        await rolledOut(cluster, "both", [image("next"), image("first")]);
      },
    );

    for (
      const [name, lists, id, says] of [
        [
          "api",
          { eval: [own("safety")] },
          "own",
          /^ProviderApiMismatch: .*of the safety API, but it is listed under eval/,
        ],
        [
          "server",
          { eval: [own("ogx")] },
          "own",
          /^ProviderServerMismatch: .*it requires ogx-api>=1\.5, but the server is/,
        ],
      ] as const
    ) {
      await t.step(`nothing is deployed for a wrong ${name}, and the status has the reason`, async () => {
        await running(name, lists);
        match(await failed(cluster, name, id), says);
        const resource = await read(cluster, `${RESOURCES}/${name}`);
        strictEqual(stringAt(condition(resource, "Ready"), "reason"), "ExternalProviderFailed");
        strictEqual(stringAt(condition(resource, "Stalled"), "status"), "True");
        strictEqual((await deploymentOf(cluster, name)).code, 404);
        const events = await list(cluster, "/apis/events.k8s.io/v1/namespaces/default/events");
        const notes = events.filter((event) =>
          stringAt(event, "reason") === "ExternalProviderFailed" && stringAt(event, "regarding", "name") === name
        );
        strictEqual(notes.length, 1);
      });
    }

    await t.step("an edit that corrects the image is judged anew", async () => {
      registry.images.set("team/own:safety", labels("eval"));
      await running("api", { eval: [own("safety")] }, { workload: { replicas: 2 } });
      await rolledOut(cluster, "api", [image("safety")]);
    });

    await t.step("an edit to a wrong image leaves the running Deployment as it is, also after a restart", async () => {
      const before = await spec("good");
      await running("good", { eval: [own("ogx")] });
      match(await failed(cluster, "good", "own"), /^ProviderServerMismatch/);
      strictEqual(await spec("good"), before);
      await restart();
      await eventually(
        "the image is asked for again",
        () => Promise.resolve(registry.requests.at(-1)?.includes("/own/") || undefined),
      );
      match(await failed(cluster, "good", "own"), /^ProviderServerMismatch/);
      strictEqual(await spec("good"), before);
      // After an edit the result is that of a new resource.
      registry.mode = "failing";
      const env = [{ name: "B", value: "c" }];
      await running("good", { eval: [own("ogx")] }, { workload: { overrides: { env } } });
      await rolledOut(cluster, "good", [image("ogx")]);
      registry.mode = "serving";
      await running("good", { eval: [own("good")] });
      await rolledOut(cluster, "good", [image("good")]);
    });

    await t.step(
      "a moved tag is not looked at for a server that runs, after a restart and with other edits",
      async () => {
        registry.images.set("team/own:good", labels("safety"));
        const asked = () => registry.requests.filter((path) => path.endsWith("/good")).length;
        const before = asked();
        await restart();
        await running("good", { eval: [own("good")] }, {
          workload: { overrides: { env: [{ name: "A", value: "b" }] } },
        });
        await eventually(
          "the variable is there",
          async () => JSON.stringify(await deploymentOf(cluster, "good")).includes('"name":"A"') || undefined,
        );
        deepStrictEqual(imagesIn(await deploymentOf(cluster, "good")), [image("good")]);
        strictEqual(asked(), before);
        registry.images.set("team/own:good", labels("eval"));
      },
    );

    await t.step("a registry that fails or does not answer leaves the judgement to the pod", async () => {
      registry.mode = "failing";
      await running("failing", { eval: [own("safety")] });
      await rolledOut(cluster, "failing", [image("safety")]);
      registry.mode = "silent";
      await running("silent", { eval: [own("late")] });
      await rolledOut(cluster, "silent", [image("late")]);
      registry.mode = "serving";
    });

    await t.step("an image that runs is judged anew in another list", async () => {
      await running("good", { eval: [own("good")] });
      await rolledOut(cluster, "good", [image("good")]);
      const before = await spec("good");
      await running("good", { safety: [own("good")] });
      match(await failed(cluster, "good", "own"), /^ProviderApiMismatch/);
      strictEqual(await spec("good"), before);
      await running("good", { eval: [own("good")] });
      await rolledOut(cluster, "good", [image("good")]);
      strictEqual(await spec("good"), before);
    });

    const secretRefs = { token: { secretKeyRef: { name: "needed", key: "token" } } };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "needed" }, stringData: { token: "value" } };

    await t.step(
      "what was found stays found, while a Secret goes and comes back and the registry is down",
      async () => {
        await apply(cluster, secret);
        await running("kept", { eval: [{ ...own("good"), secretRefs }] });
        await rolledOut(cluster, "kept", [image("good")]);
        const before = await spec("kept");
        await running("kept", { eval: [{ ...own("ogx"), secretRefs }] });
        match(await failed(cluster, "kept", "own"), /^ProviderServerMismatch/);
        const resolved = (status: string) =>
          eventually(`Secrets are resolved: ${status}`, async () => {
            const resource = await read(cluster, `${RESOURCES}/kept`);
            return stringAt(condition(resource, "SecretsResolved"), "status") === status || undefined;
          });
        await cluster.kubectl(["delete", "secret", "needed", "-n", "default"]);
        await resolved("False");
        registry.mode = "failing";
        await apply(cluster, secret);
        await resolved("True");
        match(await failed(cluster, "kept", "own"), /^ProviderServerMismatch/);
        strictEqual(await spec("kept"), before);
        registry.mode = "serving";
      },
    );

    await t.step("a node of an architecture with other labels rolls nothing out", async () => {
      const node = (architecture: string) => ({
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: architecture, labels: { "kubernetes.io/arch": architecture } },
      });
      registry.indexes.set("team/own:mixed", { amd64: labels("safety"), arm64: labels("eval") });
      await apply(cluster, node("amd64"));
      await restart();
      const before = await spec("kept");
      await running("kept", { eval: [{ ...own("mixed"), secretRefs }] });
      match(await failed(cluster, "kept", "own"), /^ProviderApiMismatch/);
      await apply(cluster, node("arm64"));
      const asked = () => registry.requests.filter((path) => path.endsWith("/mixed")).length;
      const count = asked();
      await restart();
      await eventually("the image is asked for again", () => Promise.resolve(asked() > count || undefined));
      // The answer comes within milliseconds.
      await aWhile();
      match(await failed(cluster, "kept", "own"), /^ProviderApiMismatch/);
      strictEqual(await spec("kept"), before);
    });

    await t.step("no registry is asked if the administrator does not want it", async () => {
      await apply(cluster, settings(registry.host, "Never"));
      const before = registry.requests.length;
      await running("never", { eval: [own("ogx")] });
      await rolledOut(cluster, "never", [image("ogx")]);
      strictEqual(registry.requests.length, before);
      await apply(cluster, settings(registry.host));
    });
  } finally {
    await operator?.stop();
    await cluster.stop();
  }
});

Deno.test("admission rejects external providers whose labels show that they do not fit", async (t) => {
  await using registry = serveProviders();
  const cluster = await startControlPlane();
  const webhooks = await startWebhooks(cluster, { asksRegistries: true });
  const resource = (tag: string, spec: JsonObject = {}, name = "my") =>
    manifest({
      externalProviders: { eval: [{ providerId: "own", image: `${registry.host}/team/own:${tag}` }] },
      ...spec,
    }, name);
  const create = (object: JsonObject, query = "?dryRun=All") =>
    call(cluster, "POST", `${pathIn("v1alpha2")}${query}`, object);
  registry.images.set("team/own:good", labels("eval")).set("team/own:bad", labels("safety"));
  try {
    await installWithWebhooks(cluster, webhooks);
    await apply(cluster, settings(registry.host));
    // Stored before there was admission.
    strictEqual((await create(resource("bad", {}, "older"), "")).status, 201);
    const configuration = validatingConfiguration(webhooks.url, webhooks.caPem, "Fail");
    strictEqual((await call(cluster, "POST", CONFIGURATIONS, configuration)).status, 201);

    await t.step("with the sentence of the pod, and the field", async () => {
      const { body } = await eventually("admission judges images", async () => {
        const answer = await create(resource("bad"));
        return answer.status === 422 ? answer : undefined;
      });
      match(
        String(body.message),
        /spec\.externalProviders\.eval\[0\]: External provider "own" \(image .*:bad\), according to its labels: the image contains a provider of the safety API, but it is listed under eval; list it under safety/,
      );
      strictEqual(stringAt(listAt(body, "details", "causes")[0], "field"), "spec.externalProviders.eval[0]");
      strictEqual((await create(resource("good"))).status, 201);
    });

    await t.step("but not what is stored already, as long as its image is the same", async () => {
      const before = registry.requests.length;
      const stored = (await call(cluster, "GET", pathIn("v1alpha2", "older"))).body;
      const put = (spec: JsonObject) =>
        call(cluster, "PUT", pathIn("v1alpha2", "older"), {
          ...resource("bad", spec, "older"),
          metadata: stored.metadata ?? {},
        });
      strictEqual((await put({ workload: { replicas: 2 } })).status, 200);
      strictEqual(registry.requests.length, before);
    });

    await t.step("nor what the Deployment of the resource runs, as after a restore", async () => {
      const container = { name: "server", image: "server:1" };
      const [entry] = listAt(resource("bad"), "spec", "externalProviders", "eval");
      const answer = await call(cluster, "POST", DEPLOYMENTS, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "restored" },
        spec: {
          selector: { matchLabels: { app: "restored" } },
          template: {
            metadata: { labels: { app: "restored" } },
            spec: {
              containers: [container],
              initContainers: [{ name: "install-provider-own", image: stringAt(entry, "image") ?? "" }],
            },
          },
        },
      });
      strictEqual(answer.status, 201, JSON.stringify(answer.body));
      strictEqual((await create(resource("bad", {}, "restored"))).status, 201);
      strictEqual((await create(resource("bad", {}, "another"))).status, 422);
    });

    await t.step("and admits what it cannot know in time", async () => {
      registry.mode = "silent";
      // The API server itself waits 5 s, and refuses what the webhook does not answer.
      strictEqual((await create(resource("bad"))).status, 201);
      strictEqual(objectAt(await read(cluster, RESOURCES)).kind, "LlamaStackDistributionList");
      registry.mode = "serving";
    });
  } finally {
    await webhooks.stop();
    await cluster.stop();
  }
});
