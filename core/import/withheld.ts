/** Secret values of a config that stand in it in clear text: each becomes a variable, so that no later step could print it. */
import { isList, isObject, type Json, type JsonObject, stringAt } from "../data/json.ts";
import { apiOn, type Server } from "../config/servers/families/families.ts";
import { providerType } from "../config/servers/catalogue.ts";
import { variablesIn } from "../config/known_environment.ts";
import { baseId } from "../config/servers/base.ts";
import { hasSecret, SECRET_NAME } from "../config/secret_text.ts";

export interface Withheld {
  readonly tree: JsonObject;
  /** Names of the new variables. */
  readonly variables: ReadonlySet<string>;
  /** Variables of the config that lost a secret default. */
  readonly defaulted: ReadonlySet<string>;
}

export const withoutSecretValues = (tree: JsonObject, server: Server): Withheld => {
  const variables = new Set<string>();
  const defaulted = new Set<string>();
  const used = new Map<string, number>(variablesIn(JSON.stringify(tree)).map((name) => [name, 1]));
  const nameFor = (path: ReadonlyArray<string>): string => {
    const steps = path.filter((step) => step !== "config").slice(-3).join("_");
    const name = steps.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_").replace(/^[_0-9]+/, "").slice(
      0,
      NAME_CHARACTERS_MAX,
    );
    const count = (used.get(name) ?? 0) + 1;
    used.set(name, count);
    const found = count === 1 ? name : `${name}_${count}`;
    // The name with a number may be one of the config as well.
    if (count > 1 && used.has(found)) return nameFor(path);
    variables.add(found);
    return found;
  };
  const within = (
    value: Json,
    path: ReadonlyArray<string>,
    isSecret: (key: string) => boolean,
    key = path.at(-1) ?? "",
  ): Json => {
    if (isList(value)) return value.map((item, index) => within(item, [...path, labelOf(item, index)], isSecret, key));
    if (isObject(value)) {
      const host = REDIS_HOST.exec(REDIS.test(stringAt(value, "type") ?? "") ? stringAt(value, "host") ?? "" : "");
      const [, user = "", bare = ""] = host ?? [];
      const open = host === null
        ? value
        : { ...value, host: `${user}:\${env.${nameFor([...path, "password"])}}@${bare}` };
      return Object.fromEntries(
        Object.entries(open).map(([key, inner]) => [key, within(inner, [...path, key], isSecret)]),
      );
    }
    if (OF_NAMES.has(path.at(-2) ?? "") && !(typeof value === "string" && hasSecret(value))) return value;
    if (typeof value !== "string" && typeof value !== "number" || value === "") return value;
    const isSecretField = isSecret(key) || isSecretHeader(key, path.at(-2) ?? "");
    const text = withoutSecretDefaults(String(value), isSecretField, (name) => defaulted.add(name));
    if (text === undefined) return `\${env.${nameFor(path)}}`;
    return text === String(value) ? value : text;
  };
  const usual = (key: string) => SECRET_NAME.test(key) || /^(proxy-)?authorization$|^cookie$/i.test(key);
  const providers = isObject(tree.providers) ? tree.providers : {};
  const clean = within({ ...tree, providers: {} }, [], usual) as JsonObject;
  return {
    tree: {
      ...clean,
      ...(tree.providers === undefined ? {} : {
        providers: Object.fromEntries(
          Object.entries(providers).map(([api, entries]) => [
            api,
            isList(entries)
              ? entries.map((entry) => {
                const known = providerType(
                  server.catalogue,
                  apiOn(server, api) ?? api,
                  stringAt(entry, "provider_type") ?? "",
                );
                const fields = known?.fields ?? {};
                return within(
                  entry,
                  [baseId(entry) ?? api],
                  (key) => Object.hasOwn(fields, key) ? fields[key]?.secret === true : usual(key),
                );
              })
              : entries,
          ]),
        ),
      }),
    },
    variables,
    defaulted,
  };
};

const REDIS = /^(kv_)?redis$/;

/** `[user]:password@host` in clear text: only the password is withheld. */
const REDIS_HOST = /^([\w.%-]*):(?!.*\$\{)\S+@([\w.-]+)$/;

/** Placeholders also as servers before 0.2.13 and shells have them. */
const ANY_PLACEHOLDER = /\$\{env\.([A-Za-z0-9_]+)(?:(:[=+-]?|\+)([^}]*))?\}/g;

/** Undefined where a placeholder must stand for the whole text. */
const withoutSecretDefaults = (
  text: string,
  isSecretField: boolean,
  note: (variable: string) => void,
): string | undefined => {
  const bare = text.replaceAll(ANY_PLACEHOLDER, "");
  const isClear = isSecretField && !bare.includes("://") ? !/^\s*((bearer|basic)\s*)?$/i.test(bare) : hasSecret(bare);
  if (isClear) return undefined;
  const placeholders = [...text.matchAll(ANY_PLACEHOLDER)];
  const operands = placeholders.map(([, , , operand = ""]) => operand).filter((operand) => operand !== "");
  const isSecret = isSecretField
    ? operands.some((operand) => !HARMLESS.test(operand))
    : hasSecret(text.replaceAll(ANY_PLACEHOLDER, (_, _name, _operator, operand = "") => operand));
  if (!isSecret) return text;
  if (placeholders.some(([, , operator = ""]) => operator.includes("+"))) return undefined;
  return text.replaceAll(ANY_PLACEHOLDER, (placeholder, name: string, _operator, operand = "") => {
    if (operand === "") return placeholder;
    note(name);
    return `\${env.${name}}`;
  });
};

/** Of a key of a Secret, with room for a number; Kubernetes allows 253. */
const NAME_CHARACTERS_MAX = 128;

/** The id of an entry makes a better name than its place. */
const labelOf = (item: Json, index: number): string => (isObject(item) ? baseId(item) : undefined) ?? String(index);

/** Maps from names to names of headers and attributes: their keys are of no secret value. */
const OF_NAMES: ReadonlySet<string> = new Set(["forward_headers", "attribute_headers", "claims_mapping"]);

/** Whether a field of a map with this name is a header whose value may be a secret: services choose its name. */
export const isSecretHeader = (key: string, map: string): boolean =>
  /headers$/i.test(map) && !OF_NAMES.has(map) && !PLAIN_HEADER.test(key);

const PLAIN_HEADER =
  /^(accept(-.*)?|cache-control|connection|content-.*|date|host|origin|user-agent|traceparent|x-(b3|forwarded|real)-.*|x-request-id)$/i;

/** What people write where a service wants no key. */
const HARMLESS =
  /^(fake|none|null|dummy|empty|na|n\/a|no[-_]?(key|token|auth)|not[-_]?(needed|used|required|set)|x+|unused|placeholder|test|(sk-)?(fake|dummy|test|none|no)[-_]?(key|token|api[-_]?key)?)$/i;
