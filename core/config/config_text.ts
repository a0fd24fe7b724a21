/**
 * The text of a config, the same for the same tree.
 *
 * Trees are never changed, so what the stages leave as the base has it is the same object in the config of every resource: its
 * text is made once. That is most of a config, and making it was half of the time of a plan.
 */
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { writeYaml } from "../data/yaml.ts";

/** Keys of all maps in reading order. API names under `providers` are such that the server knows (base.ts): a plain line each. */
export const textOf = (config: JsonObject): string =>
  entriesInOrder(config)
    .map(([key, value]) => key === PROVIDERS && isObject(value) ? providersText(value) : sectionText(key, value))
    .join("");

const PROVIDERS = "providers";

/** Entry by entry: a resource that adds a provider shares all others of that API. */
const providersText = (providers: JsonObject): string => {
  const lists = entriesInOrder(providers);
  if (lists.length === 0 || lists.some(([, list]) => !isList(list) || list.length === 0 || !list.every(isObject))) {
    return writeYaml({ [PROVIDERS]: ordered(providers) });
  }
  return `${PROVIDERS}:\n` +
    lists.map(([api, list]) => {
      const texts = (list as ReadonlyArray<JsonObject>).map((entry) => entryText(api, entry));
      return texts.map((text, index) => index === 0 ? text : afterLine(text)).join("");
    }).join("");
};

interface Text {
  /** Key that the text begins with. */
  readonly key: string;
  readonly text: string;
}
const SECTIONS = new WeakMap<JsonObject | ReadonlyArray<Json>, Text>();
const ENTRIES = new WeakMap<JsonObject, Text>();

const sectionText = (key: string, value: Json): string => {
  const write = () => writeYaml({ [key]: ordered(value) });
  return isObject(value) || isList(value) ? once(SECTIONS, key, value, write) : write();
};

/** The entry as the only one of its API; that line comes first. */
const entryText = (api: string, entry: JsonObject): string =>
  once(ENTRIES, api, entry, () => afterLine(writeYaml({ [PROVIDERS]: { [api]: [ordered(entry)] } })));

const once = <A extends object>(texts: WeakMap<A, Text>, key: string, value: A, write: () => string): string => {
  const known = texts.get(value);
  if (known?.key === key) return known.text;
  const text = write();
  texts.set(value, { key, text });
  return text;
};

const afterLine = (text: string): string => text.slice(text.indexOf("\n") + 1);

/**
 * The keys that a reader looks for first, in reading order; all others follow by name. Lists keep their order, which is
 * significant to the server.
 */
const FIRST = [
  "version",
  "distro_name",
  "image_name",
  "apis",
  "providers",
  "storage",
  "registered_resources",
  "provider_id",
  "provider_type",
  "model_id",
  "shield_id",
  "type",
];
const RANK = new Map(FIRST.map((key, index) => [key, index]));

const ordered = (value: Json): Json => {
  // Half a surrogate pair has no UTF-8; as an escape it would stop the server's YAML reader.
  if (typeof value === "string") return value.toWellFormed();
  if (isList(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  return inOrder(Object.entries(value).map(([key, inner]) => [key, ordered(inner)]));
};

const entriesInOrder = (map: JsonObject) => Object.entries(inOrder(Object.entries(map)));

const inOrder = (entries: ReadonlyArray<readonly [string, Json]>): JsonObject =>
  Object.fromEntries(
    entries.map(([key, inner]) => [key.toWellFormed(), inner] as const).sort(([a], [b]) => before(a, b)),
  );

const before = (a: string, b: string): number =>
  (RANK.get(a) ?? FIRST.length) - (RANK.get(b) ?? FIRST.length) || (a < b ? -1 : a > b ? 1 : 0);
