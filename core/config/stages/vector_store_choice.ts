/**
 * What `spec.vectorStores` names, found among what the config has: a provider of vector stores, and models by the ids that people know.
 * The stage that writes it is vector_stores.ts.
 */
import type { VectorStores } from "../../api/v1alpha2.ts";
import {
  NotSupportedByServer,
  ProviderSwitchedOff,
  SettingInvalid,
  UnknownModel,
  UnknownProvider,
} from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { quoted } from "../../data/printable.ts";
import { at, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import type { Warning } from "../../failure/warning.ts";
import { baseId } from "../servers/base.ts";
import { isOlderMinor, serverName } from "../servers/families/families.ts";
import { type Draft, entryOf, type Facts } from "../draft.ts";
import { isEntryOf, modelKey } from "./models.ts";
import { type ApiOfList, namedProvider, usable } from "./provider_of_resource.ts";

export type ChoiceFailure =
  | NotSupportedByServer
  | ProviderSwitchedOff
  | SettingInvalid
  | UnknownModel
  | UnknownProvider;

/** A model as the section `vector_stores` refers to it. */
export interface ChosenModel {
  readonly provider: string;
  /** What follows the provider in the id of the model on this server. */
  readonly model: string;
}

export interface Choice {
  /** Fields that say with an empty text that there is no default. */
  readonly none: ReadonlyArray<keyof VectorStores>;
  readonly provider?: string;
  readonly embedding?: ChosenModel;
  readonly reranker?: ChosenModel;
  readonly failures: ReadonlyArray<ChoiceFailure>;
  readonly warnings: ReadonlyArray<Warning>;
}

const PATH: FieldPath = ["spec", "vectorStores"];
const VECTOR_IO: ApiOfList = { api: "vector_io", field: "vectorIo" };
const INFERENCE: ApiOfList = { api: "inference", field: "inference" };

/** The first minor version that reads each field, as seen in its core/datatypes.py and in a running server. */
const SINCE: Readonly<Record<keyof VectorStores, string>> = {
  // Up to 0.2, the first provider is the default.
  defaultProvider: "0.2",
  defaultEmbeddingModel: "0.3",
  defaultRerankerModel: "0.7",
  // The section has the sizes since 0.4, and nothing reads them there; the file processor of 0.6 and 0.7 cuts no plain text.
  chunking: "0.8",
  searchMode: "0.8",
};

/** The field if the resource has it and the server reads it. */
export const readField = <Name extends keyof VectorStores>(
  { spec: { vectorStores }, server: { version } }: Facts,
  name: Name,
): VectorStores[Name] | undefined => isOlderMinor(version, SINCE[name]) ? undefined : vectorStores?.[name];

const NAMES = ["defaultProvider", "defaultEmbeddingModel", "defaultRerankerModel"] as const;

export const vectorStoreChoice = (draft: Draft, facts: Facts): Choice => {
  const unread = unreadFields(facts);
  const provider = chosenProvider(draft, facts);
  const embedding = chosenModel(draft, facts, "defaultEmbeddingModel");
  const reranker = chosenModel(draft, facts, "defaultRerankerModel");
  return {
    none: NAMES.filter((name) => readField(facts, name) === ""),
    ...(provider.found === undefined ? {} : { provider: provider.found }),
    ...(embedding.found === undefined ? {} : { embedding: embedding.found }),
    ...(reranker.found === undefined ? {} : { reranker: reranker.found }),
    failures: [...unread, ...provider.failures, ...embedding.failures, ...reranker.failures],
    warnings: [...provider.warnings, ...embedding.warnings, ...reranker.warnings],
  };
};

const unreadFields = ({ spec: { vectorStores = {} }, server: { version }, serverName: server }: Facts) =>
  (Object.keys(SINCE) as ReadonlyArray<keyof VectorStores>)
    .filter((name) => Object.hasOwn(vectorStores, name) && isOlderMinor(version, SINCE[name]))
    .map((name) =>
      new NotSupportedByServer({
        path: [...PATH, name],
        what: name,
        server,
        instead: `remove the field, or use ${serverName(SINCE[name])} or newer`,
      })
    );

interface Searched<A> {
  readonly found?: A;
  readonly failures: ReadonlyArray<ChoiceFailure>;
  readonly warnings: ReadonlyArray<Warning>;
}

const failed = (...failures: ReadonlyArray<ChoiceFailure>): Searched<never> => ({ failures, warnings: [] });

const chosenProvider = (draft: Draft, facts: Facts): Searched<string> => {
  const id = readField(facts, "defaultProvider");
  if (id === undefined || id === "") return failed();
  const path = [...PATH, "defaultProvider"];
  const { found, ...rest } = namedProvider({ ...VECTOR_IO, id, path }, draft, facts);
  return found === undefined ? rest : { found: id, ...rest };
};

/** The field, the key of the section, and the type that the server looks for when it starts. */
export const DEFAULT_MODELS = [
  { field: "defaultEmbeddingModel", key: "default_embedding_model", type: "embedding" },
  { field: "defaultRerankerModel", key: "default_reranker_model", type: "rerank" },
] as const;

type ModelField = typeof DEFAULT_MODELS[number]["field"];

interface Candidate extends ChosenModel {
  /** Every name by which the resource may mean it; the id on this server is the first one. */
  readonly names: ReadonlyArray<string>;
  readonly type: string;
  /** Undefined for what the provider lists itself. */
  readonly entry: JsonObject | undefined;
}

const chosenModel = (draft: Draft, facts: Facts, field: ModelField): Searched<ChosenModel> => {
  const id = readField(facts, field);
  const row = DEFAULT_MODELS.find((other) => other.field === field);
  if (id === undefined || id === "" || row === undefined) return failed();
  const { type } = row;
  const path = [...PATH, field];
  const refuse = (detail: string) => failed(new SettingInvalid({ path, detail }));
  const all = candidates(draft, facts);
  const named = all.filter(({ names }) => names.includes(id));
  const fitting = named.filter((model) => model.type === type);
  const [model, ...others] = fitting;
  if (model === undefined) {
    const [other] = named;
    if (other !== undefined) {
      return refuse(ofOtherType(id, other.type, type));
    }
    return isRejected(id, facts)
      ? failed()
      : failed(new UnknownModel({ path, id, type, known: ofType(all, type).map(({ names: [first = ""] }) => first) }));
  }
  if (others.length > 0) {
    return refuse(severalModels(id, type, fitting));
  }
  if (`${model.provider}${model.model}`.includes(":+")) {
    return refuse(`${quoted(id)} is registered only if a variable is set, and the server does not start without it`);
  }
  if (type === "embedding" && model.entry !== undefined && !hasDimension(model.entry)) {
    return refuse(withoutDimension(id));
  }
  const entry = entryOf(draft.config, "inference", model.provider);
  const found = { provider: model.provider, model: model.model };
  return entry === undefined
    ? failed(new UnknownModel({ path, id, type, known: [] }))
    : usable(found, { ...INFERENCE, id: model.provider, path }, entry, draft, facts);
};

const ofType = (all: ReadonlyArray<Candidate>, type: string) => all.filter((model) => model.type === type);

const hasDimension = (entry: JsonObject): boolean => at(entry, "metadata", "embedding_dimension") !== undefined;

/** The embedding model of a vector store that the config registers: only registered models are known that early. */
export const registeredEmbedding = (
  id: string,
  path: FieldPath,
  draft: Draft,
  facts: Facts,
): Searched<{ readonly id: string; readonly dimension: Json }> => {
  const all = ofType(candidates(draft, facts), "embedding").filter(({ entry }) => entry !== undefined);
  const [model, ...others] = all.filter(({ names }) => names.includes(id));
  if (model?.entry === undefined) {
    const other = candidates(draft, facts).find(({ names, type }) => type !== "embedding" && names.includes(id));
    if (other !== undefined) {
      return failed(new SettingInvalid({ path, detail: ofOtherType(id, other.type, "embedding") }));
    }
    return isRejected(id, facts) ? failed() : failed(
      new UnknownModel({ path, id, type: "embedding", known: all.map(({ names: [first = ""] }) => first) }),
    );
  }
  const routed = `${model.provider}/${model.model}`;
  const refuse = (detail: string) => failed(new SettingInvalid({ path, detail }));
  if (others.length > 0) return refuse(severalModels(id, "embedding", [model, ...others]));
  const dimension = at(model.entry, "metadata", "embedding_dimension");
  if (dimension === undefined || dimension === null) return refuse(withoutDimension(id));
  const provider = entryOf(draft.config, "inference", model.provider);
  return provider === undefined
    ? failed(new UnknownModel({ path, id, type: "embedding", known: [] }))
    : usable({ id: routed, dimension }, { ...INFERENCE, id: model.provider, path }, provider, draft, facts);
};

const ofOtherType = (id: string, type: string, wanted: string): string =>
  `${quoted(id)} is a model of type ${type}; name one of type ${wanted}, or change its modelType`;

const severalModels = (id: string, type: string, models: ReadonlyArray<Candidate>): string =>
  `"${id}" is the name of more than one ${type} model; write ${
    models.map(({ names }) => `"${names[0]}"`).join(" or ")
  }`;

const withoutDimension = (id: string): string =>
  `${
    quoted(id)
  } of the base config has no embedding_dimension; add it to spec.resources.models with embeddingDimension`;

/** Models that the config registers, and those that it names as defaults, which their providers list themselves. */
const candidates = (draft: Draft, { spec, server: { family } }: Facts): ReadonlyArray<Candidate> => {
  const registered = listAt(draft.config, ...family.resourcesAt, "models").filter(isObject).map((entry): Candidate => {
    const provider = baseId(entry) ?? "";
    const model = modelKey(entry, family).slice((stringAt(entry, "provider_id") ?? "").length + 1);
    const own = (spec.resources?.models ?? []).filter((other) => isEntryOf(entry, other)).map(({ name }) => name);
    const names = [`${provider}/${model}`, ...own.flatMap((name) => [name, `${provider}/${name}`])];
    return { provider, model, names, type: stringAt(entry, "model_type") ?? "llm", entry };
  });
  const listed = DEFAULT_MODELS.flatMap(({ key, type }): ReadonlyArray<Candidate> => {
    const named = objectAt(draft.config, "vector_stores", key);
    const [provider, model] = [stringAt(named, "provider_id"), stringAt(named, "model_id")];
    if (provider === undefined || model === undefined || hasLost(draft, named)) return [];
    const id = `${provider}/${model}`;
    return registered.some(({ names: [first] }) => first === id)
      ? []
      : [{ provider, model, names: [id], type, entry: undefined }];
  });
  return [...registered, ...listed];
};

/** One that the resource registers wrongly has a failure of its own. */
const isRejected = (id: string, { spec }: Facts): boolean =>
  (spec.resources?.models ?? []).some(({ name, provider }) => id === name || id === `${provider}/${name}`);

/** The types that list such models run in the server: another provider of the same id does not have the model. */
export const hasLost = ({ config, declared, external }: Draft, model: Json | undefined): boolean => {
  const id = stringAt(model, "provider_id");
  return id !== undefined && (
    entryOf(config, "inference", id) === undefined ||
    declared.some((provider) =>
      provider.api === "inference" && provider.id === id && !provider.type.startsWith("inline::")
    ) ||
    external.some((provider) => provider.api === "inference" && provider.id === id)
  );
};
