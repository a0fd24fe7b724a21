/** A server in its pod, reached through its Service, and what its resource says of it. */
import { KIND } from "../../core/api/v1alpha2.ts";
import { isObject, type Json, type JsonObject, listAt, member, put, stringAt } from "../../core/data/json.ts";
import type { Answer } from "../../tools/server/llama_stack.ts";
import type { ServerVersion } from "../../tools/install/python_server.ts";
import type { Place } from "./place.ts";
import { eventually } from "../waiting.ts";

export interface Served {
  readonly server: ServerVersion;
  readonly url: string;
  get(path: string, headers?: HeadersInit): Promise<Answer>;
  post(path: string, body: unknown, headers?: HeadersInit): Promise<Answer>;
}

export interface HowServed {
  readonly server?: ServerVersion;
  /** With it the server is asked by HTTPS. */
  readonly caPem?: string;
}

/** Through the ClusterIP of the Service; each request opens a connection, as each new client does. */
export const served = (
  { namespace }: Place,
  name: string,
  { server = "llama-stack 0.7.3", caPem }: HowServed = {},
): Served => {
  const url = `${caPem === undefined ? "http" : "https"}://${name}-service.${namespace}.svc:8321`;
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    using client = Deno.createHttpClient({
      poolMaxIdlePerHost: 0,
      ...(caPem === undefined ? {} : { caCerts: [caPem] }),
    });
    const answer = await fetch(`${url}${path}`, { ...init, client, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const text = await answer.text();
    try {
      return { status: answer.status, body: JSON.parse(text) };
    } catch {
      return { status: answer.status, body: text };
    }
  };
  return {
    server,
    url,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body, headers = {}) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...Object.fromEntries(new Headers(headers)) },
        body: JSON.stringify(body),
      }),
  };
};

/** Most answers take milliseconds; the first file of a vector store waits for the libraries of its provider. */
const ANSWER_WITHIN_MS = 120_000;

/** Of the usual limit: a first start takes 10 s on an idle node; several at once, beside other work, take minutes. */
const STARTS = 3;

/** The resource once `holds` says so of it; the status is never that of an older edit. */
export const resourceWhen = async (
  place: Place,
  name: string,
  what: string,
  holds: (resource: JsonObject) => boolean,
  times = STARTS,
): Promise<JsonObject> => {
  let last: JsonObject | undefined;
  try {
    return await eventually(`${name} is ${what}`, async () => {
      last = await place.read(KIND, name);
      if (last === undefined) return undefined;
      const isCurrent = member(last.status ?? {}, "observedGeneration") === member(last.metadata ?? {}, "generation");
      return isCurrent && holds(last) ? last : undefined;
    }, times);
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : cause}; ${JSON.stringify(last?.status ?? "gone")}`);
  }
};

/** Ready, and its Service leads there. */
export const whenReady = async (place: Place, name: string): Promise<JsonObject> => {
  const resource = await resourceWhen(place, name, "ready", (object) => word(object, "Ready") === "True");
  await whenServiceLeads(place, name);
  return resource;
};

/** kube-proxy hears of a ready pod at the same time as the operator, and until then it refuses connections. */
export const whenServiceLeads = (place: Place, name: string): Promise<true> =>
  eventually(`the Service of ${name} leads to a pod`, async () => {
    try {
      (await Deno.connect({ hostname: `${name}-service.${place.namespace}.svc`, port: 8321 })).close();
      return true;
    } catch {
      return undefined;
    }
  });

/** `True` or `False`, and the reason and message beside it. */
export const condition = (resource: JsonObject, type: string): JsonObject | undefined =>
  listAt(resource, "status", "conditions").filter(isObject).find((object) => stringAt(object, "type") === type);

export const word = (resource: JsonObject, type: string): string | undefined =>
  stringAt(condition(resource, type), "status");

export const podsOf = async (place: Place, name: string): Promise<readonly JsonObject[]> =>
  (await place.list("Pod")).filter((pod) => stringAt(pod, "metadata", "labels", "app.kubernetes.io/instance") === name);

/** Ends every pod of a server and returns when another one is ready. */
export const restart = async (place: Place, name: string): Promise<void> => {
  const old = (await podsOf(place, name)).map(podName);
  for (const pod of old) await place.remove("Pod", pod);
  await eventually(`another pod of ${name} is ready`, async () => {
    const now = await podsOf(place, name);
    const isNew = now.length > 0 && now.every((pod) => !old.includes(podName(pod)) && isReady(pod));
    return isNew ? true : undefined;
  }, STARTS);
  await whenReady(place, name);
};

/** Returns their names when all pods of a server are others than these. */
export const whenReplaced = (place: Place, name: string, old: readonly string[]): Promise<readonly string[]> =>
  eventually(`new pods of ${name} alone`, async () => {
    const now = (await podsOf(place, name)).map(podName);
    return now.length > 0 && !now.some((pod) => old.includes(pod)) ? now : undefined;
  }, STARTS);

export const podName = (pod: Json): string => stringAt(pod, "metadata", "name") ?? "";

const isReady = (pod: JsonObject): boolean =>
  listAt(pod, "status", "conditions").some((value) =>
    stringAt(value, "type") === "Ready" && stringAt(value, "status") === "True"
  );

/** An edit of the author that changes the pods. */
export const withEnv = (spec: JsonObject, name: string, value: string): JsonObject =>
  put(spec, ["workload", "overrides", "env"], [{ name, value }]);

/** Of `withEnv`: no server starts with it, since its data has no place. */
export const UNSTARTABLE = ["SQLITE_STORE_DIR", "/proc/nowhere"] as const;
