/**
 * The catalogue of each published server: APIs, provider types and their config fields.
 *
 * `deno task catalogue` generates configs/catalogue from the published packages, one file per minor version.
 */
import catalogue02 from "../../../configs/catalogue/0.2.json" with { type: "text" };
import catalogue03 from "../../../configs/catalogue/0.3.json" with { type: "text" };
import catalogue04 from "../../../configs/catalogue/0.4.json" with { type: "text" };
import catalogue05 from "../../../configs/catalogue/0.5.json" with { type: "text" };
import catalogue06 from "../../../configs/catalogue/0.6.json" with { type: "text" };
import catalogue07 from "../../../configs/catalogue/0.7.json" with { type: "text" };
import catalogue08 from "../../../configs/catalogue/0.8.json" with { type: "text" };
import catalogue10 from "../../../configs/catalogue/1.0.json" with { type: "text" };
import catalogue11 from "../../../configs/catalogue/1.1.json" with { type: "text" };
import catalogue12 from "../../../configs/catalogue/1.2.json" with { type: "text" };
import catalogue13 from "../../../configs/catalogue/1.3.json" with { type: "text" };
import catalogue14 from "../../../configs/catalogue/1.4.json" with { type: "text" };
import catalogue15 from "../../../configs/catalogue/1.5.json" with { type: "text" };
import endpointPaths from "../../../configs/endpoint_paths.json" with { type: "json" };

export type FieldType = "string" | "integer" | "number" | "boolean" | "url" | "object" | "array" | "any";

/** What a value has to be. */
export interface ValueType {
  readonly type: FieldType;
  readonly nullable?: boolean;
  readonly enum?: ReadonlyArray<unknown>;
  /** Key of `Catalogue.models`: what a map in this field may contain. */
  readonly model?: string;
  /** By the value of `type` in the map, the key of `Catalogue.models` for the rest of it. */
  readonly variants?: Readonly<Record<string, string>>;
  /** The class is chosen by `type` alone, which therefore has to be there. */
  readonly tagged?: boolean;
  /** Every item of a list. */
  readonly items?: NestedType;
  /** Every value of a map with any keys. */
  readonly values?: NestedType;
  /** What a URL may begin with; unset: any scheme. */
  readonly schemes?: ReadonlyArray<string>;
  /** Of type `any`: one of these. */
  readonly choices?: ReadonlyArray<ValueType>;
  /** A text, a list or a map must not be empty. */
  readonly notEmpty?: boolean;
  /** What the whole of a text has to match. */
  readonly pattern?: string;
}

/** A plain type, or more than that. */
export type NestedType = Exclude<FieldType, "any"> | ValueType;

/** One field of a class of the server, under the name that YAML uses. */
export interface CatalogueField extends ValueType {
  /** The class changes a value before it looks at its type. */
  readonly converted?: boolean;
  readonly required?: boolean;
  readonly secret?: boolean;
  readonly default?: unknown;
  /** Other names under which the type reads the field. */
  readonly aliases?: ReadonlyArray<string>;
  readonly description?: string;
  /** The server looks for the file at this path when it starts. */
  readonly file?: boolean;
  /** The server takes this section of its config instead, if that is there. */
  readonly replacedBy?: string;
  /** In place of a path, the text "true" or "false" is accepted. */
  readonly quotedBoolean?: boolean;
  /** Texts that have to be somewhere in the value. */
  readonly contains?: ReadonlyArray<string>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** The class of a map: of a whole config, or of a part of it. */
export interface CatalogueModel {
  readonly fields: Readonly<Record<string, CatalogueField>>;
  /** The class changes the map before it looks at its fields. */
  readonly converted?: boolean;
  /** At least one of these fields has to be there. */
  readonly oneOf?: ReadonlyArray<string>;
  /** Pairs of fields that exclude each other. */
  readonly apart?: ReadonlyArray<ReadonlyArray<string>>;
  /** What the class does with fields that it does not know. */
  readonly extra: "ignore" | "forbid" | "allow";
}

/** A reference to a storage backend inside a provider's config. */
export interface StorageReference {
  readonly kind: "kv" | "sql";
  readonly required?: boolean;
  readonly default?: unknown;
}

export interface ProviderType {
  readonly fields: Readonly<Record<string, CatalogueField>>;
  /** The field that `endpoint` is written to, and the one for the port if host and port are separate. */
  readonly endpoint?: string;
  readonly endpointPort?: string;
  /** The field that `apiKey` is written to. */
  readonly key?: string;
  /** By dotted path in the config. */
  readonly references?: Readonly<Record<string, StorageReference>>;
  /** APIs that must be there. */
  readonly requires?: ReadonlyArray<string>;
  readonly optional?: ReadonlyArray<string>;
  readonly pip?: ReadonlyArray<string>;
  /** What the type does with fields that it does not know. */
  readonly extra?: "ignore" | "forbid" | "allow";
  readonly deprecated?: string;
}

export interface CatalogueApi {
  /** routed: several providers behind a router; direct: one provider; table: the registry of a routed one; internal: always on. */
  readonly kind: "routed" | "direct" | "table" | "internal";
  readonly table?: string;
  readonly router?: string;
}

export interface Catalogue {
  /** Minor version, e.g. `1.4`. */
  readonly server: string;
  readonly origin: Readonly<Record<string, string>>;
  readonly apis: Readonly<Record<string, CatalogueApi>>;
  /** The key of `models` for a whole config, and the ids without which an item of a list is left out. */
  readonly config: { readonly class: string; readonly ids: ReadonlyArray<string> };
  readonly models: Readonly<Record<string, CatalogueModel>>;
  /** The types of `storage.backends`; none before 0.3. */
  readonly backends: Readonly<Record<string, CatalogueModel>>;
  /** By API, then by provider type. */
  readonly providers: Readonly<Record<string, Readonly<Record<string, ProviderType>>>>;
}

/** Parsed when somebody reads it: a command needs one of them, and their texts are most of the program. */
const parsedLate = (server: string, text: string): Catalogue => {
  let parsed: Catalogue | undefined;
  const whole = () => parsed ??= JSON.parse(text) as Catalogue;
  return {
    server,
    get origin() {
      return whole().origin;
    },
    get apis() {
      return whole().apis;
    },
    get config() {
      return whole().config;
    },
    get models() {
      return whole().models;
    },
    get backends() {
      return whole().backends;
    },
    get providers() {
      return whole().providers;
    },
  };
};

/** Oldest first. */
export const CATALOGUES: ReadonlyArray<Catalogue> = [
  parsedLate("0.2", catalogue02),
  parsedLate("0.3", catalogue03),
  parsedLate("0.4", catalogue04),
  parsedLate("0.5", catalogue05),
  parsedLate("0.6", catalogue06),
  parsedLate("0.7", catalogue07),
  parsedLate("0.8", catalogue08),
  parsedLate("1.0", catalogue10),
  parsedLate("1.1", catalogue11),
  parsedLate("1.2", catalogue12),
  parsedLate("1.3", catalogue13),
  parsedLate("1.4", catalogue14),
  parsedLate("1.5", catalogue15),
];

export const providerType = (catalogue: Catalogue, api: string, type: string): ProviderType | undefined => {
  const types = Object.hasOwn(catalogue.providers, api) ? catalogue.providers[api] : undefined;
  return types !== undefined && Object.hasOwn(types, type) ? types[type] : undefined;
};

/** Required fields that are not written, under none of their names. */
export const absentFields = (
  fields: ProviderType["fields"],
  written: Readonly<Record<string, unknown>>,
): ReadonlyArray<string> =>
  Object.entries(fields).filter(([name, { required, aliases = [] }]) =>
    required === true && [name, ...aliases].every((key) => !Object.hasOwn(written, key))
  ).map(([name]) => name);

/** Whether the server uses one provider of the API: the last in its config. */
export const isDirect = (catalogue: Catalogue, api: string): boolean =>
  Object.hasOwn(catalogue.apis, api) && catalogue.apis[api]?.kind === "direct";

/** The types of one API, sorted. */
export const providerTypes = (catalogue: Catalogue, api: string): ReadonlyArray<string> =>
  Object.hasOwn(catalogue.providers, api) ? Object.keys(catalogue.providers[api] ?? {}).sort() : [];

/** What a provider type expects of its endpoint on one server. */
export interface EndpointExpectation {
  /** The path that a bare host lacks, e.g. `/v1`; empty when the type wants none. */
  readonly path: string;
  /** The client accepts only URLs with one of these schemes; unset where the server's schema checks the URL. */
  readonly schemes?: ReadonlyArray<string>;
  /** A local database in a file with the extension .db is accepted as well. */
  readonly mayBeFile?: boolean;
  /** The client rejects a URL with a path. */
  readonly isPathless?: boolean;
  /** The client rejects an http:// URL without a port. */
  readonly needsPort?: boolean;
  /** The client takes every address but `localhost:<port>` for the cloud of its vendor, with HTTPS and without a port. */
  readonly isCloud?: boolean;
  /** Without an endpoint the server does not start, or the provider answers nothing. */
  readonly needed?: boolean;
  /** Without one that its class does not require, the server starts. */
  readonly startsWithout?: boolean;
}

/**
 * A row for `<api> <type>` takes precedence over one for the type: some types exist in two APIs with different needs.
 */
export const endpointExpectation = (
  catalogue: Catalogue,
  api: string,
  type: string,
): EndpointExpectation | undefined => {
  const paths: Readonly<Record<string, Readonly<Record<string, EndpointExpectation>>>> = endpointPaths;
  const types = paths[catalogue.server] ?? {};
  return [`${api} ${type}`, type].filter((row) => Object.hasOwn(types, row)).map((row) => types[row])[0];
};
