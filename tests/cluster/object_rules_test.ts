/** The rules for values that become parts of objects, compared with a real API server. */
import * as Result from "effect/Result";
import { deepStrictEqual, ok } from "node:assert/strict";
import { decodeResource } from "../../core/api/decode.ts";
import { changeFindings } from "../../core/admission/change_rules.ts";
import { derive } from "../../core/config/derive.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { ALLOWANCES_DEFAULT } from "../../core/operator/allowances.ts";
import type { Manifest } from "../../core/resources/blueprint.ts";
import { listed, objectsOf } from "../../core/resources/objects.ts";
import { blueprintOf, configContentOf, NOWHERE } from "../../core/resources/of_resource.ts";
import { UNREAD_PARTS } from "../../core/resources/connection_secrets.ts";
import { keyOf } from "../../core/snapshot/object_key.ts";
import { pathOf } from "../../shell/kubernetes/object_path.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest, SURROUNDINGS } from "../given.ts";
import { OBJECT_CASES } from "../object_rule_cases.ts";

const objectsFor = (resource: JsonObject): ReadonlyArray<Manifest> => {
  const decoded = Result.getOrThrow(decodeResource(resource, "strict"));
  const allow = { ...ALLOWANCES_DEFAULT, privileged: true };
  const derived = Result.getOrThrow(derive(decoded, { ...SURROUNDINGS, allow }));
  const contents = { config: configContentOf(derived), connections: UNREAD_PARTS, caBundlePem: "pem" };
  return listed(objectsOf(blueprintOf(decoded, derived, NOWHERE), contents));
};

/** Why the API server rejects one of the objects, written as the operator writes it; undefined if it accepts them all. */
const rejection = async (cluster: ControlPlane, objects: ReadonlyArray<Manifest>): Promise<string | undefined> => {
  for (const object of objects) {
    const answer = await cluster.fetch(`${pathOf(keyOf(object))}?fieldManager=test&force=true&dryRun=All`, {
      method: "PATCH",
      headers: { "content-type": "application/apply-patch+yaml" },
      body: JSON.stringify(object),
    });
    const body = await answer.json() as JsonObject;
    if (!answer.ok) return `${object.kind}: ${body.message}`;
  }
  return undefined;
};

Deno.test("the rules reject exactly those values that a real API server rejects", async () => {
  const cluster = await startControlPlane();
  try {
    const compared = await Promise.all(OBJECT_CASES.map(async ({ spec }) => {
      const resource = manifest(spec);
      const [found] = changeFindings(resource);
      const refused = await rejection(cluster, objectsFor(resource));
      return { spec: JSON.stringify(spec), rule: found?.message, server: refused };
    }));
    ok(compared.length > 200);
    deepStrictEqual(compared.filter(({ rule, server }) => (rule === undefined) !== (server === undefined)), []);
  } finally {
    await cluster.stop();
  }
});
