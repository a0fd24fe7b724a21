/** The requests for one new resource: each one is intended. */
import { deepStrictEqual } from "node:assert/strict";
import { type JsonObject, listAt } from "../../core/data/json.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { openDoor } from "./faulty_door.ts";
import { startOperator } from "./operator.ts";
import { apply, list, RESOURCES } from "./settled.ts";
import { eventually, unchanged } from "../waiting.ts";

const VLLM: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] } };

Deno.test("a new resource costs one look-up, each object, one Event and its status once", async () => {
  const cluster = await startControlPlane();
  const requests: Array<string> = [];
  const door = openDoor(cluster, {
    instead: (method, path) => {
      const [, asked] = /\/namespaces\/default\/([^?]*)/.exec(path) ?? [];
      if (asked !== undefined) requests.push(`${method} ${asked.replace(/\/my(-.*)?(?=\/|$)/, "")}`);
      return undefined;
    },
  });
  try {
    const operator = await startOperator(cluster, { url: door.url, operatorNamespace: "kube-public" });
    try {
      await apply(cluster, manifest({ ...VLLM, workload: { storage: { size: "1Gi" } } }, "my"));
      await eventually("a status", async () => {
        const [resource] = await list(cluster, RESOURCES);
        return listAt(resource, "status", "conditions").length > 0 || undefined;
      });
      // What came behind the status would come at once.
      await unchanged(() => requests.length);
      deepStrictEqual(requests.toSorted(), [
        "GET deployments",
        "PATCH configmaps",
        "PATCH deployments",
        "PATCH persistentvolumeclaims",
        "PATCH serviceaccounts",
        "PATCH services",
        "POST events",
        "PUT llamastackdistributions/status",
      ]);
    } finally {
      await operator.stop();
    }
  } finally {
    await door.close();
    await cluster.stop();
  }
});
