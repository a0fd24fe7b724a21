/** Each provider of the resource in the long form: type, id, endpoint field, key field, placeholders, settings. */
import { PROVIDER_LISTS, type ProviderList } from "../../api/api_names.ts";
import { effectiveId } from "../../api/rules.ts";
import type { Provider } from "../../api/v1alpha2.ts";
import {
  type ForbiddenSetting,
  type MissingSetting,
  NotSupportedByServer,
  RuleBroken,
  SettingInvalid,
  UnknownProviderType,
  type UnusableEndpoint,
} from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { type Json, type JsonObject, omit, withMember } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { apiOn, withoutApi } from "../servers/families/families.ts";
import { type Catalogue, type ProviderType, providerType, providerTypes } from "../servers/catalogue.ts";
import { type Declared, entriesOf, type EnvEntry, type Facts, noted } from "../draft.ts";
import { addressFields } from "../connections/endpoint.ts";
import { registeredTwice, sharedFolder } from "./conflicting_providers.ts";
import { doubledFields, placesInResource, settingFindings, strayFindings } from "./provider_settings.ts";
import { expandedText, knownEnvironment, knownValues, variablesIn } from "../known_environment.ts";
import { brokenRules } from "./provider_rules.ts";
import { unstartableType } from "../servers/families/unstartable_types.ts";
import { settingsOfReplaced, withReferences, withRequired } from "./provider_stores.ts";
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
    .flatMap(({ field, api }) =>
      (facts.spec.providers?.[field] ?? []).map((provider, index) =>
        expand(provider, field, apiOn(facts.server, api) ?? api, index, facts, draft.config)
      )
    );
  return { draft: expansions.reduce(noted, draft), failures: expansions.flatMap(({ failures }) => failures) };
};

/** `vllm` → `remote::vllm`; a full type stays. A bare name that only exists inline means that one. */
export const fullType = (catalogue: Catalogue, api: string, wanted: string): string => {
  if (wanted.includes("::")) return wanted;
  const remote = `remote::${wanted}`;
  const inline = `inline::${wanted}`;
  return providerType(catalogue, api, remote) === undefined && providerType(catalogue, api, inline) !== undefined
    ? inline
    : remote;
};

/** The same provider under its name in this server family: types were renamed, and servers accept no former names. */
const typeHere = (type: string, api: string, { server: { catalogue, family } }: Facts): string => {
  const row = `${api} ${type}`;
  return providerType(catalogue, api, type) === undefined && Object.hasOwn(family.typeAliases, row)
    ? family.typeAliases[row] ?? type
    : type;
};

interface Expansion {
  readonly declared: ReadonlyArray<Declared>;
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<ExpansionFailure>;
}

const failed = (...failures: ReadonlyArray<ExpansionFailure>): Expansion => ({
  declared: [],
  env: [],
  warnings: [],
  failures,
});

const expand = (
  provider: Provider,
  field: ProviderList,
  api: string,
  index: number,
  facts: Facts,
  base: JsonObject,
): Expansion => {
  const { catalogue } = facts.server;
  const path: FieldPath = ["spec", "providers", field, index];
  if (!Object.hasOwn(catalogue.apis, api)) {
    const instead = withoutApi(facts.server, api);
    return failed(new NotSupportedByServer({ path, what: `${api} API`, server: facts.serverName, instead }));
  }
  const typeOf = (name: string) => typeHere(fullType(catalogue, api, name), api, facts);
  const written = fullType(catalogue, api, provider.provider);
  const type = typeOf(provider.provider);
  const module = moduleOf(base, api, type);
  const known = providerType(catalogue, api, type) ?? (module === undefined ? undefined : OF_A_MODULE);
  if (known === undefined) {
    return failed(
      new UnknownProviderType({
        path: [...path, "provider"],
        type,
        api,
        server: facts.serverName,
        offered: providerTypes(catalogue, api),
      }),
    );
  }
  const unstartable = unstartableType(facts.server, api, type);
  if (unstartable !== undefined) {
    const what = `${api} provider of type "${type}": ${unstartable.reason}`;
    const { instead } = unstartable;
    return failed(
      new NotSupportedByServer({ path: [...path, "provider"], what, server: facts.serverName, instead }),
    );
  }
  const id = effectiveId(provider as unknown as Json);
  const typed = typedFields(provider, nameOfProvider(facts.spec, field, id), api, type, known, path, facts);
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
  const replaced = settingsOfReplaced(base, api, id, type, catalogue);
  const filled = withReferences(given, replaced, id, api, known, facts, base);
  const needed = withRequired(filled, replaced, id, api, type, known, path, facts);
  const places = placesInResource(path, provider, known);
  const inSettings = { ...places, of: (key: string) => [...path, "settings", key] };
  const checked = settingFindings(settings, { api, type }, known, inSettings, facts);
  const invalid = checked.failures.map(({ path: place }) => String(place[path.length + 1]));
  const environment = knownEnvironment(facts, []);
  const valueOf = knownValues(environment, facts);
  const expanded = Object.fromEntries(
    // Of fields that this server does not know, it knows no rules.
    Object.entries(given).filter(([key]) => Object.hasOwn(known.fields, key)).map(([key, value]) => {
      const read = typeof value === "string" ? expandedText(value, valueOf) : undefined;
      // An empty variable becomes null, which is a value.
      return [key, read === undefined ? value : read];
    }),
  );
  const rules = brokenRules(api, type, { config: expanded, environment, version: facts.server.version }, [
    ...path,
    "settings",
  ]).map((failure) => {
    const [key] = failure.path.slice(path.length + 1);
    const isEndpoint = provider.endpoint !== undefined && key === known.endpoint;
    return isEndpoint ? new SettingInvalid({ ...failure, path: [...path, "endpoint"] }) : failure;
  });
  const stray = strayFindings(omit(given, ...invalid), type, known, places);
  return {
    declared: [{ api, id, type, path, config: needed.config, ...(module === undefined ? {} : { module }) }],
    env: typed.env,
    warnings: [
      ...(type === written
        ? []
        : [warning("TypeRenamed", [...path, "provider"], `${written} is called ${type} on ${facts.serverName}`)]),
      ...typed.warnings,
      ...overruled,
      ...droppedVariables(base, { api, id, type }, needed.config, path, facts),
      // What is not used gets into no config.
      ...checked.warnings.filter(({ path: place }) => !unused.includes(String(place[path.length + 1]))),
      ...stray.warnings,
    ],
    failures: [
      ...typed.failures,
      ...doubledFields(provider, known, path),
      ...unfitReferences(provider, type, known, path),
      ...(api === "scoring" ? registeredTwice(base, { id, type }, path, facts, typeOf) : []),
      ...(type === "inline::qdrant" ? sharedFolder(expanded.path, path, facts, typeOf, valueOf) : []),
      ...needed.failures.filter(({ path: place }) => typed.failures.every((other) => !isSame(place, other.path))),
      ...checked.failures,
      ...rules,
      ...stray.failures,
    ],
  };
};

/** Variables that the author sets and that the replaced entry of the base config reads, in fields that the resource leaves out. */
const droppedVariables = (
  base: JsonObject,
  { api, id, type }: Pick<Declared, "api" | "id" | "type">,
  config: JsonObject,
  path: FieldPath,
  { spec, server: { catalogue } }: Facts,
): ReadonlyArray<Warning> => {
  const known = providerType(catalogue, api, type);
  const authors = (spec.workload?.overrides?.env ?? []).map(({ name }) => name);
  return Object.entries(settingsOfReplaced(base, api, id, type, catalogue)).flatMap(([field, text]) => {
    if (Object.hasOwn(config, field) && config[field] !== null || typeof text !== "string") return [];
    const variable = variablesIn(text).find((name) => authors.includes(name));
    if (variable === undefined) return [];
    const place = field === known?.key ? ["apiKey"] : field === known?.endpoint ? ["endpoint"] : ["settings", field];
    return [
      warning(
        "VariableDropped",
        [...path, ...place],
        `set it, or settings.${field} to "\${env.${variable}}": this provider replaces that of the base config, which reads ${variable}`,
      ),
    ];
  });
};

/** Of a type that is not the server's own: an entry of the base config names the module that implements it. */
const moduleOf = (base: JsonObject, api: string, type: string): Json | undefined =>
  entriesOf(base, api).find((entry) => entry.provider_type === type && Object.hasOwn(entry, "module"))?.module;

/** Nothing is known of its settings. */
const OF_A_MODULE: ProviderType = { fields: {}, extra: "allow" };

/** An invalid address counts as set, so that one mistake causes one message. */
const isSame = (path: FieldPath, other: FieldPath): boolean => formatPath(path) === formatPath(other);

interface TypedFields {
  readonly config: JsonObject;
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnusableEndpoint>;
}

/** endpoint, apiKey and secretRefs under the names that this type reads. */
const typedFields = (
  provider: Provider,
  /** In the names of its variables. */
  name: string,
  api: string,
  type: string,
  known: ProviderType,
  path: FieldPath,
  facts: Facts,
): TypedFields => {
  const address = provider.endpoint === undefined
    ? { config: {}, warnings: [], failures: [] }
    : addressFields(provider.endpoint, { api, type }, known, [...path, "endpoint"], facts);
  const refs = Object.entries(provider.secretRefs ?? {}).map(([field, ref]) => ({
    key: field,
    entry: secretEntry(envName(name, field), ref, [...path, "secretRefs", field]),
  }));
  const keyed = provider.apiKey === undefined || known.key === undefined ? [] : [{
    key: known.key,
    entry: secretEntry(envName(name, "API_KEY"), provider.apiKey, [...path, "apiKey"]),
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
