/** External providers in real images join real servers; each way in which that can fail, with what runs unharmed. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import * as Result from "effect/Result";
import { type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { buildExampleWheel, exampleFiles, installProviderWheels } from "../../tools/install/provider_wheels.ts";
import { description, makeWheel, providerFiles } from "../provider_wheel.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { importProviderImages, type ProviderImage } from "./provider_images.ts";
import { condition, podName, podsOf, resourceWhen, served, whenReady, whenServiceLeads, word } from "./served.ts";

const REGISTRY = "registry.example.com/tests";

const wheelIn = async (folder: string, start: string): Promise<string> => {
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return join(folder, names.find((name) => name.startsWith(start)) ?? `${start} is missing`);
};

const providers = async (place: Place, name: string): Promise<ReadonlyArray<string>> => {
  const { status, body } = await served(place, name).get("/v1/providers");
  strictEqual(status, 200);
  return body.data.map((provider: { api: string; provider_id: string; provider_type: string }) =>
    `${provider.api} ${provider.provider_id} ${provider.provider_type}`
  );
};

const whenInstalled = (place: Place, name: string): Promise<JsonObject> =>
  resourceWhen(place, name, "told of its providers", (resource) => word(resource, "ExternalProvidersReady") === "True");

const states = (resource: JsonObject): ReadonlyArray<string> =>
  listAt(resource, "status", "externalProviders").map((state) =>
    ["providerId", "phase", "version"].map((field) => stringAt(state, field)).join(" ")
  );

const chat = async (place: Place, name: string, model: string): Promise<void> => {
  const { status, body } = await served(place, name).post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "hello" }],
  });
  strictEqual(body.choices?.[0]?.message.content, "You said: hello", `${status} ${JSON.stringify(body)}`);
};

/** The example of the page, for Llama Stack: under the names of its packages. */
const gatewayFor = async (folder: string, extra: string): Promise<string> => {
  const files = await exampleFiles();
  const renamed = Object.entries(files).filter(([name]) => name.endsWith(".py")).map(([name, text]) => [
    name,
    `${extra}\n${text.replaceAll("ogx_api", "llama_stack_api").replaceAll("ogx.", "llama_stack.")}`,
  ]);
  return join(
    folder,
    await makeWheel(folder, {
      name: "gateway-provider",
      version: "0.1.0",
      files: Object.fromEntries(renamed),
      metadata: ["Requires-Dist: llama-stack-api>=0.7,<0.8", "Requires-Dist: duckdb>=1"],
    }),
  );
};

const withWheels = async (test: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

const CSOAI = { packageName: "llama_stack_provider_csoai", providerType: "remote::csoai" };

Deno.test("two published providers and one of our own, with a Secret and compiled code, join a Llama Stack server", () =>
  withWheels((folder) =>
    inPlace("external", async (place) => {
      const published = await installProviderWheels();
      const images: ReadonlyArray<ProviderImage> = [
        {
          name: `${REGISTRY}/csoai:0.1.0`,
          description: description({ ...CSOAI, api: "eval" }, "0.1.0"),
          wheels: [await wheelIn(published, "llama_stack_provider_csoai")],
        },
        {
          name: `${REGISTRY}/fms:0.4.0`,
          description: description({
            packageName: "llama_stack_provider_trustyai_fms",
            providerType: "remote::trustyai_fms",
            api: "safety",
            more: { ignoredDependencies: ["ipykernel", "opentelemetry-exporter-otlp"] },
          }, "0.4.0"),
          wheels: [await wheelIn(published, "llama_stack_provider_trustyai_fms")],
        },
        {
          name: `${REGISTRY}/gateway:0.1.0`,
          description: (await exampleFiles())["lls-provider-spec.yaml"],
          wheels: [
            await gatewayFor(folder, "import duckdb\nassert duckdb.sql('select 42').fetchall() == [(42,)]"),
            await wheelIn(published, "duckdb"),
          ],
        },
      ];
      await importProviderImages(images);
      await using models = await startModelService(place, "vllm", { models: ["chat"] });
      await place.secret("gateway", { token: "the key of the Secret" });
      await place.apply("ConfigMap", "pinned", { data: { "did.json": '{"verificationMethod":[]}' } });
      await place.resource("three", {
        distribution: { name: "starter" },
        externalProviders: {
          inference: [{
            providerId: "gateway",
            image: `${REGISTRY}/gateway:0.1.0`,
            config: { url: `${MODELS_ENDPOINT}/v1` },
            secretRefs: { api_key: { secretKeyRef: { name: "gateway", key: "token" } } },
          }],
          safety: [{ providerId: "fms", image: `${REGISTRY}/fms:0.4.0`, config: { shields: {} } }],
          eval: [{ providerId: "csoai", image: `${REGISTRY}/csoai:0.1.0`, config: { did_json: "/pinned/did.json" } }],
        },
        resources: { models: [{ name: "chat", provider: "gateway" }] },
        // What that provider checks signatures with.
        workload: {
          overrides: {
            volumes: [{ name: "pinned", configMap: { name: "pinned" } }],
            volumeMounts: [{ name: "pinned", mountPath: "/pinned" }],
          },
        },
      });
      await whenReady(place, "three");
      // Pods and their Deployment are heard of apart.
      const resource = await whenInstalled(place, "three");
      deepStrictEqual(states(resource), ["gateway Ready 0.1.0", "fms Ready 0.4.0", "csoai Ready 0.1.0"]);
      strictEqual(stringAt(condition(resource, "ExternalProvidersReady"), "reason"), "ExternalProvidersInstalled");
      for (const state of listAt(resource, "status", "externalProviders")) {
        match(stringAt(state, "imageID") ?? "", /sha256:[0-9a-f]{64}/);
      }
      const listed = await providers(place, "three");
      for (
        const provider of [
          "inference gateway remote::gateway",
          "safety fms remote::trustyai_fms",
          "eval csoai remote::csoai",
        ]
      ) ok(listed.includes(provider), `${provider} is not among ${listed.join(", ")}`);
      const benchmarks = await served(place, "three").get("/v1alpha/eval/benchmarks");
      strictEqual(benchmarks.status, 200, JSON.stringify(benchmarks.body));
      await chat(place, "three", "gateway/chat");
      const asked = models.requests.filter(({ path }) => path === "/v1/chat/completions");
      deepStrictEqual(asked.map(({ authorization }) => authorization), ["Bearer the key of the Secret"]);
    })
  ));

Deno.test("the example of the documentation joins an OGX server, and answers with the resource of the page", () =>
  inPlace("example", async (place) => {
    const page = await Deno.readTextFile(new URL("../../docs/external-providers.md", import.meta.url));
    const [, text = ""] = /```yaml\n(apiVersion: llamastack.io\/v1alpha2\n[\s\S]*?)```/.exec(page) ?? [];
    const spec = objectAt(Result.getOrThrow(readManifests(text))[0], "spec");
    const [entry] = listAt(spec, "externalProviders", "inference");
    await importProviderImages([{
      name: stringAt(entry, "image") ?? "",
      description: (await exampleFiles())["lls-provider-spec.yaml"],
      wheels: [await wheelIn(await buildExampleWheel(), "gateway_provider")],
    }]);
    await using models = await startModelService(place, "vllm", { models: ["chat"] });
    await place.secret("gateway", { token: "the key of the Secret" });
    // The address of the page is that of a service of the author.
    const here = { ...entry as JsonObject, config: { url: `${MODELS_ENDPOINT}/v1` } };
    await place.resource("mine", put(spec, ["externalProviders", "inference"], [here]));
    await whenReady(place, "mine");
    const resource = await whenInstalled(place, "mine");
    deepStrictEqual(states(resource), ["gateway Ready 0.1.0"]);
    ok((await providers(place, "mine")).includes("inference gateway remote::gateway"));
    await chat(place, "mine", "gateway/chat");
    deepStrictEqual(
      models.requests.filter(({ path }) => path === "/v1/chat/completions").map(({ authorization }) => authorization),
      ["Bearer the key of the Secret"],
    );
  }));

interface Broken {
  readonly name: string;
  readonly api: string;
  readonly image: Partial<ProviderImage>;
  readonly reason: string;
  readonly says: RegExp;
  /** What is listed besides it. */
  readonly beside?: JsonObject;
}

const brokenImages = async (folder: string): Promise<ReadonlyArray<Broken>> => {
  const published = await installProviderWheels();
  const csoai = [await wheelIn(published, "llama_stack_provider_csoai")];
  const own = (name: string) => ({ packageName: name, providerType: `remote::${name}`, api: "inference" });
  const wheel = async (name: string, more: Partial<Parameters<typeof makeWheel>[1]> = {}) =>
    join(folder, await makeWheel(folder, { name, files: providerFiles(name, { server: "llama_stack_api" }), ...more }));
  const shared = (version: string) => wheel("shared-library", { version, files: { "shared_library.py": "" } });
  const other = Deno.build.arch === "x86_64" ? "aarch64" : "x86_64";
  const fine = { name: `${REGISTRY}/fine:1`, description: description(own("fine")), wheels: [await wheel("fine")] };
  await importProviderImages([{ ...fine, wheels: [...fine.wheels, await shared("1.0")] }]);
  return [
    {
      name: "no-metadata",
      api: "eval",
      image: { description: undefined, wheels: csoai },
      reason: "ProviderMetadataMissing",
      says: /the image has no file \/lls-provider\/lls-provider-spec\.yaml/,
    },
    {
      name: "other-section",
      api: "scoring",
      image: { description: description({ ...CSOAI, api: "eval" }), wheels: csoai },
      reason: "ProviderApiMismatch",
      says: /a provider of the eval API, but it is listed under scoring; list it under eval/,
    },
    {
      name: "other-architecture",
      api: "inference",
      image: {
        description: description(own("native")),
        wheels: [await wheel("native", { tag: `cp313-cp313-manylinux_2_28_${other}` })],
      },
      reason: "ProviderArchitectureMismatch",
      says: new RegExp(`native-1\\.0-.*\\.whl is built for manylinux_2_28_${other}, but this node is linux`),
    },
    {
      name: "other-server",
      api: "inference",
      image: {
        description: description(own("modern")),
        wheels: [
          join(
            folder,
            await makeWheel(folder, { name: "modern", files: providerFiles("modern", { server: "ogx_api" }) }),
          ),
        ],
      },
      reason: "ProviderServerMismatch",
      says: /imports ogx_api, which the server Llama Stack 0\.7\.3 does not have/,
    },
    {
      name: "missing-dependency",
      api: "eval",
      image: {
        description: description({
          packageName: "llama_stack_provider_lmeval",
          providerType: "remote::trustyai_lmeval",
          api: "eval",
        }),
        wheels: [await wheelIn(published, "llama_stack_provider_lmeval")],
      },
      reason: "ProviderDependencyMissing",
      says: /llama-stack-provider-lmeval 0\.5\.0 requires .*ipykernel, which neither the image nor the server has/,
    },
    {
      name: "conflict",
      api: "inference",
      image: { description: description(own("clashing")), wheels: [await wheel("clashing"), await shared("2.0")] },
      beside: { safety: [], inference: [{ providerId: "fine", image: fine.name }] },
      reason: "ProviderConflict",
      says:
        /brings shared-library 2\.0, and that of external provider "fine" \(registry.*\/fine:1\) brings shared-library 1\.0/,
    },
    {
      name: "no-shell",
      api: "eval",
      image: { description: description({ ...CSOAI, api: "eval" }), wheels: csoai, hasShell: false },
      reason: "ShellMissing",
      says: /the image has no \/bin\/sh; use a base image with a shell and cp/,
    },
  ];
};

Deno.test("a provider that cannot be installed is reported with its image and the cause, and what runs is unharmed", () =>
  withWheels((folder) =>
    inPlace("broken", async (place) => {
      await using _models = await startModelService(place);
      const spec = {
        distribution: { name: "starter" },
        providers: { inference: [{ provider: "vllm", endpoint: MODELS_ENDPOINT }] },
      };
      await place.resource("sound", spec);
      await whenReady(place, "sound");
      const before = (await podsOf(place, "sound")).map(podName);
      const cases = await brokenImages(folder);
      const imageOf = (name: string) => `${REGISTRY}/${name}:1`;
      await importProviderImages(
        cases.map(({ name, image }) => ({ description: undefined, wheels: [], ...image, name: imageOf(name) })),
      );
      const all = [...cases.map((item) => ({ ...item, image: imageOf(item.name) })), {
        name: "not-there",
        api: "eval",
        image: "registry.invalid/not-there:1",
        beside: undefined,
        reason: "ImagePullFailed",
        says: /the image cannot be pulled/,
      }];
      for (const { name, api, image, beside = {}, reason, says } of all) {
        const listed = [...listAt(beside, api), { providerId: name, image }];
        await place.resource("sound", { ...spec, externalProviders: { ...beside, [api]: listed } });
        const failed = await resourceWhen(
          place,
          "sound",
          `reported with ${reason}`,
          (resource) =>
            listAt(resource, "status", "externalProviders").some((state) =>
              stringAt(state, "providerId") === name && stringAt(state, "phase") === "Failed"
            ),
        );
        const state = listAt(failed, "status", "externalProviders").find((item) =>
          stringAt(item, "providerId") === name
        );
        strictEqual(stringAt(state, "reason"), reason, JSON.stringify(state));
        const message = stringAt(state, "message") ?? "";
        match(message, says);
        ok(message.startsWith(`External provider "${name}" (image ${image}): `), message);
        match(stringAt(condition(failed, "ExternalProvidersReady"), "message") ?? "", says);
        strictEqual(stringAt(condition(failed, "Ready"), "reason"), "ExternalProviderFailed");
        strictEqual(stringAt(failed, "status", "phase"), "Ready", "the former pods serve");
        const now = (await podsOf(place, "sound")).map(podName);
        ok(before.every((pod) => now.includes(pod)), `${before.join()} of ${now.join()} with ${name}`);
        strictEqual((await served(place, "sound").get("/v1/version")).status, 200, name);
      }
      // Taken away, everything is as before.
      await place.resource("sound", spec);
      await whenReady(place, "sound");
      deepStrictEqual((await podsOf(place, "sound")).map(podName).filter((pod) => before.includes(pod)), before);
      const events = await place.kubectl("get", "events", "-o", "jsonpath={.items[*].reason}");
      match(events, /ExternalProviderFailed/);
    })
  ));

Deno.test("a server on a claim is rolled back when a provider cannot be installed, and says why", () =>
  inPlace("externalundo", async (place) => {
    const image = `${REGISTRY}/empty:1`;
    await importProviderImages([{ name: image, description: description({ ...CSOAI, api: "eval" }), wheels: [] }]);
    const spec = { distribution: { name: "starter" }, storage: { kv: {} }, workload: { storage: { size: "1Gi" } } };
    await place.resource("claimed", spec);
    await whenReady(place, "claimed");
    await place.resource("claimed", { ...spec, externalProviders: { eval: [{ providerId: "empty", image }] } });
    const undone = await resourceWhen(
      place,
      "claimed",
      "rolled back and available",
      (object) =>
        stringAt(condition(object, "DeploymentUpdated"), "reason") === "RolledBack" &&
        stringAt(condition(object, "Available"), "status") === "True",
    );
    const says = /External provider "empty" \(image .*\/empty:1\): the image has no wheel in \/lls-provider\/packages/;
    match(stringAt(condition(undone, "DeploymentUpdated"), "message") ?? "", says);
    match(stringAt(listAt(undone, "status", "externalProviders")[0], "message") ?? "", says);
    await whenServiceLeads(place, "claimed");
    strictEqual((await served(place, "claimed").get("/v1/version")).status, 200);
  }));
