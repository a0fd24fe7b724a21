/**
 * After all stages: values of the environment that the config of a provider reads, as far as they are known. The server
 * expands them before it checks their types, and exits if one does not fit.
 */
import { SecretValueUnusable, SettingInvalid } from "../../failure/failures.ts";
import { type FieldPath, formatPath, valueAt } from "../../data/field_path.ts";
import { type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, type Facts, noted } from "../draft.ts";
import {
  expandedText,
  invalidPlaceholder,
  knownEnvironment,
  knownValues,
  stateOf,
  valuesIn,
  variablesIn,
} from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import { type CatalogueField, endpointExpectation, type ProviderType, providerType } from "../servers/catalogue.ts";
import { incompleteAddress, unfitAddress } from "../connections/endpoint.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { expectedOfVariable } from "../servers/field_types.ts";
import { rejectBrokenBaseEntries } from "./base_entries.ts";
import { codeVariableWarnings } from "./code_variables.ts";
import { unfitNames } from "./expanded_names.ts";
import { isMissing, NOT_MOUNTED, secretOf, textsOf } from "./expanded_texts.ts";
import { unfitHeader } from "./provider_rules.ts";
import { brokenBySecrets } from "./secret_rules.ts";
import type { Stage } from "../stage.ts";

/** For the config that is built into an image, which may differ from the one that is known: warnings only. */
export const unfitVariables = (config: JsonObject, facts: Facts): ReadonlyArray<Warning> => {
  const draft: Draft = { config, basePath: [], declared: [], env: [], external: [], warnings: [] };
  const read = readValues(draft, facts);
  return [
    ...unfitNames(draft, facts).map(asWarning),
    ...unfitSettings(read, draft, facts).map(asWarning),
    ...read.flatMap((item) => cautionsOf(item, draft, facts)),
    ...rejectBrokenBaseEntries(draft, facts).failures.map(asWarning),
    ...codeVariableWarnings(config, facts),
  ];
};

export const rejectUnfitVariables: Stage<SettingInvalid | SecretValueUnusable> = (draft, facts) => {
  const all = readValues(draft, facts);
  const { misread = [], read = [] } = Object.groupBy(all, (item) => isMisread(item, facts) ? "misread" : "read");
  return {
    draft: noted(draft, {
      warnings: [
        ...misread.flatMap((item) => unfitValue(item, facts)).map(asWarning),
        ...all.flatMap((item) => cautionsOf(item, draft, facts)),
      ],
    }),
    failures: [...unfitNames(draft, facts), ...unfitSettings(read, draft, facts)],
  };
};

/** Each field once: a value of the wrong type breaks rules, too. */
const unfitSettings = (read: ReadonlyArray<ReadValue>, draft: Draft, facts: Facts): ReadonlyArray<Unfit> => {
  const unfit = read.flatMap((item) => unfitValue(item, facts));
  const known = unfit.map(({ path }) => formatPath(path));
  return [...unfit, ...rulesOfSecrets(draft, facts).filter(({ path }) => !known.includes(formatPath(path)))];
};

type Unfit = SettingInvalid | SecretValueUnusable;

/** With such an address the server starts and only this provider fails, and a Secret may have contained it for long. */
const isMisread = ({ api, type, known, place, value, secret }: ReadValue, { server: { catalogue } }: Facts): boolean =>
  secret !== undefined && place.join(".") === known.endpoint && typeof value === "string" &&
  endpointExpectation(catalogue, api, type)?.isCloud === true;

const asWarning = ({ path, detail }: Unfit): Warning => warning("VariableUnfit", path, detail);

/** A value that the provider does not accept; empty if it does. */
const unfitValue = (
  { api, type, known, place, info, id, value, path, secret }: ReadValue,
  facts: Facts,
): ReadonlyArray<Unfit> => {
  const failure = (detail: string) =>
    secret === undefined
      ? new SettingInvalid({ path, detail: `provider "${id}"${detail}` })
      : new SecretValueUnusable({ path, key: secret, detail: `provider "${id}"${detail}` });
  const isAddress = place.join(".") === known.endpoint && typeof value === "string";
  const unfit = isAddress ? unfitAddress(value, { api, type }, facts) : undefined;
  if (unfit !== undefined) return [failure(`: ${unfit}`)];
  const expected = expectedOfVariable(info, value) ?? unfitHeader(api, type, place, value, facts.server.version);
  // Of a Secret for a list or a map, secrets.ts says it, whatever the value.
  const isSaid = path.at(-2) === "secretRefs" && (info.type === "object" || info.type === "array");
  return expected === undefined || isSaid
    ? []
    : [failure(` reads this value as its field ${place.join(".")}; ${expected}`)];
};

/** Conditions on the settings of a provider that is on, which the values of Secrets break. */
const rulesOfSecrets = (draft: Draft, facts: Facts): ReadonlyArray<SecretValueUnusable> => {
  const variables = [...draft.env.map(({ env }) => env), ...facts.spec.workload?.overrides?.env ?? []];
  // Most resources refer to no Secret, and a config has many providers.
  if (!variables.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined)) return [];
  const environment = knownEnvironment(facts, draft.env);
  const written = knownValues(environment, facts);
  const secret = (variable: string) => secretOf(variable, draft, facts)?.value;
  const { version } = facts.server;
  return Object.keys(objectAt(draft.config, "providers")).flatMap((api) =>
    entriesOf(draft.config, api).filter((entry) => stateOf(entry, environment) === "On").flatMap((entry) => {
      const subject = { api, type: stringAt(entry, "provider_type") ?? "", settings: objectAt(entry, "config") };
      return brokenBySecrets(subject, written, secret, { environment, version }).map(({ field, detail, variable }) => {
        const { key = "", path = [] } = secretOf(variable, draft, facts) ?? {};
        const words = `provider "${baseId(entry)}" reads this value as its field ${field.join(".")}; ${detail}`;
        return new SecretValueUnusable({ path, key, detail: words });
      });
    })
  );
};

/** One field of a provider whose value comes from variables. */
interface ReadValue {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly known: ProviderType;
  /** Keys from the config of the provider to the field. */
  readonly place: FieldPath;
  readonly info: CatalogueField;
  /** What the server reads. */
  readonly value: Json;
  /** The place where the user writes it. */
  readonly path: FieldPath;
  /** Secret and key that the value comes from, as `name/key`; unset if the resource contains it. */
  readonly secret?: string;
}

const readValues = (draft: Draft, facts: Facts): ReadonlyArray<ReadValue> => {
  // Most resources set no variables: then only their own providers can have a text that they are responsible for.
  const setsVariables = (facts.spec.workload?.overrides?.env ?? []).length > 0;
  const own = draft.declared.filter(({ config }) => setsVariables || JSON.stringify(config).includes("${env."));
  if (!setsVariables && own.length === 0) return [];
  const environment = knownEnvironment(facts, draft.env);
  const written = knownValues(environment, facts);
  const valueOf = valuesIn(environment, (variable) => written(variable) ?? secretOf(variable, draft, facts)?.value);
  return Object.keys(objectAt(draft.config, "providers")).flatMap((api) =>
    entriesOf(draft.config, api).flatMap((entry): ReadonlyArray<ReadValue> => {
      const type = stringAt(entry, "provider_type") ?? "";
      const known = providerType(facts.server.catalogue, api, type);
      if (!setsVariables && !own.some((provider) => provider.api === api && provider.id === baseId(entry))) return [];
      if (known === undefined || stateOf(entry, environment) !== "On") return [];
      const id = baseId(entry) ?? "";
      return textsOf(objectAt(entry, "config"), known.fields, facts).flatMap(({ place, info, text }) => {
        const path = placeOf(text, place, draft, facts, { api, id });
        // A form that no server expands has a failure of its own.
        const value = path === undefined || invalidPlaceholder(text) ? undefined : expandedText(text, valueOf);
        const variable = variablesIn(text).find((name) => written(name) === undefined) ?? "";
        const secret = secretOf(variable, draft, facts)?.key;
        return path === undefined || value === undefined ? [] : [
          { api, id, type, known, place, info, value, path, ...(secret === undefined ? {} : { secret }) },
        ];
      });
    })
  );
};

/** The variable in the resource, else the setting; undefined if only the base config decides. */
const placeOf = (
  text: string,
  place: FieldPath,
  draft: Draft,
  facts: Facts,
  { api, id }: { readonly api: string; readonly id: string },
): FieldPath | undefined => {
  const { spec } = facts;
  const named = variablesIn(text);
  if (named.length === 0) return undefined;
  const secret = named.map((variable) => secretOf(variable, draft, facts)).find((found) => found?.value !== undefined);
  if (secret !== undefined) return secret.path;
  const index = (spec.workload?.overrides?.env ?? []).findLastIndex(({ name, value }) =>
    named.includes(name) && value !== undefined
  );
  if (index >= 0) return ["spec", "workload", "overrides", "env", index, "value"];
  const own = draft.declared.find((provider) => provider.api === api && provider.id === id);
  if (own === undefined) return undefined;
  const isSetting = valueAt({ spec: spec as unknown as Json }, [...own.path, "settings", ...place]) !== undefined;
  return isSetting ? [...own.path, "settings", ...place] : [...own.path, "endpoint"];
};

const cautionsOf = (item: ReadValue, draft: Draft, facts: Facts): ReadonlyArray<Warning> => [
  ...bareEndpoint(item, facts),
  ...notMounted(item, facts),
  ...unsendableKey(item, draft, facts),
];

/** Secrets that are written from a file often end with a line break. Seen with httpx 0.28 and h11 0.16. */
const unsendableKey = (
  { type, place, info, id, value, path }: ReadValue,
  { config }: Draft,
  { server: { version, family } }: Facts,
): ReadonlyArray<Warning> => {
  const isInHeader = info.secret === true && type.startsWith("remote::") && !NOT_IN_HEADERS.test(place.join("."));
  if (!isInHeader || typeof value !== "string") return [];
  const what = /\s$/.test(value)
    ? "ends with a blank or a line break"
    : /[\r\n\0]|[^\0-\x7f]/.test(value)
    ? "has a line break or a character that is not ASCII"
    : undefined;
  if (what === undefined) return [];
  const message =
    `provider "${id}" reads this value as its field ${place.join(".")}; it ${what}, and no request can be ` +
    "sent with such a key in a header; write it without";
  // Llama Stack 0.2 asks providers for their models when it starts, and up to 0.5 when one is registered.
  const isAsked = isOlderMinor(version, "0.3") ||
    isOlderMinor(version, "0.6") && listAt(config, ...family.resourcesAt, "models").length > 0;
  return [
    isAsked ? warning("VariableUnfit", path, message) : warning("KeyNotSendable", path, message),
  ];
};

const NOT_IN_HEADERS = /password|aws_secret/;

const notMounted = (item: ReadValue, facts: Facts): ReadonlyArray<Warning> =>
  isMissing(item, facts) ? [warning("FileNotMounted", item.path, NOT_MOUNTED)] : [];

const bareEndpoint = ({ api, type, known, place, value, path }: ReadValue, facts: Facts): ReadonlyArray<Warning> => {
  const incomplete = place.join(".") === known.endpoint && typeof value === "string"
    ? incompleteAddress(value, { api, type }, facts)
    : undefined;
  return incomplete === undefined ? [] : [warning("EndpointIncomplete", path, incomplete)];
};
