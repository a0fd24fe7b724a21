/** A resource that keeps a config as it is, for what cannot be expressed. */
import * as Result from "effect/Result";
import { CONFIG_FIELDS } from "../api/api_names.ts";
import type { Surroundings } from "../config/derive.ts";
import { type Json, type JsonObject, objectAt, omit, stringAt } from "../data/json.ts";
import { NAMESPACE_DEFAULT } from "../data/namespace.ts";
import { writeYaml } from "../data/yaml.ts";
import type { Read } from "./entries.ts";
import { compared, expressible, type Proof } from "./proof.ts";

/**
 * A resource that keeps the whole config, where the other one loses some of it: as its base config, to which fields can be added
 * later, if nothing is lost so either.
 */
export const keepingAll = (
  { resource, differences, losesAuth }: Proof,
  env: ReadonlyArray<Json>,
  config: JsonObject,
  own: Read,
  surroundings: Surroundings,
): JsonObject => {
  const configMap = configMapName(stringAt(resource, "metadata", "name") ?? "");
  const override = withOwnConfig(resource, configMap, env, "overrideConfig");
  if (losesAuth || differences.every(({ kind }) => kind === "added")) return override;
  const asBase = withOwnConfig(resource, configMap, env, "baseConfig");
  const namespace = stringAt(resource, "metadata", "namespace") ?? NAMESPACE_DEFAULT;
  const content = { data: { "config.yaml": writeYaml(config) }, binaryData: {} };
  const configMaps = new Map([[`${namespace}/${configMap}`, content]]);
  const made = expressible(asBase, { ...surroundings, configMaps });
  if (Result.isFailure(made) || made.success.reasons.length > 0) return override;
  const { resource: kept, derived } = made.success;
  const isKept = compared({ resource: kept, derived, reasons: [] }, new Map(), own, own).differences.every(({ kind }) =>
    kind === "added"
  );
  return isKept && derived._tag === "Generated" ? kept : override;
};

export const configMapName = (name: string): string => `${name}-config`;

const withOwnConfig = (
  resource: JsonObject,
  configMap: string,
  env: ReadonlyArray<Json>,
  field: "baseConfig" | "overrideConfig",
): JsonObject => {
  const { workload, ...others } = omit(objectAt(resource, "spec"), "overrideConfig", ...CONFIG_FIELDS);
  const overrides = {
    ...omit(objectAt(workload, "overrides"), "env"),
    ...(env.length === 0 ? {} : { env }),
  };
  const carried = {
    ...omit(objectAt(workload), "overrides"),
    ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
  };
  return {
    ...resource,
    spec: {
      ...others,
      ...(Object.keys(carried).length === 0 ? {} : { workload: carried }),
      [field]: { configMapName: configMap },
    },
  };
};
