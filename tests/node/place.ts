/** A namespace for one test, with what the test puts around its servers. */
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { isObject, type JsonObject, listAt, put, stringAt } from "../../core/data/json.ts";
import { joinCluster } from "./cluster.ts";
import { forward, type Forwarded } from "./forward.ts";
import { HOST_ADDRESS } from "../../tools/cluster/real_node/private_host.ts";
import { ended } from "../../tools/install/run_program.ts";
import { report } from "./report.ts";
import { readSession } from "./session.ts";

export interface Place {
  readonly namespace: string;
  /** Undefined when there is none. */
  read(kind: Kind, name: string): Promise<JsonObject | undefined>;
  list(kind: Kind): Promise<readonly JsonObject[]>;
  apply(kind: Kind, name: string, content: JsonObject): Promise<void>;
  remove(kind: Kind, name: string): Promise<void>;
  secret(name: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** A resource whose pod asks for little of the node and logs without frames. */
  resource(name: string, spec: JsonObject, annotations?: Readonly<Record<string, string>>): Promise<void>;
  /** In the namespace; returns what it prints. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Also objects without a namespace, and those of another one. */
  create(object: JsonObject): Promise<void>;
  /** Runs a command in a pod of a server, and returns what it prints. */
  run(name: string, ...command: readonly string[]): Promise<string>;
  /** Lets pods reach a port of this process's loopback under the name of a Service. */
  expose(name: string, port: number, to: number): Promise<void>;
}

export type Kind = keyof typeof KINDS;

/** Runs a test in a namespace of its own; a failure tells what was in it. */
export const inPlace = async (namespace: string, test: (place: Place) => Promise<void>): Promise<void> => {
  const forwarded: Forwarded[] = [];
  await send("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  try {
    await test(placeIn(namespace, forwarded));
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${words}\n${await report(cluster, namespace)}`, { cause });
  } finally {
    // Not waited for: the pods need a while to drain, and nothing of them disturbs the next test.
    await send("DELETE", `/api/v1/namespaces/${namespace}`);
    for (const item of forwarded) await item[Symbol.asyncDispose]();
  }
};

const cluster = joinCluster();

const KINDS = {
  [KIND]: { apiVersion: API_VERSION, plural: "llamastackdistributions" },
  ConfigMap: { apiVersion: "v1", plural: "configmaps" },
  Deployment: { apiVersion: "apps/v1", plural: "deployments" },
  EndpointSlice: { apiVersion: "discovery.k8s.io/v1", plural: "endpointslices" },
  NetworkPolicy: { apiVersion: "networking.k8s.io/v1", plural: "networkpolicies" },
  PersistentVolumeClaim: { apiVersion: "v1", plural: "persistentvolumeclaims" },
  Pod: { apiVersion: "v1", plural: "pods" },
  Secret: { apiVersion: "v1", plural: "secrets" },
  Service: { apiVersion: "v1", plural: "services" },
  ServiceAccount: { apiVersion: "v1", plural: "serviceaccounts" },
} as const;

const placeIn = (namespace: string, forwarded: Forwarded[]): Place => {
  const path = (kind: Kind, name = "") => {
    const { apiVersion, plural } = KINDS[kind];
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    return `${root}/namespaces/${namespace}/${plural}${name === "" ? "" : `/${name}`}`;
  };
  const apply: Place["apply"] = async (kind, name, content) => {
    const { apiVersion } = KINDS[kind];
    await send("PATCH", `${path(kind, name)}?fieldManager=test&force=true`, {
      apiVersion,
      kind,
      ...put(content, ["metadata", "name"], name),
    });
  };
  const kubectlWith = async (stdin: string | undefined, args: readonly string[]): Promise<string> => {
    const { kubeconfig, kubectlPath } = readSession();
    const words = ["--kubeconfig", kubeconfig, "-n", namespace, ...args];
    const { code, stdout, stderr } = await ended(kubectlPath, words, { stdin });
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const kubectl: Place["kubectl"] = (...args) => kubectlWith(undefined, args);
  return {
    namespace,
    apply,
    read: (kind, name) => send("GET", path(kind, name)),
    list: async (kind) => listAt(await send("GET", path(kind)), "items").filter(isObject),
    remove: async (kind, name) => void await send("DELETE", path(kind, name)),
    secret: (name, stringData) => apply("Secret", name, { stringData }),
    resource: (name, spec, annotations = {}) => apply(KIND, name, { metadata: { annotations }, spec: forTests(spec) }),
    kubectl,
    create: async (object) => {
      const other = stringAt(object, "metadata", "namespace") ?? namespace;
      await kubectlWith(JSON.stringify(object), ["create", "-f", "-", "-n", other]);
    },
    run: (name, ...command) => kubectl("exec", `deployment/${name}`, "--", ...command),
    expose: async (name, port, to) => {
      const item = forward(to);
      forwarded.push(item);
      await apply("Service", name, { spec: { ports: [{ port }] } });
      await apply("EndpointSlice", name, {
        metadata: { labels: { "kubernetes.io/service-name": name } },
        addressType: "IPv4",
        endpoints: [{ addresses: [HOST_ADDRESS] }],
        ports: [{ name: "", port: item.port }],
      });
    },
  };
};

/**
 * Eight pods fit a node of two cores; the operator asks for a whole core where a resource says nothing. Tracebacks in a
 * drawn frame keep a core busy for about five seconds each, and Llama Stack prints some when its first two requests come
 * at once.
 */
const forTests = (spec: JsonObject): JsonObject => {
  const small = put(spec, ["workload", "resources", "requests"], { cpu: "250m", memory: "128Mi" });
  return put(small, ["workload", "overrides", "env"], [
    ...listAt(spec, "workload", "overrides", "env"),
    { name: "LLAMA_STACK_LOG_FORMAT", value: "json" },
    { name: "OGX_LOG_FORMAT", value: "json" },
  ]);
};

const send = async (method: string, path: string, body?: JsonObject): Promise<JsonObject | undefined> => {
  const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
  const answer = await cluster.fetch(path, {
    method,
    headers: { "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const said = await answer.json();
  if (answer.ok) return said;
  if (answer.status === 404 && method !== "PATCH") return undefined;
  throw new Error(`${method} ${path}: ${answer.status} ${said.message}`);
};
