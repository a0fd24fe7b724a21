/** What a resource is made into: the result of derive.ts. */
import * as Data from "effect/Data";
import type { EnvVar } from "../api/embedded.ts";
import type { Warning } from "../failure/warning.ts";
import type { OwnConfig } from "./own_config.ts";
import type { Generated } from "./pipeline.ts";
import type { ResolvedDistribution } from "./servers/distribution.ts";
import type { ServerFamily } from "./servers/families/family.ts";
import type { Server } from "./servers/families/families.ts";

export type Derived = Data.TaggedEnum<{
  Generated: {
    readonly distribution: ResolvedDistribution;
    readonly server: Server;
    readonly config: Generated;
    readonly env: ReadonlyArray<EnvVar>;
  };
  /** The user's ConfigMap is used unchanged. */
  Override: {
    readonly distribution: ResolvedDistribution;
    readonly configMapName: string;
    /** That the server reads; undefined where only a command of the author reads one. */
    readonly key: string | undefined;
    /** Undefined if the ConfigMap has not been read. */
    readonly content: OwnConfig | undefined;
    readonly env: ReadonlyArray<EnvVar>;
    readonly warnings: ReadonlyArray<Warning>;
  };
  /** The image runs its built-in config. */
  DistributionDefault: {
    readonly distribution: ResolvedDistribution;
    readonly env: ReadonlyArray<EnvVar>;
    readonly warnings: ReadonlyArray<Warning>;
  };
}>;
export const Derived = Data.taggedEnum<Derived>();

export const warningsOf = (derived: Derived): ReadonlyArray<Warning> =>
  derived._tag === "Generated" ? derived.config.warnings : derived.warnings;

export const withWarnings = (derived: Derived, more: ReadonlyArray<Warning>): Derived => {
  const warnings = [...warningsOf(derived), ...more];
  if (more.length === 0) return derived;
  return derived._tag === "Generated"
    ? { ...derived, config: { ...derived.config, warnings } }
    : { ...derived, warnings };
};

/** Undefined if the server of the image is unknown. */
export const familyOf = (derived: Derived): ServerFamily | undefined =>
  derived._tag === "Generated" ? derived.server.family : derived.distribution.server?.family;
