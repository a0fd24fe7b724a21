/**
 * START HERE: from a resource to a config.yaml, the stages in order.
 *
 * Each stage is one file. Its type declares its failures, and `PipelineFailure` is inferred from them. Nothing here
 * reads a clock, a cluster or a file. Read next: stage.ts (how
 * stages fail), draft.ts (their data), then the stage that interests you.
 */
import * as Result from "effect/Result";
import { type FieldPath, valueAt } from "../data/field_path.ts";
import { type Json, type JsonObject, listAt, objectAt } from "../data/json.ts";
import { OWN_CONFIG_MESSAGE_CHARACTERS_MAX, OWN_CONFIG_WARNINGS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import { type Rejection, rejection } from "../failure/rejection.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { withReadApis } from "./stages/api_findings.ts";
import { computeApis } from "./stages/apis.ts";
import { pathOf, readBase } from "./servers/base.ts";
import type { BaseSource } from "./servers/image_labels.ts";
import { ignoredSections } from "./servers/ignored_sections.ts";
import { presentCertificate } from "./stages/client_certificate.ts";
import { addConnectors } from "./stages/connectors.ts";
import { addCautions } from "./stages/cautions.ts";
import { switchOff } from "./stages/disabled.ts";
import { type Draft, type EnvEntry, type Facts, noted } from "./draft.ts";
import { knownEnvironment, knownValues, unknownIn, unlessSet } from "./known_environment.ts";
import type { ExternalEntry } from "./external_providers.ts";
import { addExternalProviders } from "./stages/external.ts";
import { removeBaseProviders } from "./stages/removed_providers.ts";
import { registerModels } from "./stages/models.ts";
import { registerOthers } from "./stages/registered_resources.ts";
import { overlayProviders } from "./stages/overlay.ts";
import { expandProviders } from "./stages/providers.ts";
import { render } from "./render.ts";
import { rejectCollisions } from "./stages/secrets.ts";
import { setServer } from "./stages/server.ts";
import { authenticateCallers } from "./stages/server_auth.ts";
import { registerShields } from "./stages/shields.ts";
import { inOrder, type Stage } from "./stage.ts";
import { addBackends } from "./stages/storage_backends.ts";
import { placeStorage } from "./stages/storage.ts";
import { exportTelemetry } from "./stages/telemetry.ts";
import { provideTools } from "./stages/tools.ts";
import { rejectDanglingNames } from "./stages/dangling.ts";
import { rejectUnknownLlamas } from "./stages/llama_models.ts";
import { rejectModelsWithoutKey } from "./stages/models_without_key.ts";
import { rejectSharedPaths } from "./stages/shared_paths.ts";
import { rejectUnfitCodeVariables } from "./stages/code_variables.ts";
import { rejectBrokenBaseEntries } from "./stages/base_entries.ts";
import { rejectUnfitVariables } from "./stages/expanded.ts";
import { chooseVectorDefaults, rejectMistypedDefaults } from "./stages/vector_stores.ts";
import { rejectUnsetVariables } from "./stages/variables.ts";

export interface Generated {
  readonly yaml: string;
  /** The content of `yaml` as a value. */
  readonly tree: JsonObject;
  /** sha256 of the UTF-8 bytes of `yaml`, in hex. */
  readonly digest: string;
  /** What the config refers to by `${env.…}`; sources of secrets, never their values. */
  readonly env: ReadonlyArray<EnvEntry>;
  /** Providers whose type and module are filled in inside the pod; they come in images. */
  readonly external: ReadonlyArray<ExternalEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly providerCount: number;
  /** Models, tools, shields and what else the resource registers. */
  readonly resourceCount: number;
}

/** In this order. */
const STAGES = [
  expandProviders,
  exportTelemetry,
  removeBaseProviders,
  overlayProviders,
  addExternalProviders,
  // Before the resources are registered: a resource that lost its provider then fails, instead of disappearing silently.
  switchOff,
  registerModels,
  chooseVectorDefaults,
  rejectMistypedDefaults,
  provideTools,
  addConnectors,
  registerShields,
  registerOthers,
  placeStorage,
  addBackends,
  presentCertificate,
  computeApis,
  setServer,
  authenticateCallers,
  addCautions,
  rejectDanglingNames,
  rejectSharedPaths,
  rejectModelsWithoutKey,
  rejectUnknownLlamas,
  rejectUnsetVariables,
  rejectUnfitVariables,
  rejectBrokenBaseEntries,
  rejectUnfitCodeVariables,
  rejectCollisions,
] as const;

type StageFailure = (typeof STAGES)[number] extends Stage<infer E> ? E : never;

export const stages: Stage<StageFailure> = inOrder<StageFailure>(STAGES);

/** Every failure that can prevent the generation of a config, as declared by the stages. */
export type PipelineFailure =
  | StageFailure
  | Result.Result.Failure<ReturnType<typeof readBase>>
  | Result.Result.Failure<ReturnType<typeof render>>;

/** From a base to the config of one resource. */
export const generation = (base: BaseSource, facts: Facts): Result.Result<Generated, Rejection<PipelineFailure>> => {
  const read = readDraft(base, facts);
  if (Result.isFailure(read)) return Result.fail(rejection(read.failure));
  const { draft, failures } = stages(read.success, facts);
  return failures.length > 0
    ? Result.fail({ failures, warnings: draft.warnings })
    : generated(noted(draft, { warnings: withoutVariables(read.success, facts, draft.env) }), facts);
};

/** What the server refuses of the resource if nothing sets the variables in it of which nothing is known. */
const withoutVariables = (draft: Draft, facts: Facts, env: Draft["env"]): ReadonlyArray<Warning> => {
  const { spec } = facts;
  if (!JSON.stringify(spec).includes("${env.")) return [];
  const environment = knownEnvironment(facts, env);
  const known = { environment, valueOf: knownValues(environment, facts) };
  if (unknownIn(spec as unknown as Json, known).length === 0) return [];
  const namesAt = (path: FieldPath) => unknownIn(valueAt({ spec: spec as unknown as Json }, path), known);
  const without = stages(draft, { ...facts, hasNoOtherVariables: true });
  return [
    ...without.failures.flatMap((failure) => {
      const names = namesAt(failure.path);
      return names.length === 0 || !("detail" in failure)
        ? []
        : [warning("VariableNotKnown", failure.path, `${failure.detail}; ${unlessSet(names)}`)];
    }),
    ...without.draft.warnings.filter(({ code, path }) => code === "FileNotMounted" && namesAt(path).length > 0),
  ];
};

export const readDraft = (base: BaseSource, facts: Facts) =>
  Result.map(readBase(base, facts.server), (config): Draft => ({
    config: withReadApis(config, knownValues(knownEnvironment(facts, []), facts)),
    basePath: pathOf(base),
    declared: [],
    env: [],
    external: [],
    warnings: [...newerServer(facts), ...ignored(config, pathOf(base), facts)],
  }));

export const generated = (draft: Draft, facts: Facts) =>
  Result.mapBoth(render(draft.config), {
    onFailure: (failure) => rejection(failure),
    onSuccess: (rendered): Generated => ({
      ...rendered,
      tree: draft.config,
      env: draft.env,
      external: draft.external,
      warnings: draft.warnings,
      providerCount: Object.values(objectAt(draft.config, "providers"))
        .reduce<number>((count, entries) => count + listAt({ entries }, "entries").length, 0),
      resourceCount: resourceCount(facts),
    }),
  });

const resourceCount = ({ spec: { resources } }: Facts): number =>
  Object.values(resources ?? {}).reduce((count, list) => count + list.length, 0);

const ignored = (config: JsonObject, path: FieldPath, { server }: Facts): ReadonlyArray<Warning> =>
  ignoredSections(config, server).slice(0, OWN_CONFIG_WARNINGS_MAX).map((sentence) =>
    warning(
      "SectionIgnored",
      path,
      onOneLine(`in the base config, ${sentence}`, OWN_CONFIG_MESSAGE_CHARACTERS_MAX),
    )
  );

const newerServer = ({ server }: Facts): ReadonlyArray<Warning> =>
  server.newer
    ? [
      warning(
        "NewerServer",
        ["spec", "distribution"],
        `server ${server.version} is newer than this operator; its config is generated as for ${server.catalogue.server}`,
      ),
    ]
    : [];
