/** The objects of a ready resource, and the next steps. */
import { type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { groupPath, OWN_KINDS, OWN_LABELS } from "../../core/snapshot/kinds.ts";
import { type Api, nameOf, namespaceOf } from "./api.ts";
import { SIMULATED_VERSION } from "../cluster/simulated_node.ts";
import type { UpCluster } from "./cluster.ts";

/**
 * Objects and address of a ready resource; if a server is running, its models and its answer to a chat. `local`: where the server
 * is on this machine.
 */
export const showResult = async (api: Api, resource: JsonObject, local: string | undefined): Promise<void> => {
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
  if (local !== undefined) {
    console.log(`Server:  ${local}`);
    return await showChat(local);
  }
  if (await isSimulated(api)) {
    console.log("         The node is simulated: pods are reported as ready, but no server is running.");
    return;
  }
  const models = await modelsOf(api, namespace, new URL(url));
  console.log(models === undefined ? "         Its /v1/models does not respond." : `/v1/models: ${models.join(", ")}`);
};

const QUESTION = "Hello!";

const showChat = async (url: string): Promise<void> => {
  const list = await (await fetch(`${url}/v1/models`)).json() as JsonObject;
  const models = listAt(list, "data");
  const ids = models.flatMap((model) => stringAt(model, "id") ?? stringAt(model, "identifier") ?? []);
  console.log(`/v1/models: ${ids.join(", ")}`);
  const isEmbedding = (model: Json) =>
    [stringAt(model, "custom_metadata", "model_type"), stringAt(model, "model_type")].includes("embedding");
  const chats = models.filter((model) => !isEmbedding(model));
  const model = stringAt(chats[0] ?? null, "id") ?? stringAt(chats[0] ?? null, "identifier");
  if (model === undefined) return console.log("It has no model to chat with.");
  const body = { model, messages: [{ role: "user", content: QUESTION }] };
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const said = await answer.json() as JsonObject;
  const text = stringAt(listAt(said, "choices")[0] ?? null, "message", "content");
  console.log(
    text === undefined
      ? `A chat with ${model} failed: ${answer.status} ${JSON.stringify(said)}`
      : `A chat with ${model}:\n  > ${QUESTION}\n  ${text}`,
  );
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

export const goOn = (
  cluster: UpCluster,
  resources: ReadonlyArray<JsonObject>,
  local: string | undefined,
): string => {
  const first = resources[0] ?? {};
  const [name, namespace] = [nameOf(first), namespaceOf(first)];
  const context = cluster.context === undefined ? "" : ` --context ${cluster.context}`;
  return [
    "",
    "To explore, in another terminal:",
    `  ${cluster.shellLine}`,
    `  kubectl -n ${namespace} get llsd,deployments,pods`,
    `  kubectl -n ${namespace} edit llsd ${name}`,
    ...(local === undefined ? [] : [`  curl ${local}/v1/models`]),
    ...(cluster.modelServer === undefined ? [] : [
      `  kubectl -n ${namespace} port-forward service/${name}-service 8321`,
      "  curl http://127.0.0.1:8321/v1/models",
    ]),
    `  npx -y deno@2.9.6 task cli explain ${name} -n ${namespace}${context}`,
    "Press Ctrl-C to stop and remove everything.",
  ].join("\n");
};
