/** Conditions on the settings of a provider or backend that the values of Secrets break. No message contains such a value. */
import type { Json, JsonObject } from "../../data/json.ts";
import { formatPath } from "../../data/field_path.ts";
import { expandedSettings, type ValueOf, variablesIn } from "../known_environment.ts";
import { brokenRules, type RuleInput } from "./provider_rules.ts";

interface Subject {
  readonly api: string;
  readonly type: string;
  readonly settings: JsonObject;
}

interface BrokenBySecret {
  /** From the settings on. */
  readonly field: ReadonlyArray<string>;
  readonly detail: string;
  /** The variable that has the value. */
  readonly variable: string;
}

/** `written` are the values that the resource contains, `secret` those of Secrets that were read. */
export const brokenBySecrets = (
  { api, type, settings }: Subject,
  written: ValueOf,
  secret: ValueOf,
  input: Pick<RuleInput, "environment" | "version">,
): ReadonlyArray<BrokenBySecret> => {
  const ofSecrets = (value: Json | undefined): ReadonlyArray<string> =>
    typeof value === "string" ? variablesIn(value).filter((name) => secret(name) !== undefined) : [];
  const all = Object.values(settings).flatMap(ofSecrets);
  if (all.length === 0) return [];
  const broken = (valueOf: ValueOf) =>
    brokenRules(api, type, { ...input, config: expandedSettings(settings, valueOf), hidesValues: true }, []);
  const anyway = broken(written).map(({ path }) => formatPath(path));
  return broken((variable) => written(variable) ?? secret(variable))
    .filter(({ path }) => !anyway.includes(formatPath(path)))
    .map(({ path, detail }) => ({
      field: path.map(String),
      detail,
      variable: [...ofSecrets(settings[String(path[0])]), ...all][0] ?? "",
    }));
};
