/** The objects that a spec becomes, for tests: by kind, offline. */
import * as Result from "effect/Result";
import { derive, type Surroundings } from "../core/config/derive.ts";
import type { JsonObject } from "../core/data/json.ts";
import type { Manifest } from "../core/resources/blueprint.ts";
import { UNREAD_PARTS } from "../core/resources/connection_secrets.ts";
import { listed, objectsOf } from "../core/resources/objects.ts";
import { blueprintOf, configContentOf, NOWHERE, type Place } from "../core/resources/of_resource.ts";
import { decoded, SURROUNDINGS } from "./given.ts";

/** The ConfigMaps are those that were read. */
type Known = Partial<Place> & Pick<Surroundings, "configMaps">;

export const objects = (spec: JsonObject, { configMaps, ...place }: Known = {}): ReadonlyArray<Manifest> => {
  const resource = decoded(spec);
  const known = configMaps === undefined ? SURROUNDINGS : { ...SURROUNDINGS, configMaps };
  const derived = Result.getOrThrow(derive(resource, known));
  const where = { ...NOWHERE, ...place };
  const contents = { config: configContentOf(derived), connections: UNREAD_PARTS, caBundlePem: undefined };
  return listed(objectsOf(blueprintOf(resource, derived, where), contents));
};

/** The only object of a kind; undefined when there is none. */
export const objectOf = (kind: string, spec: JsonObject, place: Known = {}): Manifest | undefined => {
  const found = objects(spec, place).filter((manifest) => manifest.kind === kind);
  if (found.length > 1) throw new Error(`${found.length} objects of kind ${kind}`);
  return found[0];
};
