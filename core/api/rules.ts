/**
 * Rules between fields, each stated once: as CEL for the API server and as a check for `lint` and reconcile.
 *
 * It is over 300 lines because it is one table: all rules can be read in one go.
 *
 * A row belongs to the smallest object that it needs, because the API server re-checks only what changed.
 */
import { isList, isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { API_NAMES, camelCase, CONFIG_FIELDS, EXTERNAL_LISTS, namesOfApi, PROVIDER_LISTS } from "./api_names.ts";
import { AUTHENTICATION_RULES } from "./auth_rules.ts";
import { GATEWAY_RULES } from "./gateway_rules.ts";
import { exclusive, type Rule, tiedTo } from "./rule.ts";

export interface RuleFinding {
  readonly rule: Rule;
  readonly path: ReadonlyArray<string | number>;
  readonly message: string;
}

/** Every rule that `resource` breaks, in the order of the table. */
export const ruleFindings = (
  resource: JsonObject,
  rules: ReadonlyArray<Rule> = RULES,
): ReadonlyArray<RuleFinding> => {
  const found = new Map<string, ReadonlyArray<Place>>();
  // Several rows belong to the same path.
  const places = (at: string): ReadonlyArray<Place> => {
    const known = found.get(at) ?? placesOf(resource, at === "" ? [] : at.split("."));
    found.set(at, known);
    return known;
  };
  return rules.flatMap((rule) =>
    places(rule.at).flatMap(({ path, self }) => {
      const message = rule.broken(self);
      if (message === undefined) return [];
      const field = rule.fieldPath === undefined ? [] : rule.fieldPath.slice(1).split(".");
      return [{ rule, path: [...path, ...field], message }];
    })
  );
};

interface Place {
  readonly path: ReadonlyArray<string | number>;
  readonly self: JsonObject;
}

const placesOf = (value: Json, steps: ReadonlyArray<string>): ReadonlyArray<Place> => {
  const [step, ...rest] = steps;
  if (step === undefined) return isObject(value) ? [{ path: [], self: value }] : [];
  const key = step.replace(/\[\]$/, "");
  const inner = member(value, key);
  if (inner === undefined) return [];
  const behind = (item: Json, prefix: ReadonlyArray<string | number>) =>
    placesOf(item, rest).map((place) => ({ ...place, path: [...prefix, ...place.path] }));
  if (step.endsWith("[]")) return isList(inner) ? inner.flatMap((item, index) => behind(item, [key, index])) : [];
  return behind(inner, [key]);
};

const endpoint = tiedTo(
  "spec.storage.kv",
  "endpoint",
  "type",
  ["redis"],
  "endpoint is required when type is redis",
  "endpoint is only valid when type is redis",
);
const password = tiedTo(
  "spec.storage.kv",
  "password",
  "type",
  ["redis"],
  "",
  "password is only valid when type is redis",
);
const connection = tiedTo(
  "spec.storage.sql",
  "connectionString",
  "type",
  ["postgres"],
  "connectionString is required when type is postgres",
  "connectionString is only valid when type is postgres",
);

/** The id of a provider: its own, else the last `::` part of its type. */
export const effectiveId = (provider: Json): string =>
  stringAt(provider, "id") ?? (stringAt(provider, "provider") ?? "").split("::").at(-1) ?? "";

const NO_POLICY = "policy.enabled false excludes allowedFrom and rules in policy";
const TWO_SCALERS = "autoscaling and scaling External are mutually exclusive";

/** Ids of several lists, within each of them or over all. Lists are bound to one name: a concatenation written twice would be made anew for each id. */
const uniqueIds = (
  at: string,
  what: string,
  within: "each" | "all",
  lists: ReadonlyArray<{ readonly field: string }>,
  cel: string,
  idOf: (provider: Json) => string,
): Rule => {
  const ids = `[${
    lists.map(({ field }) => `(has(self.${field}) ? self.${field}.map(p, ${cel}) : [])`)
      .join(within === "all" ? " + " : ", ")
  }]`;
  return {
    at,
    cel: `${ids}.all(ids, ids.all(i, ids.filter(j, j == i).size() == 1))`,
    message: `${what} must be unique`,
    // By way of a text: the API server rejects the rule as too costly if the item of the list itself becomes the message.
    messageExpression:
      `'${what} must be unique; more than one is ' + ${ids}.map(ids, ids.filter(i, ids.filter(j, j == i).size() > 1).join(', ').split(', ')[0])` +
      (within === "all" ? "[0]" : ".filter(id, id != '')[0]"),
    reason: "FieldValueInvalid",
    broken: (self) => {
      const found = lists.map(({ field }) => listAt(self, field).map(idOf));
      const twice = (within === "all" ? [found.flat()] : found).flatMap(repeated)[0];
      return twice === undefined ? undefined : `${what} must be unique; more than one is ${twice}`;
    },
  };
};

/** In the order of their first place. */
const repeated = (ids: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return ids.filter((id) => (counts.get(id) ?? 0) > 1);
};

/** The server knows a provider by its API and its id. */
const uniqueProviderIds = uniqueIds(
  "spec.providers",
  "provider ids of an API",
  "each",
  PROVIDER_LISTS,
  "(has(p.id) ? p.id : p.provider.split('::')[p.provider.split('::').size() - 1])",
  effectiveId,
);

const explicitIds = (field: string): Rule => ({
  at: "spec.providers",
  cel: `!has(self.${field}) || self.${field}.size() <= 1 || self.${field}.all(p, has(p.id))`,
  message: "each provider must have an explicit id when multiple providers are specified",
  reason: "FieldValueRequired",
  fieldPath: `.${field}`,
  broken: (self) => {
    const providers = listAt(self, field);
    return providers.length > 1 && providers.some((provider) => stringAt(provider, "id") === undefined)
      ? "each provider must have an explicit id when multiple providers are specified"
      : undefined;
  },
});

const uniqueModels: Rule = {
  at: "spec.resources",
  cel: "!has(self.models) || self.models.all(m, self.models.filter(n, n.name == m.name && " +
    "(has(n.provider) ? n.provider : '') == (has(m.provider) ? m.provider : '')).size() == 1)",
  message: "models must be unique by name and provider",
  reason: "FieldValueInvalid",
  fieldPath: ".models",
  broken: (self) => {
    const keys = listAt(self, "models").filter((model) => stringAt(model, "name") !== undefined).map((model) =>
      `${stringAt(model, "provider") ?? ""}\n${stringAt(model, "name")}`
    );
    return new Set(keys).size === keys.length ? undefined : "models must be unique by name and provider";
  },
};

const disabledAndDeclared = ({ field, api }: { readonly field: string; readonly api: string }): Rule => {
  const spellings = namesOfApi(api);
  const message = `${api} cannot be both in providers and disabled`;
  return {
    at: "spec",
    cel: `!has(self.providers) || !has(self.providers.${field}) || !has(self.disabled) || ` +
      `!self.disabled.exists(d, d in [${spellings.map((word) => `'${word}'`).join(", ")}])`,
    message,
    reason: "FieldValueForbidden",
    fieldPath: ".disabled",
    broken: (self) =>
      Object.hasOwn(objectAt(self, "providers"), field) &&
        listAt(self, "disabled").some((name) => spellings.includes(String(name)))
        ? message
        : undefined,
  };
};

/** Unlike an empty list, a provider needs its API. */
const disabledAndExternal = ({ field, api }: { readonly field: string; readonly api: string }): Rule => {
  const spellings = namesOfApi(api);
  const message = `${api} cannot be both in externalProviders and disabled`;
  return {
    at: "spec",
    cel: `!has(self.externalProviders) || !has(self.externalProviders.${field}) || ` +
      `self.externalProviders.${field}.size() == 0 || !has(self.disabled) || ` +
      `!self.disabled.exists(d, d in [${spellings.map((word) => `'${word}'`).join(", ")}])`,
    message,
    reason: "FieldValueForbidden",
    fieldPath: ".disabled",
    broken: (self) =>
      listAt(self, "externalProviders", field).length > 0 &&
        listAt(self, "disabled").some((name) => spellings.includes(String(name)))
        ? message
        : undefined,
  };
};

/** The id is also the name of an init container. */
const uniqueExternalIds = uniqueIds(
  "spec.externalProviders",
  "ids of external providers",
  "all",
  EXTERNAL_LISTS,
  "p.providerId",
  (provider) => stringAt(provider, "providerId") ?? "",
);

const positiveQuantity = (at: string, field: string): Rule => ({
  at,
  cel: `!has(self.${field}) || quantity(string(self.${field})).isGreaterThan(quantity('0'))`,
  message: `${field} must be greater than 0`,
  reason: "FieldValueInvalid",
  fieldPath: `.${field}`,
  broken: (self) =>
    /^[-+]?[0.]+([a-zA-Z].*)?$|^-/.test(String(member(self, field) ?? "1"))
      ? `${field} must be greater than 0`
      : undefined,
});

const NAME_MAX = 55;
const NAME_PATTERN = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
/** The Service is called `<name>-service`, and a Service name is a DNS label of at most 63 characters that begins with a letter. */
export const NAME_MESSAGE =
  `metadata.name must be at most ${NAME_MAX} lower-case letters, digits and "-", begin with a letter and end with a letter or digit`;

/** True when objects can be named after a resource of this name. */
export const isUsableName = (name: string): boolean =>
  name.length <= NAME_MAX && new RegExp(NAME_PATTERN, "u").test(name);

/** A list of names beside one of objects for the same things. */
const inOneList = (names: string, objects: string, what: string): Rule => {
  const message = `a ${what} cannot be in both ${names} and ${objects}`;
  return {
    at: "spec.resources",
    cel: `!has(self.${names}) || !has(self.${objects}) || !self.${objects}.exists(o, o.name in self.${names})`,
    message,
    reason: "FieldValueInvalid",
    fieldPath: `.${objects}`,
    broken: (self) => {
      const named = listAt(self, names);
      return listAt(self, objects).some((item) => named.includes(stringAt(item, "name") ?? null)) ? message : undefined;
    },
  };
};

export const RULES: ReadonlyArray<Rule> = [
  {
    at: "",
    cel:
      `oldSelf.hasValue() || (self.metadata.name.size() <= ${NAME_MAX} && self.metadata.name.matches('${NAME_PATTERN}'))`,
    message: NAME_MESSAGE,
    reason: "FieldValueInvalid",
    onCreate: true,
    broken: (self) => {
      const name = stringAt(self, "metadata", "name");
      return name === undefined || isUsableName(name) ? undefined : NAME_MESSAGE;
    },
  },
  {
    at: "spec.distribution",
    cel: "!(has(self.name) && has(self.image))",
    message: "only one of name or image can be specified",
    reason: "FieldValueForbidden",
    fieldPath: ".image",
    broken: (self) =>
      Object.hasOwn(self, "name") && Object.hasOwn(self, "image")
        ? "only one of name or image can be specified"
        : undefined,
  },
  {
    at: "spec.distribution",
    cel: "has(self.name) || has(self.image)",
    message: "one of name or image must be specified",
    reason: "FieldValueRequired",
    fieldPath: ".name",
    broken: (self) =>
      Object.hasOwn(self, "name") || Object.hasOwn(self, "image")
        ? undefined
        : "one of name or image must be specified",
  },
  ...CONFIG_FIELDS.map((other) => exclusive("spec", "overrideConfig", other)),
  ...PROVIDER_LISTS.map(disabledAndDeclared),
  ...EXTERNAL_LISTS.map(disabledAndExternal),
  uniqueExternalIds,
  positiveQuantity("spec.externalProviders", "volumeSizeLimit"),
  {
    at: "spec.storage",
    cel: "!(has(self.kv) && has(self.kv.type) && self.kv.type == 'postgres') || " +
      "(has(self.sql) && has(self.sql.type) && self.sql.type == 'postgres')",
    message: "kv type postgres requires sql type postgres",
    reason: "FieldValueInvalid",
    fieldPath: ".kv.type",
    broken: (self) =>
      stringAt(self, "kv", "type") === "postgres" && stringAt(self, "sql", "type") !== "postgres"
        ? "kv type postgres requires sql type postgres"
        : undefined,
  },
  endpoint.needed,
  endpoint.only,
  password.only,
  connection.needed,
  connection.only,
  ...PROVIDER_LISTS.map(({ field }) => explicitIds(field)),
  uniqueProviderIds,
  uniqueModels,
  inOneList("shields", "shieldConfigs", "shield"),
  inOneList("tools", "toolGroups", "tool group"),
  {
    at: "spec.resources.datasets[]",
    cel: "has(self.uri) != has(self.rows)",
    message: "exactly one of uri and rows must be specified",
    reason: "FieldValueInvalid",
    broken: (self) =>
      Object.hasOwn(self, "uri") === Object.hasOwn(self, "rows")
        ? "exactly one of uri and rows must be specified"
        : undefined,
  },
  {
    at: "spec.resources.models[]",
    cel: "!has(self.modelType) || self.modelType != 'embedding' || has(self.embeddingDimension)",
    message: "embeddingDimension is required when modelType is embedding",
    reason: "FieldValueRequired",
    fieldPath: ".embeddingDimension",
    broken: (self) =>
      stringAt(self, "modelType") === "embedding" && !Object.hasOwn(self, "embeddingDimension")
        ? "embeddingDimension is required when modelType is embedding"
        : undefined,
  },
  {
    at: "spec.vectorStores.chunking",
    cel: "!has(self.chunkOverlapTokens) || self.chunkOverlapTokens < self.maxChunkSizeTokens",
    message: "chunkOverlapTokens must be less than maxChunkSizeTokens",
    reason: "FieldValueInvalid",
    fieldPath: ".chunkOverlapTokens",
    broken: (self) => {
      const { chunkOverlapTokens: overlap, maxChunkSizeTokens: size } = self;
      return typeof overlap === "number" && typeof size === "number" && overlap >= size
        ? "chunkOverlapTokens must be less than maxChunkSizeTokens"
        : undefined;
    },
  },
  {
    at: "spec.networking.tls",
    cel: "!(has(self.enabled) && self.enabled) || has(self.secretName)",
    message: "secretName is required when TLS is enabled",
    reason: "FieldValueRequired",
    fieldPath: ".secretName",
    broken: (self) =>
      member(self, "enabled") === true && !Object.hasOwn(self, "secretName")
        ? "secretName is required when TLS is enabled"
        : undefined,
  },
  {
    at: "spec.networking.tls",
    cel: "!has(self.secretName) || (has(self.enabled) && self.enabled)",
    message: "secretName is only valid when TLS is enabled",
    reason: "FieldValueForbidden",
    fieldPath: ".secretName",
    broken: (self) =>
      Object.hasOwn(self, "secretName") && member(self, "enabled") !== true
        ? "secretName is only valid when TLS is enabled"
        : undefined,
  },
  {
    at: "spec.networking.expose",
    cel: "!has(self.hostname) || self.hostname != ''",
    message: "hostname must not be empty if specified",
    reason: "FieldValueInvalid",
    fieldPath: ".hostname",
    broken: (self) => member(self, "hostname") === "" ? "hostname must not be empty if specified" : undefined,
  },
  {
    at: "spec.networking",
    cel: "!has(self.policy) || !has(self.policy.enabled) || self.policy.enabled || !has(self.allowedFrom) && " +
      "!has(self.policy.ingress) && !has(self.policy.egress)",
    message: NO_POLICY,
    reason: "FieldValueForbidden",
    fieldPath: ".policy.enabled",
    broken: (self) => {
      const policy = objectAt(self, "policy");
      return member(policy, "enabled") === false &&
          (Object.hasOwn(self, "allowedFrom") || Object.hasOwn(policy, "ingress") || Object.hasOwn(policy, "egress"))
        ? NO_POLICY
        : undefined;
    },
  },
  ...GATEWAY_RULES,
  {
    at: "spec.workload",
    cel: "!has(self.autoscaling) || !has(self.scaling) || self.scaling != 'External'",
    message: TWO_SCALERS,
    reason: "FieldValueForbidden",
    fieldPath: ".autoscaling",
    broken: (self) => Object.hasOwn(self, "autoscaling") && self.scaling === "External" ? TWO_SCALERS : undefined,
  },
  {
    at: "spec.workload.autoscaling",
    cel: "!has(self.minReplicas) || self.maxReplicas >= self.minReplicas",
    message: "maxReplicas must be greater than or equal to minReplicas",
    reason: "FieldValueInvalid",
    fieldPath: ".maxReplicas",
    tolerated: "maxReplicas applies as both bounds",
    broken: (self) =>
      Number(member(self, "minReplicas") ?? Number.NEGATIVE_INFINITY) > Number(member(self, "maxReplicas"))
        ? "maxReplicas must be greater than or equal to minReplicas"
        : undefined,
  },
  {
    at: "spec.workload.storage",
    cel: "!has(self.existingClaim) || (!has(self.size) && !has(self.storageClassName))",
    message: "existingClaim cannot be combined with size or storageClassName",
    reason: "FieldValueForbidden",
    fieldPath: ".existingClaim",
    broken: (self) =>
      Object.hasOwn(self, "existingClaim") && (Object.hasOwn(self, "size") || Object.hasOwn(self, "storageClassName"))
        ? "existingClaim cannot be combined with size or storageClassName"
        : undefined,
  },
  positiveQuantity("spec.workload.storage", "size"),
  ...AUTHENTICATION_RULES,
  {
    ...exclusive("spec.workload.podDisruptionBudget", "minAvailable", "maxUnavailable"),
    tolerated: "minAvailable applies",
  },
];

/** Those that stored resources may break. */
export const TOLERATED_RULES: ReadonlyArray<Rule> = RULES.filter(({ tolerated }) => tolerated !== undefined);

/** The API that an item of `spec.disabled` names, as the server spells it; the schema validates the items. */
export const disabledApi = (item: string): string => {
  const [name = ""] = item.split("/");
  return (API_NAMES as ReadonlyArray<string>).find((api) => api === name || camelCase(api) === name) ?? name;
};

/** The item of `spec.disabled` that removes the provider from the base config. */
export const disablingEntry = (
  { disabled }: { readonly disabled?: ReadonlyArray<string> | undefined },
  api: string,
  id: string,
): string | undefined =>
  disabled?.find((item) => disabledApi(item) === api && ["*", id].includes(disabledProvider(item) ?? ""));

/** The provider id behind the API in an item of `spec.disabled`, or `*`; undefined if it names the API as a whole. */
export const disabledProvider = (item: string): string | undefined => item.split("/")[1];
