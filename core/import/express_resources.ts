/** What a config registers, as far as its base config does not, as `spec.resources` and `spec.connectors`. */
import { modelKey } from "../config/stages/models.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, omit, stringAt } from "../data/json.ts";
import { entriesIn, type Fields } from "./entries.ts";
import type { Meaning } from "./meaning.ts";
import { settledMap } from "./variables.ts";
import { blocks, type Wanted } from "./wanted.ts";

export interface Meanings {
  readonly own: Meaning;
  readonly base: Meaning;
}

export const sameFields = (a: Fields, b: Fields): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

/** Of what has a provider that is on, and is not in the base config in the same way. */
const isNew = ({ own, base }: Meanings, subject: string): boolean => {
  const [here, there] = [own.subjects.get(subject), base.subjects.get(subject)];
  return here !== undefined && (there === undefined || !sameFields(here, there));
};

export const resourcesOf = ({ own }: Wanted, meanings: Meanings): Json | undefined => {
  const { family } = own.server;
  const listed = (list: string) =>
    listAt(own.tree, ...family.resourcesAt, list).filter(isObject).map((entry) => settledMap(entry, own.valueOf));
  const newOnes = (list: string, what: string, key: string) =>
    listed(list).filter((entry) => isNew(meanings, `${what} ${String(entry[key])}`));
  // Of two with one id the server has the last.
  const models = [...new Map(listed("models").map((entry) => [modelKey(entry, family), entry])).entries()]
    .filter(([key]) => isNew(meanings, `model ${key}`)).map(([, entry]) => modelOf(entry));
  const groups = family.toolGroups ? newOnes("tool_groups", "tool group", "toolgroup_id") : [];
  const short = ({ toolgroup_id: id }: JsonObject) =>
    Object.keys(family.tools).find((name) => family.tools[name]?.group === id);
  // Where the provider is the one that the operator would choose.
  const isPlain = (group: JsonObject) => {
    const types = family.tools[short(group) ?? ""]?.types ?? [];
    const [first, ...others] = entriesIn("tool_runtime", own).filter(({ type }) => types.includes(type));
    return first?.id === group.provider_id && others.length === 0 && given(group.mcp_endpoint) === undefined &&
      given(group.args) === undefined;
  };
  const shields = newOnes("shields", "shield", "shield_id");
  const isAlone = entriesIn("safety", own).length === 1;
  const isNamed = (shield: JsonObject) =>
    !isAlone || given(shield.params) !== undefined ||
    ![undefined, null, shield.shield_id].includes(shield.provider_shield_id);
  return blocks({
    models,
    tools: groups.filter(isPlain).map((group) => short(group) ?? ""),
    shields: shields.filter((shield) => !isNamed(shield)).map(({ shield_id: id }) => String(id)),
    toolGroups: groups.filter((group) => !isPlain(group)).map((group) =>
      compact({
        name: group.toolgroup_id,
        provider: group.provider_id,
        endpoint: stringAt(group, "mcp_endpoint", "uri"),
        args: group.args,
      })
    ),
    shieldConfigs: shields.filter(isNamed).map((shield) =>
      compact({
        name: shield.shield_id,
        provider: shield.provider_id,
        providerShieldId: shield.provider_shield_id,
        params: shield.params,
      })
    ),
    vectorStores: newOnes("vector_stores", "vector store", "vector_store_id").map((store) =>
      compact({
        name: store.vector_store_id,
        provider: store.provider_id,
        embeddingModel: store.embedding_model,
        displayName: store.vector_store_name,
        providerVectorStoreId: store.provider_vector_store_id,
      })
    ),
    datasets: newOnes("datasets", "dataset", "dataset_id").map((dataset) =>
      compact({
        name: dataset.dataset_id,
        purpose: dataset.purpose,
        uri: stringAt(dataset, "source", "uri"),
        rows: objectAt(dataset, "source").rows,
        provider: objectAt(dataset, "metadata").provider_id,
        metadata: omit(objectAt(dataset, "metadata"), "provider_id"),
      })
    ),
    scoringFunctions: newOnes("scoring_fns", "scoring function", "scoring_fn_id").map(functionOf),
    benchmarks: newOnes("benchmarks", "benchmark", "benchmark_id").map((benchmark) =>
      compact({
        name: benchmark.benchmark_id,
        dataset: benchmark.dataset_id,
        scoringFunctions: benchmark.scoring_functions,
        provider: benchmark.provider_id,
        metadata: benchmark.metadata,
      })
    ),
  });
};

const functionOf = (entry: JsonObject): JsonObject => {
  const params = objectAt(entry, "params");
  const name = entry.scoring_fn_id;
  return compact({
    name,
    provider: entry.provider_id,
    description: entry.description === name ? undefined : entry.description,
    returnType: objectAt(entry, "return_type").type,
    judge: compact({
      model: params.judge_model,
      promptTemplate: params.prompt_template,
      scoreRegexes: params.judge_score_regexes,
      aggregations: params.aggregation_functions,
    }),
    metadata: entry.metadata,
  });
};

/** Undefined for what says nothing. */
const given = (value: Json | undefined): Json | undefined =>
  value === null || typeof value === "object" && Object.keys(value).length === 0 ? undefined : value;

const compact = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Json] => given(entry[1]) !== undefined),
  );

const modelOf = (entry: JsonObject): JsonObject => {
  const provider = String(entry.provider_id ?? "");
  const name = String(entry.model_id).replace(`${provider}/`, "");
  const { embedding_dimension: dimension, ...metadata } = objectAt(entry, "metadata");
  const target = entry.provider_model_id;
  return compact({
    name,
    provider: provider === "" ? undefined : provider,
    providerModelId: typeof target !== "string" || target === name ? undefined : target,
    modelType: entry.model_type === "llm" ? undefined : entry.model_type,
    embeddingDimension: dimension === undefined || dimension === null ? undefined : Number(dimension),
    metadata,
  });
};

export const connectorsOf = ({ own }: Wanted, meanings: Meanings): ReadonlyArray<Json> =>
  listAt(own.tree, "connectors").filter(isObject).map((entry) => settledMap(entry, own.valueOf))
    .filter((entry) => isNew(meanings, `connector ${stringAt(entry, "connector_id")}`))
    .map(({ connector_id: connectorId, url, server_label: label }) =>
      compact({ connectorId, url, serverLabel: label === connectorId ? undefined : label })
    );
