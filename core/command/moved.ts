/** How the config of a resource changes with another server: what is lost, new or renamed. */
import type { Generated } from "../config/pipeline.ts";
import type { ServerFamily } from "../config/servers/families/family.ts";
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";

/** A config with the family of its server. */
export interface Configured {
  readonly tree: Generated["tree"];
  readonly family: ServerFamily;
}

/** One message per change; empty if the configs are equivalent. */
export const moved = (before: Configured, after: Configured): ReadonlyArray<string> => [
  ...names("API", apisOf(before), apisOf(after)),
  ...providers(before, after),
  ...RESOURCES.flatMap(({ what, section, key }) =>
    names(what, registered(before, section, key), registered(after, section, key))
  ),
];

const RESOURCES = [
  { what: "model", section: "models", key: "model_id" },
  { what: "shield", section: "shields", key: "shield_id" },
  { what: "tool group", section: "tool_groups", key: "toolgroup_id" },
] as const;

const apisOf = ({ tree }: Configured): ReadonlyArray<string> => listAt(tree, "apis").map(String);

const registered = ({ tree, family }: Configured, section: string, key: string): ReadonlyArray<string> =>
  listAt(tree, ...family.resourcesAt, section).flatMap((value) => stringAt(value, key) ?? []);

const names = (what: string, before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...before.filter((text) => !after.includes(text)).map((text) => `lost: ${what} ${text}`),
  ...after.filter((text) => !before.includes(text)).map((text) => `new: ${what} ${text}`),
];

interface Provider {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly config: JsonObject;
}

const providers = (before: Configured, after: Configured): ReadonlyArray<string> => {
  const [old, now] = [providersOf(before.tree), providersOf(after.tree)];
  // The same id and type, such as `builtin`, can occur in several unrelated APIs.
  const isRenamed = (from: Provider, to: Provider) =>
    from.id === to.id && from.type === to.type &&
    (after.family.apiAliases[from.api] === to.api || before.family.apiAliases[to.api] === from.api);
  const here = (all: ReadonlyArray<Provider>, { api, id }: Provider) =>
    all.find((provider) => provider.api === api && provider.id === id);
  return [
    ...old.flatMap((provider) => {
      const same = here(now, provider);
      if (same !== undefined) return changes(provider, same);
      const elsewhere = now.find((other) => isRenamed(provider, other));
      return [
        elsewhere === undefined
          ? `lost: ${provider.api} provider ${provider.id} (${provider.type})`
          : `renamed: API ${provider.api} of provider ${provider.id} is ${elsewhere.api}`,
      ];
    }),
    ...now.filter((provider) => here(old, provider) === undefined && !old.some((other) => isRenamed(other, provider)))
      .map(({ api, id, type }) => `new: ${api} provider ${id} (${type})`),
  ];
};

/** Values are omitted, because one of them may be a secret in settings. */
const changes = (before: Provider, after: Provider): ReadonlyArray<string> => {
  const name = `${before.api} provider ${before.id}`;
  const gone = Object.keys(before.config).filter((key) => !Object.hasOwn(after.config, key));
  const come = Object.keys(after.config).filter((key) => !Object.hasOwn(before.config, key));
  const twin = (key: string) =>
    come.find((text) => JSON.stringify(member(after.config, text)) === JSON.stringify(member(before.config, key)));
  return [
    ...(before.type === after.type ? [] : [`renamed: type ${before.type} of ${name} is ${after.type}`]),
    ...gone.map((key) => {
      const other = twin(key);
      return other === undefined ? `lost: field ${key} of ${name}` : `renamed: field ${key} of ${name} is ${other}`;
    }),
    ...come.filter((key) => !gone.some((text) => twin(text) === key)).map((key) => `new: field ${key} of ${name}`),
  ];
};

const providersOf = (tree: JsonObject): ReadonlyArray<Provider> =>
  Object.entries(objectAt(tree, "providers")).flatMap(([api, list]) =>
    (Array.isArray(list) ? list : []).filter(isObject).map((object) => ({
      api,
      id: stringAt(object, "provider_id") ?? "",
      type: stringAt(object, "provider_type") ?? "",
      config: objectAt(object, "config"),
    }))
  );
