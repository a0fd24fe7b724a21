/** What becomes of a resource on another server: what its config loses, gains, or says under another name. */
import type { Generated } from "../config/pipeline.ts";
import type { ServerFamily } from "../config/servers/families/family.ts";
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";

/** A config with the line of its server. */
export interface Configured {
  readonly tree: Generated["tree"];
  readonly line: ServerFamily;
}

/** Sentences, one thing each; empty when the two configs say the same. */
export const moved = (before: Configured, after: Configured): ReadonlyArray<string> => [
  ...names("API", apisOf(before), apisOf(after)),
  ...providers(before.tree, after.tree),
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

const registered = ({ tree, line }: Configured, section: string, key: string): ReadonlyArray<string> =>
  listAt(tree, ...line.resourcesAt, section).flatMap((one) => stringAt(one, key) ?? []);

const names = (what: string, before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...before.filter((one) => !after.includes(one)).map((one) => `lost: ${what} ${one}`),
  ...after.filter((one) => !before.includes(one)).map((one) => `new: ${what} ${one}`),
];

interface Provider {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly config: JsonObject;
}

const providers = (before: JsonObject, after: JsonObject): ReadonlyArray<string> => {
  const [old, now] = [providersOf(before), providersOf(after)];
  const here = (all: ReadonlyArray<Provider>, { api, id }: Provider) =>
    all.find((one) => one.api === api && one.id === id);
  return [
    ...old.flatMap((one) => {
      const same = here(now, one);
      if (same !== undefined) return changes(one, same);
      const elsewhere = now.find(({ id, type }) => id === one.id && type === one.type);
      return [
        elsewhere === undefined
          ? `lost: ${one.api} provider ${one.id} (${one.type})`
          : `renamed: API ${one.api} of provider ${one.id} is ${elsewhere.api}`,
      ];
    }),
    ...now.filter((one) =>
      here(old, one) === undefined && !old.some(({ id, type }) => id === one.id && type === one.type)
    )
      .map(({ api, id, type }) => `new: ${api} provider ${id} (${type})`),
  ];
};

/** Values are left out: one of them may be a secret that somebody wrote into settings. */
const changes = (before: Provider, after: Provider): ReadonlyArray<string> => {
  const name = `${before.api} provider ${before.id}`;
  const gone = Object.keys(before.config).filter((key) => !Object.hasOwn(after.config, key));
  const come = Object.keys(after.config).filter((key) => !Object.hasOwn(before.config, key));
  const twin = (key: string) =>
    come.find((one) => JSON.stringify(member(after.config, one)) === JSON.stringify(member(before.config, key)));
  return [
    ...(before.type === after.type ? [] : [`renamed: type ${before.type} of ${name} is ${after.type}`]),
    ...gone.map((key) => {
      const other = twin(key);
      return other === undefined ? `lost: field ${key} of ${name}` : `renamed: field ${key} of ${name} is ${other}`;
    }),
    ...come.filter((key) => !gone.some((one) => twin(one) === key)).map((key) => `new: field ${key} of ${name}`),
  ];
};

const providersOf = (tree: JsonObject): ReadonlyArray<Provider> =>
  Object.entries(objectAt(tree, "providers")).flatMap(([api, list]) =>
    (Array.isArray(list) ? list : []).filter(isObject).map((one) => ({
      api,
      id: stringAt(one, "provider_id") ?? "",
      type: stringAt(one, "provider_type") ?? "",
      config: objectAt(one, "config"),
    }))
  );
