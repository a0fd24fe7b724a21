/** Errors and warnings about the fields of one provider, compared with the fields that its type reads. */
import { didYouMean } from "../../data/closest.ts";
import { ForbiddenSetting, SettingInvalid } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, member } from "../../data/json.ts";
import { type Warning, warning, type WarningCode } from "../../failure/warning.ts";
import type { Facts } from "../draft.ts";
import { hasInvalidPlaceholder, LITERAL_PLACEHOLDER, PLACEHOLDER_FORMS, shellForm } from "../known_environment.ts";
import { secretDefaults } from "../secret_text.ts";
import { clearCredentials, isClearCredential } from "./clear_credentials.ts";
import type { KnownProvider } from "./known_provider.ts";
import { incompleteAddress, unfitAddress } from "../connections/endpoint.ts";
import { mayExist, missingFolder, notMounted } from "../mounted_files.ts";
import { absentFields, type CatalogueField, type CatalogueModel, type ProviderType } from "../servers/catalogue.ts";
import { isOverruled } from "./expanded_texts.ts";
import { classOf, fieldOf, nestedMisfits, unknownVariant } from "../servers/class_misfits.ts";
import { expectedInstead } from "../servers/field_types.ts";

export interface Found<E> {
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<E>;
}

/** Where the fields of one provider are written: in the resource, or in a config. */
export interface Places {
  readonly of: (key: string) => FieldPath;
  /** The way for a secret value, e.g. `use apiKey`. */
  readonly secret: (key: string) => string;
  /** The name of a field for another one that the type does not read; continues "it has no effect". */
  readonly instead: (key: string) => string | undefined;
  /** Whether a Secret is referred to there. */
  readonly isReference: (key: string) => boolean;
  /** Whether a placeholder that no server expands stands where the server starts with it, as in a config of the author's. */
  readonly isLiteral?: boolean;
  /** Whether the config around the provider has a section of this name. */
  readonly hasSection?: (name: string) => boolean;
}

/** In a list of `spec.providers`. */
export const placesInResource = ({ path, provider, known }: KnownProvider): Places => {
  const isReference = (key: string) => Object.hasOwn(provider.secretRefs ?? {}, key);
  return {
    of: (key) => [...path, isReference(key) ? "secretRefs" : "settings", key],
    secret: (key) => `use ${key === known.key || key === "apiKey" ? "apiKey" : `secretRefs.${key}`}`,
    instead: (key) =>
      insteadOf(key, known, {
        key: "use apiKey, which this type reads as",
        endpoint: "use endpoint, which this type reads as",
      }),
    isReference,
  };
};

/** In the `config` of an entry of config.yaml, to which `path` leads. */
export const placesInConfig = (path: FieldPath, known: ProviderType): Places => ({
  of: (key) => [...path, key],
  secret: () => FROM_VARIABLE,
  instead: (key) => insteadOf(key, known, { key: "this type reads", endpoint: "this type reads" }),
  isReference: () => false,
  isLiteral: true,
});

/** What the checks of one provider's settings need to know. */
interface Checked {
  /** In messages, e.g. `provider type "remote::vllm"`. */
  readonly whose: string;
  readonly facts: Facts;
  readonly isLiteral: boolean | undefined;
}

/** Values in `settings` that the type would not take: references to Secrets, wrong types, credentials in clear text. */
export const settingFindings = (
  settings: JsonObject,
  { api, type }: { readonly api: string; readonly type: string },
  known: ProviderType,
  places: Pick<Places, "of" | "secret" | "isLiteral" | "hasSection">,
  facts: Facts,
  whose = `provider type "${type}"`,
): Found<SettingInvalid> =>
  together(
    Object.entries(settings).map(([key, value]) => {
      const field = fieldOf(known.fields, key);
      if (field === undefined) return NOTHING;
      const place = places.of(key);
      if (field.replacedBy !== undefined && places.hasSection?.(field.replacedBy) === true) {
        return warned("SettingOverruled", place, `the server reads the section ${field.replacedBy} instead; remove it`);
      }
      const unfit = key === known.endpoint && typeof value === "string"
        ? unfitAddress(value, { api, type }, facts)
        : undefined;
      const isAddress = field.type === "url" || key === known.endpoint;
      // A password may contain the form.
      const isRead = isAddress || field.secret === true && /^\$\{\w+\}$/.test(String(value));
      const shell = isRead && typeof value === "string" ? shellForm(value) : undefined;
      if (shell !== undefined) {
        return unfit === undefined && expectedInstead(field, value) === undefined
          ? warned("VariableUnfit", place, shell)
          : failed(place, shell);
      }
      if (unfit !== undefined) return failed(place, unfit);
      const folder = missingFolder(`${type} ${key}`, value, facts);
      if (folder !== undefined) return warned("FileNotMounted", place, folder);
      // One with variables is judged by what the server makes of it (expanded.ts).
      const incomplete = key === known.endpoint && typeof value === "string" && !value.includes("${env.")
        ? incompleteAddress(value, { api, type }, facts)
        : undefined;
      if (incomplete !== undefined) return warned("EndpointIncomplete", place, incomplete);
      const checked = { whose, facts, isLiteral: places.isLiteral };
      const found = valueFindings(field, value, place, places.secret(key), checked);
      return found.failures.length === 0 && isOverruled(key, settings, known.fields)
        ? warned("SettingOverruled", place, "the server reads network.tls instead; remove it")
        : found;
    }),
  );

/** `instead` is the place for a secret value. */
const valueFindings = (
  field: CatalogueField,
  value: Json,
  place: FieldPath,
  instead: string,
  checked: Checked,
): Found<SettingInvalid> => {
  const { whose, facts, isLiteral } = checked;
  const model = isObject(value) ? classOf(field, value, facts.server.catalogue) : undefined;
  const reference = isReference(value) ? place : model === undefined ? referenceWithin(value, place) : undefined;
  if (reference !== undefined) {
    const within = reference.length > place.length ? FROM_VARIABLE : instead;
    return failed(reference, `a reference to a Secret has no effect in settings; ${within}`);
  }
  if (hasInvalidPlaceholder(value)) {
    return isLiteral === true && expectedInstead(field, value, true) === undefined
      ? warned("VariableUnfit", place, LITERAL_PLACEHOLDER)
      : failed(place, PLACEHOLDER_FORMS);
  }
  const expected = expectedInstead(field, value);
  // The value is not quoted: it may be a secret in the wrong place.
  if (expected !== undefined) return failed(place, `wrong type for ${whose}; expected ${expected}`);
  const nested = nestedMisfits(field, value, place, facts.server.catalogue);
  if (nested.length > 0) return together(nested.map(({ path, message }) => failed(path, message)));
  if (model !== undefined && isObject(value)) return modelFindings(model, value, place, checked);
  const unknown = isObject(value) && field.variants !== undefined ? unknownVariant(field, value, place) : [];
  if (unknown.length > 0) return together(unknown.map(({ path, message }) => failed(path, message)));
  if (isClearCredential(field, value)) {
    return warned("CredentialInSettings", place, `the value is stored in clear text in a ConfigMap; ${instead}`);
  }
  const defaulted = typeof value === "string" ? secretDefaults(value) : [];
  if (defaulted.length > 0) {
    return warned(
      "CredentialInSettings",
      place,
      `the default of ${
        defaulted.join(", ")
      } is a credential, stored in clear text in a ConfigMap; remove the default, ` +
        "and set the variable from a Secret in spec.workload.overrides.env",
    );
  }
  const clear = clearCredentials(value, place);
  if (clear.length > 0) {
    return together(
      clear.map((at) =>
        warned("CredentialInSettings", at, `the value is stored in clear text in a ConfigMap; ${FROM_VARIABLE}`)
      ),
    );
  }
  return field.file === true && typeof value === "string" && !value.includes("${env.") && !mayExist(value, facts)
    ? warned("FileNotMounted", place, notMounted(value))
    : NOTHING;
};

export const FROM_VARIABLE =
  "set a variable from the Secret in spec.workload.overrides.env, and write ${env.NAME} with its name here";

/** A map whose fields the server knows, such as `network`. */
const modelFindings = (
  { fields, extra }: CatalogueModel,
  value: JsonObject,
  place: FieldPath,
  checked: Checked,
): Found<SettingInvalid> => {
  const names = namesOf(fields);
  const missing = absentFields(fields, value);
  return together([
    ...missing.map((name) => failed(place, `"${name}" is required in this map`)),
    ...Object.entries(value).map(([key, inner]) => {
      const at = [...place, key];
      const field = fieldOf(fields, key);
      if (field !== undefined) return valueFindings(field, inner, at, FROM_VARIABLE, checked);
      if (isReference(inner)) return failed(at, `a reference to a Secret has no effect in settings; ${FROM_VARIABLE}`);
      if (extra === "allow") return NOTHING;
      return extra === "forbid"
        ? failed(at, `unknown field for ${checked.whose}; allowed fields: ${names.sort().join(", ")}`)
        : warned(
          "UnknownSetting",
          at,
          `unknown field for ${checked.whose}; it has no effect${didYouMean(key, names)}`,
        );
    }),
  ]);
};

const NOTHING: Found<never> = { warnings: [], failures: [] };

const failed = (path: FieldPath, detail: string): Found<SettingInvalid> => ({
  warnings: [],
  failures: [new SettingInvalid({ path, detail })],
});

const warned = (code: WarningCode, path: FieldPath, message: string): Found<never> => ({
  warnings: [warning(code, path, message)],
  failures: [],
});

const together = (found: ReadonlyArray<Found<SettingInvalid>>): Found<SettingInvalid> => ({
  warnings: found.flatMap(({ warnings }) => warnings),
  failures: found.flatMap(({ failures }) => failures),
});

/** Every name under which YAML may write the fields. */
const namesOf = (fields: ProviderType["fields"]): Array<string> =>
  Object.entries(fields).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);

const isReference = (value: Json): boolean =>
  isObject(value) &&
  (isObject(member(value, "secretKeyRef")) || isObject(member(member(value, "valueFrom"), "secretKeyRef")));

/** The path in a setting at which an author wrote a reference in the form of Kubernetes. */
const referenceWithin = (value: Json, path: FieldPath): FieldPath | undefined => {
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => referenceWithin(item, [...path, index])).find((item) => item !== undefined);
  }
  if (!isObject(value)) return undefined;
  if (isReference(value)) return path;
  return Object.entries(value).map(([key, inner]) => referenceWithin(inner, [...path, key]))
    .find((item) => item !== undefined);
};

/** What other types call their key and their address. */
const KEYS = /^(api_?(key|token)|token|access_token|bearer_token|password)$/i;
const ADDRESSES = /^((base|api|server)_?)?(url|uri|endpoint|address|host)$/i;

/** Continues "it has no effect". */
const insteadOf = (
  key: string,
  { key: ofKey, endpoint }: ProviderType,
  words: { readonly key: string; readonly endpoint: string },
): string | undefined => {
  if (ofKey !== undefined && KEYS.test(key)) return `; ${words.key} ${ofKey}`;
  return endpoint !== undefined && ADDRESSES.test(key) ? `; ${words.endpoint} ${endpoint}` : undefined;
};

/** Keys that the type does not know: most types ignore them silently, so a warning reports them. */
export const strayFindings = (
  config: JsonObject,
  type: string,
  known: ProviderType,
  places: Places,
  whose = `provider type "${type}"`,
): Found<ForbiddenSetting> => {
  const names = namesOf(known.fields);
  const stray = Object.keys(config).filter((key) => !names.includes(key) && known.references?.[key] === undefined);
  if (known.extra === "allow") return NOTHING;
  if (known.extra === "forbid") {
    return {
      warnings: [],
      failures: stray.map((key) => new ForbiddenSetting({ path: places.of(key), type, known: names.sort() })),
    };
  }
  return {
    warnings: stray.map((key) =>
      warning(
        "UnknownSetting",
        places.of(key),
        `unknown field for ${whose}; it has no effect${places.instead(key) ?? didYouMean(key, names)}${
          places.isReference(key) ? "; the pod does not start without its Secret" : ""
        }`,
      )
    ),
    failures: [],
  };
};
