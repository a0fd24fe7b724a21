/** Errors and warnings about the fields of one provider, compared with the fields that its type reads. */
import { didYouMean } from "../../data/closest.ts";
import { ForbiddenSetting, RuleBroken, SettingInvalid } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, member } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import type { Provider } from "../../api/v1alpha2.ts";
import type { CatalogueField, ProviderType } from "../servers/catalogue.ts";
import { expectedInstead } from "../servers/field_types.ts";

export interface Found<E> {
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<E>;
}

/** Values in `settings` that the type would not take: references to Secrets, wrong types, credentials in clear text. */
export const settingFindings = (
  settings: JsonObject,
  type: string,
  known: ProviderType,
  path: FieldPath,
): Found<SettingInvalid> => {
  const found = Object.entries(settings).map(([key, value]): Found<SettingInvalid> => {
    const place = [...path, "settings", key];
    const field = fieldOf(known, key);
    if (field === undefined) return NOTHING;
    const reference = referenceWithin(value, place);
    if (reference !== undefined) {
      const instead = `a reference to a Secret has no effect in settings; use ${secretFieldFor(key, known)}`;
      return { warnings: [], failures: [new SettingInvalid({ path: reference, detail: instead })] };
    }
    const expected = expectedInstead(field, value);
    if (expected !== undefined) {
      // The value is not quoted: it may be a secret in the wrong place.
      const detail = `wrong type for provider type "${type}"; expected ${expected}`;
      return { warnings: [], failures: [new SettingInvalid({ path: place, detail })] };
    }
    return isClearCredential(field, value)
      ? {
        warnings: [
          warning(
            "CredentialInSettings",
            place,
            `the value is stored in clear text in a ConfigMap; use ${secretFieldFor(key, known)}`,
          ),
        ],
        failures: [],
      }
      : NOTHING;
  });
  return {
    warnings: found.flatMap(({ warnings }) => warnings),
    failures: found.flatMap(({ failures }) => failures),
  };
};

const NOTHING: Found<never> = { warnings: [], failures: [] };

const fieldOf = (known: ProviderType, key: string): CatalogueField | undefined =>
  Object.hasOwn(known.fields, key)
    ? known.fields[key]
    : Object.values(known.fields).find(({ aliases = [] }) => aliases.includes(key));

/** The path in a setting at which an author wrote a reference in the form of Kubernetes. */
const referenceWithin = (value: Json, path: FieldPath): FieldPath | undefined => {
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => referenceWithin(item, [...path, index])).find((item) => item !== undefined);
  }
  if (!isObject(value)) return undefined;
  if (isObject(member(value, "secretKeyRef")) || isObject(member(member(value, "valueFrom"), "secretKeyRef"))) {
    return path;
  }
  return Object.entries(value).map(([key, inner]) => referenceWithin(inner, [...path, key]))
    .find((item) => item !== undefined);
};

const secretFieldFor = (key: string, known: ProviderType): string =>
  key === known.key || key === "apiKey" ? "apiKey" : `secretRefs.${key}`;

const isClearCredential = (field: CatalogueField, value: Json): boolean =>
  field.secret === true && typeof value === "string" && value !== "" && !value.includes("${env.");

/** Fields that stand for the same key of the config: one of the two would be lost. */
export const doubledFields = (provider: Provider, known: ProviderType, path: FieldPath): ReadonlyArray<RuleBroken> =>
  [
    provider.endpoint === undefined ? [] : [["endpoint", known.endpoint], ["endpoint", known.endpointPort]],
    provider.apiKey === undefined ? [] : [["apiKey", known.key]],
  ].flat().flatMap(([field, key]) =>
    key === undefined || !Object.hasOwn(provider.secretRefs ?? {}, key) ? [] : [
      new RuleBroken({
        path: [...path, "secretRefs", key],
        detail: `sets the same field of the provider as ${field}: "${key}"; remove one of the two`,
      }),
    ]
  );

/** Keys that the type does not know: most types ignore them silently, so a warning reports them. */
export const strayFindings = (
  config: JsonObject,
  provider: Provider,
  type: string,
  known: ProviderType,
  path: FieldPath,
): Found<ForbiddenSetting> => {
  const names = Object.entries(known.fields).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
  const stray = Object.keys(config).filter((key) => !names.includes(key) && known.references?.[key] === undefined);
  const placeOf = (key: string): FieldPath => [
    ...path,
    Object.hasOwn(provider.secretRefs ?? {}, key) ? "secretRefs" : "settings",
    key,
  ];
  if (known.extra === "allow") return NOTHING;
  if (known.extra === "forbid") {
    return {
      warnings: [],
      failures: stray.map((key) => new ForbiddenSetting({ path: placeOf(key), type, known: names.sort() })),
    };
  }
  return {
    warnings: stray.map((key) =>
      warning(
        "UnknownSetting",
        placeOf(key),
        `unknown field for provider type "${type}"; it has no effect${didYouMean(key, names)}${
          Object.hasOwn(provider.secretRefs ?? {}, key) ? ", but the pod does not start without its Secret" : ""
        }`,
      )
    ),
    failures: [],
  };
};
