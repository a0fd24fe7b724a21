/** A resource as it is stored, by a list of one: the Roles of the operator let it list and watch resources only. */
import * as Effect from "effect/Effect";
import { API_VERSION, PLURAL } from "../../core/api/v1alpha2.ts";
import { groupPath } from "../../core/snapshot/kinds.ts";
import { Cluster } from "./cluster.ts";

export const storedResource = Effect.fnUntraced(function* (namespace: string, name: string) {
  const path = `${groupPath(API_VERSION)}/namespaces/${namespace}/${PLURAL}`;
  const { items: [found] } = yield* (yield* Cluster).list({ path, fields: `metadata.name=${name}` });
  return found;
});
