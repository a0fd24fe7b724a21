/** A cluster where Secrets may be read by name, and neither listed nor watched. */
import { sqlSecretName } from "../../core/config/stages/storage.ts";
import { ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest, secret } from "../given.ts";
import { openDoor } from "./faulty_door.ts";
import { startOperator } from "./operator.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { eventually } from "../waiting.ts";

const database = (password: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "db" },
  data: { url: btoa(`postgresql://u:${password}@h/d`) },
});

Deno.test("run --secret-polling never lists Secrets, and applies a changed one within its interval", async () => {
  const cluster = await startControlPlane();
  let refused = 0;
  const door = openDoor(cluster, {
    instead: (method, path) => {
      if (method !== "GET" || !/\/secrets(\?|$)/.test(path)) return undefined;
      refused++;
      return new Response(JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: "no" }), {
        status: 403,
      });
    },
  });
  const apply = (...objects: ReadonlyArray<JsonObject>) =>
    cluster.kubectl(
      ["apply", "-n", "default", "-f", "-"],
      manifestList(objects),
    );
  const storage = { sql: { type: "postgres", connectionString: secret("db", "url") } };
  const password = async () => {
    const answer = await cluster.fetch(
      `/api/v1/namespaces/default/secrets/${sqlSecretName("my", { storage } as never)}`,
    );
    const body = await answer.json() as JsonObject;
    return answer.ok ? atob(stringAt(body, "data", "PGPASSWORD") ?? "") : undefined;
  };
  try {
    const operator = await startOperator(cluster, { url: door.url, secretPolling: true });
    try {
      await apply(
        database("one"),
        manifest({ storage }, "my"),
      );
      await eventually("the split Secret", async () => await password() === "one" || undefined);
      await apply(database("two"));
      await eventually(
        "the new password",
        async () => await password() === "two" || undefined,
      );
      await apply(manifest({}, "my"));
      await eventually("the split Secret goes", async () => await password() === undefined || undefined);
      const events = await (await cluster.fetch("/apis/events.k8s.io/v1/namespaces/default/events"))
        .json() as JsonObject;
      ok(listAt(events, "items").length > 0);
      strictEqual(refused, 0);
    } finally {
      await operator.stop();
    }
  } finally {
    await door.close();
    await cluster.stop();
  }
});
