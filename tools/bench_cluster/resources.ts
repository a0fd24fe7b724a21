/** The resources that `deno task bench:cluster` measures with, and how they get into a cluster. */
import { customResourceDefinition } from "../../core/api/crd.ts";
import type { JsonObject } from "../../core/data/json.ts";
import type { ControlPlane } from "../cluster/control_plane.ts";
import { type Definition, installDefinition } from "../cluster/custom_resource_definition.ts";
import { inParallel } from "../in_parallel.ts";

/** Requests in flight, of the bare client too; more did not make this API server faster. */
export const IN_FLIGHT = 32;

/** After a new CustomResourceDefinition the API server makes its OpenAPI documents anew, for seconds. */
const DOCUMENTS_MADE_MS = 5_000;

/** The CRD and empty namespaces. */
export const prepareCluster = async (cluster: ControlPlane, namespaces: ReadonlyArray<string>): Promise<void> => {
  await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
  for (const name of namespaces) {
    await post(cluster, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await pause(DOCUMENTS_MADE_MS);
};

/** The resources `r<from>` up to, but without, `r<to>`. */
export const createMany = (
  cluster: ControlPlane,
  namespace: string,
  from: number,
  to: number,
  distribution: (index: number) => JsonObject = () => STARTER,
): Promise<void> =>
  inParallel(to - from, IN_FLIGHT, async (index) => {
    const made = resource(namespace, `r${from + index}`, distribution(from + index));
    await post(cluster, collection(namespace), made);
  });

const STARTER: JsonObject = { name: "starter" };

export const resource = (namespace: string, name: string, distribution = STARTER): JsonObject => ({
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  metadata: { name, namespace },
  spec: {
    distribution,
    // Each its own, so that nothing that was made for one serves another.
    providers: { inference: [{ provider: "vllm", endpoint: `http://${name}.${namespace}:8000` }] },
    workload: { storage: { size: "1Gi" } },
  },
});

export const collection = (namespace: string) =>
  `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions`;

export const send = async (
  cluster: ControlPlane,
  method: string,
  path: string,
  body: JsonObject,
  type = "application/json",
): Promise<JsonObject> => {
  const answer = await cluster.fetch(path, { method, body: JSON.stringify(body), headers: { "content-type": type } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as JsonObject;
};
export const post = (cluster: ControlPlane, path: string, body: JsonObject) => send(cluster, "POST", path, body);

/** How many Deployments there are, without their bodies. */
export const deployments = async (cluster: ControlPlane, namespace: string): Promise<number> => {
  const answer = await cluster.fetch(`/apis/apps/v1/namespaces/${namespace}/deployments?limit=1`);
  const { items, metadata } = await answer.json();
  return items.length + (metadata.remainingItemCount ?? 0);
};

/**
 * Interval between two checks for completion. Rare: 20 checks a second take 1 % of the processors, which the operator
 * shares with the bench.
 */
export const ASKED_EVERY_MS = 500;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
