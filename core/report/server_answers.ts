/**
 * The requests to a server, and the parts of its answers that are written to the status: bounded, sorted, without
 * configs.
 */
import {
  STATUS_API_CHARACTERS_MAX,
  STATUS_MODEL_CHARACTERS_MAX,
  STATUS_MODELS_MAX,
  STATUS_NAME_CHARACTERS_MAX,
  STATUS_PROVIDERS_MAX,
  STATUS_VERSION_CHARACTERS_MAX,
} from "../data/limits.ts";
import * as Redacted from "effect/Redacted";
import type { Spec } from "../api/v1alpha2.ts";
import { sha256Hex } from "../data/digest.ts";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../data/json.ts";
import { isOurs } from "../plan/ownership.ts";
import { isComplete } from "../plan/rollout/rollout_state.ts";
import { type ClusterSnapshot, liveKey, type ServerAnswers } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { portOf, servesTls } from "../resources/blueprint.ts";
import { printable } from "../data/printable.ts";
import { serviceName } from "../resources/service.ts";
import { repeats } from "../data/redaction.ts";
import { isExternalName } from "../snapshot/live_route.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** A server to ask; another pod template, port or certificate is another question. */
export interface Question {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  /** Certificate authority of a server with TLS; undefined: plain HTTP. */
  readonly caPem: string | undefined;
  /** It authenticates its callers: only the version is asked for, which is open, and the operator sends no credential. */
  readonly authenticates: boolean;
  readonly uid: string;
  readonly template: string;
}

/**
 * The request to make; undefined if the server is not to be asked: its Service is not the operator's and may lead
 * anywhere, it is not completely rolled out and a request could reach old pods, or its certificate cannot be checked.
 */
export const questionOf = (
  { resource, live, secrets, ...seen }: Pick<ClusterSnapshot, "resource" | "live" | "secrets" | "pods" | "replicaSets">,
  spec: Spec,
): Question | undefined => {
  const { namespace, name, uid } = liveObject(resource);
  const service = live.get(liveKey("Service", serviceName(name)));
  if (service === undefined || !isOurs(service, uid) || isExternalName(service)) {
    return undefined;
  }
  const deployment = deploymentIn({ resource, live, replicaSets: seen.replicaSets });
  if (deployment === undefined || deployment.wantedReplicas === 0 || !isComplete(deployment, seen)) return undefined;
  const { port = portOf(spec), isTls = servesTls(spec) } = deployment.serverPort ?? {};
  const authority = isTls ? secrets.get(spec.networking?.tls?.secretName ?? "")?.["ca.crt"] : undefined;
  const caPem = authority === undefined ? undefined : Redacted.value(authority);
  if (isTls && caPem === undefined) return undefined;
  return {
    namespace,
    service: serviceName(name),
    port,
    caPem,
    authenticates: spec.auth !== undefined,
    uid: uid ?? "",
    template: sha256Hex(JSON.stringify(deployment.kept.template)),
  };
};

/**
 * Answers of `/v1/version`, `/v1/providers` and `/v1/models`; undefined without a version. If a list cannot be fetched, the previous one is kept. Sorted, since servers list in any order and a status that only changes its order is a write for nothing.
 */
export const answersOf = (
  version: Json | undefined,
  providers: Json | undefined,
  models: Json | undefined,
  before: ServerAnswers | undefined,
): ServerAnswers | undefined => {
  const reported = stringAt(version, "version");
  if (reported === undefined) return undefined;
  return {
    version: reported.slice(0, STATUS_VERSION_CHARACTERS_MAX),
    providers: isObject(providers)
      ? sorted(listAt(providers, "data").flatMap(providerOf), (object) => `${object.api} ${object.provider_id}`)
        .slice(0, STATUS_PROVIDERS_MAX)
      : before?.providers ?? [],
    models: isObject(models)
      ? sorted([...new Set(listAt(models, "data").flatMap(modelOf))], (id) => id).slice(0, STATUS_MODELS_MAX)
      : before?.models ?? [],
  };
};

/** A config may hold secrets that the server forgot to redact. */
const providerOf = (provider: Json): ReadonlyArray<JsonObject> => {
  const [api, id, type] = ["api", "provider_id", "provider_type"].map((field) => stringAt(provider, field));
  return api === undefined || id === undefined || type === undefined ? [] : [{
    api: api.slice(0, STATUS_API_CHARACTERS_MAX),
    provider_id: id.slice(0, STATUS_NAME_CHARACTERS_MAX),
    provider_type: type.slice(0, STATUS_NAME_CHARACTERS_MAX),
  }];
};

/** A cut id would name no model. */
const modelOf = (model: Json): ReadonlyArray<string> => {
  const id = stringAt(model, "id") ?? stringAt(model, "identifier");
  return id === undefined || id.length > STATUS_MODEL_CHARACTERS_MAX ? [] : [id];
};

const sorted = <A>(all: ReadonlyArray<A>, by: (item: A) => string): ReadonlyArray<A> =>
  all.toSorted((a, b) => by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0);

/** Answers of a server are written to the status: no part that repeats a Secret's value, and no control characters. */
export const shownAnswers = (
  answers: ServerAnswers | undefined,
  secretValues: ReadonlyArray<string>,
): ServerAnswers | undefined => {
  if (answers === undefined) return undefined;
  const text = JSON.stringify(answers);
  if (repeats(text, secretValues)) return undefined;
  const clean = (part: unknown): unknown => {
    if (typeof part === "string") return printable(part);
    if (Array.isArray(part)) return part.map(clean);
    return typeof part === "object" && part !== null
      ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, clean(inner)]))
      : part;
  };
  return clean(answers) as ServerAnswers;
};
