/** Which of the server's provider types a provider of the resource is. */
import * as Result from "effect/Result";
import type { ProviderList } from "../../api/api_names.ts";
import { effectiveId } from "../../api/rules.ts";
import type { Provider } from "../../api/v1alpha2.ts";
import { NotSupportedByServer, UnknownProviderType } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { type Catalogue, isDirect, type ProviderType, providerType } from "../servers/catalogue.ts";
import { entriesOf, entryOf, type Facts } from "../draft.ts";
import { apiOn, withoutApi } from "../servers/families/families.ts";
import { startableTypes, unstartableType } from "../servers/families/unstartable_types.ts";

export interface KnownProvider {
  /** As the author wrote it. */
  readonly provider: Provider;
  /** In the resource. */
  readonly path: FieldPath;
  readonly field: ProviderList;
  /** The server's name of it. */
  readonly api: string;
  readonly id: string;
  /** The full name that this server has for it, such as `remote::vllm`. */
  readonly type: string;
  readonly known: ProviderType;
  /** Of a type that the base config adds to those of the server: what implements it. */
  readonly module: Json | undefined;
  /** The config that the provider becomes a part of. */
  readonly base: JsonObject;
  /** The settings of the entry that it replaces there. */
  readonly replaced: JsonObject;
}

export const knownProvider = (
  provider: Provider,
  list: { readonly field: ProviderList; readonly api: string },
  path: FieldPath,
  base: JsonObject,
  facts: Facts,
): Result.Result<KnownProvider, NotSupportedByServer | UnknownProviderType> => {
  const { server, serverName } = facts;
  const { catalogue } = server;
  const api = apiOn(server, list.api) ?? list.api;
  const unsupported = () => {
    const instead = withoutApi(server, api);
    return Result.fail(new NotSupportedByServer({ path, what: `${api} API`, server: serverName, instead }));
  };
  if (!Object.hasOwn(catalogue.apis, api)) return unsupported();
  const type = typeHere(provider.provider, api, facts);
  const module = moduleOf(base, api, type);
  const known = providerType(catalogue, api, type) ?? (module === undefined ? undefined : OF_A_MODULE);
  const place = [...path, "provider"];
  if (known === undefined) {
    const offered = startableTypes(server, api);
    if (offered.length === 0) return unsupported();
    return Result.fail(new UnknownProviderType({ path: place, type, api, server: serverName, offered }));
  }
  const unstartable = unstartableType(server, api, type);
  if (unstartable !== undefined) {
    const { reason, instead } = unstartable;
    const what = `${api} provider of type "${type}": ${reason}`;
    return Result.fail(new NotSupportedByServer({ path: place, what, server: serverName, instead }));
  }
  const id = effectiveId(provider as unknown as Json);
  const replaced = settingsOfReplaced(base, { api, id, type }, catalogue);
  return Result.succeed({ provider, path, field: list.field, api, id, type, known, module, base, replaced });
};

/**
 * Of the entry of the base config that a provider of the same type replaces: it goes on with the data of that entry. Where the
 * server uses one provider of an API, it replaces that of the base config under any id.
 */
const settingsOfReplaced = (
  base: JsonObject,
  { api, id, type }: Pick<KnownProvider, "api" | "id" | "type">,
  catalogue: Catalogue,
): JsonObject => {
  const isOfType = (entry: JsonObject | undefined) => stringAt(entry, "provider_type") === type;
  const same = entryOf(base, api, id);
  const entry = same === undefined && isDirect(catalogue, api) ? entriesOf(base, api).findLast(isOfType) : same;
  return isOfType(entry) ? objectAt(entry, "config") : {};
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

/** The full type under its name on this server: types were renamed, and servers accept no former names. */
export const typeHere = (wanted: string, api: string, { server: { catalogue, family } }: Pick<Facts, "server">) => {
  const type = fullType(catalogue, api, wanted);
  const row = `${api} ${type}`;
  return providerType(catalogue, api, type) === undefined && Object.hasOwn(family.typeAliases, row)
    ? family.typeAliases[row] ?? type
    : type;
};

/** Of a type that is not the server's own: an entry of the base config names the module that implements it. */
const moduleOf = (base: JsonObject, api: string, type: string): Json | undefined =>
  entriesOf(base, api).find((entry) => entry.provider_type === type && Object.hasOwn(entry, "module"))?.module;

/** Nothing is known of its settings. */
const OF_A_MODULE: ProviderType = { fields: {}, extra: "allow" };
