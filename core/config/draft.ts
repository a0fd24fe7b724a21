/** What the stages hand on: the config as far as it is made, and everything that was noticed on the way but for failures. */
import * as Redacted from "effect/Redacted";
import type { Spec } from "../api/v1alpha2.ts";
import type { EnvVar } from "../api/embedded.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, put } from "../data/json.ts";
import type { Warning } from "../failure/warning.ts";
import { baseId } from "./servers/base.ts";
import { type DataFolders, foldersOf } from "./data_folders.ts";
import type { ExternalEntry } from "./external_providers.ts";
import { type Server, serverName } from "./servers/families/families.ts";

/** Inputs of a stage: the resource, its server, its place in the pod. Constant during one generation. */
export interface Facts {
  readonly name: string;
  readonly spec: Spec;
  readonly server: Server;
  /** `Llama Stack 0.7.1`, for messages. */
  readonly serverName: string;
  readonly folders: DataFolders;
  /** The value of a key of a Secret, where it was read. No message may quote it. */
  readonly secretValue?: SecretValue;
  /** Variables of which nothing is known are not set. */
  readonly hasNoOtherVariables?: boolean;
}

export type SecretValue = (name: string, key: string) => string | undefined;

export const secretValueIn =
  (secrets: ReadonlyMap<string, Readonly<Record<string, Redacted.Redacted<string>>>> | undefined): SecretValue =>
  (name, key) => {
    const values = secrets?.get(name);
    const value = values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
    return value === undefined ? undefined : Redacted.value(value);
  };

/** A provider of the resource after `expandProviders`. */
export interface Declared {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly path: FieldPath;
  readonly config: JsonObject;
  /** The Python module of a type that is not built into the server. */
  readonly module?: Json;
}

/** An environment variable of the pod, and the field that requires it. */
export interface EnvEntry {
  readonly env: EnvVar;
  readonly path: FieldPath;
}

export interface Draft {
  readonly config: JsonObject;
  /** The field of the resource that the base config comes from. */
  readonly basePath: FieldPath;
  readonly declared: ReadonlyArray<Declared>;
  readonly env: ReadonlyArray<EnvEntry>;
  /** Providers that come in images, in the order of installation. */
  readonly external: ReadonlyArray<ExternalEntry>;
  readonly warnings: ReadonlyArray<Warning>;
}

export const factsOf = (
  name: string,
  spec: Spec,
  server: Server,
  folders = foldersOf(spec),
  secretValue?: SecretValue,
): Facts => ({
  name,
  spec,
  server,
  serverName: serverName(server.version),
  folders,
  ...(secretValue === undefined ? {} : { secretValue }),
});

/** The draft with additions; nothing is removed. */
export const noted = (draft: Draft, more: Partial<Omit<Draft, "config" | "basePath">>): Draft => ({
  ...draft,
  declared: [...draft.declared, ...(more.declared ?? [])],
  env: [...draft.env, ...(more.env ?? [])],
  external: [...draft.external, ...(more.external ?? [])],
  warnings: [...draft.warnings, ...(more.warnings ?? [])],
});

export const withConfig = (draft: Draft, config: JsonObject): Draft => ({ ...draft, config });

/** The provider entries of one API in the config so far. */
export const entriesOf = (config: JsonObject, api: string): ReadonlyArray<JsonObject> =>
  listAt(config, "providers", api).filter(isObject);

/** The entry of an API with this id. */
export const entryOf = (config: JsonObject, api: string, id: string): JsonObject | undefined =>
  entriesOf(config, api).find((entry) => baseId(entry) === id);

/** Sets the provider entries of one API; an empty list removes the API's section. */
export const withEntries = (config: JsonObject, api: string, entries: ReadonlyArray<Json>): JsonObject =>
  put(config, ["providers", api], entries.length === 0 ? undefined : entries);
