/** After all stages: environment variables that the config requires and nothing sets; without them the server fails to start. */
import { SecretValueUnusable, VariableNotSet } from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject } from "../../data/json.ts";
import { warning } from "../../failure/warning.ts";
import { type Facts, noted } from "../draft.ts";
import {
  expandedText,
  givenValue,
  type KnownEnvironment,
  knownEnvironment,
  neededVariables,
} from "../known_environment.ts";
import type { Server } from "../servers/families/families.ts";
import type { Stage } from "../stage.ts";

export const rejectUnsetVariables: Stage<VariableNotSet | SecretValueUnusable> = (draft, facts) => {
  const environment = knownEnvironment(facts, draft.env);
  const needed = [...new Set(requiredVariables(draft.config, environment, facts.server))];
  const empty = needed.flatMap((variable) => {
    const { path, key } = emptySecret(variable, facts) ?? {};
    return path === undefined || key === undefined ? [] : [new SecretValueUnusable({ path, key, detail: EMPTY })];
  });
  const missing = needed.map((variable) => ({ variable, presence: environment(variable) }))
    .filter(({ presence }) => presence !== "Set");
  if (missing.length === 0) return { draft, failures: empty };
  const written = writtenTexts(facts);
  const placed = missing.map(({ variable, presence }) => ({
    variable,
    presence,
    path: written.find(({ text }) => neededVariables(text).includes(variable))?.path ?? draft.basePath,
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
    failures: [
      ...empty,
      ...placed.filter(({ presence }) => presence === "Unset")
        .map(({ variable, path }) => new VariableNotSet({ path, variable })),
    ],
  };
};

/** The key of a Secret that gives the variable an empty value; undefined if none does. */
export const emptySecret = (
  variable: string,
  facts: Pick<Facts, "spec" | "secretValue">,
): { readonly path: FieldPath; readonly key: string } | undefined => {
  const { value, secret, path } = givenValue(facts, variable) ?? {};
  return value === "" && secret !== undefined && path !== undefined ? { path, key: secret } : undefined;
};

const EMPTY = "it is empty, and the server does not start unless this variable has a value";

/**
 * Variables without which the server does not start. It drops some parts of a config before it expands them: resources whose id
 * is empty, and the provider of an authentication whose type is. Source: replace_env_vars in the stack.py of every server.
 */
export const requiredVariables = (
  config: Json,
  environment: KnownEnvironment,
  server: Pick<Server, "family"> | undefined,
): ReadonlyArray<string> => {
  const isEmpty = (value: Json | undefined): boolean =>
    typeof value === "string" &&
    expandedText(value, (variable) => environment(variable) === "Unset" ? "" : undefined) === null;
  const authentication = at(config, "server", "auth", "provider_config");
  const isSkipped = (map: JsonObject, isItem: boolean): boolean =>
    server?.family.skipsEmptyIds !== false &&
    (map === authentication
      ? isEmpty(map.type)
      : isItem && (map.provider_id === "__disabled__" || IDS.some((id) => isEmpty(map[id]))));
  const within = (value: Json, isItem: boolean): ReadonlyArray<string> => {
    if (typeof value === "string") return neededVariables(value);
    if (isList(value)) return value.flatMap((item) => within(item, true));
    return !isObject(value) || isSkipped(value, isItem)
      ? []
      : Object.values(value).flatMap((inner) => within(inner, false));
  };
  return within(config, false);
};

const IDS = ["vector_store_id", "model_id", "shield_id"];

interface Text {
  readonly path: FieldPath;
  readonly text: string;
}

/** What of the resource becomes text of the config. */
const writtenTexts = (
  { spec: { providers, resources, connectors, storage, externalProviders } }: Facts,
): ReadonlyArray<Text> =>
  Object.entries({ providers, resources, connectors, storage, externalProviders })
    .flatMap(([block, value]) => value === undefined ? [] : textsIn(value as unknown as Json, ["spec", block]))
    .sort((a, b) => formatPath(a.path) < formatPath(b.path) ? -1 : 1);

const textsIn = (value: Json, path: FieldPath): ReadonlyArray<Text> => {
  if (typeof value === "string") return value.includes("${env.") ? [{ path, text: value }] : [];
  if (isList(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (isObject(value)) return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
  return [];
};
