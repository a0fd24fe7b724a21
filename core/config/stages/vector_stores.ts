/**
 * Where vector stores go that name no provider, and which model embeds their texts: what the resource declares comes before
 * the defaults of the base config.
 */
import type { Model } from "../../api/v1alpha2.ts";
import { at, isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../data/json.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { baseId } from "../servers/base.ts";
import { type Draft, entriesOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import { soundStage, type Stage, stage } from "../stage.ts";
import { modelKey } from "./models.ts";

export const chooseVectorDefaults: Stage<never> = soundStage((draft, facts) => {
  const offered = entriesOf(draft.config, "vector_io").flatMap((entry) => baseId(entry) ?? []);
  if (offered.length === 0) return draft;
  const declared = declaredStores(draft).filter((id) => offered.includes(id));
  const models = embeddingModels(draft.config, facts);
  const config = facts.server.family.vectorStoreDefaults
    ? withDefaults(draft, { declared, offered, models })
    : declaredFirst(draft.config, declared);
  return noted(withConfig(draft, config), { warnings: warningsOf(declared, models, facts) });
});

/** Models that the defaults need, with the type that the server looks for when it starts. */
const DEFAULT_MODELS = { default_embedding_model: "embedding", default_reranker_model: "rerank" } as const;

/** A default model of the base config that the resource registers again, as another type: the server then does not find it. */
export const rejectMistypedDefaults: Stage<SettingInvalid> = stage((draft, { spec, server: { family } }) => {
  const registered = listAt(draft.config, ...family.resourcesAt, "models").filter(isObject);
  const failures = Object.entries(DEFAULT_MODELS).flatMap(([key, type]) => {
    const named = objectAt(draft.config, "vector_stores", key);
    // By its id alone: the same model under another id of the server leaves the one that the provider lists as it is.
    const found = registered.filter((entry) =>
      entry.provider_id === named.provider_id && modelKey(entry, family) === `${named.provider_id}/${named.model_id}`
    );
    if (found.length === 0 || found.some((entry) => (entry.model_type ?? "llm") === type)) return [];
    const index = (spec.resources?.models ?? []).findIndex((model) => found.some((entry) => isEntryOf(entry, model)));
    return index < 0 ? [] : [
      new SettingInvalid({
        path: ["spec", "resources", "models", index, "modelType"],
        detail:
          `the base config uses this model as its ${key}, and the server does not start if it has another type; ` +
          `set modelType to ${type}${
            found.some((entry) => entry.provider_model_id === named.model_id)
              ? ""
              : ` and providerModelId to ${named.model_id}`
          }`,
      }),
    ];
  });
  return { draft, failures };
});

/** Those of the resource in their order. One of `providers` may be replaced by an external one. */
const declaredStores = ({ declared, external }: Draft): ReadonlyArray<string> => [
  ...new Set([...declared, ...external].filter(({ api }) => api === "vector_io").map(({ id }) => id)),
];

interface Embedding {
  readonly provider: string;
  /** By the name that follows the provider in its id on this server. */
  readonly model: string;
}

/** Those of the resource in their order, as they are registered. */
const embeddingModels = (
  config: JsonObject,
  { spec, server: { family } }: Facts,
): ReadonlyArray<Embedding> => {
  const registered = listAt(config, ...family.resourcesAt, "models").filter(isObject);
  return (spec.resources?.models ?? []).filter(({ modelType }) => modelType === "embedding").flatMap((model) => {
    const entry = registered.find((other) => isEntryOf(other, model));
    const provider = stringAt(entry, "provider_id");
    return entry === undefined || provider === undefined
      ? []
      : [{ provider, model: modelKey(entry, family).slice(provider.length + 1) }];
  });
};

const isEntryOf = (entry: JsonObject, { name, provider, providerModelId = name }: Model): boolean => {
  const id = stringAt(entry, "provider_id") ?? "";
  return [name, `${id}/${name}`].includes(stringAt(entry, "model_id") ?? "") &&
    stringAt(entry, "provider_model_id") === providerModelId && (provider === undefined || provider === id);
};

interface Choice {
  readonly declared: ReadonlyArray<string>;
  /** Every vector provider of the config. */
  readonly offered: ReadonlyArray<string>;
  readonly models: ReadonlyArray<Embedding>;
}

const withDefaults = (draft: Draft, { declared, offered, models }: Choice): JsonObject => {
  const [store] = declared;
  const [embedding] = models;
  const before = objectAt(draft.config, "vector_stores");
  const of = (id: string | undefined) => store ?? (id !== undefined && offered.includes(id) ? id : undefined);
  const chosen: Readonly<Record<string, JsonObject[string] | undefined>> = {
    default_provider_id: of(stringAt(before, "default_provider_id")),
    // Dimensions beside it would count for whatever model a request names: they belong to the model.
    ...(embedding === undefined
      ? {}
      : { default_embedding_model: { provider_id: embedding.provider, model_id: embedding.model } }),
    ...(hasLost(draft, before.default_reranker_model) ? { default_reranker_model: undefined } : {}),
  };
  const config = Object.entries(chosen).reduce<JsonObject>(
    (tree, [key, value]) =>
      value === undefined && at(tree, "vector_stores", key) === undefined
        ? tree
        : put(tree, ["vector_stores", key], value),
    draft.config,
  );
  return withEntries(
    config,
    "responses",
    entriesOf(config, "responses").map((entry) => withMemory(draft, entry, of)),
  );
};

/** The types that list rerankers run in the server: another provider of the same id does not have the model. */
const hasLost = ({ config, declared, external }: Draft, model: unknown): boolean => {
  const id = isObject(model as JsonObject) ? stringAt(model as JsonObject, "provider_id") : undefined;
  return id !== undefined && (
    entriesOf(config, "inference").every((entry) => baseId(entry) !== id) ||
    declared.some((provider) =>
      provider.api === "inference" && provider.id === id && !provider.type.startsWith("inline::")
    ) ||
    external.some((provider) => provider.api === "inference" && provider.id === id)
  );
};

const MEMORY = ["config", "memory_config", "default_vector_store_provider_id"];

/** The memory of the responses provider is a vector store too. What the resource declares of that provider stays. */
const withMemory = (
  { declared }: Draft,
  entry: JsonObject,
  of: (id: string | undefined) => string | undefined,
): JsonObject => {
  const named = stringAt(entry, ...MEMORY);
  const isDeclared = declared.some(({ api, id }) => api === "responses" && id === baseId(entry));
  return named === undefined || isDeclared ? entry : put(entry, MEMORY, of(named)) as JsonObject;
};

/** Up to 0.2 the first provider of the config is the default. */
const declaredFirst = (config: JsonObject, declared: ReadonlyArray<string>): JsonObject => {
  const entries = entriesOf(config, "vector_io");
  const place = (entry: JsonObject) => {
    const index = declared.indexOf(baseId(entry) ?? "");
    return index < 0 ? declared.length : index;
  };
  return withEntries(config, "vector_io", entries.toSorted((a, b) => place(a) - place(b)));
};

const warningsOf = (
  declared: ReadonlyArray<string>,
  models: ReadonlyArray<Embedding>,
  { server: { family } }: Facts,
): ReadonlyArray<Warning> => {
  const [store, ...others] = declared;
  const [embedding, ...rest] = models;
  return [
    ...(others.length === 0 ? [] : [
      warning(
        "DefaultChosen",
        ["spec", "providers", "vectorIo"],
        `vector stores that name no provider go to "${store}", the first one; requests can name ${quoted(others)}`,
      ),
    ]),
    ...(rest.length === 0 || !family.vectorStoreDefaults ? [] : [
      warning(
        "DefaultChosen",
        ["spec", "resources", "models"],
        `vector stores that name no embedding model use "${idOf(embedding)}", the first one; requests can name ${
          quoted(rest.map(idOf))
        }`,
      ),
    ]),
  ];
};

const idOf = (embedding: Embedding | undefined): string => `${embedding?.provider}/${embedding?.model}`;
const quoted = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}"`).join(", ");
