/** APIs that are switched off, and everything that depends on them. */
import { disabledApi, disabledProvider } from "../../api/rules.ts";
import { MissingApi } from "../../failure/failures.ts";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { baseId, isConditional } from "../servers/base.ts";
import { type Catalogue, providerType } from "../servers/catalogue.ts";
import { apiOn } from "../servers/families/families.ts";
import { type Draft, entriesOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import type { Stage, Staged } from "../stage.ts";

export const switchOff: Stage<MissingApi> = (draft, facts) => {
  const { off, warnings } = disabledOn(facts);
  const without = off.reduce((config, api) => withEntries(config, api, []), draft.config);
  const settled = settle(noted(withConfig(draft, without), { warnings }), off, facts);
  const left = withoutLost(settled.draft.config, draft.config, facts);
  return { ...settled, draft: withConfig(settled.draft, withoutDangling(left, off, facts)) };
};

/** The APIs of this server that the resource disables; other names are ignored with a warning. */
export const disabledOn = (
  { spec, server, serverName }: Facts,
): { readonly off: ReadonlyArray<string>; readonly warnings: ReadonlyArray<Warning> } => {
  const named = (spec.disabled ?? []).flatMap((name, index) => {
    if (disabledProvider(name) !== undefined) return [];
    const own = disabledApi(name);
    const api = apiOn(server, own) ?? own;
    return [{ api, index, known: server.catalogue.apis[api] }];
  });
  return {
    off: [
      ...new Set(
        named.filter(({ known }) => known?.kind === "routed" || known?.kind === "direct").map(({ api }) => api),
      ),
    ],
    warnings: named.flatMap(({ api, index, known }) => {
      if (known?.kind === "routed" || known?.kind === "direct") return [];
      const why = known === undefined
        ? `${serverName} has no ${api} API`
        : known.router === undefined
        ? `${api} is always on`
        : `${api} is part of ${known.router}; disable ${known.router} instead`;
      return [warning("ApiNotDisabled", ["spec", "disabled", index], `ignored: ${why}`)];
    }),
  };
};

/** True when the server would have an implementation of `api`: a router needs no provider, a direct API needs one. */
const isServed = (config: JsonObject, api: string, off: ReadonlyArray<string>, catalogue: Catalogue): boolean => {
  const known = Object.hasOwn(catalogue.apis, api) ? catalogue.apis[api] : undefined;
  switch (known?.kind) {
    case "routed":
      return !off.includes(api);
    case "table":
      return !off.includes(known.router ?? "");
    case "direct":
      return entriesOf(config, api).some((entry) => !isConditional(entry));
    default:
      return known !== undefined;
  }
};

/** Removes providers whose required API is off, repeatedly until nothing changes: batches may require files. */
const settle = (
  draft: Draft,
  off: ReadonlyArray<string>,
  facts: Facts,
  failures: ReadonlyArray<MissingApi> = [],
): Staged<MissingApi> => {
  const { catalogue } = facts.server;
  for (const api of Object.keys(objectAt(draft.config, "providers"))) {
    const lost = entriesOf(draft.config, api).flatMap((entry): ReadonlyArray<Lost> => {
      const type = stringAt(entry, "provider_type") ?? "";
      const missing = (providerType(catalogue, api, type)?.requires ?? [])
        .filter((needed) => !isServed(draft.config, needed, off, catalogue));
      return missing.length === 0 ? [] : [{ entry, id: baseId(entry) ?? "", type, missing }];
    });
    if (lost.length === 0) continue;
    const rest = entriesOf(draft.config, api).filter((entry) => lost.every((other) => other.entry !== entry));
    const found = losses(draft, api, lost);
    const next = noted(withConfig(draft, withEntries(draft.config, api, rest)), { warnings: found.warnings });
    return settle(next, off, facts, [...failures, ...found.failures]);
  }
  return { draft, failures };
};

/** A provider that requires APIs which are off. */
interface Lost {
  readonly entry: JsonObject;
  readonly id: string;
  readonly type: string;
  readonly missing: ReadonlyArray<string>;
}

/** A failure for each provider of the resource, and a warning for all of the base config that lack the same. */
const losses = (
  { declared }: Draft,
  api: string,
  lost: ReadonlyArray<Lost>,
): { readonly failures: ReadonlyArray<MissingApi>; readonly warnings: ReadonlyArray<Warning> } => {
  const own = ({ id }: Lost) => declared.find((provider) => provider.api === api && provider.id === id);
  const ofBase = Map.groupBy(lost.filter((each) => own(each) === undefined), ({ missing }) => missing.join(", "));
  return {
    failures: lost.flatMap((each) => {
      const path = own(each)?.path;
      return path === undefined ? [] : [new MissingApi({ path, type: each.type, missing: each.missing })];
    }),
    warnings: [...ofBase].map(([missing, providers]) => {
      const names = providers.map(({ id }) => `"${id}"`).join(", ");
      return warning(
        "DisabledDependency",
        ["spec", "disabled"],
        providers.length === 1
          ? `${api} provider ${names} of the base config requires ${missing} and is disabled as well`
          : `${api} providers ${names} of the base config require ${missing} and are disabled as well`,
      );
    }),
  };
};

/** The registered resources of each API, by their key under `registered_resources`. */
const REGISTRIES: Readonly<Record<string, ReadonlyArray<string>>> = {
  inference: ["models"],
  safety: ["shields"],
  // vector_dbs up to 0.2.
  vector_io: ["vector_stores", "vector_dbs"],
  tool_runtime: ["tool_groups"],
  datasetio: ["datasets"],
  scoring: ["scoring_fns"],
  eval: ["benchmarks"],
};

/** Top-level sections that the server checks against an API that must then be there. */
const SECTIONS: Readonly<Record<string, string>> = { vector_io: "vector_stores", safety: "safety" };

const withoutDangling = (
  config: JsonObject,
  off: ReadonlyArray<string>,
  { server: { catalogue, family } }: Facts,
): JsonObject => {
  const gone = [...Object.keys(REGISTRIES), ...Object.keys(SECTIONS)]
    .filter((api) => off.includes(api) || Object.hasOwn(catalogue.apis, api) && unprovided(config, api));
  const grouped = family.toolGroups ? withoutLostGroups(config, family.resourcesAt) : config;
  return gone.reduce((tree, api) => {
    const registries = (REGISTRIES[api] ?? []).map((key) => [...family.resourcesAt, key])
      .filter((path) => listAt(tree, ...path).length > 0);
    const emptied = registries.reduce((rest, path) => put(rest, path, []), tree);
    const section = SECTIONS[api];
    return section !== undefined && isObject(tree[section] ?? null) ? put(emptied, [section], undefined) : emptied;
  }, grouped);
};

/** Up to 0.6 a tool group whose provider is gone stops the start. */
const withoutLostGroups = (config: JsonObject, resourcesAt: ReadonlyArray<string>): JsonObject => {
  const path = [...resourcesAt, "tool_groups"];
  const ids = entriesOf(config, "tool_runtime").map(baseId);
  const groups = listAt(config, ...path);
  const kept = groups.filter((group) => ids.includes(stringAt(group, "provider_id")));
  return kept.length === groups.length ? config : put(config, path, kept);
};

/** Nothing is registered of a provider that this stage removed: the server would exit. */
const withoutLost = (config: JsonObject, before: JsonObject, { server: { family } }: Facts): JsonObject =>
  Object.keys(REGISTRIES).reduce((tree, api) => {
    const left = entriesOf(tree, api).map(baseId);
    const lost = entriesOf(before, api).flatMap((entry) => baseId(entry) ?? []).filter((id) => !left.includes(id));
    return lost.length === 0 ? tree : withoutResourcesOf(tree, api, lost, family.resourcesAt);
  }, config);

/** Without what is registered of these providers. */
export const withoutResourcesOf = (
  config: JsonObject,
  api: string,
  ids: ReadonlyArray<string>,
  resourcesAt: ReadonlyArray<string>,
): JsonObject =>
  (REGISTRIES[api] ?? []).map((key) => [...resourcesAt, key]).reduce((tree, path) => {
    const resources = listAt(tree, ...path);
    const kept = resources.filter((resource) => !isObject(resource) || !ids.includes(usualProvider(resource)));
    return kept.length === resources.length ? tree : put(tree, path, kept);
  }, config);

/** `vllm` also for `${env.EMBEDDING_PROVIDER:=vllm}`: what the base config means unless somebody sets the variable. */
const usualProvider = (resource: JsonObject): string => {
  const id = baseId(resource) ?? "";
  return /^\$\{env\.[A-Za-z0-9_]+:=([^}]*)\}$/.exec(id)?.[1] ?? id;
};

const unprovided = (config: JsonObject, api: string): boolean => entriesOf(config, api).length === 0;
