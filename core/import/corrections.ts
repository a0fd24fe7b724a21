/** What a config says in a way that its server does not read, although it is plain what is meant. */
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../data/json.ts";
import { addressFields } from "../config/connections/endpoint.ts";
import { entriesOf, factsOf } from "../config/draft.ts";
import { baseId, isConditional, opensAllApis } from "../config/servers/base.ts";
import { type ProviderType, providerType } from "../config/servers/catalogue.ts";
import { apiOn, type Server } from "../config/servers/families/families.ts";

export interface Corrected {
  readonly tree: JsonObject;
  /** One sentence each. */
  readonly corrections: ReadonlyArray<string>;
}

export const corrected = (tree: JsonObject, server: Server): Corrected => {
  const placeholders = new Set<string>();
  const rewritten = withPlaceholders(tree, (name) => placeholders.add(name)) as JsonObject;
  const named: Array<string> = [];
  const after = Object.keys(objectAt(rewritten, "providers")).reduce((config, api) => {
    const here = apiOn(server, api) ?? api;
    const entries = listAt(config, "providers", api).map((entry) => {
      const type = stringAt(entry, "provider_type") ?? "";
      const known = providerType(server.catalogue, here, type);
      if (!isObject(entry) || known === undefined || !isObject(entry.config)) return entry;
      const label = `${api} provider ${baseId(entry) ?? type}`;
      const renamed = renamedFields(entry.config, known);
      const completed = completedAddress(renamed.config, { api: here, type }, known, server);
      named.push(...[...renamed.done, ...completed.done].map((text) => `${label}: ${text}`));
      return { ...entry, config: completed.config };
    });
    return entries.length === 0 ? config : put(config, ["providers", api], entries);
  }, rewritten);
  return {
    tree: after,
    corrections: [
      ...(placeholders.size === 0
        ? []
        : [`placeholders are written with := or :+ on this server: ${[...placeholders].join(", ")}`]),
      ...named,
    ],
  };
};

/** `${env.NAME:default}` and `${env.NAME+value}` of Llama Stack before 0.2.13, and `:-` as shells have it. */
const FORMER = /\$\{env\.([A-Z0-9_]+)(?:(\+)|:-?(?![=+]))([^}]*)\}/g;

const withPlaceholders = (value: Json, note: (name: string) => void): Json => {
  if (typeof value === "string") {
    return value.replaceAll(FORMER, (_, name: string, plus: string | undefined, operand: string) => {
      note(name);
      return `\${env.${name}:${plus ?? "="}${operand}}`;
    });
  }
  if (isList(value)) return value.map((item) => withPlaceholders(item, note));
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPlaceholders(inner, note)]))
    : value;
};

interface Fields {
  readonly config: JsonObject;
  readonly done: ReadonlyArray<string>;
}

/** The address and the key under the names of other versions. */
const FORMER_NAMES = { endpoint: /^((base|api)_)?url$/, key: /^api_(key|token)$/ } as const;

const renamedFields = (config: JsonObject, known: ProviderType): Fields =>
  (["endpoint", "key"] as const).reduce<Fields>(({ config: before, done }, part) => {
    const name = known[part];
    const former = Object.keys(before).find((key) => FORMER_NAMES[part].test(key) && !isRead(key, known));
    if (name === undefined || former === undefined || Object.hasOwn(before, name) || known.endpointPort !== undefined) {
      return { config: before, done };
    }
    return {
      config: { ...omit(before, former), [name]: before[former] ?? null },
      done: [...done, `${former} is called ${name}`],
    };
  }, { config, done: [] });

const isRead = (key: string, { fields }: ProviderType): boolean =>
  Object.entries(fields).some(([name, { aliases = [] }]) => name === key || aliases.includes(key));

/** The path that clients of this type expect at the end of the address. */
const completedAddress = (
  config: JsonObject,
  provider: { readonly api: string; readonly type: string },
  known: ProviderType,
  server: Server,
): Fields => {
  const name = known.endpoint;
  const written = name === undefined ? undefined : stringAt(config, name);
  if (name === undefined || written === undefined || written === "" || known.endpointPort !== undefined) {
    return { config, done: [] };
  }
  const { config: made } = addressFields(written, provider, known, [], factsOf("", { distribution: {} }, server));
  const value = made[name];
  return typeof value !== "string" || value === written ? { config, done: [] } : {
    config: { ...config, [name]: value },
    done: [`the path ${value.slice(written.replace(/\/+$/, "").length)} is added to ${name}`],
  };
};

/**
 * With the APIs that provider types require, and with the providers that the base config has for them: without these the server
 * does not start. What it requires grew with its versions.
 */
export const withRequiredApis = (tree: JsonObject, base: JsonObject, server: Server): Corrected => {
  let current = tree;
  const corrections: Array<string> = [];
  const isOpen = (api: string) =>
    opensAllApis(current, server) ? entriesOf(current, api).length > 0 : listAt(current, "apis").includes(api);
  const visit = (api: string): void => {
    for (const entry of entriesOf(current, api)) {
      const known = providerType(server.catalogue, api, stringAt(entry, "provider_type") ?? "");
      for (const required of known?.requires ?? []) {
        const kind = server.catalogue.apis[required]?.kind;
        if (kind !== "routed" && kind !== "direct" || isOpen(required) || isConditional(entry)) continue;
        if (kind === "direct" && entriesOf(current, required).length === 0 && entriesOf(base, required).length === 0) {
          continue;
        }
        corrections.push(`API ${required} is added, because ${api} provider ${baseId(entry)} requires it`);
        if (!opensAllApis(current, server)) {
          current = put(current, ["apis"], [...listAt(current, "apis"), required]);
        }
        if (entriesOf(current, required).length === 0) {
          current = put(current, ["providers", required], entriesOf(base, required));
        }
        visit(required);
      }
    }
  };
  for (const api of Object.keys(objectAt(tree, "providers"))) if (isOpen(api)) visit(api);
  return { tree: current, corrections };
};
