/** After all stages: environment variables that the config requires and nothing sets; without them the server fails to start. */
import { VariableNotSet } from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { isList, isObject, type Json } from "../../data/json.ts";
import { warning } from "../../failure/warning.ts";
import { type Facts, noted } from "../draft.ts";
import { knownEnvironment, neededVariables } from "../known_environment.ts";
import { type Stage, stage } from "../stage.ts";

export const rejectUnsetVariables: Stage<VariableNotSet> = stage((draft, facts) => {
  const needed = new Set(textsIn(draft.config, []).flatMap(({ text }) => neededVariables(text)));
  if (needed.size === 0) return { draft, failures: [] };
  const environment = knownEnvironment(facts, draft.env);
  const missing = [...needed].map((variable) => ({ variable, presence: environment(variable) }))
    .filter(({ presence }) => presence !== "Set");
  if (missing.length === 0) return { draft, failures: [] };
  const written = writtenTexts(facts);
  const placed = missing.map(({ variable, presence }) => ({
    variable,
    presence,
    path: written.find(({ text }) => neededVariables(text).includes(variable))?.path ?? ["spec", "distribution"],
  }));
  return {
    draft: noted(draft, {
      warnings: placed.filter(({ presence }) => presence === "Unknown").map(({ variable, path }) =>
        warning(
          "VariableNotKnown",
          path,
          `the server does not start unless ${variable} is set, and spec.workload.overrides.env does not set it`,
        )
      ),
    }),
    failures: placed.filter(({ presence }) => presence === "Unset")
      .map(({ variable, path }) => new VariableNotSet({ path, variable })),
  };
});

interface Text {
  readonly path: FieldPath;
  readonly text: string;
}

/** What of the resource becomes text of the config. */
const writtenTexts = ({ spec: { providers, resources, storage, externalProviders } }: Facts): ReadonlyArray<Text> =>
  Object.entries({ providers, resources, storage, externalProviders })
    .flatMap(([block, value]) => value === undefined ? [] : textsIn(value as unknown as Json, ["spec", block]))
    .sort((a, b) => formatPath(a.path) < formatPath(b.path) ? -1 : 1);

const textsIn = (value: Json, path: FieldPath): ReadonlyArray<Text> => {
  if (typeof value === "string") return value.includes("${env.") ? [{ path, text: value }] : [];
  if (isList(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (isObject(value)) return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
  return [];
};
