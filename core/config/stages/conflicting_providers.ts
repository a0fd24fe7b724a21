/** Providers of the scoring API that a server does not start with at the same time, and fields of one provider that exclude each other. */
import { type JsonObject, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { disablingEntry } from "../../api/rules.ts";
import { RuleBroken } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { entriesOf, type Facts } from "../draft.ts";
import { type KnownVariables, stateOf } from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { type KnownProvider, typeHere } from "./known_provider.ts";

/**
 * Each provider of the scoring API registers the functions of its type, under ids that do not contain its own: the server ends
 * when a second one does the same, or the same one under another id with the registry of an earlier start.
 */
export const registeredTwice = (
  { api, id, type, path, base }: KnownProvider,
  facts: Facts,
): ReadonlyArray<RuleBroken> => {
  if (api !== "scoring") return [];
  const ofBase = otherOfBase({ id, type, base });
  const declared = (facts.spec.providers?.scoring ?? []).map(({ provider }) => typeHere(provider, api, facts));
  const twice = "the server does not start with two providers of the scoring API that have the same type";
  if (ofBase !== undefined && !isRemoved(ofBase, facts)) {
    const detail = `${twice}, and the base config has one; set id to ${baseId(ofBase)} to replace it`;
    return [new RuleBroken({ path: [...path, "id"], detail })];
  }
  return declared.indexOf(type) === path.at(-1) ? [] : [new RuleBroken({ path, detail: `${twice}; remove one` })];
};

/** The scoring provider of the base config that has the type under another id. */
const otherOfBase = ({ id, type, base }: Pick<KnownProvider, "id" | "type" | "base">): JsonObject | undefined => {
  const found = entriesOf(base, "scoring").find((entry) => entry.provider_type === type);
  return found === undefined || baseId(found) === id ? undefined : found;
};

const isRemoved = (entry: JsonObject, { spec }: Facts): boolean =>
  disablingEntry(spec, "scoring", baseId(entry) ?? "") !== undefined;

/** What keeps a server with data from its start in spite of that: its registry has the functions of the provider that was removed. */
export const registeredBefore = (
  { api, id, type, path, base }: KnownProvider,
  facts: Facts,
): ReadonlyArray<Warning> => {
  if (api !== "scoring") return [];
  const ofBase = otherOfBase({ id, type, base });
  if (ofBase === undefined || !isRemoved(ofBase, facts)) return [];
  const former = baseId(ofBase);
  return [
    warning(
      "ServerDefect",
      [...path, "id"],
      `a server that has run with ${former} of the base config keeps its functions, and does not start with another id for ` +
        `this type; set id to ${former} unless the server is new`,
    ),
  ];
};

/** The same of the entries of a config, whoever wrote it. */
export const conflictingEntries = (
  config: JsonObject,
  { environment }: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const types = entriesOf(config, "scoring").map((entry) =>
    stateOf(entry, environment) === "On" ? stringAt(entry, "provider_type") : undefined
  );
  return types.flatMap((type, index): ReadonlyArray<EntryFinding> =>
    type === undefined || types.indexOf(type) === index ? [] : [{
      path: ["providers", "scoring", index],
      message: "another provider of the scoring API has the same type; remove one",
      isFatal: true,
    }]
  );
};

/** Of an address of host and port. */
const NAMES_PORT = /:(?:[0-9]+|\$\{env\.[^}]*\})\/?$/;

/** Fields that stand for the same key of the config: one of the two would be lost. */
export const doubledFields = ({ provider, known, path }: KnownProvider): ReadonlyArray<RuleBroken> =>
  [
    provider.endpoint === undefined ? [] : [
      ["endpoint", known.endpoint],
      ["endpoint", NAMES_PORT.test(provider.endpoint) ? known.endpointPort : undefined],
    ],
    provider.apiKey === undefined ? [] : [["apiKey", known.key]],
  ].flat().flatMap(([field, key]) =>
    key === undefined || !Object.hasOwn(provider.secretRefs ?? {}, key) ? [] : [
      new RuleBroken({
        path: [...path, "secretRefs", key],
        detail: `sets the same field of the provider as ${field}: ${quoted(key)}; remove one of the two`,
      }),
    ]
  );
