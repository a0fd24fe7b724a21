/**
 * After all stages: values of the environment that the config of a provider reads, as far as they are known. The server
 * expands them before it checks their types, and exits if one does not fit.
 */
import { SettingInvalid } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, type Facts, noted } from "../draft.ts";
import { expandedText, knownEnvironment, PLACEHOLDER, writtenValue } from "../known_environment.ts";
import { baseId, conditionOf } from "../servers/base.ts";
import { endpointExpectation, type ProviderType, providerType } from "../servers/catalogue.ts";
import { expectedInstead } from "../servers/field_types.ts";
import { type Stage, stage } from "../stage.ts";

export const rejectUnfitVariables: Stage<SettingInvalid> = stage((draft, facts) => {
  const read = readValues(draft, facts);
  return {
    draft: noted(draft, { warnings: read.flatMap((item) => bareEndpoint(item, facts)) }),
    failures: read.flatMap(({ known, field, id, value, path }) => {
      const info = known.fields[field];
      const expected = info === undefined ? undefined : expectedInstead(info, value);
      return expected === undefined ? [] : [
        new SettingInvalid({
          path,
          detail: `provider "${id}" reads this value as its field ${field}; expected ${expected}` +
            (typeof value === "number" && info?.type === "string"
              ? "; the server converts variables that look like a number"
              : ""),
        }),
      ];
    }),
  };
});

/** One field of a provider whose value comes from variables. */
interface ReadValue {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly known: ProviderType;
  readonly field: string;
  /** What the server reads. */
  readonly value: Json;
  /** The place where the user writes it. */
  readonly path: FieldPath;
}

const readValues = (draft: Draft, facts: Facts): ReadonlyArray<ReadValue> => {
  const environment = knownEnvironment(facts, draft.env);
  /** Empty: not set. Values of Secrets are checked when they are read. */
  const valueOf = (variable: string): string | undefined =>
    environment(variable) === "Unset" ? "" : writtenValue(facts, variable);
  return Object.keys(objectAt(draft.config, "providers")).flatMap((api) =>
    entriesOf(draft.config, api).flatMap((entry): ReadonlyArray<ReadValue> => {
      const type = stringAt(entry, "provider_type") ?? "";
      const known = providerType(facts.server.catalogue, api, type);
      const condition = conditionOf(entry);
      if (known === undefined || condition !== undefined && environment(condition) !== "Set") return [];
      const id = baseId(entry) ?? "";
      return Object.entries(objectAt(entry, "config")).flatMap(([field, text]) => {
        if (typeof text !== "string") return [];
        const path = placeOf(text, field, draft, facts, { api, id });
        const value = path === undefined ? undefined : expandedText(text, valueOf);
        return path === undefined || value === undefined ? [] : [{ api, id, type, known, field, value, path }];
      });
    })
  );
};

/** The variable in the resource, else the setting; undefined if only the base config decides. */
const placeOf = (
  text: string,
  field: string,
  { declared }: Draft,
  { spec }: Facts,
  { api, id }: { readonly api: string; readonly id: string },
): FieldPath | undefined => {
  const named = [...text.matchAll(PLACEHOLDER)].map(([, variable]) => variable);
  if (named.length === 0) return undefined;
  const index = (spec.workload?.overrides?.env ?? []).findLastIndex(({ name, value }) =>
    named.includes(name) && value !== undefined
  );
  if (index >= 0) return ["spec", "workload", "overrides", "env", index, "value"];
  const own = declared.find((provider) => provider.api === api && provider.id === id);
  return own === undefined ? undefined : [...own.path, "settings", field];
};

/** For `endpoint` the path is added; a variable is read by the server alone. */
const bareEndpoint = ({ api, type, known, field, value, path }: ReadValue, facts: Facts): ReadonlyArray<Warning> => {
  const expected = endpointExpectation(facts.server.catalogue, api, type)?.path ?? "";
  if (
    field !== known.endpoint || expected === "" || typeof value !== "string" || !/^https?:\/\/[^/]+\/?$/i.test(value)
  ) {
    return [];
  }
  return [
    warning("EndpointIncomplete", path, `${type} sends its requests below this URL; add the path ${expected}`),
  ];
};
