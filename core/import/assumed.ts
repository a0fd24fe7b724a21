/** Variables that a config needs, and those that are secret by the place where it reads them. */
import { entriesOf } from "../config/draft.ts";
import { neededVariables, variablesIn } from "../config/known_environment.ts";
import { baseId, conditionOf } from "../config/servers/base.ts";
import { providerType } from "../config/servers/catalogue.ts";
import { apiOn, type Server } from "../config/servers/families/families.ts";
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { idIn } from "./entries.ts";
import { OF_OPERATOR } from "./express.ts";
import { SECRET_NAME } from "../config/secret_text.ts";
import { settledText, valueIn, type ValueOf, type Variable, type Variables } from "./variables.ts";
import { isSecretHeader, type Withheld } from "./withheld.ts";

/** With the variables that must be set, because the server would not start without them. */
export const assumed = (tree: JsonObject, server: Server, variables: Variables, withheld: Withheld): Variables => {
  const found = new Map<string, Variable>(variables);
  for (const name of withheld.variables) found.set(name, { kind: "secret" });
  for (const name of withheld.defaulted) {
    const known = found.get(name);
    if (known === undefined || known.kind === "value" && known.value === "") found.set(name, { kind: "secret" });
  }
  const secret = secretVariables(tree, server);
  for (const name of secret) {
    const known = found.get(name);
    if (known?.kind === "value" && known.value !== "") found.set(name, { kind: "secret" });
  }
  const assume = (name: string) => {
    const known = found.get(name);
    if (known !== undefined && !(known.kind === "value" && known.value === "")) return;
    found.set(name, secret.has(name) || SECRET_NAME.test(name) ? { kind: "secret" } : { kind: "open" });
  };
  const valueOf = valueIn(found);
  for (const name of neededIn(tree, valueOf)) assume(name);
  const conditions = new Map(
    Object.keys(objectAt(tree, "providers")).flatMap((api) =>
      entriesOf(tree, api).flatMap((entry): ReadonlyArray<readonly [string, string]> => {
        const condition = conditionOf(entry);
        return condition === undefined ? [] : [[`${api}/${baseId(entry)}`, condition]];
      })
    ),
  );
  const assumeCondition = (api: string, id: Json | undefined) => {
    const condition = conditions.get(`${api}/${id}`);
    if (condition !== undefined) assume(condition);
  };
  // A provider that a registered resource needs is on.
  for (const [list, api] of server.family.toolGroups ? NEEDING : NEEDING.slice(0, 2)) {
    for (const entry of listAt(tree, ...server.family.resourcesAt, list).filter(isObject)) {
      const id = settledText(String(entry.provider_id ?? ""), valueIn(found));
      const key = settledText(String(entry.model_id ?? entry.shield_id ?? entry.toolgroup_id ?? ""), valueIn(found));
      if (key !== null && key !== "") assumeCondition(api, id);
    }
  }
  const section = objectAt(tree, "vector_stores");
  const defaults = [
    ["vector_io", section.default_provider_id],
    ["inference", stringAt(section, "default_embedding_model", "provider_id")],
    ["inference", stringAt(section, "default_reranker_model", "provider_id")],
  ] as const;
  for (const [api, id] of defaults) assumeCondition(api, id);
  return found;
};

const NEEDING = [["models", "inference"], ["shields", "safety"], ["tool_groups", "tool_runtime"]] as const;

/** Without a default, in what is on. */
const neededIn = (tree: JsonObject, valueOf: ValueOf): ReadonlyArray<string> => [
  ...new Set(neededVariables(textsOfActive(tree, valueOf))),
];

/** With a default that is not empty. */
export const defaultedIn = (tree: JsonObject, valueOf: ValueOf): ReadonlyArray<string> =>
  [...new Set([...textsOfActive(tree, valueOf).matchAll(/\$\{env\.([A-Z0-9_]+):=[^}]/g)].map(([, name = ""]) => name))]
    .filter((name) => valueOf(name) === "" && !OF_OPERATOR.has(name));

const textsOfActive = (tree: JsonObject, valueOf: ValueOf): string => {
  const providers = Object.values(objectAt(tree, "providers")).flatMap((entries) =>
    listAt({ entries }, "entries").filter((entry) => isObject(entry) && idIn(entry, valueOf) !== undefined)
  );
  return JSON.stringify([providers, { ...tree, providers: {} } as Json]);
};

/** Variables in fields that are secret, by the type of the provider or by their name. */
const secretVariables = (tree: JsonObject, server: Server): ReadonlySet<string> => {
  const within = (value: Json, isSecret: (key: string) => boolean, key = ""): ReadonlyArray<string> => {
    if (typeof value === "string") return isSecret(key) ? variablesIn(value) : [];
    if (isList(value)) return value.flatMap((item) => within(item, isSecret, key));
    if (!isObject(value)) return [];
    const isSecretHere = (name: string) => isSecret(name) || isSecretHeader(name, key);
    return Object.entries(value).flatMap(([name, inner]) => within(inner, isSecretHere, name));
  };
  const ofProviders = Object.keys(objectAt(tree, "providers")).flatMap((api) =>
    entriesOf(tree, api).flatMap((entry) => {
      const known = providerType(server.catalogue, apiOn(server, api) ?? api, stringAt(entry, "provider_type") ?? "");
      const isSecret = (key: string) => known?.fields[key]?.secret === true || SECRET_NAME.test(key);
      return within(objectAt(entry, "config"), isSecret);
    })
  );
  return new Set([
    ...ofProviders,
    ...within({ ...tree, providers: {} }, (key) => SECRET_NAME.test(key)),
    ...[...JSON.stringify(tree).matchAll(PASSWORD_VARIABLE)].map(([, name = ""]) => name),
  ]);
};

/** In the place of the password of `user:password@host`. */
const PASSWORD_VARIABLE = /:\$\{env\.([A-Z0-9_]+)(?::[=+][^}]*)?\}@/g;
