/** Fields whose text contains variables, and what the server reads in them. */
import type { FieldPath } from "../../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject } from "../../data/json.ts";
import { unfitAddress } from "../connections/endpoint.ts";
import type { Draft, Facts } from "../draft.ts";
import { expandedText, type ValueOf } from "../known_environment.ts";
import type { CatalogueField, ProviderType } from "../servers/catalogue.ts";
import { classOf } from "../servers/class_misfits.ts";
import { expectedOfVariable, fieldOfNested } from "../servers/field_types.ts";
import { unfitHeader } from "./provider_rules.ts";
import { mayExist, missingFolder } from "../mounted_files.ts";

/** The Secret that a variable of the pod comes from, and its value where it was read. */
export const secretOf = (
  variable: string,
  draft: Pick<Draft, "env">,
  { spec, secretValue }: Pick<Facts, "spec" | "secretValue">,
): { readonly key: string; readonly value: string | undefined; readonly path: FieldPath } | undefined => {
  const index = (spec.workload?.overrides?.env ?? []).findLastIndex(({ name }) => name === variable);
  const authors = (spec.workload?.overrides?.env ?? [])[index];
  const own = draft.env.find(({ env }) => env.name === variable);
  const ref = (authors ?? own?.env)?.valueFrom?.secretKeyRef;
  if (ref?.name === undefined) return undefined;
  return {
    key: `${ref.name}/${ref.key}`,
    value: secretValue?.(ref.name, ref.key),
    path: authors === undefined ? own?.path ?? [] : ["spec", "workload", "overrides", "env", index],
  };
};

/** A field of an entry that cannot hold what its text expands to, by its keys below `config`. */
export const unfitTexts = (
  config: JsonObject,
  { api, type, known }: {
    readonly api: string;
    readonly type: string;
    readonly known: Pick<ProviderType, "fields" | "endpoint">;
  },
  valueOf: ValueOf,
  facts: Facts,
): ReadonlyArray<{ readonly place: FieldPath; readonly expected: string; readonly text: string }> =>
  textsOf(config, known.fields, facts).flatMap(({ place, info, text }) => {
    const value = expandedText(text, valueOf);
    if (value === undefined) return [];
    const isAddress = place.join(".") === known.endpoint && typeof value === "string";
    const unfit = isAddress ? unfitAddress(value, { api, type }, facts) : undefined;
    const expected = unfit ?? expectedOfVariable(info, value) ??
      unfitHeader(api, type, place, value, facts.server.version);
    return expected === undefined ? [] : [{ place, expected, text }];
  });

/** Of fields whose text names a file or folder that no volume has, by their keys below `config`. */
export const missingFiles = (
  config: JsonObject,
  { type, known }: { readonly type: string; readonly known: Pick<ProviderType, "fields"> },
  valueOf: ValueOf,
  facts: Facts,
): ReadonlyArray<FieldPath> =>
  textsOf(config, known.fields, facts).flatMap(({ place, info, text }) => {
    const value = expandedText(text, valueOf);
    return value !== undefined && isMissing({ type, place, info, value }, facts) ? [place] : [];
  });

/** Whether the server looks for a file or folder with this name when it starts, and no volume of the pod has it. */
export const isMissing = (
  { type, place, info, value }: {
    readonly type: string;
    readonly place: FieldPath;
    readonly info: CatalogueField;
    readonly value: Json;
  },
  facts: Facts,
): boolean =>
  info.file === true && typeof value === "string" && expectedOfVariable(info, value) === undefined &&
    !mayExist(value, facts) ||
  missingFolder(`${type} ${place.join(".")}`, value, facts) !== undefined;

/** Without the value, which may be a secret. */
export const NOT_MOUNTED =
  "no volume of the pod contains what the variables in this value name, and the server does not start without it; mount it " +
  "with spec.workload.overrides.volumes and volumeMounts, unless the image has it";

interface FieldText {
  readonly place: FieldPath;
  readonly info: CatalogueField;
  readonly text: string;
}

/** Whether the type reads `network.tls` in place of its former name. Source: migrate_tls_verify_to_network in config.py of vllm. */
export const isOverruled = (name: string, config: JsonObject, fields: ProviderType["fields"]): boolean =>
  name === "tls_verify" && Object.hasOwn(fields, "network") && isObject(at(config, "network", "tls"));

/** The fields with text, also those in maps whose fields the catalogue knows. */
export const textsOf = (
  config: JsonObject,
  fields: ProviderType["fields"],
  facts: Facts,
  above: FieldPath = [],
): ReadonlyArray<FieldText> =>
  Object.entries(config).flatMap(([name, value]): ReadonlyArray<FieldText> => {
    const info = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const place = [...above, name];
    if (info === undefined || info.replacedBy !== undefined || isOverruled(name, config, fields)) return [];
    if (typeof value === "string") return [{ place, info, text: value }];
    const items = info.items ?? info.values;
    if (items !== undefined && (isList(value) || isObject(value))) {
      return Object.entries(value).flatMap(([key, text]) =>
        typeof text === "string"
          ? [{ place: [...place, isList(value) ? Number(key) : key], info: fieldOfNested(items), text }]
          : []
      );
    }
    if (!isObject(value)) return [];
    const { type } = value;
    const ofType = info.variants !== undefined && typeof type === "string" && type.includes("${env.")
      ? [{ place: [...place, "type"], info: { type: "string", enum: Object.keys(info.variants) } as const, text: type }]
      : [];
    return [...ofType, ...textsOf(value, classOf(info, value, facts.server.catalogue)?.fields ?? {}, facts, place)];
  });
