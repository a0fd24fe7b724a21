/** Why a part of a config is not in the resource, under the name of that part: its place in the resource says nothing. */
import { PROVIDER_LISTS } from "../api/api_names.ts";
import { effectiveId } from "../api/rules.ts";
import { variablesIn } from "../config/known_environment.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import type { Read } from "./entries.ts";
import { AUTH_SUBJECT } from "./auth_meaning.ts";

/** Why a part of the config could not be expressed. */
export interface Reason {
  /** A name as differences have it, or a path. */
  readonly what: string;
  readonly why: string;
}

export const reasonText = ({ what, why }: Reason): string => `${what}: ${why}`;

export interface Failing {
  readonly _tag: string;
  readonly path: FieldPath;
  readonly message: string;
}

/**
 * Under the name of what it is about, with the field of it: its place in a list of the resource says nothing, where the resource does
 * not have it.
 */
export const reasonOf = ({ path, message }: Failing, resource: JsonObject): Reason => {
  const written = formatPath(path);
  const [, block, list, index] = path;
  const field = block === "auth" ? path.slice(2) : block === "providers" || block === "resources" ? path.slice(4) : [];
  // What is said of a type names it.
  const isNamed = field.length === 0 || formatPath(field) === "provider";
  const why = !message.startsWith(`${written}: `)
    ? message
    : `${isNamed ? "" : `${formatPath(field)}: `}${message.slice(written.length + 2)}`;
  const item = typeof index === "number" ? listAt(resource, "spec", String(block), String(list))[index] : undefined;
  const api = PROVIDER_LISTS.find(({ field }) => field === list)?.api;
  const what = block === "providers" && api !== undefined
    ? `${api} provider ${effectiveId(item ?? null)}`
    : block === "resources" && item !== undefined
    ? `${KINDS[String(list)] ?? list} ${idOf(item)}`
    : block === "auth"
    ? AUTH_SUBJECT
    : block === "vectorStores"
    ? VECTOR_STORES[String(list)] ?? "vector_stores"
    : written;
  return { what, why };
};

const idOf = (item: Json): string =>
  typeof item === "string"
    ? item
    : ["provider", "name"].flatMap((key) =>
      key === "name" || objectAt(item).providerModelId !== undefined ? stringAt(item, key) ?? [] : []
    ).join("/");

const KINDS: Readonly<Record<string, string>> = {
  models: "model",
  tools: "tool group",
  toolGroups: "tool group",
  shields: "shield",
  shieldConfigs: "shield",
  vectorStores: "vector store",
  datasets: "dataset",
  scoringFunctions: "scoring function",
  benchmarks: "benchmark",
};

/** Fields of `spec.vectorStores`, as differences have them. */
const VECTOR_STORES: Readonly<Record<string, string>> = {
  chunking: "file_ingestion_params of vector_stores",
  searchMode: "chunk_retrieval_params.default_search_mode of vector_stores",
  defaultProvider: "default_provider_id of vector_stores",
  defaultEmbeddingModel: "default_embedding_model of vector_stores",
  defaultRerankerModel: "default_reranker_model of vector_stores",
};

/** Whether a difference is of this part, or of a field of it. */
export const isAbout = (part: string, difference: string): boolean => {
  const [field, of] = part.split(" of ");
  return difference === part || difference.endsWith(` of ${part}`) ||
    of === "vector_stores" && difference.endsWith(` of ${of}`) && difference.startsWith(`${field}.`);
};

export const whyLost = (lost: string, reasons: ReadonlyArray<Reason>, own: Read): string => {
  const known = reasons.filter(({ what }) => isAbout(what, lost)).map(({ why }) => why);
  if (known.length > 0) return known.join("; ");
  // A section that only a variable switches on.
  const type = stringAt(own.tree, "server", "auth", "provider_config", "type") ?? "";
  const variables = variablesIn(type).filter((name) => own.valueOf(name) === "");
  return lost === AUTH_SUBJECT && variables.length > 0
    ? `on if ${variables.join(" and ")} is set, which is not known; pass --env-file`
    : "no field of the resource has it";
};
