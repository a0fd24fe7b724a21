/**
 * Models of inline::meta-reference: it loads the weights itself, and knows only those that Meta publishes. Up to 0.4, the last server that
 * has it, a model that it does not know keeps the server from starting.
 */
import type { FieldPath } from "../../data/field_path.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import { warning } from "../../failure/warning.ts";
import { entryOf, noted } from "../draft.ts";
import { knownEnvironment, knownValues, type KnownVariables, readValue, stateOf } from "../known_environment.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
import { isAcceptedLlama } from "../servers/llama_names.ts";
import type { Stage } from "../stage.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { isEntryOf } from "./models.ts";
import { mayBeLeftOut, registeredIn } from "./registering.ts";

const TYPE = "inline::meta-reference";

interface Unknown {
  readonly path: FieldPath;
  readonly resource: JsonObject;
  readonly name: string;
  /** Some releases of 0.2 may accept it. */
  readonly isOpen: boolean;
}

const unknownLlamas = (config: JsonObject, server: Server, known: KnownVariables): ReadonlyArray<Unknown> =>
  !isOlderMinor(server.version, "0.5") ? [] : registeredIn(config, server.family, "models", known)
    .flatMap(({ resource, path }): ReadonlyArray<Unknown> => {
      const provider = entryOf(config, "inference", stringAt(resource, "provider_id") ?? "");
      const isUsed = stringAt(provider, "provider_type") === TYPE && provider !== undefined &&
        stateOf(provider, known.environment) === "On" && !mayBeLeftOut(resource, known);
      if (!isUsed) return [];
      const read = (value: Json | undefined): Json | undefined => readValue(value, known.valueOf);
      const id = read(resource.model_id);
      const name = read(resource.provider_model_id ?? resource.model_id);
      const metadata = objectAt(resource, "metadata");
      const llama = read(metadata.llama_model);
      const isKnown = typeof id === "string" && typeof name === "string" &&
        (llama !== undefined || !Object.hasOwn(metadata, "llama_model"));
      if (!isKnown) return [];
      const key = `${stringAt(resource, "provider_id")}/${name}`;
      // Older releases of 0.2 add the provider to none.
      const identifiers = !isOlderMinor(server.version, "0.3") ? [key] : id === name ? [id, key] : [id];
      const accepted = identifiers.filter((identifier) => isAcceptedLlama({ identifier, name, llama }));
      return accepted.length === identifiers.length ? [] : [{ path, resource, name, isOpen: accepted.length > 0 }];
    });

const saying = ({ name, isOpen }: Unknown, places: string): string =>
  `${TYPE} serves only models of Meta that the server knows by name, and with ${quoted(name)} the server ${
    isOpen ? "may not start" : "does not start"
  }; ${places}, e.g. ${EXAMPLE}`;

const EXAMPLE = "Llama3.2-3B-Instruct";

/** For configs that the author wrote. */
export const llamaFindings = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  unknownLlamas(config, server, known).map((unknown): EntryFinding => ({
    path: unknown.path,
    message: saying(unknown, "write the name of one as provider_model_id and as metadata.llama_model"),
    isFatal: !unknown.isOpen,
    ...(unknown.isOpen ? { code: "ConfigUnfit" as const } : {}),
  }));

/** Models of the resource, and that of a base config which a variable of the resource names. */
export const rejectUnknownLlamas: Stage<SettingInvalid> = (draft, facts) => {
  const { spec, server } = facts;
  const environment = knownEnvironment(facts, draft.env);
  const known = { environment, valueOf: knownValues(environment, facts) };
  const found = unknownLlamas(draft.config, server, known).flatMap((unknown) => {
    const index = (spec.resources?.models ?? []).findIndex((model) => isEntryOf(unknown.resource, model));
    const variable = (spec.workload?.overrides?.env ?? []).findLastIndex(({ value }) => value === unknown.name);
    if (index < 0 && variable < 0) return [];
    const [path, places] = index < 0
      ? [["spec", "workload", "overrides", "env", variable, "value"], "write the name of one"]
      : [
        ["spec", "resources", "models", index],
        "write the name of one as providerModelId and as metadata.llama_model",
      ];
    return [{ path, detail: saying(unknown, places), isOpen: unknown.isOpen }];
  });
  const { open = [], refused = [] } = Object.groupBy(found, ({ isOpen }) => isOpen ? "open" : "refused");
  return {
    draft: noted(draft, { warnings: open.map(({ path, detail }) => warning("ConfigUnfit", path, detail)) }),
    failures: refused.map(({ path, detail }) => new SettingInvalid({ path, detail })),
  };
};
