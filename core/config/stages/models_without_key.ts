/**
 * After all stages: registered models that an old server rejects when it starts. Servers up to 0.5 ask the service for its models
 * when they register one, and do not start without an answer; without an API key, they do not even ask. 0.2 knows some models of
 * each type by itself, which ones differs by patch: warnings.
 *
 * Source: register_model in providers/utils/inference/openai_mixin.py, and in model_registry.py of 0.2; the types as the start of
 * 0.2.24, 0.3.5, 0.4.7 and 0.5.4 shows them.
 */
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import { warning, type WarningCode } from "../../failure/warning.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { Model } from "../../api/server_resources.ts";
import { entryOf, noted } from "../draft.ts";
import { expandedText, knownEnvironment, knownValues, type KnownVariables, stateOf } from "../known_environment.ts";
import { providerType } from "../servers/catalogue.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
import type { Stage } from "../stage.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { isEntryOf } from "./models.ts";
import { mayBeLeftOut, registeredIn } from "./registering.ts";

/** The others have a key by default, need none, or accept every model. */
const ASKED_WITH_KEY: ReadonlySet<string> = new Set([
  "remote::anthropic",
  "remote::azure",
  "remote::cerebras",
  "remote::databricks",
  "remote::fireworks",
  "remote::gemini",
  "remote::groq",
  "remote::llama-openai-compat",
  "remote::nvidia",
  "remote::openai",
  "remote::runpod",
  "remote::sambanova",
  "remote::together",
]);

/** 0.2 asks nobody for others than those that it knows, or too late: 0.2.24 knows none of Together. */
const OF_NAMES_ONLY: ReadonlySet<string> = new Set(["remote::bedrock", "remote::together", "remote::watsonx"]);

/** Without asking the service, 0.3 rejects all others. Source: remote/inference/bedrock/models.py. */
const OF_BEDROCK: ReadonlyArray<string> = [
  "meta.llama3-1-8b-instruct-v1:0",
  "meta.llama3-1-70b-instruct-v1:0",
  "meta.llama3-1-405b-instruct-v1:0",
];

export const rejectModelsWithoutKey: Stage<SettingInvalid> = (draft, facts) => {
  const { spec, server } = facts;
  const models = spec.resources?.models ?? [];
  if (models.length === 0 || !isOlderMinor(server.version, "0.6")) return { draft, failures: [] };
  const environment = knownEnvironment(facts, draft.env);
  const known = { environment, valueOf: knownValues(environment, facts) };
  const registered = listAt(draft.config, ...server.family.resourcesAt, "models").filter(isObject);
  const found = models.flatMap((model, index): ReadonlyArray<Found> => {
    // One without a provider is not the entry of another model of that name which has one.
    const isOfOther = (entry: JsonObject) =>
      models.some((other) => other !== model && other.provider !== undefined && isEntryOf(entry, other));
    const entries = registered.filter((entry) => isEntryOf(entry, model));
    const id = stringAt(entries.find((entry) => !isOfOther(entry)) ?? entries[0], "provider_id") ?? "";
    const way = "set apiKey of that provider in spec.providers.inference";
    const refused = refusedModel(draft.config, { id, way }, model, server, known);
    return refused === undefined ? [] : [{ ...refused, path: ["spec", "resources", "models", index, "provider"] }];
  });
  return {
    draft: noted(draft, {
      warnings: found.flatMap(({ path, detail, code }) => code === undefined ? [] : [warning(code, path, detail)]),
    }),
    failures: found.flatMap(({ path, detail, code }) =>
      code === undefined ? [new SettingInvalid({ path, detail })] : []
    ),
  };
};

/** The same of the models that a config registers, whoever wrote it. */
export const keylessModels = (config: JsonObject, server: Server, known: KnownVariables): ReadonlyArray<EntryFinding> =>
  !isOlderMinor(server.version, "0.6") ? [] : registeredIn(config, server.family, "models", known)
    .flatMap(({ resource, path }): ReadonlyArray<EntryFinding> => {
      const [id, name] = [stringAt(resource, "provider_id") ?? "", stringAt(resource, "model_id") ?? ""];
      const model = { name, providerModelId: stringAt(resource, "provider_model_id") ?? name };
      const refused = mayBeLeftOut(resource, known)
        ? undefined
        : refusedModel(config, { id, way: "write the key in its config" }, model, server, known);
      return refused === undefined ? [] : [{
        path: [...path, "provider_id"],
        message: refused.detail,
        isFatal: refused.code === undefined,
        ...(refused.code === undefined ? {} : { code: refused.code }),
      }];
    });

const refusedModel = (
  config: JsonObject,
  { id, way }: { readonly id: string; readonly way: string },
  { name, providerModelId = name }: Pick<Model, "name" | "providerModelId">,
  { version, catalogue }: Server,
  { environment, valueOf }: KnownVariables,
): Omit<Found, "path"> | undefined => {
  const provider = entryOf(config, "inference", id);
  const type = stringAt(provider, "provider_type") ?? "";
  const isListed = isOlderMinor(version, "0.4");
  const isLegacy = isOlderMinor(version, "0.3");
  if (isLegacy && OF_NAMES_ONLY.has(type)) {
    return {
      detail: `this server knows only some models of ${type}, and does not start with another one`,
      code: "ConfigUnfit",
    };
  }
  if (isListed && type === "remote::bedrock" && !OF_BEDROCK.includes(providerModelId)) {
    return { detail: `this server knows only some models of Bedrock: use ${OF_BEDROCK.join(", ")} as providerModelId` };
  }
  const { key, endpoint = "" } = providerType(catalogue, "inference", type) ?? {};
  if (provider === undefined || key === undefined || !ASKED_WITH_KEY.has(type)) return undefined;
  const valueAt = (field: string): Json | undefined => {
    const written = objectAt(provider, "config")[field];
    const expanded = typeof written === "string" ? expandedText(written, valueOf) : undefined;
    // An empty variable becomes null.
    return expanded === undefined ? written : expanded;
  };
  if (stateOf(provider, environment) !== "On" || (valueAt(key) ?? "") !== "") return undefined;
  const isOwn = type === "remote::nvidia" && !isHosted(valueAt(endpoint) ?? valueOf("NVIDIA_BASE_URL"));
  // Up to 0.3 it does not start without a key, whatever it registers: provider_rules.ts.
  if (isOwn || isListed && type === "remote::nvidia") return undefined;
  const lacking = `provider "${id}" has no API key, and the server `;
  return isLegacy
    ? {
      detail: `${lacking}starts only with models that it knows by itself; ${way}, or choose another provider`,
      code: "CredentialsMissing",
    }
    : { detail: `${lacking}does not start when it registers a model of it; ${way}, or choose another provider` };
};

/** A NIM of one's own needs no key. Source: _is_nvidia_hosted in remote/inference/nvidia/utils.py. */
const isHosted = (address: Json | undefined): boolean =>
  address === "" || typeof address === "string" && address.includes("integrate.api.nvidia.com");

/** A warning where it has a code. */
interface Found {
  readonly path: FieldPath;
  readonly detail: string;
  readonly code?: WarningCode;
}
