import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { CHAT, MODEL_PORT, startModelService } from "./model_service.ts";
import { inPlace } from "./place.ts";
import { podsOf, resourceWhen, served, whenReady, word } from "./served.ts";

const MODEL = "meta-llama/Llama-3.2-3B-Instruct";

const sample = async (name: string): Promise<JsonObject> => {
  const text = await Deno.readTextFile(new URL(`../../deploy/samples/${name}.yaml`, import.meta.url));
  return objectAt(Result.getOrThrow(readManifests(text))[0], "spec");
};

Deno.test("the vllm sample answers through its Service with the key of its Secret, and reports its models", () =>
  inPlace("sample", async (place) => {
    await using vllm = await startModelService(place, "vllm", { models: [MODEL] });
    await place.secret("vllm", { token: "the key of the Secret" });
    await place.resource("vllm", await sample("vllm"));
    await whenReady(place, "vllm");
    const chat = { ...CHAT, model: `vllm/${MODEL}` };
    const { status, body } = await served(place, "vllm").post("/v1/chat/completions", chat);
    strictEqual(status, 200, JSON.stringify(body));
    strictEqual(body.choices[0].message.content, "You said: hello");
    const asked = vllm.requests.filter(({ path }) => path === "/v1/chat/completions");
    deepStrictEqual(asked.map(({ authorization }) => authorization), ["Bearer the key of the Secret"]);
    const told = await resourceWhen(place, "vllm", "asked", (resource) => word(resource, "HealthCheck") === "True");
    const models = listAt(told, "status", "models").map((model) =>
      stringAt(model, "identifier") ?? JSON.stringify(model)
    );
    ok(models.some((model) => model.includes(MODEL)), models.join());
    strictEqual(stringAt(told, "status", "version", "llamaStackServerVersion"), "0.7.3");
    strictEqual(stringAt(told, "status", "phase"), "Ready");
  }));

Deno.test("HTTPS is served and probed, and the CA bundle lets the server trust a model server", () =>
  inPlace("tls", async (place) => {
    const folder = await Deno.makeTempDir();
    const of = async (name: string) => {
      const own = `${folder}/${name}`;
      await Deno.mkdir(own);
      const { certificateFile, keyFile } = await makeServerCertificate(own, [name]);
      return { cert: await Deno.readTextFile(certificateFile), key: await Deno.readTextFile(keyFile) };
    };
    const [models, server] = [await of("vllm"), await of("secure-service.tls.svc")];
    await using vllm = await startModelService(place, "vllm", { tls: models });
    await place.apply("ConfigMap", "authorities", { data: { "ca-bundle.crt": models.cert } });
    await place.secret("certificate", { "tls.crt": server.cert, "tls.key": server.key, "ca.crt": server.cert });
    await place.resource("secure", {
      distribution: { name: "starter" },
      providers: { inference: [{ provider: "vllm", endpoint: `https://vllm:${MODEL_PORT}` }] },
      networking: { tls: { enabled: true, secretName: "certificate", caBundle: { configMapName: "authorities" } } },
    });
    await whenReady(place, "secure");
    const [pod] = await podsOf(place, "secure");
    const [container] = listAt(pod, "spec", "containers");
    deepStrictEqual(
      ["startupProbe", "readinessProbe"].map((probe) => stringAt(container, probe, "httpGet", "scheme")),
      ["HTTPS", "HTTPS"],
    );
    const { status, body } = await served(place, "secure", { caPem: server.cert }).post("/v1/chat/completions", CHAT);
    strictEqual(body.choices?.[0].message.content, "You said: hello", `${status} ${JSON.stringify(body)}`);
    ok(vllm.requests.length > 0);
    match(await served(place, "secure").get("/v1/health").then(({ status }) => `${status}`, String), /error/i);
    const told = await resourceWhen(place, "secure", "asked", (resource) => word(resource, "HealthCheck") === "True");
    match(stringAt(told, "status", "serviceURL") ?? "", /^https:/);
    await Deno.remove(folder, { recursive: true });
  }));
