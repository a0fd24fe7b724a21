/** Resources on a real API server: written as a person would, and waited for until nothing is left to do. */
import { type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { eventually } from "./operator.ts";

export const RESOURCES = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions";

export const SPEC: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
  workload: { replicas: 2 },
  networking: { expose: {} },
};

export const withModels = (count: number): JsonObject => ({
  ...SPEC,
  resources: { models: Array.from({ length: count }, (_, index) => ({ name: `m${index}` })) },
});

export const apply = (cluster: ControlPlane, object: JsonObject): Promise<string> =>
  cluster.kubectl(["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"], JSON.stringify(object));

export const list = async (cluster: ControlPlane, path: string): Promise<ReadonlyArray<Json>> =>
  listAt(await (await cluster.fetch(path)).json() as JsonObject, "items");

/** The resource if it is Ready in its last generation, with so many models and an image of that name. */
export const isSettled = async (
  cluster: ControlPlane,
  name: string,
  models: number,
  image = "llamastack/",
): Promise<JsonObject | undefined> => {
  const resource = await (await cluster.fetch(`${RESOURCES}/${name}`)).json() as JsonObject;
  const ready = listAt(resource, "status", "conditions").find((condition) => stringAt(condition, "type") === "Ready");
  const observed = Number(member(objectAt(resource, "status"), "observedGeneration"));
  const counted = Number(member(objectAt(resource, "status", "configGeneration"), "resourceCount"));
  return stringAt(ready, "status") === "True" &&
      observed === Number(member(objectAt(resource, "metadata"), "generation")) &&
      counted === models && (stringAt(resource, "status", "resolvedDistribution", "image") ?? "").includes(image)
    ? resource
    : undefined;
};

export const settled = (cluster: ControlPlane, name: string, models: number, withinMs = 30_000): Promise<JsonObject> =>
  eventually(`${name} settles with ${models} models`, () => isSettled(cluster, name, models), withinMs);
