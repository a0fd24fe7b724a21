/** What a failed test leaves to look at: conditions, pods, the ends of their logs and of the operator's. */
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import { NAMESPACE } from "../../tools/package/names.ts";
import { lastLines } from "../../tools/cluster/background_process.ts";
import type { JoinedCluster } from "./cluster.ts";

export const report = async (cluster: JoinedCluster, namespace: string): Promise<string> => {
  const text = (path: string) => cluster.fetch(path).then((answer) => answer.text());
  const items = async (path: string): Promise<readonly JsonObject[]> =>
    listAt(JSON.parse(await text(path)), "items").filter(isObject);
  const parts: string[] = [];
  const resources = `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions`;
  for (const object of await items(resources)) {
    parts.push(
      `--- ${stringAt(object, "metadata", "name")}`,
      ...listAt(object, "status", "conditions").map(conditionLine),
    );
  }
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  for (const pod of await items(pods)) {
    const name = stringAt(pod, "metadata", "name") ?? "";
    const state = listAt(pod, "status", "containerStatuses").map((containerStatuse) =>
      JSON.stringify(objectAt(containerStatuse, "state"))
    );
    const log = await text(`${pods}/${name}/log?tailLines=25`);
    parts.push(`--- pod ${name}: ${stringAt(pod, "status", "phase")} ${state.join()}`, lastLines(log, 25));
  }
  for (const event of await items(`/api/v1/namespaces/${namespace}/events`)) {
    if (stringAt(event, "type") === "Warning") parts.push(`event: ${stringAt(event, "message")}`);
  }
  const operators = `/api/v1/namespaces/${NAMESPACE}/pods`;
  const logs = await Promise.all(
    (await items(operators)).map((pod) => text(`${operators}/${stringAt(pod, "metadata", "name")}/log`)),
  );
  const operator = logs.join("\n").split("\n").filter((line) => line.includes(namespace));
  return [...parts, "--- operator", lastLines(operator.join("\n"), 12)].join("\n");
};

const conditionLine = (item: unknown): string => {
  const condition = isObject(item as JsonObject) ? item as JsonObject : {};
  return `${member(condition, "type")}=${member(condition, "status")} ${member(condition, "reason")}: ${
    member(condition, "message")
  }`;
};
