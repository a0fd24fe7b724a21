/** What a server with another config does not find of its stored data, though nothing of it is deleted. */
import { baseId } from "../../config/servers/base.ts";
import { isDirect, providerType } from "../../config/servers/catalogue.ts";
import type { Server } from "../../config/servers/families/families.ts";
import { entriesOf } from "../../config/draft.ts";
import { type KnownEnvironment, stateOf } from "../../config/known_environment.ts";
import { at, isSameValue, type JsonObject, objectAt, stringAt } from "../../data/json.ts";

/** A config with the environment in which its conditions are read. */
export interface ConfigInUse {
  readonly tree: JsonObject;
  readonly environment: KnownEnvironment;
}

/** One message per backend or provider, in the order of the config in use. */
export const movedStores = (before: ConfigInUse, after: ConfigInUse, server: Server): ReadonlyArray<string> => [
  ...movedBackends(before.tree, after.tree, server),
  ...Object.keys(objectAt(before.tree, "providers")).flatMap((api) => movedProviders(api, before, after, server)),
];

const movedBackends = (before: JsonObject, after: JsonObject, { family: { stores } }: Server) => {
  const types = new Map(stores.backends(after));
  return stores.backends(before).flatMap(([name, type]) => {
    const next = types.get(name);
    if (next === undefined) return [];
    if (next !== type) {
      return [`Storage backend ${name} changes from ${type} to ${next}; what it contains is not copied`];
    }
    const fields = (tree: JsonObject) => objectAt(tree, "storage", "backends", name);
    const moved = BACKEND_PLACES.filter((key) => !isSameValue(fields(before)[key], fields(after)[key]));
    return moved.length === 0
      ? []
      : [`Storage backend ${name} is in another place (${moved.join(", ")}); what it contained before is not copied`];
  });
};

/** Of a database behind variables, nothing is known. */
const BACKEND_PLACES = ["db_path", "host", "port", "db"];

const movedProviders = (
  api: string,
  before: ConfigInUse,
  after: ConfigInUse,
  server: Server,
): ReadonlyArray<string> => {
  const { catalogue } = server;
  const isUsed = ({ environment }: ConfigInUse) => (entry: JsonObject) => stateOf(entry, environment) === "On";
  const next = entriesOf(after.tree, api).filter((entry) => stateOf(entry, after.environment) !== "Off");
  // An API that is switched off keeps its data until it is switched on again.
  if (next.length === 0) return [];
  const old = entriesOf(before.tree, api).filter(isUsed(before));
  const pairs = isDirect(catalogue, api)
    ? old.slice(-1).map((entry) => ({ entry, successor: next.at(-1) }))
    : old.map((entry) => ({ entry, successor: next.find((other) => baseId(other) === baseId(entry)) }));
  return pairs.flatMap(({ entry, successor }) => {
    const type = stringAt(entry, "provider_type") ?? "";
    const known = providerType(catalogue, api, type);
    if (Object.keys(known?.references ?? {}).length === 0) return [];
    const places = placesOf(known?.references ?? {}, [known?.endpoint, known?.endpointPort]);
    const name = `${api} provider "${baseId(entry)}"`;
    if (successor === undefined) {
      return [`The ${name} is removed: the server no longer lists what it stored, and deletes nothing of it`];
    }
    const other = stringAt(successor, "provider_type") ?? "";
    if (other !== type) {
      // The metadata of a direct API may stay in one place under another type, as that of files does.
      const isKept = isDirect(catalogue, api) && places.every((place) => isSame(place, entry, successor));
      return isKept ? [] : [`The ${name} changes from ${type} to ${other}, which does not find what ${type} stored`];
    }
    const moved = places.filter((place) => !isSame(place, entry, successor)).map((place) => place.join("."));
    return moved.length === 0
      ? []
      : [`The ${name} stores its data in another place (${moved.join(", ")}), and does not find what it stored before`];
  });
};

/** Fields with a place in the file system of the server. */
const PATHS = ["db_path", "path", "storage_dir"];

/** Where the data of a provider lies: its references to storage backends, local paths, and the address of its database. */
const placesOf = (
  references: Readonly<Record<string, unknown>>,
  address: ReadonlyArray<string | undefined>,
): ReadonlyArray<ReadonlyArray<string>> =>
  [...Object.keys(references), ...PATHS, ...address.filter((key) => key !== undefined)].map((dotted) =>
    dotted.split(".")
  );

const isSame = (place: ReadonlyArray<string>, entry: JsonObject, other: JsonObject): boolean =>
  isSameValue(at(objectAt(entry, "config"), ...place), at(objectAt(other, "config"), ...place));
