/**
 * The models of Meta that the servers up to 0.4 know by name.
 *
 * Source: models/llama/sku_list.py, and register_model in inline/inference/meta_reference/inference.py and in
 * utils/inference/model_registry.py; the same in 0.2.24, 0.3.5 and 0.4.7.
 */
import type { Json } from "../../data/json.ts";

const range = (prefix: string, sizes: string, suffix = ""): ReadonlyArray<string> =>
  sizes.split(" ").map((size) => `${prefix}${size}${suffix}`);

/** In the order of the server, which takes the first of several with one repository. */
const NAMES: ReadonlyArray<string> = [
  ...range("Llama-2-", "7b 13b 70b"),
  ...range("Llama-2-", "7b 13b 70b", "-chat"),
  ...range("Llama-3-", "8B 70B"),
  ...range("Llama-3-", "8B 70B", "-Instruct"),
  ...range("Llama3.1-", "8B 70B 405B:bf16-mp8 405B 405B:bf16-mp16"),
  ...range("Llama3.1-", "8B-Instruct 70B-Instruct 405B-Instruct:bf16-mp8 405B-Instruct 405B-Instruct:bf16-mp16"),
  ...range("Llama3.2-", "1B 3B 11B-Vision 90B-Vision"),
  ...range("Llama3.2-", "1B 3B", "-Instruct"),
  ...range("Llama3.2-1B-Instruct:int4-", "qlora spinquant", "-eo8"),
  ...range("Llama3.2-3B-Instruct:int4-", "qlora spinquant", "-eo8"),
  ...range("Llama3.2-", "11B 90B", "-Vision-Instruct"),
  "Llama3.3-70B-Instruct",
  ...range("Llama-4-", "Scout-17B-16E Maverick-17B-128E"),
  ...range("Llama-4-", "Scout-17B-16E Maverick-17B-128E", "-Instruct"),
  "Llama-4-Maverick-17B-128E-Instruct:fp8",
  ...range("Llama-Guard-", "4-12B 3-11B-Vision 3-1B:int4 3-1B 3-8B 3-8B:int8 2-8B"),
];

/** Of Hugging Face. */
const repositoryOf = (name: string): string =>
  `meta-llama/${
    name.replace(/^Llama3/, "Llama-3")
      .replace(/(3\.1-405B(?:-Instruct)?)$/, "$1-FP8")
      .replace(/:bf16-.*/, "")
      .replace(/:int4-qlora-eo8/, "-QLORA_INT4_EO8")
      .replace(/:int4-spinquant-eo8/, "-SpinQuant_INT4_EO8")
      .replace(/:(int4|int8|fp8)$/, (_, kind: string) => `-${kind.toUpperCase()}`)
  }`;

/** Without the precision of its weights. */
const plain = (name: string): string => name.split(":")[0] ?? "";

/** What the setting `model` of the provider accepts. Source: supported_inference_models in utils/inference. */
export const isServedLlama = (model: Json): boolean =>
  NAMES.some((name) =>
    !/^Llama-([23]-|Guard-[24])|Guard-.*:/.test(name) && (model === name || model === repositoryOf(name))
  );

export interface RegisteredLlama {
  /** By which the server knows it. */
  readonly identifier: string;
  /** By which the provider does. */
  readonly name: string;
  /** `llama_model` of its metadata; undefined: it has none. */
  readonly llama: Json | undefined;
}

export const isAcceptedLlama = ({ identifier, name, llama }: RegisteredLlama): boolean => {
  const wanted = llama === undefined ? identifier : llama;
  const known = NAMES.find((other) => wanted === other || wanted === repositoryOf(other));
  if (known === undefined) return false;
  const aliases = [known, plain(known)];
  if (!aliases.includes(name)) return false;
  if (aliases.includes(identifier) || llama === undefined) return true;
  return name === known ? llama === plain(known) : NAMES.some((other) => repositoryOf(other) === llama);
};
