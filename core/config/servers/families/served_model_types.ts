/** Which kinds of models a provider type can serve, as far as a choice of a provider depends on it. */
import type { ServerFamily } from "./family.ts";

export type ModelType = "llm" | "embedding" | "rerank";

/** Types that serve nothing else. Source: their classes in 0.4.7, 0.7.3 and 1.4.1 raise NotImplementedError for the rest. */
const ONLY: Readonly<Record<string, ReadonlyArray<ModelType>>> = {
  "inline::sentence-transformers": ["embedding"],
  "inline::transformers": ["rerank"],
  "remote::text-embeddings-inference": ["embedding"],
};

export const servesModelType = (family: ServerFamily, type: string, wanted: ModelType): boolean => {
  if (wanted === "rerank") return family.rerankTypes.includes(type);
  return !Object.hasOwn(ONLY, type) || (ONLY[type] ?? []).includes(wanted);
};
