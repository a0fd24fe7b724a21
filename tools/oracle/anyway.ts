/** The config that the operator would generate if none of its rules rejected the resource. */
import * as Result from "effect/Result";
import type { Resource } from "../../core/api/decode.ts";
import { ownBase } from "../../core/config/base_config.ts";
import { foldersOf } from "../../core/config/data_folders.ts";
import { Derived, type Surroundings } from "../../core/config/derive.ts";
import { factsOf, secretValueIn } from "../../core/config/draft.ts";
import { containerEnv } from "../../core/config/environment.ts";
import { generated, readDraft, stages } from "../../core/config/pipeline.ts";
import { resolveDistribution } from "../../core/config/servers/distribution.ts";
import { type GeneratedConfig, NoConfig } from "../server/boot.ts";

/** Fails with `NoConfig` where there is no server or no base config to begin with. */
export const derivedAnyway = ({ name, spec }: Resource, surroundings: Surroundings): GeneratedConfig => {
  const { distributions, overrides, configMaps, secrets } = surroundings;
  const resolved = resolveDistribution(spec.distribution, distributions, overrides, {
    tried: undefined,
    running: undefined,
    isMirrored: () => false,
  });
  const distribution = Result.getOrUndefined(resolved);
  const base = spec.baseConfig === undefined ? distribution?.base : ownBase(spec.baseConfig, "default", configMaps);
  const server = distribution?.server;
  if (distribution === undefined || base === undefined || server === undefined) {
    throw new NoConfig([], "no base config");
  }
  const folders = foldersOf(spec);
  const facts = factsOf(name, spec, server, folders, secretValueIn(secrets));
  const config = Result.getOrThrowWith(
    Result.flatMap(readDraft(base, facts), (draft) => generated(stages(draft, facts).draft, facts)),
    () => new NoConfig([], "no base config"),
  );
  const env = containerEnv(spec, server.family, folders, config.env, true);
  return Derived.Generated({ distribution, server, config, env }) as GeneratedConfig;
};
