/** Providers of the base config that `spec.disabled` takes out, with the resources of the base config that belong to them. */
import { disabledApi, disabledProvider } from "../../api/rules.ts";
import { at, type Json, put } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import { externalProviders } from "../external_providers.ts";
import { baseId } from "../servers/base.ts";
import { apiOn } from "../servers/families/families.ts";
import { disabledOn, withoutResourcesOf } from "./disabled.ts";
import { MODELS_OF_VECTOR_STORES } from "./orphaned_resources.ts";
import { soundStage, type Stage } from "../stage.ts";

export const removeBaseProviders: Stage<never> = soundStage((draft, facts) => {
  const after = (facts.spec.disabled ?? []).reduce((before, name, index) => {
    const id = disabledProvider(name);
    return id === undefined ? before : removed(before, disabledApi(name), id, index, facts);
  }, draft);
  const isLost = at(draft.config, ...EMBEDDING_MODEL) !== undefined &&
    at(after.config, ...EMBEDDING_MODEL) === undefined;
  const hasStores = entriesOf(after.config, "vector_io").length > 0 && !disabledOn(facts).off.includes("vector_io");
  return isLost && hasStores && !hasEmbeddingModel(facts) ? noted(after, { warnings: [embeddingModelLost()] }) : after;
});

/** `id` may be `*`, for every provider of the API that the resource does not set itself. */
const removed = (draft: Draft, named: string, id: string, index: number, facts: Facts): Draft => {
  const ignored = (why: string): Draft => noted(draft, { warnings: [ignoredFor(index, why)] });
  const api = apiOn(facts.server, named);
  if (api === undefined) return ignored(`${facts.serverName} has no ${named} API`);
  const own = [
    ...draft.declared.filter((declared) => declared.api === api).map((declared) => declared.id),
    ...externalProviders(facts.spec).filter((external) => external.api === named)
      .map(({ provider }) => provider.providerId),
  ];
  const ids = entriesOf(draft.config, api).flatMap((entry) => baseId(entry) ?? []);
  if (id !== "*" && own.includes(id)) return ignored("the resource sets this provider itself");
  if (id !== "*" && !ids.includes(id)) {
    const known = ids.length === 0 ? "it has none" : `it has ${ids.join(", ")}`;
    return ignored(`the base config has no ${api} provider ${quoted(id)}; ${known}`);
  }
  const gone = ids.filter((other) => id === "*" ? !own.includes(other) : other === id);
  const isGone = (entry: Json) => gone.includes(baseId(entry) ?? "");
  const rest = entriesOf(draft.config, api).filter((entry) => !isGone(entry));
  const config = withoutResourcesOf(withEntries(draft.config, api, rest), api, gone, facts.server.family.resourcesAt);
  const defaults = api === "inference" ? MODELS_OF_VECTOR_STORES.map(([place]) => ["vector_stores", ...place]) : [];
  const lost = defaults.filter((path) => isGone(at(config, ...path) ?? null));
  return withConfig(draft, lost.reduce((tree, path) => put(tree, path, undefined), config));
};

const EMBEDDING_MODEL = ["vector_stores", "default_embedding_model"];

/** One that becomes the default. */
const hasEmbeddingModel = ({ spec }: Facts): boolean =>
  spec.vectorStores?.defaultEmbeddingModel !== undefined ||
  (spec.resources?.models ?? []).some(({ modelType }) => modelType === "embedding");

const embeddingModelLost = (): Warning =>
  warning(
    "DisabledDependency",
    ["spec", "disabled"],
    "removes the default embedding model of the base config as well: each request for a vector store must name one, " +
      "unless you add a model with modelType embedding to spec.resources.models",
  );

const ignoredFor = (index: number, why: string): Warning =>
  warning("ApiNotDisabled", ["spec", "disabled", index], `ignored: ${why}`);
