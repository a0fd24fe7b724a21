/** Stage 6, models: registered under an inference provider. */
import type { Model } from "../../api/v1alpha2.ts";
import {
  MissingProviderForResource,
  ModelConflict,
  NotSupportedOnLine,
  UnknownProvider,
} from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { baseId, isConditional } from "../servers/base.ts";
import type { ServerFamily } from "../servers/families/family.ts";
import { OPENAI_WAY } from "../servers/families/unstartable_types.ts";
import { type Draft, entriesOf, type Facts, noted, withConfig } from "../draft.ts";
import { type Stage, stage, type Staged } from "../stage.ts";

type ModelFailure = MissingProviderForResource | UnknownProvider | NotSupportedOnLine | ModelConflict;

export const registerModels: Stage<ModelFailure> = stage((draft, facts): Staged<ModelFailure> => {
  const models = facts.spec.resources?.models ?? [];
  if (models.length === 0) return { draft, failures: [] };
  const fallback = defaultProvider(draft, facts);
  if (fallback === undefined && models.some(({ provider }) => provider === undefined)) {
    const path: FieldPath = ["spec", "resources", "models"];
    return { draft, failures: [new MissingProviderForResource({ path, resource: "models", field: "inference" })] };
  }
  const known = knownProviders(draft, facts);
  const { family } = facts.server;
  const placed = models.map((model, index) => {
    const provider = model.provider ?? fallback ?? "";
    return place(model, index, provider, known, typeOf(provider, draft), facts);
  });
  const conflicts = placed.filter(({ key }, index) => placed.findIndex((other) => other.key === key) < index);
  const entries = placed.filter(({ failures }) => failures.length === 0).map(({ entry }) => entry);
  const config = entries.reduce((tree, entry) => register(tree, entry, family), draft.config);
  return {
    draft: noted(withConfig(draft, config), { warnings: placed.flatMap(({ warnings }) => warnings) }),
    failures: [
      ...placed.flatMap(({ failures }) => failures),
      ...conflicts.map(({ path, key }) => new ModelConflict({ path, id: key })),
    ],
  };
});

/**
 * The id by which the server and its clients know a model: `<provider>/<name>`; the server family determines which
 * name.
 */
export const modelKey = (entry: JsonObject, line: ServerFamily): string => {
  const id = stringAt(entry, "model_id") ?? "";
  const provider = stringAt(entry, "provider_id") ?? "";
  if (line.modelsAreKnownBy === "providerModelId") return `${provider}/${stringAt(entry, "provider_model_id") ?? id}`;
  return id.startsWith(`${provider}/`) ? id : `${provider}/${id}`;
};

/**
 * The first declared inference provider, else the first unconditional one of the base config that can serve chat
 * completions.
 */
const defaultProvider = (draft: Draft, facts: Facts): string | undefined =>
  facts.spec.providers?.inference === undefined
    ? entriesOf(draft.config, "inference").filter((entry) => !isConditional(entry) && servesChat(entry)).map(baseId)[0]
    : draft.declared.find(({ api }) => api === "inference")?.id ?? declaredId(facts);

/** A declared provider whose own failure is reported already: its models are not blamed a second time. */
const declaredId = (facts: Facts): string | undefined => {
  const first = facts.spec.providers?.inference?.[0];
  return first?.id ?? first?.provider.split("::").at(-1);
};

const knownProviders = (draft: Draft, facts: Facts): ReadonlyArray<string> => {
  const written = (facts.spec.providers?.inference ?? []).map(({ id, provider }) =>
    id ?? provider.split("::").at(-1) ?? ""
  );
  const based = entriesOf(draft.config, "inference").flatMap((entry) => baseId(entry) ?? []);
  return [...new Set([...written, ...based])].sort();
};

/** Declared providers have been merged into the base config before this stage. */
const typeOf = (id: string, draft: Draft): string | undefined =>
  stringAt(entriesOf(draft.config, "inference").find((entry) => baseId(entry) === id), "provider_type");

/** Embedding and rerank servers inside the process cannot answer a chat. */
const servesChat = (entry: JsonObject): boolean =>
  !["inline::sentence-transformers", "inline::transformers", "remote::text-embeddings-inference"]
    .includes(stringAt(entry, "provider_type") ?? "");

interface Placed {
  readonly path: FieldPath;
  readonly key: string;
  readonly entry: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnknownProvider | NotSupportedOnLine>;
}

const place = (
  model: Model,
  index: number,
  provider: string,
  known: ReadonlyArray<string>,
  type: string | undefined,
  { server: { family }, serverName }: Facts,
): Placed => {
  const path: FieldPath = ["spec", "resources", "models", index];
  const entry: JsonObject = {
    model_id: family.modelIdsInFull ? `${provider}/${model.name}` : model.name,
    provider_id: provider,
    provider_model_id: model.providerModelId ?? model.name,
    model_type: model.modelType ?? "llm",
    // Only what the server needs: a changed metadata of a known model stops its next start.
    ...(model.embeddingDimension === undefined ? {} : { metadata: { embedding_dimension: model.embeddingDimension } }),
  };
  const unread = (["contextLength", "quantization"] as const).filter((field) => model[field] !== undefined)
    .map((field) =>
      warning("FieldNotRead", [...path, field], "not supported by this server; set it at the model server instead")
    );
  return {
    path,
    key: modelKey(entry, family),
    entry,
    warnings: unread,
    failures: !known.includes(provider)
      ? [new UnknownProvider({ path: [...path, "provider"], id: provider, known })]
      : type !== undefined && family.typesWithoutModels.includes(type)
      ? [
        new NotSupportedOnLine({
          path: [...path, "provider"],
          what: `models of a provider of type "${type}": the server fails to start when one is registered`,
          server: serverName,
          instead: OPENAI_WAY,
        }),
      ]
      : [],
  };
};

/** An entry of the base that the server would take for the same model is replaced where it stands. */
const register = (config: JsonObject, entry: JsonObject, line: ServerFamily): JsonObject => {
  const registered = listAt(config, ...line.resourcesAt, "models").filter(isObject);
  return put(
    config,
    [...line.resourcesAt, "models"],
    upsert(registered, entry, (other) => modelKey(other, line) === modelKey(entry, line)),
  );
};
