/** Each provider of the resource in the long form: type, id, endpoint field, key field, placeholders, settings. */
import * as Result from "effect/Result";
import { PROVIDER_LISTS } from "../../api/api_names.ts";
import {
  type ForbiddenSetting,
  type MissingSetting,
  type NotSupportedByServer,
  type RuleBroken,
  SettingInvalid,
  type UnknownProviderType,
  type UnusableEndpoint,
} from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { isObject, type JsonObject, omit, withMember } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Declared, type EnvEntry, type Facts, noted } from "../draft.ts";
import { addressFields } from "../connections/endpoint.ts";
import { doubledFields, registeredBefore, registeredTwice } from "./conflicting_providers.ts";
import { fullType, type KnownProvider, knownProvider } from "./known_provider.ts";
import { placesInResource, settingFindings, strayFindings } from "./provider_settings.ts";
import { expandedSettings, knownEnvironment, knownValues, variablesIn } from "../known_environment.ts";
import { brokenRules } from "./provider_rules.ts";
import { withReferences, withRequired } from "./provider_stores.ts";
import { envName, nameOfProvider, placeholder, secretEntry, unfitReferences } from "./secrets.ts";
import type { Stage } from "../stage.ts";

type ExpansionFailure =
  | NotSupportedByServer
  | UnknownProviderType
  | UnusableEndpoint
  | MissingSetting
  | ForbiddenSetting
  | SettingInvalid
  | RuleBroken;

export const expandProviders: Stage<ExpansionFailure> = (draft, facts) => {
  const expansions = PROVIDER_LISTS
    // For servers without a telemetry section, telemetry.ts converts it to environment variables.
    .filter(({ field }) => field !== "telemetry" || facts.server.family.telemetryProviders)
    .flatMap((list) =>
      (facts.spec.providers?.[list.field] ?? []).map((provider, index): Expansion => {
        const path = ["spec", "providers", list.field, index];
        const known = knownProvider(provider, list, path, draft.config, facts);
        return Result.isSuccess(known)
          ? expansion(known.success, draft.config, facts)
          : { declared: [], env: [], warnings: [], failures: [known.failure] };
      })
    );
  return { draft: expansions.reduce(noted, draft), failures: expansions.flatMap(({ failures }) => failures) };
};

interface Expansion {
  readonly declared: ReadonlyArray<Declared>;
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<ExpansionFailure>;
}

/** What follows of them writes `vector_stores` (vector_stores.ts). */
const choosesStores = ({ spec }: Facts): boolean =>
  spec.vectorStores !== undefined || (spec.providers?.vectorIo ?? []).length > 0;

/** `base`: the config before the providers of the resource are in it. */
const expansion = (one: KnownProvider, base: JsonObject, facts: Facts): Expansion => {
  const { provider, path, api, id, type, known, module } = one;
  const typed = typedFields(one, facts);
  const settings = (provider.settings ?? {}) as JsonObject;
  const unused = Object.keys(typed.config).filter((key) => Object.hasOwn(settings, key));
  const overruled = unused.map((key) =>
    warning(
      "SettingOverruled",
      [...path, "settings", key],
      "ignored, because the provider sets the same field outside of settings; remove one of them",
    )
  );
  const given = { ...settings, ...typed.config };
  const needed = withRequired(withReferences(given, one, facts), one, facts);
  const places = placesInResource(one);
  const inSettings = {
    ...places,
    of: (key: string) => [...path, "settings", key],
    hasSection: (name: string) => isObject(base[name]) || name === "vector_stores" && choosesStores(facts),
  };
  const checked = settingFindings(settings, { api, type }, known, inSettings, facts);
  const invalid = checked.failures.map(({ path: place }) => String(place[path.length + 1]));
  const environment = knownEnvironment(facts, typed.env);
  const valueOf = knownValues(environment, facts);
  // Of fields that this server does not know, it knows no rules.
  const fields = Object.fromEntries(Object.entries(given).filter(([key]) => Object.hasOwn(known.fields, key)));
  const expanded = expandedSettings(fields, valueOf);
  const rules = brokenRules(api, type, { config: expanded, environment, version: facts.server.version }, [
    ...path,
    "settings",
  ]).map((failure) => {
    const [key = ""] = failure.path.slice(path.length + 1);
    const place = provider.endpoint !== undefined && key === known.endpoint
      ? ["endpoint"]
      : Object.hasOwn(provider.secretRefs ?? {}, key)
      ? ["secretRefs", key]
      : undefined;
    return place === undefined ? failure : new SettingInvalid({ ...failure, path: [...path, ...place] });
  });
  const stray = strayFindings(omit(given, ...invalid), type, known, places);
  return {
    declared: [{ api, id, type, path, config: needed.config, ...(module === undefined ? {} : { module }) }],
    env: typed.env,
    warnings: [
      ...renamed(one, facts),
      ...registeredBefore(one, facts),
      ...typed.warnings,
      ...overruled,
      ...droppedVariables(one, needed.config, facts),
      // What is not used gets into no config.
      ...checked.warnings.filter(({ path: place }) => !unused.includes(String(place[path.length + 1]))),
      ...stray.warnings,
    ],
    failures: [
      ...typed.failures,
      ...doubledFields(one),
      ...unfitReferences(one),
      ...registeredTwice(one, facts),
      // An invalid address counts as set, so that one mistake causes one message.
      ...needed.failures.filter(({ path: place }) => typed.failures.every((other) => !isSame(place, other.path))),
      ...checked.failures,
      ...rules,
      ...stray.failures,
    ],
  };
};

const isSame = (path: FieldPath, other: FieldPath): boolean => formatPath(path) === formatPath(other);

const renamed = ({ provider, path, api, type }: KnownProvider, facts: Facts): ReadonlyArray<Warning> => {
  const written = fullType(facts.server.catalogue, api, provider.provider);
  const message = `${written} is called ${type} on ${facts.serverName}`;
  return type === written ? [] : [warning("TypeRenamed", [...path, "provider"], message)];
};

/** Variables that the author sets and that the replaced entry of the base config reads, in fields that the resource leaves out. */
const droppedVariables = (
  { path, known, replaced }: KnownProvider,
  config: JsonObject,
  { spec }: Facts,
): ReadonlyArray<Warning> => {
  const authors = (spec.workload?.overrides?.env ?? []).map(({ name }) => name);
  return Object.entries(replaced).flatMap(([field, text]) => {
    if (Object.hasOwn(config, field) && config[field] !== null || typeof text !== "string") return [];
    const variable = variablesIn(text).find((name) => authors.includes(name));
    if (variable === undefined) return [];
    const place = field === known.key ? ["apiKey"] : field === known.endpoint ? ["endpoint"] : ["settings", field];
    return [
      warning(
        "VariableDropped",
        [...path, ...place],
        `set it, or settings.${field} to "\${env.${variable}}": this provider replaces that of the base config, which reads ${variable}`,
      ),
    ];
  });
};

interface TypedFields {
  readonly config: JsonObject;
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnusableEndpoint>;
}

/** endpoint, apiKey and secretRefs under the names that this type reads. */
const typedFields = ({ provider, path, field, api, id, type, known }: KnownProvider, facts: Facts): TypedFields => {
  const address = provider.endpoint === undefined
    ? { config: {}, warnings: [], failures: [] }
    : addressFields(provider.endpoint, { api, type }, known, [...path, "endpoint"], facts);
  const ofVariables = nameOfProvider(facts.spec, field, id);
  const refs = Object.entries(provider.secretRefs ?? {}).map(([key, ref]) => ({
    key,
    entry: secretEntry(envName(ofVariables, key), ref, [...path, "secretRefs", key]),
  }));
  const keyed = provider.apiKey === undefined || known.key === undefined ? [] : [{
    key: known.key,
    entry: secretEntry(envName(ofVariables, "API_KEY"), provider.apiKey, [...path, "apiKey"]),
  }];
  const unread = provider.apiKey !== undefined && known.key === undefined
    ? [
      warning(
        "FieldNotRead",
        [...path, "apiKey"],
        `${type} has no API key on ${facts.serverName}; the field has no effect`,
      ),
    ]
    : [];
  const all = [...keyed, ...refs];
  return {
    config: all.reduce<JsonObject>(
      (config, { key, entry }) => withMember(config, key, placeholder(entry.env.name)),
      address.config,
    ),
    env: all.map(({ entry }) => entry),
    warnings: [...address.warnings, ...unread],
    failures: address.failures,
  };
};
