/**
 * START HERE: from a resource to a config.yaml, the stages in order.
 *
 * Each stage is one file. Its type declares its failures, and `PipelineFailure` is inferred from them. Nothing here
 * reads a clock, a cluster or a file: the pipeline is a description, which `derive` runs. Read next: stage.ts (how
 * stages fail), draft.ts (their data), then the stage that interests you.
 */
import * as Effect from "effect/Effect";
import type { FieldPath } from "../data/field_path.ts";
import { type JsonObject, listAt, objectAt } from "../data/json.ts";
import { OWN_CONFIG_MESSAGE_CHARACTERS_MAX, OWN_CONFIG_WARNINGS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import { rejection } from "../failure/rejection.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { computeApis } from "./stages/apis.ts";
import { pathOf, readBase } from "./servers/base.ts";
import type { BaseSource } from "../image/image_labels.ts";
import { ignoredSections } from "./servers/ignored_sections.ts";
import { presentCertificate } from "./stages/client_certificate.ts";
import { addConnectors } from "./stages/connectors.ts";
import { addCautions } from "./stages/cautions.ts";
import { switchOff } from "./stages/disabled.ts";
import type { Draft, EnvEntry, Facts } from "./draft.ts";
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
import { GenerationFacts, thenStage } from "./stage.ts";
import { addBackends } from "./stages/storage_backends.ts";
import { placeStorage } from "./stages/storage.ts";
import { exportTelemetry } from "./stages/telemetry.ts";
import { provideTools } from "./stages/tools.ts";
import { rejectDanglingNames } from "./stages/dangling.ts";
import { rejectModelsWithoutKey } from "./stages/models_without_key.ts";
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

/** From a base to the config of one resource. */
export const generation = (base: BaseSource) =>
  readDraft(base).pipe(
    Effect.mapError((failure) => rejection(failure)),
    Effect.flatMap((draft) =>
      stages(draft).pipe(
        Effect.mapError(({ draft, failures }) => ({ failures, warnings: draft.warnings })),
      )
    ),
    Effect.flatMap(generated),
  );

/** The stages, in this order. */
export const stages = (draft: Draft) =>
  expandProviders(draft).pipe(
    thenStage(exportTelemetry),
    thenStage(removeBaseProviders),
    thenStage(overlayProviders),
    thenStage(addExternalProviders),
  ).pipe(
    // Before the resources are registered: a resource that lost its provider then fails, instead of disappearing
    // silently.
    thenStage(switchOff),
    thenStage(registerModels),
    thenStage(chooseVectorDefaults),
    thenStage(rejectMistypedDefaults),
    thenStage(provideTools),
    thenStage(addConnectors),
    thenStage(registerShields),
    thenStage(registerOthers),
  ).pipe(
    thenStage(placeStorage),
    thenStage(addBackends),
    thenStage(presentCertificate),
    thenStage(computeApis),
    thenStage(setServer),
    thenStage(authenticateCallers),
    thenStage(addCautions),
    thenStage(rejectDanglingNames),
    thenStage(rejectModelsWithoutKey),
    thenStage(rejectUnsetVariables),
    thenStage(rejectUnfitVariables),
    thenStage(rejectBrokenBaseEntries),
    thenStage(rejectUnfitCodeVariables),
    thenStage(rejectCollisions),
  );

/** Every failure that can prevent the generation of a config, as declared by the stages. */
export type PipelineFailure = Effect.Error<ReturnType<typeof generation>>["failures"][number];

export const readDraft = Effect.fnUntraced(function* (base: BaseSource) {
  const facts = yield* GenerationFacts;
  const config = yield* Effect.fromResult(readBase(base, facts.server));
  const draft: Draft = {
    config,
    basePath: pathOf(base),
    declared: [],
    env: [],
    external: [],
    warnings: [...newerServer(facts), ...ignored(config, pathOf(base), facts)],
  };
  return draft;
});

export const generated = Effect.fnUntraced(function* (draft: Draft) {
  const facts = yield* GenerationFacts;
  const rendered = yield* Effect.fromResult(render(draft.config)).pipe(
    Effect.mapError((failure) => rejection(failure)),
  );
  const made: Generated = {
    ...rendered,
    tree: draft.config,
    env: draft.env,
    external: draft.external,
    warnings: draft.warnings,
    providerCount: Object.values(objectAt(draft.config, "providers"))
      .reduce<number>((count, entries) => count + listAt({ entries }, "entries").length, 0),
    resourceCount: resourceCount(facts),
  };
  return made;
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
