/** The few calls that `task up` makes itself, to whichever cluster it has. */
import { type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import type { Connection } from "../../shell/kubernetes/cluster.ts";

export interface Api {
  /** Undefined if it does not exist. */
  readonly get: (path: string) => Promise<JsonObject | undefined>;
  /** False if an object of that name already exists; it is left unchanged. */
  readonly create: (collection: string, object: JsonObject) => Promise<JsonObject | false>;
  /** Only the object of that uid; dependents are deleted too. */
  readonly remove: (path: string, uid: string) => Promise<void>;
  /** Changes a part of an object. */
  readonly patch: (path: string, part: JsonObject) => Promise<void>;
  readonly close: () => void;
}

export const apiOf = (connection: Connection): Api => {
  const caPem = connection.caPem();
  const client = Deno.createHttpClient({
    ...(caPem === undefined ? {} : { caCerts: [caPem] }),
    ...(connection.clientCertificate ?? {}),
  });
  const once = async (method: string, path: string, body?: JsonObject, contentType = "application/json") => {
    const token = connection.token();
    const response = await fetch(`${connection.url}${path}`, {
      method,
      client,
      headers: {
        "content-type": contentType,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, ok: response.ok, answer: parsed(text) };
  };
  // A new CRD, or an API server under load, responds like this for a moment.
  const call = async (method: string, path: string, body?: JsonObject, contentType?: string) => {
    for (let attempt = 1;; attempt++) {
      const answered = await once(method, path, body, contentType);
      if (attempt === ATTEMPTS_MAX || (answered.status !== 429 && answered.status < 500)) return answered;
      await new Promise((resolve) => setTimeout(resolve, attempt * ATTEMPT_PAUSE_MS));
    }
  };
  const failed = (verb: string, path: string, status: number, answer: JsonObject) =>
    new Error(`Cannot ${verb} ${path}: ${status} ${stringAt(answer, "message") ?? "no message"}`);
  return {
    get: async (path) => {
      const { status, ok, answer } = await call("GET", path);
      if (status === 404) return undefined;
      if (!ok) throw failed("get", path, status, answer);
      return answer;
    },
    create: async (collection, object) => {
      const { status, ok, answer } = await call("POST", collection, object);
      if (status === 409 && stringAt(answer, "reason") === "AlreadyExists") return false;
      if (!ok) throw failed("create in", collection, status, answer);
      return answer;
    },
    remove: async (path, uid) => {
      const options = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid } };
      const { status, ok, answer } = await call("DELETE", path, { ...options, propagationPolicy: "Background" });
      // Gone, or another object has its name by now.
      if (!ok && status !== 404 && status !== 409) throw failed("delete", path, status, answer);
    },
    patch: async (path, part) => {
      const { status, ok, answer } = await call("PATCH", path, part, "application/strategic-merge-patch+json");
      if (!ok) throw failed("patch", path, status, answer);
    },
    close: () => client.close(),
  };
};

const CALL_TIMEOUT_MS = 30_000;

/** Five seconds in all. */
const ATTEMPTS_MAX = 5;
const ATTEMPT_PAUSE_MS = 500;

const parsed = (text: string): JsonObject => {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return { message: text.slice(0, 200) };
  }
};

/**
 * The API path of objects of this kind, discovered from the API server; `namespace` is used if the kind is namespaced.
 */
export const collectionOf = async (api: Api, object: JsonObject, namespace: string): Promise<string> => {
  const [version = "", kind = ""] = [stringAt(object, "apiVersion"), stringAt(object, "kind")];
  const group = version.includes("/") ? `/apis/${version}` : `/api/${version}`;
  const known = listAt(await api.get(group), "resources")
    .find((resource) => stringAt(resource, "kind") === kind && !(stringAt(resource, "name") ?? "").includes("/"));
  const plural = stringAt(known, "name");
  if (plural === undefined) throw new Error(`The cluster does not serve ${kind} of ${version}`);
  return member(known, "namespaced") === true ? `${group}/namespaces/${namespace}/${plural}` : `${group}/${plural}`;
};

export const nameOf = (object: JsonObject): string => stringAt(object, "metadata", "name") ?? "";
export const uidOf = (object: JsonObject): string => stringAt(object, "metadata", "uid") ?? "";
export const namespaceOf = (object: JsonObject): string | undefined =>
  stringAt(objectAt(object, "metadata"), "namespace");
