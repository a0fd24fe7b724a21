/**
 * Where vector stores go that name no provider, which model embeds their texts, and how their files are cut and searched: what
 * `spec.vectorStores` chooses (vector_store_choice.ts), else what the resource declares, else the defaults of the base config.
 */
import { at, isObject, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../../data/json.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { knownEnvironment, stateOf } from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import { type Draft, entriesOf, entryOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import type { Stage, Staged } from "../stage.ts";
import { withChunking } from "./file_chunking.ts";
import { isEntryOf, modelKey } from "./models.ts";
import {
  type Choice,
  type ChoiceFailure,
  type ChosenModel,
  DEFAULT_MODELS,
  hasLost,
  readField,
  vectorStoreChoice,
} from "./vector_store_choice.ts";

export const chooseVectorDefaults: Stage<ChoiceFailure> = (draft, facts) => {
  const offered = entriesOf(draft.config, "vector_io").flatMap((entry) => baseId(entry) ?? []);
  if (offered.length === 0) return { draft, failures: withoutProviders(facts) };
  const declared = declaredStores(draft).filter((id) => offered.includes(id));
  const models = embeddingModels(draft.config, facts);
  const choice = vectorStoreChoice(draft, facts);
  const defaults = { declared, offered, models, choice };
  const config = facts.server.family.vectorStoreDefaults
    ? withDefaults(draft, defaults)
    : inOrder(draft.config, [...(choice.provider === undefined ? [] : [choice.provider]), ...declared]);
  const written = withConfig(draft, config);
  const made = noted(written, {
    warnings: [...choice.warnings, ...warningsOf(defaults, facts), ...withoutDefault(written, facts)],
  });
  const searched = withSearchMode(made, defaults, facts);
  const cut = withChunking(searched.draft, facts);
  return { draft: cut.draft, failures: [...choice.failures, ...searched.failures, ...cut.failures] };
};

const withoutProviders = ({ spec }: Facts): ReadonlyArray<SettingInvalid> =>
  Object.keys(spec.vectorStores ?? {}).length === 0 ? [] : [
    new SettingInvalid({
      path: ["spec", "vectorStores"],
      detail: "the server has no vector_io provider that could hold a store; add one to spec.providers.vectorIo, " +
        "and do not disable that API or inference in spec.disabled, or remove the field",
    }),
  ];

/** A default model of the base config that the resource registers again, as another type: the server then does not find it. */
export const rejectMistypedDefaults: Stage<SettingInvalid> = (draft, { spec, server: { family } }) => {
  const registered = listAt(draft.config, ...family.resourcesAt, "models").filter(isObject);
  const failures = DEFAULT_MODELS.flatMap(({ key, type }) => {
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
};

/** Those of the resource in their order. One of `providers` may be replaced by an external one. */
const declaredStores = ({ declared, external }: Draft): ReadonlyArray<string> => [
  ...new Set([...declared, ...external].filter(({ api }) => api === "vector_io").map(({ id }) => id)),
];

/** Those of the resource in their order, as they are registered. */
const embeddingModels = (
  config: JsonObject,
  { spec, server: { family } }: Facts,
): ReadonlyArray<ChosenModel> => {
  const registered = listAt(config, ...family.resourcesAt, "models").filter(isObject);
  return (spec.resources?.models ?? []).filter(({ modelType }) => modelType === "embedding").flatMap((model) => {
    const entry = registered.find((other) => isEntryOf(other, model));
    const provider = stringAt(entry, "provider_id");
    return entry === undefined || provider === undefined
      ? []
      : [{ provider, model: modelKey(entry, family).slice(provider.length + 1) }];
  });
};

interface Defaults {
  readonly declared: ReadonlyArray<string>;
  /** Every vector provider of the config. */
  readonly offered: ReadonlyArray<string>;
  readonly models: ReadonlyArray<ChosenModel>;
  readonly choice: Choice;
}

const withDefaults = (draft: Draft, { declared, offered, models, choice }: Defaults): JsonObject => {
  const store = choice.provider ?? declared[0];
  const embedding = choice.embedding ?? models[0];
  const before = objectAt(draft.config, "vector_stores");
  const of = (id: string | undefined) => store ?? (id !== undefined && offered.includes(id) ? id : undefined);
  const { none } = choice;
  const chosen: Readonly<Record<string, Json | undefined>> = {
    default_provider_id: none.includes("defaultProvider") ? undefined : of(stringAt(before, "default_provider_id")),
    ...(none.includes("defaultEmbeddingModel")
      ? { default_embedding_model: undefined }
      : embedding === undefined
      ? {}
      : { default_embedding_model: qualified(embedding) }),
    ...(choice.reranker !== undefined
      ? { default_reranker_model: qualified(choice.reranker) }
      : none.includes("defaultRerankerModel") || hasLost(draft, before.default_reranker_model)
      ? { default_reranker_model: undefined }
      : {}),
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

/** Dimensions beside it would count for whatever model a request names: they belong to the model. */
const qualified = ({ provider, model }: ChosenModel): JsonObject => ({ provider_id: provider, model_id: model });

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
const inOrder = (config: JsonObject, first: ReadonlyArray<string>): JsonObject => {
  const entries = entriesOf(config, "vector_io");
  const place = (entry: JsonObject) => {
    const index = first.indexOf(baseId(entry) ?? "");
    return index < 0 ? first.length : index;
  };
  return withEntries(config, "vector_io", entries.toSorted((a, b) => place(a) - place(b)));
};

/** Where several of the resource are possible and none is chosen. */
const warningsOf = (
  { declared, models }: Defaults,
  { spec: { vectorStores }, server: { family } }: Facts,
): ReadonlyArray<Warning> => {
  const [store, ...others] = declared;
  const [embedding, ...rest] = models;
  return [
    ...(others.length === 0 || vectorStores?.defaultProvider !== undefined ? [] : [
      warning(
        "DefaultChosen",
        ["spec", "providers", "vectorIo"],
        `vector stores that name no provider go to "${store}", the first one; requests can name ${
          quoted(others)
        }, and spec.vectorStores.defaultProvider chooses another default`,
      ),
    ]),
    ...(rest.length === 0 || !family.vectorStoreDefaults || vectorStores?.defaultEmbeddingModel !== undefined ? [] : [
      warning(
        "DefaultChosen",
        ["spec", "resources", "models"],
        `vector stores that name no embedding model use "${idOf(embedding)}", the first one; requests can name ${
          quoted(rest.map(idOf))
        }, and spec.vectorStores.defaultEmbeddingModel chooses another default`,
      ),
    ]),
  ];
};

/** As after `spec.disabled` removed the default of the base config: the server then refuses to choose among several. */
const withoutDefault = (draft: Draft, facts: Facts): ReadonlyArray<Warning> => {
  if (!facts.server.family.vectorStoreDefaults) return [];
  if (stringAt(draft.config, "vector_stores", "default_provider_id") !== undefined) return [];
  const environment = knownEnvironment(facts, draft.env);
  const used = entriesOf(draft.config, "vector_io").filter((entry) => stateOf(entry, environment) === "On")
    .flatMap((entry) => baseId(entry) ?? []);
  return used.length < 2 ? [] : [
    warning(
      "DefaultMissing",
      ["spec", "vectorStores", "defaultProvider"],
      `requests for a vector store that name no provider fail: the server has ${
        quoted(used)
      } and no default; choose one`,
    ),
  ];
};

const idOf = (model: ChosenModel | undefined): string => `${model?.provider}/${model?.model}`;
const quoted = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}"`).join(", ");

/** Types without keyword search: file_search then logs an error and finds nothing. Source: query_keyword of every type, 0.8 to 1.5. */
const VECTOR_SEARCH_ONLY = ["inline::faiss"];

const withSearchMode = (draft: Draft, { offered }: Defaults, facts: Facts): Staged<SettingInvalid> => {
  const mode = readField(facts, "searchMode");
  if (mode === undefined) return { draft, failures: [] };
  const path = ["spec", "vectorStores", "searchMode"];
  const config = put(draft.config, ["vector_stores", "chunk_retrieval_params", "default_search_mode"], mode);
  if (mode === "vector") return { draft: withConfig(draft, config), failures: [] };
  const store = offered.length === 1 ? offered[0] : stringAt(draft.config, "vector_stores", "default_provider_id");
  const isUnable = (id: string | undefined) =>
    id !== undefined &&
    VECTOR_SEARCH_ONLY.includes(stringAt(entryOf(draft.config, "vector_io", id), "provider_type") ?? "");
  const others = declaredStores(draft).filter((id) => id !== store && isUnable(id));
  return {
    draft: noted(withConfig(draft, config), {
      warnings: others.length === 0 ? [] : [
        warning(
          "FieldNotRead",
          path,
          `file_search finds nothing in stores of ${quoted(others)}, which cannot search by keywords`,
        ),
      ],
    }),
    failures: !isUnable(store) ? [] : [
      new SettingInvalid({
        path,
        detail:
          `"${mode}" needs keyword search, which "${store}" does not have, so that file_search would find nothing ` +
          "in the stores that it creates by default; use vector, or set spec.vectorStores.defaultProvider to a provider of " +
          "another type",
      }),
    ],
  };
};
