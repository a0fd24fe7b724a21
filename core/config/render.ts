/** Stages 12 and 13: the tree → the bytes of config.yaml, the same for the same tree, and their digest. */
import { Result } from "effect";
import { sha256Hex } from "../digest.ts";
import { ConfigTooLarge } from "../failure.ts";
import { isList, isObject, type Json, type JsonObject } from "../json.ts";
import { CONFIG_BYTES_MAX } from "../limits.ts";
import { writeYaml } from "../yaml.ts";

export interface Rendered {
  readonly yaml: string;
  /** sha256 of the UTF-8 bytes in hex. */
  readonly digest: string;
}

export const render = (config: JsonObject): Result.Result<Rendered, ConfigTooLarge> => {
  const yaml = writeYaml(ordered(config));
  const bytes = new TextEncoder().encode(yaml).length;
  return bytes > CONFIG_BYTES_MAX
    ? Result.fail(new ConfigTooLarge({ path: ["spec"], bytes, bytesMax: CONFIG_BYTES_MAX }))
    : Result.succeed({ yaml, digest: sha256Hex(yaml) });
};

/**
 * The keys that a reader looks for first, in reading order; all others follow by name. Lists keep their order, which has
 * a meaning to the server.
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
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key.toWellFormed(), ordered(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => before(a, b)));
};

const before = (a: string, b: string): number =>
  (RANK.get(a) ?? FIRST.length) - (RANK.get(b) ?? FIRST.length) || (a < b ? -1 : a > b ? 1 : 0);
