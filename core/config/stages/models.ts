/** Models: registered under an inference provider. */
import type { Model } from "../../api/server_resources.ts";
import {
  MissingProviderForResource,
  ModelConflict,
  NotSupportedByServer,
  ProviderSwitchedOff,
  SettingInvalid,
  UnknownProvider,
} from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { disablingEntry, effectiveId } from "../../api/rules.ts";
import { knownEnvironment, type Presence } from "../known_environment.ts";
import { baseId, conditionOf, isConditional } from "../servers/base.ts";
import type { ServerFamily } from "../servers/families/family.ts";
import { servesModelType } from "../servers/families/served_model_types.ts";
import { productOf } from "../servers/families/families.ts";
import { OPENAI_WAY } from "../servers/families/unstartable_types.ts";
import { type Draft, entriesOf, type Facts, noted, withConfig } from "../draft.ts";
import type { Stage } from "../stage.ts";

type ModelFailure =
  | MissingProviderForResource
  | UnknownProvider
  | ProviderSwitchedOff
  | NotSupportedByServer
  | SettingInvalid
  | ModelConflict;

export const registerModels: Stage<ModelFailure> = (draft, facts) => {
  const models = facts.spec.resources?.models ?? [];
  if (models.length === 0) return { draft, failures: [] };
  const offered = offeredProviders(draft, facts);
  const { family } = facts.server;
  const places = models.map((model, index) => {
    const path: FieldPath = ["spec", "resources", "models", index];
    const chosen = model.provider === undefined ? chosenProvider(model, path, offered, facts) : undefined;
    const id = model.provider ?? chosen?.id;
    if (id === undefined) return undefined;
    const choice = { model, path, provider: id, found: offered.find((other) => other.id === id), offered };
    return placed(choice, chosen?.warnings ?? [], facts);
  });
  const all = places.filter((item) => item !== undefined);
  const conflicts = all.filter(({ key }, index) => all.findIndex((other) => other.key === key) < index);
  const entries = all.filter(({ failures }) => failures.length === 0).map(({ entry }) => entry);
  const config = entries.reduce((tree, entry) => register(tree, entry, family), draft.config);
  const path: FieldPath = ["spec", "resources", "models"];
  return {
    draft: noted(withConfig(draft, config), { warnings: all.flatMap(({ warnings }) => warnings) }),
    failures: [
      ...(all.length < places.length
        ? [new MissingProviderForResource({ path, resource: "models", field: "inference" })]
        : []),
      ...all.flatMap(({ failures }) => failures),
      ...conflicts.map(({ path, key }) => new ModelConflict({ path, id: key })),
    ],
  };
};

/**
 * The id by which the server and its clients know a model: `<provider>/<name>`; the server family determines which
 * name.
 */
export const modelKey = (entry: JsonObject, family: ServerFamily): string => {
  const id = stringAt(entry, "model_id") ?? "";
  const provider = stringAt(entry, "provider_id") ?? "";
  if (family.modelsAreKnownBy === "providerModelId") return `${provider}/${stringAt(entry, "provider_model_id") ?? id}`;
  return id.startsWith(`${provider}/`) ? id : `${provider}/${id}`;
};

/** Whether an entry of the config is this model of the resource. */
export const isEntryOf = (entry: JsonObject, { name, provider, providerModelId = name }: Model): boolean => {
  const id = stringAt(entry, "provider_id") ?? "";
  return [name, `${id}/${name}`].includes(stringAt(entry, "model_id") ?? "") &&
    stringAt(entry, "provider_model_id") === providerModelId && (provider === undefined || provider === id);
};

/** An inference provider that a model may name. */
interface Offered {
  readonly id: string;
  /**
   * Undefined for a declared one whose own failure is reported already, so that its models are not blamed a second time, and
   * for one that comes in an image.
   */
  readonly type: string | undefined;
  readonly declared: boolean;
  readonly presence: Presence;
  /** The variable that switches it on, where there is one. */
  readonly variable: string | undefined;
  /** The only models that the provider accepts; undefined: all. */
  readonly allowed: ReadonlyArray<Json> | undefined;
}

/** Those of the resource in their order, then those of the base. */
const offeredProviders = (draft: Draft, facts: Facts): ReadonlyArray<Offered> => {
  const environment = knownEnvironment(facts, draft.env);
  const entries = entriesOf(draft.config, "inference");
  const written = (facts.spec.providers?.inference ?? []).map((provider): Offered => {
    const id = effectiveId(provider as unknown as Json);
    const entry = entries.find((other) => baseId(other) === id);
    const type = stringAt(entry, "provider_type");
    return { id, type, declared: true, presence: "Set", variable: undefined, allowed: allowedBy(entry) };
  });
  // Nothing is known of their types.
  const external = draft.external.filter(({ api }) => api === "inference").map(({ id }): Offered => {
    const entry = entries.find((other) => baseId(other) === id);
    return { id, type: undefined, declared: true, presence: "Set", variable: undefined, allowed: allowedBy(entry) };
  });
  const own = [...written.filter(({ id }) => external.every((other) => other.id !== id)), ...external];
  const based = entries.flatMap((entry): ReadonlyArray<Offered> => {
    const id = baseId(entry);
    if (id === undefined || own.some((provider) => provider.id === id)) return [];
    const variable = conditionOf(entry);
    const presence = variable === undefined ? (isConditional(entry) ? "Unknown" : "Set") : environment(variable);
    const allowed = allowedBy(entry);
    return [{ id, type: stringAt(entry, "provider_type"), declared: false, presence, variable, allowed }];
  });
  return [...own, ...based];
};

const allowedBy = (entry: JsonObject | undefined): ReadonlyArray<Json> | undefined => {
  const list = at(entry ?? {}, "config", "allowed_models");
  return isList(list) ? list : undefined;
};

/** The first declared provider that serves such models, else the first active one of the base; a choice causes a warning. */
const chosenProvider = (
  { modelType = "llm" }: Model,
  path: FieldPath,
  offered: ReadonlyArray<Offered>,
  { server: { family } }: Facts,
): { readonly id: string; readonly warnings: ReadonlyArray<Warning> } | undefined => {
  const able = offered.filter(({ type, presence }) =>
    presence === "Set" && (type === undefined || servesModelType(family, type, modelType))
  );
  const [first, ...others] = able;
  if (first === undefined) return undefined;
  return {
    id: first.id,
    warnings: first.declared || others.length === 0 ? [] : [
      warning(
        "ProviderChosen",
        [...path, "provider"],
        `not set, so the model goes to "${first.id}" of the base config; set provider to choose another one: ${
          others.map(({ id }) => id).join(", ")
        }`,
      ),
    ],
  };
};

/** A model of the resource, and the provider that it goes to. */
interface Choice {
  readonly model: Model;
  readonly path: FieldPath;
  readonly provider: string;
  /** Undefined if there is no such provider. */
  readonly found: Offered | undefined;
  readonly offered: ReadonlyArray<Offered>;
}

interface Placed {
  readonly path: FieldPath;
  readonly key: string;
  readonly entry: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnknownProvider | ProviderSwitchedOff | NotSupportedByServer | SettingInvalid>;
}

const placed = (choice: Choice, earlier: ReadonlyArray<Warning>, facts: Facts): Placed => {
  const { model, path, provider, found } = choice;
  const { family } = facts.server;
  const modelType = model.modelType ?? "llm";
  const entry: JsonObject = {
    model_id: family.modelIdsInFull && !isFirstProvider(provider, facts.server.version)
      ? `${provider}/${model.name}`
      : model.name,
    provider_id: provider,
    provider_model_id: model.providerModelId ?? model.name,
    model_type: modelType,
    // Nothing that was not asked for: a changed metadata of a known model stops the next start.
    ...(model.embeddingDimension === undefined && model.metadata === undefined ? {} : {
      metadata: {
        ...model.metadata as JsonObject | undefined,
        ...(model.embeddingDimension === undefined ? {} : { embedding_dimension: model.embeddingDimension }),
      },
    }),
  };
  const unread = (["contextLength", "quantization"] as const).filter((field) => model[field] !== undefined)
    .map((field) =>
      warning("FieldNotRead", [...path, field], "not supported by this server; set it at the model server instead")
    );
  const prefixed = model.providerModelId !== undefined || !model.name.startsWith(`${provider}/`) ? [] : [
    warning(
      "ModelNameWithProvider",
      [...path, "name"],
      `write "${
        model.name.slice(provider.length + 1)
      }", unless "${model.name}" is the name at the provider, which is then ` +
        "written into providerModelId too: the server adds the provider itself, and asks it for the whole name",
    ),
  ];
  const unserved = found?.type === undefined || servesModelType(family, found.type, modelType) ? [] : [
    warning(
      "ModelTypeNotServed",
      [...path, "provider"],
      `provider type "${found.type}" serves no ${modelType} models on ${facts.serverName}; choose another provider`,
    ),
  ];
  const name = model.providerModelId ?? model.name;
  const isExcluded = found?.allowed !== undefined &&
    !found.allowed.some((item) => item === name || String(item).includes("${env."));
  const excluded = !isExcluded ? [] : [
    warning(
      "ModelNotAllowed",
      [...path, "name"],
      `provider "${provider}" rejects requests for this model, because its ` +
        "allowed_models do not contain it",
    ),
  ];
  const failures = faultsOf(choice, facts);
  return {
    path,
    key: modelKey(entry, family),
    entry,
    warnings: failures.length > 0
      ? unread
      : [...earlier, ...unread, ...prefixed, ...unserved, ...excluded, ...uncertain(path, found)],
    failures,
  };
};

/** For OGX, `all` is the first provider that is on, and the id of the model is not prefixed. Source: register_resources in core/stack.py. */
export const isFirstProvider = (id: string, version: string): boolean => id === "all" && productOf(version) === "OGX";

const DIMENSION = "embedding_dimension";

const faultsOf = (
  { model: { modelType, metadata }, path, provider, found, offered }: Choice,
  { spec, server: { family, version }, serverName }: Facts,
): Placed["failures"] => {
  if (Object.hasOwn(metadata ?? {}, DIMENSION)) {
    const detail = `write it as ${formatPath([...path, "embeddingDimension"])}`;
    return [new SettingInvalid({ path: [...path, "metadata", DIMENSION], detail })];
  }
  if (found === undefined && isFirstProvider(provider, version)) return [];
  if (found === undefined) {
    const known = offered.map(({ id }) => id).sort();
    const disabledBy = disablingEntry(spec, "inference", provider);
    return [new UnknownProvider({ path: [...path, "provider"], id: provider, known, disabledBy })];
  }
  if (found.presence === "Unset" && found.variable !== undefined) {
    const { variable } = found;
    return [new ProviderSwitchedOff({ path: [...path, "provider"], id: provider, variable, field: "inference" })];
  }
  if (modelType === "rerank" && family.rerankTypes.length === 0) {
    const instead = "remove the model, or use a newer server";
    return [
      new NotSupportedByServer({ path: [...path, "modelType"], what: "rerank models", server: serverName, instead }),
    ];
  }
  return found.type !== undefined && family.typesWithoutModels.includes(found.type)
    ? [
      new NotSupportedByServer({
        path: [...path, "provider"],
        what: `models of a provider of type "${found.type}": the server fails to start when one is registered`,
        server: serverName,
        instead: OPENAI_WAY,
      }),
    ]
    : [];
};

/** A variable that is set outside of the resource: the server fails to start if it is not set. */
const uncertain = (path: FieldPath, found: Offered | undefined): ReadonlyArray<Warning> =>
  found?.presence !== "Unknown" ? [] : [
    warning(
      "VariableNotKnown",
      [...path, "provider"],
      `provider "${found.id}" is disabled unless ${
        found.variable ?? "a variable"
      } is set, and this resource does not set it`,
    ),
  ];

/** An entry of the base with the same model id is replaced in place. */
const register = (config: JsonObject, entry: JsonObject, family: ServerFamily): JsonObject => {
  const registered = listAt(config, ...family.resourcesAt, "models").filter(isObject);
  return put(
    config,
    [...family.resourcesAt, "models"],
    upsert(registered, entry, (other) => modelKey(other, family) === modelKey(entry, family)),
  );
};
