/** The last stage: the tree → the bytes of config.yaml, the same for the same tree, and their digest. */
import * as Result from "effect/Result";
import { sha256Hex } from "../data/digest.ts";
import { ConfigTooLarge } from "../failure/failures.ts";
import type { JsonObject } from "../data/json.ts";
import { CONFIG_BYTES_MAX } from "../data/limits.ts";
import { charactersIn } from "../data/tree_size.ts";
import { textOf } from "./config_text.ts";

export interface Rendered {
  readonly yaml: string;
  /** sha256 of the UTF-8 bytes in hex. */
  readonly digest: string;
}

export const render = (config: JsonObject): Result.Result<Rendered, ConfigTooLarge> => {
  const tooLarge = (bytes: number) =>
    Result.fail(new ConfigTooLarge({ path: ["spec"], bytes, bytesMax: CONFIG_BYTES_MAX }));
  // Writing a text of a megabyte as YAML takes 60 MiB: it is counted first.
  const characters = charactersIn(config, CONFIG_BYTES_MAX);
  if (characters > CONFIG_BYTES_MAX) return tooLarge(characters);
  const yaml = textOf(config);
  const bytes = new TextEncoder().encode(yaml).length;
  return bytes > CONFIG_BYTES_MAX ? tooLarge(bytes) : Result.succeed({ yaml, digest: sha256Hex(yaml) });
};
