/** Types that a published server lists, but with which it fails to start. */
import { type Catalogue, providerTypes } from "../catalogue.ts";
import type { ServerFamily, UnstartableType } from "./family.ts";

/** Why a type of the catalogue is not supported by a server; undefined if it is. */
export const unstartableType = (
  { family, version }: { readonly family: ServerFamily; readonly version: string },
  api: string,
  type: string,
): UnstartableType | undefined => {
  const row = `${api} ${type}`;
  const found = Object.hasOwn(family.unstartableTypes, row) ? family.unstartableTypes[row] : undefined;
  return found?.on?.includes(version.split(".").slice(0, 2).join(".")) === false ? undefined : found;
};

/** The types of an API with which the server can start. */
export const startableTypes = (
  server: { readonly family: ServerFamily; readonly version: string; readonly catalogue: Catalogue },
  api: string,
): ReadonlyArray<string> =>
  providerTypes(server.catalogue, api).filter((type) => unstartableType(server, api, type) === undefined);

/** Text Generation Inference and the services of Hugging Face all answer to OpenAI's API as well. */
export const OPENAI_WAY = "use remote::vllm with the OpenAI-compatible endpoint of the same service";

/**
 * Source: seen on 0.3.5 and 0.6.1, read in 0.3.0, 0.4.7 and 0.5.4. The class that all three share gives a field of its
 * base class a value without a type, and pydantic does not make such a class.
 */
const UNLOADABLE_MODULE: UnstartableType = {
  reason: "its module cannot be loaded, so the server fails to start",
  instead: OPENAI_WAY,
};

/** Source: seen on 0.2.24 and 0.3.5, whose routers call methods that these two lack or give other arguments. */
const OTHER_RELEASE: UnstartableType = {
  reason: "it is incompatible with this release of the server, which fails to start",
  instead: OPENAI_WAY,
};

/** Source: seen on 0.2.24, 0.3.5 and 0.4.7 with remote::sambanova, read there for remote::bedrock; 0.5 no longer calls it. */
const WITHOUT_MODERATION: UnstartableType = {
  on: ["0.2", "0.3", "0.4"],
  reason: "it lacks a method of the safety API of this release, so the server fails to start",
  instead: "use inline::llama-guard or remote::nvidia, or Llama Stack 0.5 or newer",
};

const UNMODERATED_TYPES: Readonly<Record<string, UnstartableType>> = {
  "safety remote::bedrock": WITHOUT_MODERATION,
  "safety remote::sambanova": WITHOUT_MODERATION,
};

/** On Llama Stack 0.3 – 0.6; 0.7 no longer has the first three. */
export const UNLOADABLE_TYPES: Readonly<Record<string, UnstartableType>> = {
  "inference remote::hf::endpoint": UNLOADABLE_MODULE,
  "inference remote::hf::serverless": UNLOADABLE_MODULE,
  "inference remote::tgi": UNLOADABLE_MODULE,
  ...UNMODERATED_TYPES,
};

/**
 * Up to 0.2 the other two start if their service is available. Source: seen on 0.2.24, whose Hugging Face client only
 * knows the details of a model if the provider is set to `hf-inference`, which this type does not do.
 */
const UNANSWERED_TYPES: Readonly<Record<string, UnstartableType>> = {
  "inference remote::hf::serverless": {
    reason: "it requests details of the model that its client library does not provide, so the server fails to start",
    instead: OPENAI_WAY,
  },
};

/** On Llama Stack 0.3; fixed in 0.4. */
export const UNUSED_TYPES: Readonly<Record<string, UnstartableType>> = {
  "inference remote::passthrough": OTHER_RELEASE,
};

/** On Llama Stack 0.2. */
export const LEGACY_TYPES: Readonly<Record<string, UnstartableType>> = {
  ...UNANSWERED_TYPES,
  ...UNUSED_TYPES,
  ...UNMODERATED_TYPES,
  "inference remote::runpod": OTHER_RELEASE,
};

/** On OGX 1. Source: read in 1.1.3, seen on 1.5.0: the adapter reads a field of its config that the class of this type lacks. */
export const UNREAD_TYPES: Readonly<Record<string, UnstartableType>> = {
  "vector_io inline::chromadb": {
    reason: "its config lacks a field that this server reads, so the server fails to start",
    instead: "use remote::chromadb, or inline::faiss or inline::sqlite-vec inside the pod",
  },
};

/**
 * Types of Llama Stack 0.2 with which the server starts, but only if no model is registered under them. Source: seen on 0.2.24,
 * where they never set up the table of models that they read. They list no models by themselves either.
 */
export const TYPES_WITHOUT_MODELS: readonly string[] = ["remote::cerebras", "remote::databricks", "remote::nvidia"];
