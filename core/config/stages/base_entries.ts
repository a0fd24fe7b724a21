/**
 * After all stages: conditions between the fields of a provider of the base config, broken by variables that the resource sets, and
 * providers with which no server starts, switched on by them. What the base contains by itself is known to start; those of a provider
 * that the resource declares are in provider_rules.ts.
 */
import { SettingInvalid } from "../../failure/failures.ts";
import { at, type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { type Draft, entriesOf, type Facts } from "../draft.ts";
import { expandedText, knownEnvironment, knownValues, stateOf, variablesIn } from "../known_environment.ts";
import { baseId, conditionOf } from "../servers/base.ts";
import { endpointExpectation, providerType } from "../servers/catalogue.ts";
import { unstartableType } from "../servers/families/unstartable_types.ts";
import type { Stage } from "../stage.ts";
import { surelyBroken } from "./entry_findings.ts";

export const rejectBrokenBaseEntries: Stage<SettingInvalid> = (draft, facts) => ({
  draft,
  failures: brokenBaseEntries(draft, facts),
});

const brokenBaseEntries = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid> => {
  const variables = (facts.spec.workload?.overrides?.env ?? []).map(({ name }) => name);
  if (variables.length === 0) return [];
  const environment = knownEnvironment(facts, draft.env);
  const valueOf = knownValues(environment, facts);
  return Object.keys(objectAt(draft.config, "providers")).flatMap((api) =>
    entriesOf(draft.config, api).flatMap((entry) => {
      const id = baseId(entry) ?? "";
      const condition = conditionOf(entry);
      const isDeclared = draft.declared.some((provider) => provider.api === api && provider.id === id);
      if (isDeclared || stateOf(entry, environment) !== "On") return [];
      const config = objectAt(entry, "config");
      const type = stringAt(entry, "provider_type") ?? "";
      const known = providerType(facts.server.catalogue, api, type);
      const endpoint = known?.endpoint ?? "";
      const address = config[endpoint];
      // Where the schema does not require an address, the server starts without, and only this provider does not answer.
      const isLost = endpointExpectation(facts.server.catalogue, api, type)?.needed === true &&
        known?.fields[endpoint]?.required === true && typeof address === "string" &&
        expandedText(address, valueOf) === null;
      const unstartable = unstartableType(facts.server, api, type);
      const broken = unstartable !== undefined
        ? [{ path: [], detail: `${type}: ${unstartable.reason}; ${unstartable.instead}` }]
        : [
          ...surelyBroken(config, { api, type, path: [] }, facts, environment, valueOf),
          ...(isLost
            ? [{ path: [endpoint], detail: `required; set ${variablesIn(String(address)).join(", ")}, too` }]
            : []),
        ];
      return broken.flatMap(({ path: field, detail }) => {
        const index = field.length === 0
          ? variables.lastIndexOf(condition ?? "")
          : culprit(config, field.map(String), variables, condition);
        return index < 0 ? [] : [
          new SettingInvalid({
            path: ["spec", "workload", "overrides", "env", index],
            detail: `provider "${id}" of the base config${
              field.length === 0 ? "" : `, field ${field.join(".")}`
            }: ${detail}`,
          }),
        ];
      });
    })
  );
};

/** Index of the variable that the field reads, else of one that another field of the provider does, or that switches it on. */
const culprit = (
  config: JsonObject,
  field: ReadonlyArray<string>,
  variables: ReadonlyArray<string>,
  condition: string | undefined,
): number => {
  const written = at(config, ...field);
  const first = variables.findLastIndex((name) =>
    readBy(written).includes(name) ||
    // Classes of AWS read the variable of this name in place of a field that is not written.
    written === undefined && name === field.join("_").toUpperCase()
  );
  return first >= 0 ? first : variables.findLastIndex((name) => readBy(config).includes(name) || name === condition);
};

const readBy = (value: Json | undefined): ReadonlyArray<string> => variablesIn(JSON.stringify(value) ?? "");
