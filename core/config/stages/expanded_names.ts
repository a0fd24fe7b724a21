/** After all stages: what the config outside its providers reads from variables, as far as they are known. */
import { SecretValueUnusable, SettingInvalid } from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { type Draft, entryOf, type Facts } from "../draft.ts";
import {
  expandedText,
  knownEnvironment,
  knownValues,
  type ValueOf,
  valuesIn,
  variablesIn,
} from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import type { Misfit } from "../servers/class_misfits.ts";
import { unfitBackendTexts } from "./backend_findings.ts";
import { configMisfits } from "./config_findings.ts";
import { secretOf } from "./expanded_texts.ts";
import { shieldsOf, targetsOf } from "./shields.ts";

/** Names of models and shields are text, also if they come from a variable. */
export const unfitNames = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid | SecretValueUnusable> => {
  const { models = [] } = facts.spec.resources ?? {};
  const written = [
    ...models.map(({ name }, index) => ({
      name,
      path: ["spec", "resources", "models", index, "name"],
      mayBeEmpty: false,
    })),
    // The server leaves out a shield without an id.
    ...shieldsOf(facts.spec).map(({ name, path }) => ({ name, path, mayBeEmpty: true })),
  ].filter(({ name }) => name.includes("${env."));
  const variables = facts.spec.workload?.overrides?.env ?? [];
  if (written.length === 0 && variables.length === 0) return [];
  const environment = knownEnvironment(facts, draft.env);
  const valueOf = knownValues(environment, facts);
  return [
    ...written.filter(({ name, mayBeEmpty }) => {
      const value = expandedText(name, valueOf);
      return value !== undefined && typeof value !== "string" && !(mayBeEmpty && value === null);
    }).map(({ path }) =>
      new SettingInvalid({
        path,
        detail: "the server converts variables that are empty or look like a number; expected a string",
      })
    ),
    ...(variables.length === 0
      ? []
      : misfitsOf(draft, facts).filter(({ text }) => !written.some(({ name }) => text.includes(name))).flatMap((
        misfit,
      ) => ofVariable(misfit, draft, facts))),
  ];
};

/** Undefined: the value comes from defaults and from what the operator sets, and others tell of it. */
const ofVariable = (
  { path: place, text, message }: TextMisfit,
  draft: Draft,
  facts: Facts,
): ReadonlyArray<SettingInvalid | SecretValueUnusable> => {
  const variables = facts.spec.workload?.overrides?.env ?? [];
  const read = variablesIn(text);
  const index = variables.findLastIndex(({ name }) => read.includes(name));
  const { name = "", value } = variables[index] ?? {};
  const path: FieldPath = ["spec", "workload", "overrides", "env", index];
  const detail = `the base config reads this value as ${formatPath(place)}; ${message}`;
  if (value !== undefined) return [new SettingInvalid({ path: [...path, "value"], detail })];
  const secret = index < 0 ? undefined : secretOf(name, draft, facts);
  return secret === undefined ? [] : [new SecretValueUnusable({ path, key: secret.key, detail })];
};

type TextMisfit = Required<Misfit>;

/** Of the values of Secrets too, none of which is in a message. */
const misfitsOf = (draft: Draft, facts: Facts): ReadonlyArray<TextMisfit> => {
  const environment = knownEnvironment(facts, draft.env);
  const written = knownValues(environment, facts);
  const valueOf = valuesIn(environment, (variable) => written(variable) ?? secretOf(variable, draft, facts)?.value);
  const own = new Set(facts.spec.storage?.backends?.map(({ name }) => name));
  return [
    ...configMisfits(draft.config, facts.server, { environment, valueOf }).flatMap(({ text, ...found }) =>
      text === undefined ? [] : [{ ...found, text }]
    ),
    ...Object.entries(objectAt(draft.config, "storage", "backends")).flatMap(([name, backend]) =>
      own.has(name) ? [] : unfitBackendTexts(backend, ["storage", "backends", name], facts, valueOf)
    ),
    ...unservedShields(draft.config, facts, valueOf),
  ];
};

/** Shields of which the provider serves other ones. */
const unservedShields = (
  config: JsonObject,
  { server: { family } }: Facts,
  valueOf: ValueOf,
): ReadonlyArray<TextMisfit> =>
  listAt(config, ...family.resourcesAt, "shields").flatMap((shield, index) => {
    const text = stringAt(shield, "provider_shield_id") ?? "";
    const value = expandedText(text, valueOf);
    const provider = entryOf(config, "safety", baseId(shield) ?? "");
    const allowed = targetsOf(stringAt(provider, "provider_type") ?? "");
    return value === undefined || value === null || allowed === undefined || allowed.includes(String(value)) ? [] : [{
      path: [...family.resourcesAt, "shields", index, "provider_shield_id"],
      text,
      message: `expected one of ${allowed.join(", ")}`,
    }];
  });
