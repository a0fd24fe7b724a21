/** The provider of something that the server registers: the one that the resource names, or the one that serves it else. */
import type { ProviderList } from "../../api/api_names.ts";
import { disablingEntry, effectiveId } from "../../api/rules.ts";
import { ProviderSwitchedOff, UnknownProvider } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { Json, JsonObject } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, entryOf, type Facts } from "../draft.ts";
import { knownEnvironment, stateOf } from "../known_environment.ts";
import { baseId, conditionOf, isConditional } from "../servers/base.ts";

export interface Searched<A> {
  readonly found?: A;
  readonly failures: ReadonlyArray<UnknownProvider | ProviderSwitchedOff>;
  readonly warnings: ReadonlyArray<Warning>;
}

/** An API under its name in config.yaml and as the list of `spec.providers`. */
export interface ApiOfList {
  readonly api: string;
  readonly field: ProviderList;
}

/** The name of a provider, and the field that has it. */
interface Named extends ApiOfList {
  readonly id: string;
  readonly path: FieldPath;
}

/** The entry with this id, unless it is off. Nothing is found, and nothing said, if its own entry has failed. */
export const namedProvider = (named: Named, draft: Draft, facts: Facts): Searched<JsonObject> => {
  const entry = entryOf(draft.config, named.api, named.id);
  if (entry !== undefined) return usable(entry, named, entry, draft, facts);
  const isDeclared = (facts.spec.providers?.[named.field] ?? []).some((provider) =>
    effectiveId(provider as unknown as Json) === named.id
  );
  return { failures: isDeclared ? [] : [unknown(named, draft, facts)], warnings: [] };
};

/** `found`, if the provider of the base config is on. */
export const usable = <A>(
  found: A,
  named: Named,
  entry: JsonObject,
  draft: Draft,
  facts: Facts,
): Searched<A> => {
  const { id, path, field } = named;
  const state = stateOf(entry, knownEnvironment(facts, draft.env));
  const variable = conditionOf(entry);
  if (state === "Off") {
    const failure = variable === undefined
      ? unknown(named, draft, facts)
      : new ProviderSwitchedOff({ path, id, variable, field });
    return { failures: [failure], warnings: [] };
  }
  return {
    found,
    failures: [],
    warnings: state === "On" ? [] : [
      warning(
        "VariableNotKnown",
        path,
        `provider "${id}" is disabled unless ${variable ?? "a variable"} is set, and this resource does not set it`,
      ),
    ],
  };
};

const unknown = ({ id, path, api }: Named, draft: Draft, facts: Facts) =>
  new UnknownProvider({
    path,
    id,
    known: providerIds(api, draft, facts),
    disabledBy: disablingEntry(facts.spec, api, id),
  });

/** Those that are on; if none is, those that a variable would switch on, of which the next message tells. */
const providerIds = (api: string, draft: Draft, facts: Facts): ReadonlyArray<string> => {
  const environment = knownEnvironment(facts, draft.env);
  const entries = entriesOf(draft.config, api);
  const on = entries.filter((entry) => stateOf(entry, environment) !== "Off");
  const open = on.length > 0 ? on : entries.filter((entry) => conditionOf(entry) !== undefined);
  return open.flatMap((entry) => baseId(entry) ?? []).sort();
};

export interface UsualProvider {
  readonly id: string;
  readonly entry: JsonObject;
  /** The resource names it; else it is one of the base config. */
  readonly declared: boolean;
}

/** Those of the resource, then those of the base config that are on without conditions. */
export const usualProviders = (
  { api, field }: ApiOfList,
  draft: Draft,
  { spec }: Facts,
): ReadonlyArray<UsualProvider> => {
  const written = [
    ...(spec.providers?.[field] ?? []).map((provider) => effectiveId(provider as unknown as Json)),
    ...draft.external.filter((external) => external.api === api).map(({ id }) => id),
  ];
  const all = entriesOf(draft.config, api).filter((entry) => !isConditional(entry)).map((entry): UsualProvider => {
    const id = baseId(entry) ?? "";
    return { id, entry, declared: written.includes(id) };
  });
  return [...all.filter(({ declared }) => declared), ...all.filter(({ declared }) => !declared)];
};
