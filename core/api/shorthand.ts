/** The early short spellings, read into the list form: one provider object instead of a list, bare model names. */
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, put } from "../data/json.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { PROVIDER_LISTS } from "./api_names.ts";

export interface Expanded {
  readonly resource: Json;
  /** One per spelling, with the list form to write instead. */
  readonly warnings: ReadonlyArray<Warning>;
}

export const expandShorthand = (resource: Json): Expanded => {
  if (!isObject(resource)) return { resource, warnings: [] };
  return [...PROVIDER_LISTS.map(({ field }) => expandProvider(field)), expandModels].reduce<
    Expanded & { resource: JsonObject }
  >(
    (before, expand) => {
      const { resource: after, warnings } = expand(before.resource);
      return { resource: after, warnings: [...before.warnings, ...warnings] };
    },
    { resource, warnings: [] },
  );
};

type Step = (resource: JsonObject) => { readonly resource: JsonObject; readonly warnings: ReadonlyArray<Warning> };

const expandProvider = (field: string): Step => (resource) => {
  const path = ["spec", "providers", field];
  const single = objectAt(resource, "spec", "providers")[field];
  if (!isObject(single)) return { resource, warnings: [] };
  const kinds = Object.keys(single);
  return kinds.length > 0 && kinds.every((kind) => kind === "remote" || kind === "inline")
    ? rewritten(resource, path, kinds.flatMap((kind) => ofOtherKind(kind, single[kind])), OF_OGX_SERVER)
    : rewritten(resource, path, [single], "one provider as an object: a former notation");
};

const OF_OGX_SERVER = "providers by type: the notation of OGXServer, a resource of another operator";

/** `remote: { vllm: [{ id }] }`, where a list `custom` has the types in its items. */
const ofOtherKind = (kind: string, types: Json | undefined): ReadonlyArray<Json> =>
  Object.entries(isObject(types) ? types : {}).flatMap(([type, entries]) =>
    (isList(entries) ? entries : [entries]).map((entry): Json => {
      if (!isObject(entry)) return entry;
      const { type: named = null, ...rest } = type === "custom" ? entry : { ...entry, type: null };
      const { name, key } = objectAt(rest, "apiKey");
      return {
        provider: type === "custom"
          ? named
          : `${kind}::${type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
        ...rest,
        ...(name === undefined || key === undefined ? {} : { apiKey: { secretKeyRef: { name, key } } }),
      };
    })
  );

const expandModels: Step = (resource) => {
  const path = ["spec", "resources", "models"];
  const models = listAt(resource, ...path);
  return models.some((model) => typeof model === "string")
    ? rewritten(
      resource,
      path,
      models.map((model) => typeof model === "string" ? { name: model } : model),
      "bare model names: a former notation",
    )
    : { resource, warnings: [] };
};

const rewritten = (resource: JsonObject, path: ReadonlyArray<string>, value: Json, what: string) => ({
  resource: put(resource, path, value),
  warnings: [
    warning(
      "Shorthand",
      path,
      `${what}, which the API server rejects; write ` +
        `${path.at(-1) ?? ""}: ${JSON.stringify(withoutSecrets(value))}`,
    ),
  ],
});

/** A value in the place of a reference may be the secret itself, so scalars there are not printed. */
const withoutSecrets = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]): [string, Json] => {
      if (key === "apiKey") return [key, bareReference(inner)];
      if (key === "secretRefs" || key === "settings") return [key, "…"];
      return [key, key === "endpoint" ? "…" : withoutSecrets(inner)];
    }),
  );
};

const bareReference = (value: Json): Json => {
  const { name, key } = objectAt(value, "secretKeyRef");
  return typeof name === "string" && typeof key === "string" ? { secretKeyRef: { name, key } } : "…";
};
