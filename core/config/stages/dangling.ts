/** After all stages: names in the config of something that the config does not define, for which the server exits. */
import { SettingInvalid } from "../../failure/failures.ts";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { type Declared, type Draft, entriesOf, type Facts } from "../draft.ts";
import { baseId } from "../servers/base.ts";
import { knownEnvironment, knownValues, readValue, type ValueOf } from "../known_environment.ts";
import { type Catalogue, providerType } from "../servers/catalogue.ts";
import type { Stage } from "../stage.ts";
import { modelKey } from "./models.ts";
import { asksOthers } from "./overlay.ts";

export const rejectDanglingNames: Stage<SettingInvalid> = (draft, facts) => ({
  draft,
  failures: [
    ...unknownBackends(
      draft.config,
      draft.declared.map(({ path, ...provider }) => ({ ...provider, path: [...path, "settings"] })),
      facts,
      knownValues(knownEnvironment(facts, draft.env), facts),
    ),
    ...unknownSiblings(draft, facts),
    ...lostEmbeddingModel(draft, facts),
  ],
});

/** A store in the settings of a provider names a storage backend of its kind. Older servers have no backends. */
export const unknownBackends = (
  config: JsonObject,
  /** `path` leads to the config of each. */
  providers: ReadonlyArray<Pick<Declared, "api" | "type" | "config" | "path">>,
  { server: { catalogue } }: Pick<Facts, "server">,
  valueOf: ValueOf,
): ReadonlyArray<SettingInvalid> => {
  const backends = backendTypes(config, catalogue, valueOf);
  if (Object.keys(backends).length === 0) return [];
  return providers.flatMap(({ api, type, config: settings, path }) =>
    Object.entries(providerType(catalogue, api, type)?.references ?? {}).flatMap(([dotted, { kind }]) => {
      const place = dotted.split(".");
      const name = readValue(stringAt(settings, ...place, "backend"), valueOf);
      const detail = typeof name === "string" ? unfitBackend(name, kind, backends) : undefined;
      return detail === undefined ? [] : [new SettingInvalid({ path: [...path, ...place, "backend"], detail })];
    })
  );
};

/** The type of each storage backend, or undefined if only the pod knows it. Where none are written, the server has its own. */
export const backendTypes = (
  config: JsonObject,
  { config: { class: whole }, models }: Catalogue,
  valueOf: ValueOf,
): BackendTypes => {
  const storage = models[models[whole]?.fields.storage?.model ?? ""]?.fields ?? {};
  const written = objectAt(config, "storage");
  const backends =
    (Object.hasOwn(written, "backends") ? written : { backends: storage.backends?.default }) as JsonObject;
  return Object.fromEntries(
    Object.entries(objectAt(backends, "backends")).map(([name, backend]) => {
      const type = stringAt(backend, "type");
      const expanded = readValue(type, valueOf);
      return [name, typeof expanded === "string" ? expanded : undefined];
    }),
  );
};

export type BackendTypes = Readonly<Record<string, string | undefined>>;

/** Why a store of this kind cannot name this backend; undefined if it can. */
export const unfitBackend = (name: string, kind: "kv" | "sql", backends: BackendTypes): string | undefined => {
  const fitting = Object.keys(backends).filter((known) => (backends[known] ?? kind).startsWith(kind));
  const way = fitting.length === 0 ? "" : `; use ${fitting.map((known) => `"${known}"`).join(" or ")}`;
  return fitting.includes(name) ? undefined : `not a ${kind === "kv" ? "key-value" : "SQL"} storage backend${way}`;
};

/** A provider that hands files on to others names them by their ids. */
const unknownSiblings = ({ config, declared }: Draft, facts: Facts): ReadonlyArray<SettingInvalid> =>
  declared.filter((provider) => asksOthers(provider, facts)).flatMap(({ api, id, path, config: settings }) => {
    const others = entriesOf(config, api).flatMap((entry) => baseId(entry) ?? []).filter((other) => other !== id);
    if (others.length === 0) return [];
    return listAt(settings, "priority").flatMap((name, index) =>
      typeof name !== "string" || name.includes("${env.") || others.includes(name) ? [] : [
        new SettingInvalid({
          path: [...path, "settings", "priority", index],
          detail: `not the id of another provider of ${api}; use ${others.map((other) => `"${other}"`).join(", ")}`,
        }),
      ]
    );
  });

/** The type lists its models itself, also those that no resource registers. */
const LISTS_EMBEDDINGS = "inline::sentence-transformers";

/** The base config names the embedding model that vector stores use by default, by provider and model. */
const lostEmbeddingModel = (
  { config, declared }: Draft,
  { server: { family } }: Facts,
): ReadonlyArray<SettingInvalid> => {
  const named = objectAt(config, "vector_stores", "default_embedding_model");
  const [providerId, modelId] = [stringAt(named, "provider_id"), stringAt(named, "model_id")];
  if (providerId === undefined || modelId === undefined) return [];
  const isReplaced = ({ api, id, type }: Declared) =>
    api === "inference" && id === providerId && type !== LISTS_EMBEDDINGS;
  const isRegistered = listAt(config, ...family.resourcesAt, "models").filter(isObject)
    .some((model: JsonObject) =>
      stringAt(model, "provider_id") === providerId && modelKey(model, family) === `${providerId}/${modelId}`
    );
  return isRegistered ? [] : declared.filter(isReplaced).map(({ path }) =>
    new SettingInvalid({
      path: [...path, path.includes("externalProviders") ? "providerId" : "id"],
      detail:
        `"${providerId}" replaces the provider of the default embedding model "${modelId}"; choose another id, or ` +
        "add that model to spec.resources.models with this provider and modelType embedding",
    })
  );
};
