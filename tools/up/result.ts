/** The objects of a ready resource, and the next steps. */
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { groupPath, OWN_KINDS } from "../../core/snapshot/kinds.ts";
import { OWN_LABELS } from "../../core/snapshot/kinds.ts";
import { type Api, nameOf, namespaceOf } from "./api.ts";
import { SIMULATED_VERSION } from "../cluster/simulated_node.ts";
import type { UpCluster } from "./cluster.ts";

/** Objects and address of a ready resource, and its models if a server is running. */
export const showResult = async (api: Api, resource: JsonObject): Promise<void> => {
  const namespace = namespaceOf(resource) ?? "";
  const query = new URLSearchParams({ labelSelector: `${OWN_LABELS},app.kubernetes.io/instance=${nameOf(resource)}` });
  const lists = await Promise.all(
    OWN_KINDS.map(({ apiVersion, plural }) =>
      api.get(`${groupPath(apiVersion)}/namespaces/${namespace}/${plural}?${query}`)
    ),
  );
  const objects = lists.flatMap((list) =>
    listAt(list, "items").map((item) =>
      `${(stringAt(list, "kind") ?? "").replace(/List$/, "")}/${stringAt(item, "metadata", "name")}`
    )
  );
  const url = stringAt(resource, "status", "serviceURL") ?? "";
  console.log(`\n${nameOf(resource)} is ready. Its objects in namespace ${namespace}:`);
  for (const object of objects) console.log(`  ${object}`);
  console.log(`Service: ${url}`);
  if (await isSimulated(api)) {
    console.log("         The node is simulated: pods are reported as ready, but no server is running.");
    return;
  }
  const models = await modelsOf(api, namespace, new URL(url));
  console.log(models === undefined ? "         Its /v1/models does not respond." : `/v1/models: ${models.join(", ")}`);
};

const isSimulated = async (api: Api): Promise<boolean> => {
  const nodes = await api.get("/api/v1/nodes").catch(() => undefined);
  const versions = listAt(nodes, "items").map((item) => stringAt(item, "status", "nodeInfo", "kubeletVersion") ?? "");
  return versions.length > 0 && versions.every((version) => version === SIMULATED_VERSION);
};

/** Through the API server, because a Service cannot be reached from outside otherwise. */
const modelsOf = async (api: Api, namespace: string, url: URL): Promise<ReadonlyArray<string> | undefined> => {
  const service = `${url.protocol}${url.hostname.split(".")[0]}:${url.port}`;
  const answer = await api.get(`/api/v1/namespaces/${namespace}/services/${service}/proxy/v1/models`)
    .catch(() => undefined);
  return answer === undefined ? undefined : listAt(answer, "data")
    .flatMap((value) => stringAt(value, "id") ?? stringAt(value, "identifier") ?? []);
};

export const goOn = (cluster: UpCluster, resources: ReadonlyArray<JsonObject>): string => {
  const first = resources[0] ?? {};
  const [name, namespace] = [nameOf(first), namespaceOf(first)];
  const context = cluster.context === undefined ? "" : ` --context ${cluster.context}`;
  return [
    "",
    "To explore, in another terminal:",
    `  ${cluster.shellLine}`,
    `  kubectl -n ${namespace} get llsd,deployments,pods`,
    `  kubectl -n ${namespace} edit llsd ${name}`,
    ...(cluster.modelServer === undefined ? [] : [
      `  kubectl -n ${namespace} port-forward service/${name}-service 8321`,
      "  curl http://127.0.0.1:8321/v1/models",
    ]),
    `  npx -y deno@2.9.6 task cli explain ${name} -n ${namespace}${context}`,
    "Press Ctrl-C to stop and remove everything.",
  ].join("\n");
};
