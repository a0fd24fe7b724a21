/** What is wrong with a config that the operator did not write: each judgement once, for an own config and for a base config. */
import { type FieldPath, formatPath, valueAt } from "../data/field_path.ts";
import { type JsonObject, objectAt, stringAt } from "../data/json.ts";
import type { Facts } from "./draft.ts";
import { type KnownVariables, unknownIn, unlessSet, valuesIn } from "./known_environment.ts";
import { apiFindings, foreignApisOfVariables, withReadApis } from "./stages/api_findings.ts";
import { storageFindings } from "./stages/backend_findings.ts";
import { clearCredentialsOfAuth } from "./stages/clear_credentials.ts";
import { configFindings, oncePerPlace } from "./stages/config_findings.ts";
import { conflictingEntries } from "./stages/conflicting_providers.ts";
import { orphanedShield } from "./stages/default_shield.ts";
import { type EntryFinding, entryFindings } from "./stages/entry_findings.ts";
import { keylessModels } from "./stages/models_without_key.ts";
import { uninstalledProviders } from "./stages/modules.ts";
import {
  lostVectorProvider,
  orphanedDefaults,
  orphanedEmbeddings,
  orphanedResources,
} from "./stages/orphaned_resources.ts";
import { policyFindings } from "./stages/own_policies.ts";
import { FROM_VARIABLE } from "./stages/provider_settings.ts";
import { placeFindings } from "./stages/pod_places.ts";
import { registrationFindings } from "./stages/registration_findings.ts";
import { sharedPathFindings } from "./stages/shared_paths.ts";
import { unreadFields } from "./stages/unread_fields.ts";
import { foreignTypesOfVariables, replacedEntries, uncheckedEntries } from "./stages/unused_entries.ts";

/** What a resource leaves of a base config in the config that is made of it. Paths are those of the base. */
export interface Remains {
  /** The resource replaces or removes the provider. */
  readonly isGone: (api: string, id: string | undefined) => boolean;
  readonly isUsed: (path: FieldPath) => boolean;
  readonly isKept: (path: FieldPath) => boolean;
  /** At the place that an item of the generated config has in the base; nothing if the resource adds or changes it. */
  readonly ofBase: (finding: EntryFinding) => ReadonlyArray<EntryFinding>;
}

/** An own config is used as it is. */
const WHOLE: Remains = {
  isGone: () => false,
  isUsed: () => true,
  isKept: () => true,
  ofBase: (finding) => [finding],
};

export interface WrittenConfig {
  /** With entries that later ones of the same id replace. */
  readonly written: JsonObject;
  /** As the server reads it. */
  readonly tree: JsonObject;
  /** What the server gets. */
  readonly generated: JsonObject;
  /** Undefined if the server gets `tree`. */
  readonly remains?: Remains;
  /** Undefined if the config came with the image, which then has the packages of its providers. */
  readonly image: { readonly isShipped: boolean } | undefined;
}

export const configProblems = (
  config: WrittenConfig,
  facts: Facts,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const found = problems(config, facts, known);
  return [...found, ...withoutVariables(found, config, facts, known)];
};

/** What keeps the server from its start if nothing sets the variables of which nothing is known. */
const withoutVariables = (
  found: ReadonlyArray<EntryFinding>,
  config: WrittenConfig,
  facts: Facts,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const { environment, valueOf } = known;
  if (unknownIn(config.tree, known).length === 0) return [];
  const isUnknown = (variable: string) => environment(variable) === "Unknown" && valueOf(variable) === undefined;
  const places = new Set(found.map(({ path }) => formatPath(path)));
  const unset: KnownVariables = {
    environment: (variable) => isUnknown(variable) ? "Unset" : environment(variable),
    valueOf: valuesIn(environment, (variable) => isUnknown(variable) ? "" : valueOf(variable)),
  };
  return problems(config, facts, unset).flatMap(({ path, message, isFatal }): ReadonlyArray<EntryFinding> => {
    if (!isFatal || places.has(formatPath(path))) return [];
    return [{
      path,
      message: `${message}; ${unlessSet(unknownIn(valueAt(config.tree, path), known))}`,
      isFatal: false,
      code: "VariableNotKnown",
    }];
  });
};

const problems = (
  { written, remains = WHOLE, image, ...given }: WrittenConfig,
  facts: Facts,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const { server } = facts;
  const tree = withReadApis(given.tree, known.valueOf);
  const generated = withReadApis(given.generated, known.valueOf);
  const { isGone, isUsed, isKept, ofBase } = remains;
  return [
    ...oncePerPlace([
      ...configFindings(tree, server, known, generated),
      ...policyFindings(tree, server),
      ...storageFindings(generated, facts, known),
      ...registrationFindings(tree, server, known),
      ...unreadFields(tree, server),
      ...clearCredentialsOfAuth(tree, server.catalogue).map((path): EntryFinding => ({
        path,
        message: `the value is stored in clear text in a ConfigMap; ${FROM_VARIABLE}`,
        isFatal: false,
        code: "CredentialInSettings",
      })),
    ]).filter(({ path }) => isKept(path)),
    ...replacedEntries(written),
    ...uncheckedEntries(tree, server),
    ...foreignApisOfVariables(given.generated, server, known).flatMap(ofBase),
    ...foreignTypesOfVariables(generated, server, known).flatMap(ofBase),
    // A resource may add storage backends.
    ...entryFindings({ ...tree, storage: objectAt(generated, "storage") }, facts, known, isGone),
    ...[
      ...apiFindings(generated, server, known.environment),
      ...conflictingEntries(generated, known),
      ...sharedPathFindings(generated, known),
      ...keylessModels(generated, server, known),
    ].flatMap(ofBase),
    ...orphanedResources(generated, server, known),
    ...orphanedEmbeddings(generated, server, known),
    ...orphanedDefaults(generated, server, known),
    ...orphanedShield(generated, server, known),
    // It is left out of what is made of a base.
    ...(remains === WHOLE || stringAt(generated, "vector_stores", "default_provider_id") === undefined
      ? lostVectorProvider(tree, server, known)
      : []),
    ...[
      ...(image === undefined ? [] : uninstalledProviders(tree, known, { ...facts, ...image })),
      ...placeFindings(tree, facts, known, generated),
    ].filter(({ path }) => isUsed(path)),
  ];
};
