/** The user-provided config.yaml (`spec.overrideConfig`). */
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import { sha256Hex } from "../data/digest.ts";
import { OverrideConfigInvalid } from "../failure/failures.ts";
import type { ConfigContent } from "../resources/config_map.ts";
import { readYaml11 } from "../data/yaml.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";

/** All keys of the user's ConfigMap are copied; the config must be a YAML map. */
export const ownConfigOf = (
  { spec }: Resource,
  snapshot: Sources,
  namespace: string,
): Result.Result<ConfigContent | undefined, OverrideConfigInvalid> => {
  const { configMapName: name = "", key = "config.yaml" } = spec.overrideConfig ?? {};
  const map = snapshot.configMaps.get(`${namespace}/${name}`);
  if (spec.overrideConfig === undefined || map === undefined) return Result.succeed(undefined);
  const text = Object.hasOwn(map.data, key) ? map.data[key] : undefined;
  if (text !== undefined) {
    const refuse = (detail: string) =>
      Result.fail(new OverrideConfigInvalid({ path: ["spec", "overrideConfig"], key: `${name}/${key}`, detail }));
    const read = readYaml11(text);
    if (Result.isFailure(read)) return refuse(read.failure.detail);
    if (typeof read.success !== "object" || read.success === null) return refuse("its top level is not a map");
  }
  const digest = sha256Hex(JSON.stringify([Object.entries(map.data).sort(), Object.entries(map.binaryData).sort()]));
  return Result.succeed({ data: map.data, binaryData: map.binaryData, digest });
};
