import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { ended } from "../../tools/install/run_program.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";
import { CHAT, startModelService } from "./model_service.ts";
import { inPlace } from "./place.ts";
import { readSession } from "./session.ts";
import { resourceWhen, served, whenReady, word } from "./served.ts";
import { eventually } from "../waiting.ts";

/** The compiled program, with the kubeconfig of an administrator. */
const cli = async (args: ReadonlyArray<string>) =>
  await ended(await compiledOperator(), args, {
    env: { ...Deno.env.toObject(), ...RUNTIME_ENV, KUBECONFIG: readSession().kubeconfig },
  });

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
    const smoke = await cli(["smoke", "vllm", "-n", "sample"]);
    strictEqual(smoke.code, 0, `${smoke.stdout}${smoke.stderr}`);
    match(smoke.stdout, /^version +ok +\d+ ms +0\.7\.3$/m);
    match(
      smoke.stdout,
      new RegExp(`^inference vllm +ok +.* vllm/${MODEL}: "You said: Reply with one word: ready"$`, "m"),
    );

    await place.remove("Service", "vllm");
    // kube-proxy and connections that the server keeps lead there for a moment.
    const broken = await eventually("the model server cannot be reached", async () => {
      const found = await cli(["smoke", "vllm", "-n", "sample", "-o", "json", "--timeout", "30"]);
      return found.code === 1 ? found : undefined;
    });
    const [last] = JSON.parse(broken.stdout).checks.filter(({ result }: { result: string }) => result === "failed");
    strictEqual(last.check, "inference vllm");
    match(last.detail, /the server answered 5\d\d: .*; see the log of its pod$|no response within 30 s/);
  }));
