/** The objects that a spec becomes, for tests: by kind, offline. */
import * as Result from "effect/Result";
import { derive } from "../core/config/derive.ts";
import type { JsonObject } from "../core/data/json.ts";
import type { Manifest } from "../core/resources/blueprint.ts";
import { UNREAD_PARTS } from "../core/resources/connection_secrets.ts";
import { listed, objectsOf } from "../core/resources/objects.ts";
import { blueprintOf, configContentOf, NOWHERE, type Place } from "../core/resources/of_resource.ts";
import { decoded, SURROUNDINGS } from "./given.ts";

export const objects = (spec: JsonObject, place: Partial<Place> = {}): ReadonlyArray<Manifest> => {
  const resource = decoded(spec);
  const derived = Result.getOrThrow(derive(resource, SURROUNDINGS));
  const where = { ...NOWHERE, ...place };
  const contents = { config: configContentOf(derived, where), connections: UNREAD_PARTS, caBundlePem: undefined };
  return listed(objectsOf(blueprintOf(resource, derived, where), contents));
};

/** The only object of a kind; undefined when there is none. */
export const objectOf = (kind: string, spec: JsonObject, place: Partial<Place> = {}): Manifest | undefined => {
  const found = objects(spec, place).filter((manifest) => manifest.kind === kind);
  if (found.length > 1) throw new Error(`${found.length} objects of kind ${kind}`);
  return found[0];
};
