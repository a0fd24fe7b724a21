/** After all stages: names in the config of something that the config does not define, for which the server exits. */
import { SettingInvalid } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import type { Declared, Draft, Facts } from "../draft.ts";
import { type Stage, stage } from "../stage.ts";

export const rejectDanglingNames: Stage<SettingInvalid> = stage((draft, facts) => ({
  draft,
  failures: [...unknownBackends(draft), ...lostEmbeddingModel(draft, facts)],
}));

/** A store in the settings of a provider names one of the storage backends. Older servers have none of these. */
const unknownBackends = ({ config, declared }: Draft): ReadonlyArray<SettingInvalid> => {
  const known = Object.keys(objectAt(config, "storage", "backends"));
  if (known.length === 0) return [];
  return declared.flatMap(({ config: settings, path }) =>
    backendsIn(settings, [...path, "settings"]).filter(({ name }) => !known.includes(name) && !name.includes("${"))
      .map(({ path }) =>
        new SettingInvalid({
          path,
          detail: `unknown storage backend; use ${known.map((name) => `"${name}"`).join(" or ")}`,
        })
      )
  );
};

/** Fields `backend` of stores, which have a namespace or a table beside it. */
const backendsIn = (
  value: Json,
  path: FieldPath,
): ReadonlyArray<{ readonly path: FieldPath; readonly name: string }> => {
  if (!isObject(value)) return [];
  const name = stringAt(value, "backend");
  const isStore = Object.hasOwn(value, "namespace") || Object.hasOwn(value, "table_name");
  return [
    ...(name !== undefined && isStore ? [{ path: [...path, "backend"], name }] : []),
    ...Object.entries(value).flatMap(([key, inner]) => backendsIn(inner, [...path, key])),
  ];
};

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
      stringAt(model, "provider_id") === providerId &&
      [stringAt(model, "model_id"), stringAt(model, "provider_model_id")].includes(modelId)
    );
  return isRegistered ? [] : declared.filter(isReplaced).map(({ path }) =>
    new SettingInvalid({
      path: [...path, "id"],
      detail:
        `"${providerId}" replaces the provider of the default embedding model "${modelId}"; choose another id, or ` +
        "add that model to spec.resources.models with this provider and modelType embedding",
    })
  );
};
