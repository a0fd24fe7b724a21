import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { Json, JsonObject } from "../data/json.ts";
import { PLAIN } from "./outcome.ts";
import {
  type Answer,
  listCheck,
  providersDetail,
  smokeOutcome,
  targetOf,
  type Trial,
  trialCheck,
  trialsOf,
  unaskedCheck,
  versionDetail,
} from "./smoke.ts";

const resource = (spec: JsonObject = {}): JsonObject => ({ metadata: { name: "my", namespace: "models" }, spec });
const answer = (status: number, body: Json): Answer => ({ kind: "response", status, body, ms: 12 });
const same = (text: string) => text;

const provider = (id: string, api = "inference") => ({ api, provider_id: id, provider_type: "remote::vllm" });
/** As 0.4 and newer list a model, and as older servers do. */
const model = (id: string, provider_id: string, model_type = "llm") => ({
  id,
  custom_metadata: { provider_id, model_type },
});
const older = (identifier: string, provider_id: string, model_type = "llm") => ({
  identifier,
  provider_id,
  model_type,
});

const trials = (spec: JsonObject, providers: ReadonlyArray<Json>, models: ReadonlyArray<Json>) =>
  trialsOf(resource(spec), { data: [...providers] }, { data: [...models] })
    .map((trial) =>
      "check" in trial ? `${trial.check}: ${trial.detail}` : `${trial.provider} ${trial.kind} ${trial.model}`
    );

Deno.test("targetOf() uses port and TLS of the resource", () => {
  deepStrictEqual(targetOf(resource()), { namespace: "models", service: "my-service", port: 8321, scheme: "http" });
  const { port, scheme } = targetOf(resource({ networking: { port: 9000, tls: { enabled: true, secretName: "x" } } }));
  deepStrictEqual([port, scheme], [9000, "https"]);
});

Deno.test("trialsOf() asks each provider of inference once, with a model of the resource if it has one", () => {
  const spec = { resources: { models: [{ name: "small", provider: "a" }] } };
  const models = [model("a/large", "a"), model("a/small", "a"), older("b-model", "b")];
  deepStrictEqual(trials(spec, [provider("b"), provider("a"), provider("files", "files")], models), [
    "a chat a/small",
    "b chat b-model",
  ]);
});

Deno.test("trialsOf() asks a provider with embedding models alone for embeddings, and skips one without models", () => {
  const models = [model("e/mini", "e", "embedding"), model("r/rank", "r", "rerank")];
  deepStrictEqual(trials({}, [provider("e"), provider("r")], models), [
    "e embeddings e/mini",
    "inference r: it has no model; register one in spec.resources.models",
  ]);
});

Deno.test("trialsOf() asks providers of the distribution that the resource does not name for chat completions only", () => {
  const spec = { providers: { inference: [{ provider: "vllm" }, { provider: "remote::openai", id: "mine" }] } };
  const providers = ["groq", "mine", "openai", "st", "vllm"].map((id) => provider(id));
  const models = [model("vllm/m", "vllm"), model("st/mini", "st", "embedding"), model("groq/m", "groq")];
  deepStrictEqual(trials(spec, providers, models), [
    "groq chat groq/m",
    "inference mine: it has no model; register one in spec.resources.models",
    "vllm chat vllm/m",
  ]);
});

const TRIAL: Trial = { provider: "a", model: "a/small", kind: "chat", paths: [], body: {} };

const reply = (content: string): Json => ({ choices: [{ message: { role: "assistant", content } }] });

Deno.test("trialCheck() shows the start of a reply, the dimensions of embeddings, or the server's message", () => {
  const detailOf = (trial: Trial, of: Answer) => trialCheck(trial, of, same).detail;
  strictEqual(detailOf(TRIAL, answer(200, reply("ready\n now"))), 'a/small: "ready now"');
  ok(detailOf(TRIAL, answer(200, reply("x".repeat(1000)))).length < 100);
  const embeddings = { data: [{ embedding: [0.1, 0.2, 0.3] }] };
  strictEqual(detailOf({ ...TRIAL, kind: "embeddings" }, answer(200, embeddings)), "a/small: 3 dimensions");
  strictEqual(
    detailOf(TRIAL, answer(500, { error: { message: "Connection error." } })),
    "a/small: the server answered 500: Connection error.; see the log of its pod",
  );
  strictEqual(
    detailOf(TRIAL, answer(422, { detail: "no such field" })),
    "a/small: the server answered 422: no such field",
  );
  strictEqual(
    detailOf(TRIAL, { kind: "none", why: "no response within 60 s", ms: 60_000 }),
    "a/small: no response within 60 s",
  );
});

Deno.test("trialCheck() fails for a response without a result", () => {
  const { result, detail } = trialCheck(TRIAL, answer(200, { choices: [] }), same);
  deepStrictEqual([result, detail], ["failed", "a/small: the response contains no result"]);
});

Deno.test("trialCheck() shows no text of the server if its Secrets may not be read", () => {
  const failed = trialCheck(TRIAL, answer(500, { error: { message: "key sk-canary is wrong" } }), undefined).detail;
  ok(!failed.includes("canary"), failed);
  ok(!trialCheck(TRIAL, answer(200, reply("sk-canary")), undefined).detail.includes("canary"));
});

Deno.test("listCheck() explains what the API server's proxy rejects", () => {
  const status = (code: number, message: string) => answer(code, { kind: "Status", apiVersion: "v1", code, message });
  const detailOf = (code: number, message = "said so") =>
    listCheck("version", status(code, message), same, versionDetail).detail;
  match(detailOf(403), /verbs get and create on services\/proxy/);
  match(detailOf(404), /the Service does not exist; run explain/);
  match(detailOf(503, 'no endpoints available for service "vllm-service"'), /no ready pod; run explain/);
  match(
    detailOf(503, "error trying to reach service: dial tcp 10.0.0.9:8321: connect: connection refused"),
    /^the API server cannot reach the pod: dial tcp .*: connection refused$/,
  );
  match(detailOf(503), /^the API server answered 503: said so$/);
  match(detailOf(500), /said so/);
  match(
    listCheck("version", answer(401, {}), same, versionDetail).detail,
    /^the server answered 401: .*; this command sends the server no credentials$/,
  );
});

Deno.test("providersDetail() names the providers that call themselves unhealthy", () => {
  const sick = { ...provider("b"), health: { status: "Error", message: "refused" } };
  strictEqual(providersDetail({ data: [provider("a"), sick] }), "2 providers; unhealthy by their own account: b");
});

Deno.test("smokeOutcome() prints a table or JSON, and exits with 1 if a check failed", () => {
  const good = listCheck("version", answer(200, { version: "0.7.3" }), same, versionDetail);
  const bad = trialCheck(TRIAL, answer(500, "broken"), same);
  const table = smokeOutcome(resource(), [good, bad], { format: "text", style: PLAIN });
  strictEqual(table.code, 1);
  deepStrictEqual(table.stdout.split("\n"), [
    "CHECK        RESULT   TIME  DETAIL",
    "version      ok      12 ms  0.7.3",
    "inference a  failed  12 ms  a/small: the server answered 500: broken; see the log of its pod",
    "",
    "my in namespace models: 1 of 2 checks failed",
    "",
  ]);
  const json = smokeOutcome(resource(), [good], { format: "json", style: PLAIN });
  deepStrictEqual([json.code, JSON.parse(json.stdout).ok], [0, true]);
});

Deno.test("unaskedCheck() says why a server with spec.auth is not asked for its models", () => {
  const { result, detail } = unaskedCheck("models");
  deepStrictEqual([result, /spec\.auth/.test(detail)], ["skipped", true]);
});
