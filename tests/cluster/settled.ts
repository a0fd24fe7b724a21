/** Resources on a real API server: written as a person would, and waited for until nothing is left to do. */
import { type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { eventually } from "../waiting.ts";

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

/** The object at a path, or the API server's Status that says why there is none. */
export const read = async (cluster: Pick<ControlPlane, "fetch">, path: string): Promise<JsonObject> =>
  await (await cluster.fetch(path)).json() as JsonObject;

export const list = async (cluster: ControlPlane, path: string): Promise<ReadonlyArray<Json>> =>
  listAt(await (await cluster.fetch(path)).json() as JsonObject, "items");

/**
 * Events of a watch since a version, up to what a list shows now: the API server ends a watch after its time, also if it
 * has not sent everything yet.
 */
export const changesSince = (cluster: ControlPlane, path: string, from: string): Promise<ReadonlyArray<JsonObject>> =>
  eventually(`the changes of ${path} since ${from}`, async () => {
    const versions = (objects: ReadonlyArray<Json | undefined>) =>
      objects.map((object) => stringAt(object, "metadata", "resourceVersion") ?? "");
    const wanted = versions(await list(cluster, path)).filter((version) => Number(version) > Number(from));
    const watch = await cluster.fetch(`${path}?watch=1&resourceVersion=${from}&timeoutSeconds=1`);
    const events = (await watch.text()).split("\n").filter((line) => line !== "")
      .map((line) => JSON.parse(line) as JsonObject);
    const seen = versions(events.map(({ object }) => object));
    return wanted.every((version) => seen.includes(version)) ? events : undefined;
  });

export const condition = (resource: Json | undefined, type: string): Json | undefined =>
  listAt(resource, "status", "conditions").find((value) => stringAt(value, "type") === type);

/** The image of the server in a Deployment; empty if there is none. */
export const imageOf = (deployment: Json): string =>
  stringAt(listAt(deployment, "spec", "template", "spec", "containers")[0], "image") ?? "";

/** The status is about the last edit. */
export const isObserved = (object: Json): boolean =>
  member(objectAt(object, "metadata"), "generation") !== undefined &&
  member(objectAt(object, "status"), "observedGeneration") === member(objectAt(object, "metadata"), "generation");

export const isReady = (resource: Json): boolean =>
  isObserved(resource) && stringAt(condition(resource, "Ready"), "status") === "True";

/** The resource is Ready in its last generation. */
export const ready = (cluster: ControlPlane, name: string): Promise<JsonObject> =>
  eventually(`${name} is ready in its last generation`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    return isReady(resource) ? resource : undefined;
  });

/** The resource if it is Ready in its last generation, with so many models and an image of that name. */
export const isSettled = async (
  cluster: ControlPlane,
  name: string,
  models: number,
  image = "llamastack/",
): Promise<JsonObject | undefined> => {
  const resource = await read(cluster, `${RESOURCES}/${name}`);
  const counted = Number(member(objectAt(resource, "status", "configGeneration"), "resourceCount"));
  return isReady(resource) && counted === models &&
      (stringAt(resource, "status", "resolvedDistribution", "image") ?? "").includes(image)
    ? resource
    : undefined;
};

export const settled = (cluster: ControlPlane, name: string, models: number): Promise<JsonObject> =>
  eventually(`${name} settles with ${models} models`, () => isSettled(cluster, name, models));
