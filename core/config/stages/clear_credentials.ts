/** Where a setting of a config has a credential in clear text. */
import type { FieldPath } from "../../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject, objectAt } from "../../data/json.ts";
import type { Catalogue, CatalogueField, CatalogueModel } from "../servers/catalogue.ts";
import { classOf, fieldOf } from "../servers/class_misfits.ts";

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
  field.secret === true && isClear(value);

const isClear = (value: Json): boolean => typeof value === "string" && value !== "" && !value.includes("${env.");

/** In `server.auth` of a config, by the classes of the server. */
export const clearCredentialsOfAuth = (config: JsonObject, catalogue: Catalogue): ReadonlyArray<FieldPath> => {
  const section = objectAt(config, "server");
  const auth = objectAt(section, "auth");
  const server = modelOf(catalogue.models[catalogue.config.class], "server", section, catalogue);
  return inMap(modelOf(server, "auth", auth, catalogue), auth, ["server", "auth"], catalogue);
};

const modelOf = (above: CatalogueModel | undefined, key: string, value: JsonObject, catalogue: Catalogue) => {
  const field = fieldOf(above?.fields ?? {}, key);
  return field === undefined ? undefined : classOf(field, value, catalogue);
};

const inMap = (
  model: CatalogueModel | undefined,
  map: JsonObject,
  place: FieldPath,
  catalogue: Catalogue,
): ReadonlyArray<FieldPath> =>
  Object.entries(map).flatMap(([key, value]) => {
    const field = fieldOf(model?.fields ?? {}, key);
    const path = [...place, key];
    if (field === undefined) return [];
    if (isList(value)) return value.flatMap((item, index) => KEYS.has(key) && isClear(item) ? [[...path, index]] : []);
    if (isObject(value)) return inMap(classOf(field, value, catalogue), value, path, catalogue);
    return isClearCredential(field, value) ? [path] : [];
  });

/** Lists of keys, which the class has as plain text. Source: LocalApiKeyAuthConfig in core/datatypes.py. */
const KEYS: ReadonlySet<string> = new Set(["api_keys"]);
