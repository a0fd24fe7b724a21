import { deepStrictEqual, rejects } from "node:assert/strict";
import * as Effect from "effect/Effect";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { rejectionError } from "../kubernetes/cluster_error.ts";
import { firstOf } from "./look.ts";

const key = (apiVersion: string): ObjectKey => ({ apiVersion, kind: "Any", namespace: "n", name: "x" });

/** A version that is not served, or cannot be converted, answers with a status. */
const found = (answers: Readonly<Record<string, number>>) =>
  Effect.runPromise(
    firstOf(Object.keys(answers).map(key)).pipe(
      Effect.provideService(
        Cluster,
        {
          get: ({ apiVersion, kind }: ObjectKey) => {
            const status = answers[apiVersion] ?? 0;
            if (status === 200) return Effect.succeed({ apiVersion, kind });
            if (status === 404) return Effect.succeed(undefined);
            const message = "conversion webhook failed";
            return Effect.fail(
              rejectionError("get", "/x", new Response(null, { status }), JSON.stringify({ message })),
            );
          },
        } as unknown as Cluster["Service"],
      ),
    ),
  );

Deno.test("firstOf() passes over versions that cannot be read, and fails only if there is nothing else", async () => {
  deepStrictEqual(await found({ v2: 500, v1: 200 }), { apiVersion: "v1", kind: "Any" });
  deepStrictEqual(await found({ v2: 404, v1: 500, apps: 200 }), { apiVersion: "apps", kind: "Any" });
  deepStrictEqual(await found({ v2: 200, v1: 500 }), { apiVersion: "v2", kind: "Any" });
  deepStrictEqual(await found({ v2: 404, v1: 404 }), undefined);
  await rejects(found({ v2: 404, v1: 500, apps: 404 }), /500 .*conversion webhook failed/);
});
