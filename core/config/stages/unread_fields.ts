/** Fields of a config that no class of its server reads, below the sections that `ignoredSections` looks at. */
import { didYouMean } from "../../data/closest.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject, stringAt } from "../../data/json.ts";
import { type CatalogueModel, CATALOGUES, providerType, type ValueType } from "../servers/catalogue.ts";
import { classOf, fieldOf } from "../servers/class_misfits.ts";
import { apiOn, type Server, serverName } from "../servers/families/families.ts";
import type { EntryFinding } from "./entry_findings.ts";

export const unreadFields = (config: JsonObject, server: Server): ReadonlyArray<EntryFinding> => {
  const { models, config: { class: name } } = server.catalogue;
  const model = models[name];
  // That of the first servers becomes another one before it is read.
  return model === undefined || Object.hasOwn(config, "routing_table") ? [] : ofMap(model, config, [], server);
};

/** Of these places the unknown keys are reported otherwise; backends have types of their own. */
const ELSEWHERE: ReadonlySet<string> = new Set(["", "server", "server.auth"]);
const BACKENDS = "storage.backends";

const ofMap = (model: CatalogueModel, map: JsonObject, path: FieldPath, server: Server): ReadonlyArray<EntryFinding> =>
  Object.entries(map).flatMap(([key, value]): ReadonlyArray<EntryFinding> => {
    const place = [...path, key];
    const field = fieldOf(model.fields, key);
    if (field !== undefined) return place.join(".") === BACKENDS ? [] : ofValue(field, value, place, server);
    if (model.extra !== "ignore" || ELSEWHERE.has(path.join(".")) || isNothing(value)) return [];
    const dead = [...server.family.ignoredKeys, ...server.family.droppedKeys].map((steps) => steps.join("."));
    if (dead.includes(place.join(".")) || /^(x-|[._])/.test(key)) return [];
    const way = wayFor(key, map, model, path, server);
    return way === undefined
      ? []
      : [{ path: place, message: `${serverName(server.version)} ignores this key${way}`, isFatal: false }];
  });

const ofValue = (field: ValueType, value: Json, path: FieldPath, server: Server): ReadonlyArray<EntryFinding> => {
  if (isList(value)) {
    const { items } = field;
    return typeof items !== "object"
      ? []
      : value.flatMap((item, index) => ofValue(items, item, [...path, index], server));
  }
  if (!isObject(value)) return [];
  const model = classOf(field, value, server.catalogue);
  if (model !== undefined) return ofMap(model, value, path, server);
  const { values } = field;
  return typeof values !== "object"
    ? []
    : Object.entries(value).flatMap(([key, inner]) => ofValue(values, inner, [...path, key], server));
};

/** What was meant; undefined for what people add to a config that no server misses. */
const wayFor = (
  key: string,
  map: JsonObject,
  { fields }: CatalogueModel,
  path: FieldPath,
  server: Server,
): string | undefined => {
  const [section, api = ""] = path.map(String);
  const type = stringAt(map, "provider_type");
  if (section === "providers" && path.length === 3 && type !== undefined) {
    const known = providerType(server.catalogue, apiOn(server, api) ?? api, type);
    if (known !== undefined && fieldOf(known.fields, key) !== undefined) return "; write it below config";
  }
  // Written for another server, which has more.
  if (isOfAnother(key, path)) return undefined;
  const near = didYouMean(key, Object.keys(fields));
  if (near !== "") return near;
  // Whoever writes a header or a token there takes the MCP server for one that asks for it.
  if (section === "connectors") {
    return `; it reads ${Object.keys(fields).sort().join(", ")}; requests bring credentials`;
  }
  return LISTS.has(path.join(".")) && typeof map[key] === "object"
    ? `; it reads ${Object.keys(fields).sort().join(", ")} here`
    : undefined;
};

/** Maps of which each key has a whole list or map. */
const LISTS: ReadonlySet<string> = new Set(["storage", "storage.stores", "registered_resources"]);

const isOfAnother = (key: string, path: FieldPath): boolean =>
  CATALOGUES.some(({ models, config }) => {
    const model = path.reduce<CatalogueModel | undefined>(
      (above, step) => models[above?.fields[String(step)]?.model ?? ""],
      models[config.class],
    );
    return model !== undefined && fieldOf(model.fields, key) !== undefined;
  });

const isNothing = (value: Json): boolean =>
  value === null || value === "" || typeof value === "object" && Object.keys(value).length === 0;
