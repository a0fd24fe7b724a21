/** The scoring functions and datasets that a benchmark can name. */
import type { Benchmark } from "../../api/server_resources.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type JsonObject, listAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, type Facts } from "../draft.ts";
import { providerType } from "../servers/catalogue.ts";

const named = (prefix: string, ...names: ReadonlyArray<string>) => names.map((name) => `${prefix}::${name}`);

/** Source: the scoring_fn/fn_defs of each type, the same in 0.2 to 0.7. */
const BUILT_IN: Readonly<Record<string, ReadonlyArray<string>>> = {
  "inline::basic": named(
    "basic",
    ...[
      "docvqa",
      "equality",
      "ifeval",
      "regex_parser_math_response",
      "regex_parser_multiple_choice_answer",
      "subset_of",
    ],
  ),
  "inline::braintrust": named(
    "braintrust",
    ...["answer-correctness", "answer-relevancy", "answer-similarity", "context-entity-recall", "context-precision"],
    ...["context-recall", "context-relevancy", "factuality", "faithfulness"],
  ),
  "inline::llm-as-judge": named("llm-as-judge", "base", "405b-simpleqa"),
};

/** Older servers pass metadata to a function that has no such parameter, and do not start. */
export const FUNCTIONS_SINCE = "0.5";

/** The others raise NotImplementedError in register_scoring_function. */
export const TYPES_TAKING_FUNCTIONS: readonly string[] = ["inline::llm-as-judge"];

export const hasFixedFunctions = (type: string): boolean =>
  Object.hasOwn(BUILT_IN, type) && !TYPES_TAKING_FUNCTIONS.includes(type);

/** Those that the providers of the config register themselves. */
export const builtInFunctions = (config: JsonObject): ReadonlyArray<string> =>
  entriesOf(config, "scoring").flatMap((entry) => {
    const type = stringAt(entry, "provider_type") ?? "";
    return Object.hasOwn(BUILT_IN, type) ? BUILT_IN[type] ?? [] : [];
  });

/** What a benchmark names and the config does not have: the server starts, and an evaluation fails. */
export const unknownParts = (
  { dataset, scoringFunctions }: Pick<Benchmark, "dataset" | "scoringFunctions">,
  path: FieldPath,
  { config }: Draft,
  { server: { catalogue, family } }: Facts,
): ReadonlyArray<Warning> => {
  const ids = (section: string, key: string) =>
    listAt(config, ...family.resourcesAt, section).filter(isObject).flatMap((entry) => stringAt(entry, key) ?? []);
  const functions = [...builtInFunctions(config), ...ids("scoring_fns", "scoring_fn_id")];
  // A type that comes with an image may have functions of its own.
  const isOpen = entriesOf(config, "scoring").some((entry) =>
    providerType(catalogue, "scoring", stringAt(entry, "provider_type") ?? "") === undefined
  );
  const missing = (place: FieldPath, what: string, id: string, list: string) =>
    warning(
      "ResourceNotRegistered",
      [...path, ...place],
      `the config has no ${what} ${
        quoted(id)
      }; register it in spec.resources.${list}, or evaluations fail until a client does`,
    );
  return [
    ...(ids("datasets", "dataset_id").includes(dataset) ? [] : [missing(["dataset"], "dataset", dataset, "datasets")]),
    ...scoringFunctions.flatMap((id, index) =>
      isOpen || functions.includes(id)
        ? []
        : [missing(["scoringFunctions", index], "scoring function", id, "scoringFunctions")]
    ),
  ];
};
