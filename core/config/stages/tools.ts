/** Every tool group of the resource has a provider that serves it. */
import { MissingProviderForResource, UnknownToolGroup } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { baseId, isConditional } from "../servers/base.ts";
import { type Catalogue, providerType } from "../servers/catalogue.ts";
import { MCP_TYPE } from "../connections/endpoint.ts";
import { entriesOf, type Facts, noted, withConfig } from "../draft.ts";
import type { ToolKind } from "../servers/families/family.ts";
import { type Stage, stage } from "../stage.ts";

/**
 * Since 0.7 the server creates the groups from the providers; the config only needs to contain the providers. Before,
 * every group is an entry of the config. The address of an MCP server is the endpoint of the provider of that name: it
 * is written to a connector, or to the group's entry if the server family has no connectors.
 */
export const provideTools: Stage<MissingProviderForResource | UnknownToolGroup> = stage((draft, facts) => {
  const tools = facts.spec.resources?.tools ?? [];
  if (tools.length === 0) return { draft: noted(draft, { warnings: unnamedServers(facts) }), failures: [] };
  const path: FieldPath = ["spec", "resources", "tools"];
  const declared = facts.spec.providers?.toolRuntime ?? [];
  const entries = entriesOf(draft.config, "tool_runtime").filter((entry) => !isConditional(entry));
  if (entries.length === 0 && declared.length === 0) {
    return { draft, failures: [new MissingProviderForResource({ path, resource: "tools", field: "toolRuntime" })] };
  }
  // Types of providers that failed on their own count as there: one mistake, one message.
  const types = [
    ...entries.map((entry) => stringAt(entry, "provider_type") ?? ""),
    ...declared.map(({ provider }) => provider),
  ];
  const served = tools.map((name, index) => serve(name, [...path, index], types, facts, entries));
  const connectors = served.flatMap(({ connector }) => connector === undefined ? [] : [connector]);
  const groups = served.flatMap(({ group }) => group === undefined ? [] : [group]);
  const grouped = groups.reduce((config, group) => listGroup(config, group, facts), draft.config);
  return {
    draft: noted(withConfig(draft, connectors.reduce(connect, grouped)), {
      warnings: [...served.flatMap(({ warnings }) => warnings), ...unnamedServers(facts)],
    }),
    failures: served.flatMap(({ failures }) => failures),
  };
});

interface Served {
  readonly connector?: JsonObject;
  /** An entry of `tool_groups`. */
  readonly group?: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<MissingProviderForResource | UnknownToolGroup>;
}

const serve = (
  name: string,
  path: FieldPath,
  types: ReadonlyArray<string>,
  facts: Facts,
  entries: ReadonlyArray<JsonObject>,
): Served => {
  const kind = kindOf(name, facts);
  if (kind === undefined) {
    // Only a type that comes with an image, or with a base of its own, could serve another group; the provider of that name
    // before the others.
    const { catalogue, family } = facts.server;
    if (entries.some((entry) => isUnknownType(catalogue, stringAt(entry, "provider_type") ?? ""))) {
      const able = entries.filter((entry) => isUnknownType(catalogue, stringAt(entry, "provider_type") ?? ""));
      const named = able.filter((entry) => baseId(entry) === name);
      const among = named.length > 0 ? named : able;
      return { ...groupOf({ types: [], group: name }, facts, among), warnings: [], failures: [] };
    }
    const groups = Object.values(family.tools).map(({ group }) => group);
    const known = [...new Set([...Object.keys(family.tools), ...groups])].sort();
    return {
      warnings: [],
      failures: [new UnknownToolGroup({ path, name, server: facts.serverName, known: [...known, "mcp::<name>"] })],
    };
  }
  if (
    !kind.types.some((type) =>
      types.some((there) => there === type || `remote::${there}` === type || `inline::${there}` === type)
    )
  ) {
    const { catalogue } = facts.server;
    const entry = {
      name,
      types: kind.types.filter((type) => providerType(catalogue, "tool_runtime", type) !== undefined),
    };
    return {
      warnings: [],
      failures: [new MissingProviderForResource({ path, resource: "tools", field: "toolRuntime", entry })],
    };
  }
  return name.startsWith("mcp::")
    ? connectorOf(name, path, facts)
    : { ...groupOf(kind, facts, entries), warnings: [], failures: [] };
};

const isUnknownType = (catalogue: Catalogue, type: string): boolean =>
  providerType(catalogue, "tool_runtime", type) === undefined;

const ownIds = (spec: Facts["spec"]): ReadonlyArray<string | undefined> => [
  ...(spec.providers?.toolRuntime ?? []).map(({ id, provider }) => id ?? provider.split("::").at(-1)),
  ...(spec.externalProviders?.toolRuntime ?? []).map(({ providerId }) => providerId),
];

/**
 * The entry that registers a group on older servers: it names the provider, the declared one before the one of the base
 * config.
 */
const groupOf = (
  { types, group }: ToolKind,
  { server: { family }, spec }: Facts,
  entries: ReadonlyArray<JsonObject>,
): { readonly group?: JsonObject } => {
  if (!family.toolGroups) return {};
  const own = ownIds(spec);
  const able = entries.filter((entry) => types.length === 0 || types.includes(stringAt(entry, "provider_type") ?? ""));
  const provider = able.find((entry) => own.includes(baseId(entry))) ?? able[0];
  const id = provider === undefined ? undefined : baseId(provider);
  return id === undefined ? {} : { group: { toolgroup_id: group, provider_id: id } };
};

/** A group of the base config is unchanged, unless a declared provider serves it. */
const listGroup = (config: JsonObject, group: JsonObject, { server: { family }, spec }: Facts): JsonObject => {
  const path = [...family.resourcesAt, "tool_groups"];
  const id = stringAt(group, "toolgroup_id");
  const listed = listAt(config, ...path).filter(isObject);
  const known = listed.find((other) => stringAt(other, "toolgroup_id") === id);
  const isOwn = ownIds(spec).includes(stringAt(group, "provider_id"));
  if (known !== undefined && !isOwn) return config;
  return put(config, path, upsert(listed, { ...known, ...group }, (other) => stringAt(other, "toolgroup_id") === id));
};

const kindOf = (name: string, { server: { family } }: Facts): ToolKind | undefined => {
  if (name.startsWith("mcp::")) return { types: [MCP_TYPE], group: name };
  if (Object.hasOwn(family.tools, name)) return family.tools[name];
  return Object.values(family.tools).find(({ group }) => group === name);
};

/** `mcp::github` is served by the declared MCP provider with id `github`, or by the only one there is. */
const connectorOf = (name: string, path: FieldPath, facts: Facts): Served => {
  const label = name.slice("mcp::".length);
  const candidates = (facts.spec.providers?.toolRuntime ?? [])
    .filter(({ provider }) => provider === MCP_TYPE || `remote::${provider}` === MCP_TYPE);
  const own = candidates.find(({ id }) => id === label) ?? (candidates.length === 1 ? candidates[0] : undefined);
  if (own?.endpoint === undefined) {
    return {
      warnings: [
        warning(
          "ToolNeedsClient",
          path,
          `the server has no address for "${name}": set endpoint of the model-context-protocol provider, ` +
            `or let clients pass the MCP server in their requests`,
        ),
      ],
      failures: [],
    };
  }
  const { family } = facts.server;
  if (family.toolGroups) {
    const id = own.id ?? own.provider.split("::").at(-1) ?? "";
    const group = { toolgroup_id: name, provider_id: id, mcp_endpoint: { uri: own.endpoint } };
    return { group, warnings: [], failures: [] };
  }
  return {
    connector: { connector_id: label, connector_type: "mcp", url: own.endpoint, server_label: label },
    warnings: [],
    failures: [],
  };
};

/** Endpoints of MCP providers that no tool refers to: they would be lost silently. */
const unnamedServers = ({ spec }: Facts): ReadonlyArray<Warning> => {
  const providers = (spec.providers?.toolRuntime ?? []).map((provider, index) => ({ ...provider, index }))
    .filter(({ provider }) => provider === MCP_TYPE || `remote::${provider}` === MCP_TYPE);
  const named = (spec.resources?.tools ?? []).filter((name) => name.startsWith("mcp::")).map((name) => name.slice(5));
  const used = (id: string | undefined) => named.includes(id ?? "") || providers.length === 1 && named.length > 0;
  return providers.filter(({ id, endpoint }) => endpoint !== undefined && !used(id)).map(({ id, index }) =>
    warning(
      "FieldNotRead",
      ["spec", "providers", "toolRuntime", index, "endpoint"],
      `no tool group uses this MCP server; add mcp::${id ?? "<name>"} to resources.tools`,
    )
  );
};

const connect = (config: JsonObject, connector: JsonObject): JsonObject => {
  const others = listAt(config, "connectors").filter(isObject)
    .filter((other) => stringAt(other, "connector_id") !== stringAt(connector, "connector_id"));
  return put(config, ["connectors"], [...others, connector]);
};
