/** `smoke`: which requests show whether a server works, and a table of how it answered them. */
import { at, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { serviceName, type ServiceTarget } from "../resources/service.ts";
import { liveObject } from "../snapshot/live_object.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { lines, type Outcome, type Printing } from "./outcome.ts";

export const targetOf = (resource: JsonObject): ServiceTarget => {
  const { namespace, name } = liveObject(resource);
  const { port, hasTls } = liveResource(resource);
  return { namespace, service: serviceName(name), port, scheme: hasTls ? "https" : "http" };
};

/** Of a list that is not requested, because the server would reject a request without a credential. */
export const unaskedCheck = (check: string): Check => ({
  check,
  result: "skipped",
  milliseconds: null,
  detail: "the server authenticates its callers (spec.auth), and this command sends it no credential",
});

/** One response of the server; `ms` is the time until it was complete. */
export type Answer =
  | { readonly kind: "response"; readonly status: number; readonly body: Json; readonly ms: number }
  /** No response, and why. */
  | { readonly kind: "none"; readonly why: string; readonly ms: number };

/** One line of the table. */
export interface Check {
  readonly check: string;
  readonly result: "ok" | "failed" | "skipped";
  /** Null for a check that made no request. */
  readonly milliseconds: number | null;
  readonly detail: string;
}

/** What a provider of inference is asked: a chat completion, or embeddings if it has no other models. */
export interface Trial {
  readonly provider: string;
  readonly model: string;
  readonly kind: "chat" | "embeddings";
  /** In order: an older server has the second path only. */
  readonly paths: ReadonlyArray<string>;
  readonly body: JsonObject;
}

const PROMPT = "Reply with one word: ready";

/** Enough for one word of a model that thinks first. */
const TOKENS_MAX = 64;

/** A model that the server lists. */
interface Model {
  readonly id: string;
  readonly provider: string;
  readonly type: string;
}

const modelsIn = (models: Json): ReadonlyArray<Model> =>
  listAt(models, "data").flatMap((model) => {
    const id = stringAt(model, "id") ?? stringAt(model, "identifier");
    const details = objectAt(model, "custom_metadata");
    const provider = stringAt(details, "provider_id") ?? stringAt(model, "provider_id") ?? id?.split("/")[0];
    const type = stringAt(details, "model_type") ?? stringAt(model, "model_type") ?? "llm";
    return id === undefined || provider === undefined ? [] : [{ id, provider, type }];
  });

const inferenceProvidersIn = (providers: Json): ReadonlyArray<string> =>
  listAt(providers, "data").filter((provider) => stringAt(provider, "api") === "inference")
    .flatMap((provider) => stringAt(provider, "provider_id") ?? []).toSorted();

/**
 * A request for each inference provider, or why there is none. Models of the resource come before those that the
 * provider lists by itself. Other providers of the distribution are only asked if they have models for chat: most of
 * them are not configured, and nobody relies on them.
 */
export const trialsOf = (
  resource: JsonObject,
  providers: Json,
  models: Json,
): ReadonlyArray<Trial | Check> => {
  const { models: named, inferenceProviders: wanted } = liveResource(resource);
  const all = modelsIn(models);
  return inferenceProvidersIn(providers).flatMap((provider): ReadonlyArray<Trial | Check> => {
    const own = all.filter((model) => model.provider === provider);
    const first = (type: string) => {
      const fitting = own.filter((model) => model.type === type);
      return fitting.find(({ id }) => named.some((name) => id === name || id === `${provider}/${name}`)) ?? fitting[0];
    };
    const llm = first("llm");
    if (llm !== undefined) return [chatTrial(llm)];
    if (wanted.length > 0 && !wanted.includes(provider)) return [];
    const embedding = first("embedding");
    return [
      embedding !== undefined ? embeddingsTrial(embedding) : {
        check: `inference ${provider}`,
        result: "skipped",
        milliseconds: null,
        detail: "it has no model; register one in spec.resources.models",
      },
    ];
  });
};

const chatTrial = ({ id, provider }: Model): Trial => ({
  provider,
  model: id,
  kind: "chat",
  paths: ["/v1/chat/completions", "/v1/openai/v1/chat/completions"],
  body: { model: id, messages: [{ role: "user", content: PROMPT }], max_tokens: TOKENS_MAX, stream: false },
});

const embeddingsTrial = ({ id, provider }: Model): Trial => ({
  provider,
  model: id,
  kind: "embeddings",
  paths: ["/v1/embeddings", "/v1/openai/v1/embeddings"],
  body: { model: id, input: "ready" },
});

/** `clean` removes secret values; undefined: texts of the server are not shown, because its Secrets may not be read. */
export type Clean = ((text: string) => string) | undefined;

/** The check of a list or of the version. */
export const listCheck = (check: string, answer: Answer, clean: Clean, detail: (body: Json) => string): Check =>
  answer.kind === "response" && answer.status === 200
    ? { check, result: "ok", milliseconds: answer.ms, detail: detail(answer.body) }
    : failedCheck(check, answer, clean);

export const versionDetail = (body: Json): string => stringAt(body, "version") ?? "unknown version";

/** How many there are, and which of them call themselves unhealthy. */
export const providersDetail = (body: Json): string => {
  const all = listAt(body, "data");
  const sick = all.filter((provider) => stringAt(provider, "health", "status") === "Error")
    .flatMap((provider) => stringAt(provider, "provider_id") ?? []);
  return `${all.length} providers${sick.length === 0 ? "" : `; unhealthy by their own account: ${sick.join(", ")}`}`;
};

export const modelsDetail = (body: Json): string => `${listAt(body, "data").length} models`;

export const trialCheck = ({ provider, model, kind }: Trial, answer: Answer, clean: Clean): Check => {
  const check = `inference ${provider}`;
  if (answer.kind !== "response" || answer.status !== 200) {
    const failed = failedCheck(check, answer, clean);
    return { ...failed, detail: `${model}: ${failed.detail}` };
  }
  const result = kind === "chat" ? replyIn(answer.body) : dimensionsIn(answer.body);
  return result === undefined
    ? { check, result: "failed", milliseconds: answer.ms, detail: `${model}: the response contains no result` }
    : {
      check,
      result: "ok",
      milliseconds: answer.ms,
      detail: `${model}: ${clean === undefined ? "answered" : clean(result)}`,
    };
};

const REPLY_CHARACTERS_MAX = 60;

const replyIn = (body: Json): string | undefined => {
  const message = objectAt(listAt(body, "choices")[0] ?? null, "message");
  const text = stringAt(message, "content") ?? stringAt(message, "reasoning_content");
  if (text === undefined) return undefined;
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > REPLY_CHARACTERS_MAX ? `"${line.slice(0, REPLY_CHARACTERS_MAX)}…"` : `"${line}"`;
};

const dimensionsIn = (body: Json): string | undefined => {
  const [first] = listAt(body, "data");
  const vector = at(first ?? null, "embedding");
  const dimensions = Array.isArray(vector) ? vector.length : undefined;
  return dimensions === undefined ? undefined : `${dimensions} dimensions`;
};

const failedCheck = (check: string, answer: Answer, clean: Clean): Check => ({
  check,
  result: "failed",
  milliseconds: answer.ms,
  detail: answer.kind === "none" ? answer.why : whyOf(answer.status, answer.body, clean),
});

const TEXT_CHARACTERS_MAX = 300;

/**
 * How the API server's proxy of Services begins these messages; both have status 503. Source:
 * k8s.io/kubernetes/pkg/registry/core/service/storage and k8s.io/apimachinery/pkg/util/proxy.
 */
const NO_ENDPOINTS = "no endpoints available for service";
const NOT_REACHED = "error trying to reach service: ";

/** A response of the API server's proxy is a Status object; every other comes from the server. */
const whyOf = (status: number, body: Json, clean: Clean): string => {
  if (stringAt(body, "kind") === "Status" && stringAt(body, "apiVersion") === "v1") {
    if (status === 403) return "you may not do this: it requires the verbs get and create on services/proxy";
    if (status === 404) return "the Service does not exist; run explain";
    const message = stringAt(body, "message") ?? "no message";
    if (message.startsWith(NO_ENDPOINTS)) return "the Service has no ready pod; run explain";
    return message.startsWith(NOT_REACHED)
      ? `the API server cannot reach the pod: ${message.slice(NOT_REACHED.length)}`
      : `the API server answered ${status}: ${message}`;
  }
  const note = status === 401 || status === 403
    ? "; this command sends the server no credentials"
    : status >= 500
    ? "; see the log of its pod"
    : "";
  if (clean === undefined) {
    return `the server answered ${status} (its message is not shown, because you may not read its Secrets)${note}`;
  }
  const text = stringAt(body, "error", "message") ?? stringAt(body, "detail") ?? stringAt(body, "message") ??
    (typeof body === "string" ? body : JSON.stringify(body));
  return `the server answered ${status}: ${clean(text).replace(/\s+/g, " ").slice(0, TEXT_CHARACTERS_MAX)}${note}`;
};

/** The table; exit code 1 if a check failed. */
export const smokeOutcome = (
  resource: JsonObject,
  checks: ReadonlyArray<Check>,
  { format, style }: Printing,
): Outcome => {
  const failed = checks.filter(({ result }) => result === "failed").length;
  const code = failed === 0 ? 0 : 1;
  const { name, namespace } = liveObject(resource);
  if (format === "json") {
    return { stdout: `${JSON.stringify({ name, namespace, ok: failed === 0, checks }, null, 2)}\n`, stderr: "", code };
  }
  const rows = [
    ["CHECK", "RESULT", "TIME", "DETAIL"],
    ...checks.map(({ check, result, milliseconds, detail }) => [check, result, timeText(milliseconds), detail]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const paint = (result: string, text: string) =>
    result === "ok" ? style.good(text) : result === "failed" ? style.error(text) : text;
  const table = rows.map(([check = "", result = "", time = "", detail = ""]) =>
    `${check.padEnd(widths[0] ?? 0)}  ${paint(result, result.padEnd(widths[1] ?? 0))}  ${
      time.padStart(widths[2] ?? 0)
    }  ${detail}`
  );
  const summary = failed === 0
    ? style.good(`${name} in namespace ${namespace} works`)
    : style.error(`${name} in namespace ${namespace}: ${failed} of ${checks.length} checks failed`);
  return { stdout: lines([...table, "", summary]), stderr: "", code };
};

const timeText = (milliseconds: number | null): string =>
  milliseconds === null
    ? "-"
    : milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
