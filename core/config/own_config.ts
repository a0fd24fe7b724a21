/** The user-provided config.yaml (`spec.overrideConfig`): which file it is, and what is in it. */
import * as Result from "effect/Result";
import type { Spec } from "../api/v1alpha2.ts";
import { sha256Hex } from "../data/digest.ts";
import { isObject, type JsonObject } from "../data/json.ts";
import type { DoubledKey } from "../data/doubled_keys.ts";
import { YAML_DEPTH_MAX } from "../data/limits.ts";
import { pyYamlReading } from "../data/pyyaml.ts";
import { readConfigYaml } from "../data/yaml.ts";
import { OverrideConfigInvalid } from "../failure/failures.ts";
import type { ConfigMapContent } from "./config_map_content.ts";
import { KEY_DEFAULT, KEY_FORMERLY } from "./own_config_key.ts";
import { isStartedByAuthor } from "./source.ts";

export interface OwnConfig {
  readonly data: ConfigMapContent["data"];
  readonly binaryData: ConfigMapContent["binaryData"];
  /** sha256 in hex of all of it. */
  readonly digest: string;
  /** The key that the server reads as its config; undefined where only the command of the author reads one. */
  readonly key: string | undefined;
  /** What is in that key; undefined if the ConfigMap does not have it as text. */
  readonly file: JsonObject | undefined;
  /** Keys that it has twice. */
  readonly doubled: ReadonlyArray<DoubledKey>;
  /** Lines at which the server reads a date. */
  readonly dates: ReadonlyArray<number>;
  /** Lines of keys that are no texts for it. */
  readonly keys: ReadonlyArray<number>;
}

/** All keys of the user's ConfigMap are copied; the config must be a YAML map. */
export const ownConfigOf = (spec: Spec, map: ConfigMapContent): Result.Result<OwnConfig, OverrideConfigInvalid> => {
  const key = keyIn(spec, map);
  const text = key !== undefined && Object.hasOwn(map.data, key) ? map.data[key] : undefined;
  const digest = sha256Hex(JSON.stringify([Object.entries(map.data).sort(), Object.entries(map.binaryData).sort()]));
  const own = { data: map.data, binaryData: map.binaryData, digest, key };
  if (text === undefined) return Result.succeed({ ...own, file: undefined, doubled: [], dates: [], keys: [] });
  const refuse = (detail: string) =>
    Result.fail(
      new OverrideConfigInvalid({
        path: ["spec", "overrideConfig"],
        key: `${spec.overrideConfig?.configMapName}/${key}`,
        detail,
      }),
    );
  const read = readConfigYaml(text);
  if (Result.isFailure(read)) return refuse(read.failure.detail);
  const { tree, doubled } = read.success;
  if (!isObject(tree)) return refuse("its top level is not a map");
  const { rejection, dates, keys } = pyYamlReading(text, YAML_DEPTH_MAX);
  // A command of the author's may prepare the file for the server.
  return rejection === undefined || isStartedByAuthor(spec)
    ? Result.succeed({ ...own, file: tree, doubled, dates, keys })
    : refuse(rejection);
};

export const keyNamed = ({ overrideConfig }: Spec): string => overrideConfig?.key ?? KEY_DEFAULT;

/** Operators up to 0.5 of the Go operator read run.yaml; a command of the author's may read any key. */
const keyIn = (spec: Spec, { data, binaryData }: ConfigMapContent): string | undefined => {
  const named = keyNamed(spec);
  const has = (key: string) => Object.hasOwn(data, key) || Object.hasOwn(binaryData, key);
  if (named !== KEY_DEFAULT || has(named)) return named;
  if (has(KEY_FORMERLY)) return KEY_FORMERLY;
  return isStartedByAuthor(spec) ? undefined : named;
};
