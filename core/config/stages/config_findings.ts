/** What the class of a whole config refuses, whoever wrote the config: the server ends with such a config before it does anything. */
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject, stringAt } from "../../data/json.ts";
import { type KnownVariables, readValue } from "../known_environment.ts";
import { baseId, conditionOf } from "../servers/base.ts";
import type { Catalogue } from "../servers/catalogue.ts";
import { classMisfits, type Misfit } from "../servers/class_misfits.ts";
import type { Server } from "../servers/families/families.ts";
import { authenticationOf, refusedOfServer } from "./authentication.ts";
import type { EntryFinding } from "./entry_findings.ts";

/** `generated`: what is made of the config, whose section `server` counts. */
export const configFindings = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
  generated = config,
): ReadonlyArray<EntryFinding> =>
  [...configMisfits(config, server, known), ...refusedOfServer(generated, server, known.valueOf)]
    .map(({ path, message }) => ({ path, message, isFatal: true }));

export const configMisfits = (config: JsonObject, server: Server, known: KnownVariables): ReadonlyArray<Misfit> => {
  const { models, config: { class: name, ids } } = server.catalogue;
  const model = models[name];
  // That of the first servers becomes another one before it is read.
  if (model === undefined || Object.hasOwn(config, "routing_table")) return [];
  const isOff = authenticationOf(config, known.environment, server) === "Off";
  const isUnread = (value: Json, path: FieldPath): boolean =>
    // Said of it is that authentication is off.
    isOff && path.join(".") === "server.auth.provider_config" ||
    typeof path.at(-1) === "number" && isObject(value) && isLeftOut(value, ids, known);
  const isNothing = ([key, value]: readonly [string, Json]) => {
    const { converted, required } = model.fields[key] ?? {};
    return value === null && converted === true && required !== true;
  };
  const read = Object.fromEntries(Object.entries(config).filter((entry) => !isNothing(entry)));
  const expanded = (text: string) => readValue(text, known.valueOf);
  return [
    ...classMisfits(model, read, [], { models }, isUnread, expanded),
    ...loggingMisfits(config.logging_config, models),
  ];
};

/** The server reads this section apart, where there is anything in it. Source: core/server/server.py. */
const loggingMisfits = (section: Json | undefined, models: Catalogue["models"]): ReadonlyArray<Misfit> => {
  const model = models.LoggingConfig;
  const path = ["logging_config"];
  if (model === undefined || section === undefined) return [];
  if (isObject(section)) return classMisfits(model, section, path, { models });
  const isRead = isList(section) ? section.length > 0 : Boolean(section);
  return isRead ? [{ path, message: "not a map; write category_levels with a level for each category" }] : [];
};

/** Source: replace_env_vars in core/stack.py. An item with an id that is not known may be left out. */
const isLeftOut = (item: JsonObject, ids: ReadonlyArray<string>, { valueOf }: KnownVariables): boolean => {
  const provider = stringAt(item, "provider_id") ?? "";
  // Whether its variable has a value or not, only its own text can come of such an id.
  const read = conditionOf(item) === undefined ? readValue(provider, valueOf) : baseId(item);
  return [undefined, "__disabled__"].includes(read as string | undefined) ||
    ids.some((id) =>
      Object.hasOwn(item, id) && ([null, ""].includes(item[id] as string | null) ||
        [undefined, null].includes(readValue(stringAt(item, id) ?? "", valueOf) as null | undefined))
    );
};

/** What several judgements say of one place, the first of them says. */
export const oncePerPlace = (findings: ReadonlyArray<EntryFinding>): ReadonlyArray<EntryFinding> =>
  [
    ...new Map(findings.toReversed().map((finding) => [formatPath(finding.path), finding])).values(),
  ].toReversed();
