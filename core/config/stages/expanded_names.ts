/** After all stages: names that variables stand for, in what the config registers and in its databases, as far as they are known. */
import { SettingInvalid } from "../../failure/failures.ts";
import { isList, isObject, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { type Draft, entryOf, type Facts } from "../draft.ts";
import { expandedText, knownEnvironment, knownValues, variablesIn } from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import { shieldsOf, targetsOf } from "./shields.ts";

/** Names of models and shields are text, also if they come from a variable. */
export const unfitNames = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid> => {
  const { models = [] } = facts.spec.resources ?? {};
  const written = [
    ...models.map(({ name }, index) => ({
      name,
      path: ["spec", "resources", "models", index, "name"],
      mayBeEmpty: false,
    })),
    // The server leaves out a shield without an id.
    ...shieldsOf(facts.spec).map(({ name, path }) => ({ name, path, mayBeEmpty: true })),
  ].filter(({ name }) => name.includes("${env."));
  const variables = facts.spec.workload?.overrides?.env ?? [];
  if (written.length === 0 && variables.length === 0) return [];
  const valueOf = knownValues(knownEnvironment(facts, draft.env), facts);
  const ofBase = namesInConfig(draft.config, facts)
    .filter(({ text }) => !written.some(({ name }) => text.includes(name)));
  return [
    ...written.filter(({ name, mayBeEmpty }) => {
      const value = expandedText(name, valueOf);
      return value !== undefined && typeof value !== "string" && !(mayBeEmpty && value === null);
    }).map(({ path }) =>
      new SettingInvalid({
        path,
        detail: "the server converts variables that are empty or look like a number; expected a string",
      })
    ),
    ...ofBase.flatMap(({ kind, key, text, allowed }) => {
      const value = expandedText(text, valueOf);
      const read = variablesIn(text);
      const index = variables.findLastIndex(({ name, value }) => value !== undefined && read.includes(name));
      // What becomes empty is left out by the server, or by the base config on purpose.
      const isFit = (typeof value === "string") !== (key === "port") &&
        (allowed === undefined || allowed.includes(String(value)));
      if (index < 0 || value === undefined || value === null || isFit) return [];
      const expected = allowed !== undefined
        ? `expected one of ${allowed.join(", ")}`
        : key === "port"
        ? "expected a whole number"
        : "the server converts variables that look like a number; expected a string";
      return [
        new SettingInvalid({
          path: ["spec", "workload", "overrides", "env", index, "value"],
          detail: `the base config reads this value as ${key} of ${kind}; ${expected}`,
        }),
      ];
    }),
  ];
};

/** Ids of the resources that the config registers, and the accounts of its databases, where they contain variables. */
const namesInConfig = (config: JsonObject, { server: { family } }: Facts): ReadonlyArray<NamedText> => [
  ...Object.entries(objectAt(config, ...family.resourcesAt)).flatMap(([kind, list]) =>
    (isList(list) ? list.filter(isObject) : []).flatMap((entry) =>
      textsIn(kind, entry, (key) => key.endsWith("_id")).map((name) =>
        kind === "shields" && name.key === "provider_shield_id" ? { ...name, allowed: targetsIn(config, entry) } : name
      )
    )
  ),
  ...Object.entries(objectAt(config, "storage", "backends")).flatMap(([name, backend]) =>
    isObject(backend) ? textsIn(`storage backend ${name}`, backend, (key) => ACCOUNT.has(key)) : []
  ),
];

interface NamedText {
  readonly kind: string;
  readonly key: string;
  readonly text: string;
  /** The only values with which the server starts; undefined: any. */
  readonly allowed?: ReadonlyArray<string> | undefined;
}

const targetsIn = (config: JsonObject, shield: JsonObject): ReadonlyArray<string> | undefined =>
  targetsOf(stringAt(entryOf(config, "safety", baseId(shield) ?? ""), "provider_type") ?? "");

/** Fields of a database: text on every server, but for the port. */
const ACCOUNT: ReadonlySet<string> = new Set(["host", "port", "db", "user", "password", "ssl_mode", "table_name"]);

const textsIn = (kind: string, entry: JsonObject, isWanted: (key: string) => boolean): ReadonlyArray<NamedText> =>
  Object.entries(entry).flatMap(([key, text]) =>
    isWanted(key) && typeof text === "string" && text.includes("${env.") ? [{ kind, key, text }] : []
  );
