/** What a server stores of the resources that its config registers: under one id, it does not start with another content. */
import { modelKey } from "../../config/stages/models.ts";
import type { ServerFamily } from "../../config/servers/families/family.ts";
import { at, type Json, type JsonObject, objectAt, omit, stringAt } from "../../data/json.ts";

export interface Registry {
  readonly kind: string;
  readonly section: string;
  /** The list of `spec.resources`, where it has another name. */
  readonly list?: string;
  readonly keyOf: (entry: JsonObject, family: ServerFamily) => string;
  /** What may not change under one id, by the name that the resource gives it. */
  readonly fixed: Readonly<Record<string, (entry: JsonObject) => Json | undefined>>;
}

const DIMENSION = "embedding_dimension";

/** The fields of an entry under their names in the resource. */
const fields = (names: Readonly<Record<string, string>>): Registry["fixed"] =>
  Object.fromEntries(Object.entries(names).map(([name, key]) => [name, (entry) => entry[key]]));

export const REGISTRIES: ReadonlyArray<Registry> = [
  {
    kind: "model",
    section: "models",
    keyOf: modelKey,
    fixed: {
      modelType: (entry) => entry.model_type,
      embeddingDimension: (entry) => at(entry, "metadata", DIMENSION),
      metadata: (entry) => omit(objectAt(entry, "metadata"), DIMENSION),
      providerModelId: (entry) => entry.provider_model_id,
    },
  },
  {
    kind: "shield",
    section: "shields",
    keyOf: (entry) => stringAt(entry, "shield_id") ?? "",
    fixed: fields({ "target model": "provider_shield_id", provider: "provider_id", params: "params" }),
  },
  {
    kind: "vector store",
    section: "vector_stores",
    list: "vectorStores",
    keyOf: (entry) => stringAt(entry, "vector_store_id") ?? "",
    fixed: fields({
      provider: "provider_id",
      providerVectorStoreId: "provider_vector_store_id",
      embeddingModel: "embedding_model",
      displayName: "vector_store_name",
    }),
  },
  {
    kind: "dataset",
    section: "datasets",
    keyOf: (entry) => stringAt(entry, "dataset_id") ?? "",
    fixed: fields({ purpose: "purpose", "uri or rows": "source", metadata: "metadata" }),
  },
  {
    kind: "scoring function",
    section: "scoring_fns",
    list: "scoringFunctions",
    keyOf: (entry) => stringAt(entry, "scoring_fn_id") ?? "",
    fixed: fields({
      provider: "provider_id",
      description: "description",
      returnType: "return_type",
      judge: "params",
    }),
  },
  {
    kind: "benchmark",
    section: "benchmarks",
    keyOf: (entry) => stringAt(entry, "benchmark_id") ?? "",
    fixed: fields({
      provider: "provider_id",
      dataset: "dataset_id",
      scoringFunctions: "scoring_functions",
      metadata: "metadata",
    }),
  },
];
