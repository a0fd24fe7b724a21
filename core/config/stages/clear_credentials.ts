/** Where a setting of a config has a credential in clear text. */
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json } from "../../data/json.ts";
import type { CatalogueField } from "../servers/catalogue.ts";

/** Passwords in URLs anywhere in the value, and headers with credentials. */
export const clearCredentials = (value: Json, place: FieldPath): ReadonlyArray<FieldPath> => {
  if (typeof value === "string") return URL_WITH_PASSWORD.test(value) && !value.includes("${env.") ? [place] : [];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    HEADERS.test(String(place.at(-1))) && typeof inner === "string" && inner !== "" && !inner.includes("${env.") &&
      CREDENTIAL_HEADER.test(key)
      ? [[...place, key]]
      : clearCredentials(inner, [...place, key])
  );
};

const URL_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i;
/** With values that are sent; those of `forward_headers` are names. */
const HEADERS = /^(moderation_)?headers$/;
const CREDENTIAL_HEADER = /^(proxy-)?authorization$|^cookie$|(^|[-_])(api[-_]?key|token)$/i;

export const isClearCredential = (field: CatalogueField, value: Json): boolean =>
  field.secret === true && typeof value === "string" && value !== "" && !value.includes("${env.");
