/**
 * START HERE: from a resource to a config.yaml, the stages in order.
 *
 * Each stage is one file and one function `(draft, facts) → draft`. Nothing here reads a clock, a cluster or a file.
 * Read next: draft.ts (what is handed on), then the stage that interests you, then the table of tests beside it.
 */
import { Result } from "effect";
import type { GenerationFailure } from "../failure.ts";
import { type JsonObject, listAt, objectAt } from "../json.ts";
import { type Warning, warning } from "../warning.ts";
import { computeApis } from "./apis.ts";
import { type BaseSource, readBase } from "./base.ts";
import { addCautions } from "./cautions.ts";
import { switchOff } from "./disabled.ts";
import type { Draft, EnvEntry, Facts, Stage } from "./draft.ts";
import { addExternalProviders } from "./external.ts";
import { registerModels } from "./models.ts";
import { overlayProviders } from "./overlay.ts";
import { expandProviders } from "./providers.ts";
import { render } from "./render.ts";
import { envCollisions } from "./secrets.ts";
import { setServer } from "./server.ts";
import { registerShields } from "./shields.ts";
import { placeStorage } from "./storage.ts";
import { exportTelemetry } from "./telemetry.ts";
import { provideTools } from "./tools.ts";

/** Stages 4 to 11 of the specification's page "From spec to config.yaml". */
const STAGES: ReadonlyArray<Stage> = [
  expandProviders,
  exportTelemetry,
  overlayProviders,
  addExternalProviders,
  // Before the resources are registered: one that lost its provider is then a failure and not silently gone.
  switchOff,
  registerModels,
  provideTools,
  registerShields,
  placeStorage,
  computeApis,
  setServer,
  addCautions,
];

export interface Generated {
  readonly yaml: string;
  /** What `yaml` says, as a value. */
  readonly tree: JsonObject;
  /** sha256 of the UTF-8 bytes of `yaml`, in hex. */
  readonly digest: string;
  /** What the config refers to by `${env.…}`; sources of secrets, never their values. */
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly providerCount: number;
  /** Models, tools and shields that the resource asks for. */
  readonly resourceCount: number;
}

/** Why there is no config, and what else was noticed on the way. */
export interface Refusal {
  /** At least one. */
  readonly failures: ReadonlyArray<GenerationFailure>;
  readonly warnings: ReadonlyArray<Warning>;
}

export const refusal = (...failures: ReadonlyArray<GenerationFailure>): Refusal => ({ failures, warnings: [] });

/** The config of one resource, or everything that stands in its way. Same input, same bytes. */
export const generate = (facts: Facts, base: BaseSource): Result.Result<Generated, Refusal> => {
  const tree = readBase(base, facts.server);
  if (Result.isFailure(tree)) return Result.fail(refusal(tree.failure));
  const empty: Draft = { config: tree.success, declared: [], env: [], warnings: newerServer(facts), failures: [] };
  const draft = STAGES.reduce((before, stage) => stage(before, facts), empty);
  const failures = [...draft.failures, ...envCollisions(draft.env)];
  if (failures.length > 0) return Result.fail({ failures, warnings: draft.warnings });
  return Result.mapBoth(render(draft.config), {
    onFailure: (failure) => refusal(failure),
    onSuccess: (rendered) => ({
      ...rendered,
      tree: draft.config,
      env: draft.env,
      warnings: draft.warnings,
      providerCount: Object.values(objectAt(draft.config, "providers"))
        .reduce<number>((count, entries) => count + listAt({ entries }, "entries").length, 0),
      resourceCount: resourceCount(facts),
    }),
  });
};

const resourceCount = ({ spec: { resources } }: Facts): number =>
  [resources?.models, resources?.tools, resources?.shields].reduce((count, list) => count + (list ?? []).length, 0);

const newerServer = ({ server }: Facts): ReadonlyArray<Warning> =>
  server.newer
    ? [
      warning(
        "NewerServer",
        ["spec", "distribution"],
        `server ${server.version} is newer than this operator; its config is made as for ${server.catalogue.server}`,
      ),
    ]
    : [];
