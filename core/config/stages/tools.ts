/** Every tool group of the resource has a provider that serves it. */
import { effectiveId } from "../../api/rules.ts";
import {
  MissingProviderForResource,
  MissingSetting,
  type ProviderSwitchedOff,
  RuleBroken,
  type UnknownProvider,
  UnknownToolGroup,
  type UnusableEndpoint,
} from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { baseId, isConditional } from "../servers/base.ts";
import { type Catalogue, providerType } from "../servers/catalogue.ts";
import { MCP_TYPE, mcpAddress } from "../connections/endpoint.ts";
import { type Draft, entriesOf, entryOf, type Facts, noted, withConfig } from "../draft.ts";
import type { ToolKind } from "../servers/families/family.ts";
import {
  addressOf,
  connect,
  connectorFor,
  doubledConnectors,
  labelOf,
  type NamedTool,
  toolsOf,
  unnamedServers,
} from "./mcp_servers.ts";
import { type ApiOfList, namedProvider } from "./provider_of_resource.ts";
import type { Stage } from "../stage.ts";

/**
 * Since 0.7 the server creates the groups from the providers; the config only needs to contain the providers. Before,
 * every group is an entry of the config. The address of an MCP server is the endpoint of the provider of that name: it
 * is written to a connector, or to the group's entry if the server family has no connectors.
 */
export const provideTools: Stage<ToolFailure> = (draft, facts) => {
  const tools = toolsOf(facts.spec);
  const [first] = tools;
  if (first === undefined) {
    return { draft: noted(draft, { warnings: unnamedServers(facts) }), failures: withoutAddress(draft.config, facts) };
  }
  const declared = facts.spec.providers?.toolRuntime ?? [];
  const entries = entriesOf(draft.config, "tool_runtime").filter((entry) => !isConditional(entry));
  if (entries.length === 0 && declared.length === 0) {
    const path: FieldPath = ["spec", "resources", first.list];
    return { draft, failures: [new MissingProviderForResource({ path, resource: first.list, field: "toolRuntime" })] };
  }
  const served = tools.map((tool) => serve(tool, entries, draft, facts));
  const connectors = served.flatMap(({ connector }) => connector === undefined ? [] : [connector]);
  const grouped = served.reduce(
    (config, { group }, index) => group === undefined ? config : listGroup(config, group, tools[index] ?? first, facts),
    draft.config,
  );
  return {
    draft: noted(withConfig(draft, connectors.reduce(connect, grouped)), {
      warnings: [...served.flatMap(({ warnings }) => warnings), ...unnamedServers(facts)],
    }),
    failures: [
      ...served.flatMap(({ failures }) => failures),
      ...withoutAddress(grouped, facts),
      ...doubledConnectors(facts),
    ],
  };
};

/** Tool groups of the base config that a declared provider takes over, and about which it asks an MCP server without address. */
const withoutAddress = (config: JsonObject, { spec, server: { family } }: Facts): ReadonlyArray<RuleBroken> =>
  !family.toolGroups ? [] : listAt(config, ...family.resourcesAt, "tool_groups").filter(isUnaddressed(config)).flatMap(
    (group) => {
      const [name, provider] = [stringAt(group, "toolgroup_id") ?? "", stringAt(group, "provider_id")];
      const index = (spec.providers?.toolRuntime ?? []).findIndex((other) =>
        effectiveId(other as unknown as Json) === provider
      );
      const isOwn = toolsOf(spec).some((tool) => tool.name === name || family.tools[tool.name]?.group === name);
      return index < 0 || isOwn ? [] : [
        new RuleBroken({
          path: ["spec", "providers", "toolRuntime", index, "id"],
          detail:
            `the tool group ${name} of the base config has the provider of this id, and ${MCP_TYPE} does not start ` +
            "with it; choose another id",
        }),
      ];
    },
  );

/** Source: list_runtime_tools in remote/tool_runtime/model_context_protocol, which the server calls when it registers a group. */
export const isUnaddressed = (config: JsonObject) => (group: Json): boolean =>
  isObject(group) && (group.mcp_endpoint ?? null) === null &&
  stringAt(entryOf(config, "tool_runtime", stringAt(group, "provider_id") ?? ""), "provider_type") === MCP_TYPE;

type ToolFailure =
  | MissingProviderForResource
  | MissingSetting
  | ProviderSwitchedOff
  | RuleBroken
  | UnknownProvider
  | UnknownToolGroup
  | UnusableEndpoint;

const TOOL_RUNTIME: ApiOfList = { api: "tool_runtime", field: "toolRuntime" };

interface Served {
  readonly connector?: JsonObject;
  /** An entry of `tool_groups`. */
  readonly group?: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<ToolFailure>;
}

const serve = (tool: NamedTool, entries: ReadonlyArray<JsonObject>, draft: Draft, facts: Facts): Served => {
  const { path, endpoint, provider } = tool;
  const address = endpoint === undefined ? undefined : mcpAddress(endpoint, [...path, "endpoint"]);
  if (address !== undefined && address.failures.length > 0) return { warnings: [], failures: address.failures };
  const named = provider === undefined
    ? undefined
    : namedProvider({ ...TOOL_RUNTIME, id: provider, path: [...path, "provider"] }, draft, facts);
  if (named !== undefined && named.found === undefined) return { warnings: named.warnings, failures: named.failures };
  const served = servedBy(tool, named?.found, entries, facts);
  return {
    ...served,
    warnings: [
      ...address?.warnings ?? [],
      ...named?.warnings ?? [],
      ...unreadFields(tool, facts),
      ...served.warnings,
    ],
  };
};

/** Newer servers make groups themselves, and ignore those of the config. */
const unreadFields = (tool: NamedTool, facts: Facts) => {
  const { server: { family }, serverName } = facts;
  const isAddress = tool.endpoint === undefined && addressOf(tool, facts) !== undefined;
  const { path, args, provider } = isAddress ? { ...tool, provider: undefined } : tool;
  return family.toolGroups
    ? []
    : Object.entries({ provider, args }).filter(([, value]) => value !== undefined).map(([field]) =>
      warning(
        "FieldNotRead",
        [...path, field],
        `${serverName} makes tool groups of the providers itself, and ignores what a config says of them; remove the field`,
      )
    );
};

const servedBy = (
  tool: NamedTool,
  provider: JsonObject | undefined,
  entries: ReadonlyArray<JsonObject>,
  facts: Facts,
): Served => {
  const { name, path, list, endpoint } = tool;
  const { catalogue, family } = facts.server;
  const kind = kindOf(name, facts) ??
    (endpoint === undefined ? undefined : { types: [MCP_TYPE], group: name });
  const isAddressed = endpoint === undefined && addressOf(tool, facts) !== undefined;
  if (provider !== undefined && family.toolGroups && !isAddressed) {
    if (endpoint === undefined && stringAt(provider, "provider_type") === MCP_TYPE) {
      return { warnings: [], failures: [new MissingSetting({ path: [...path, "endpoint"], type: MCP_TYPE })] };
    }
    return groupOf({ types: [], group: kind?.group ?? name }, tool, facts, [provider]);
  }
  if (kind === undefined) {
    // Only a type that comes with an image, or with a base of its own, could serve another group; the provider of that name
    // before the others.
    if (entries.some((entry) => isUnknownType(catalogue, stringAt(entry, "provider_type") ?? ""))) {
      const able = entries.filter((entry) => isUnknownType(catalogue, stringAt(entry, "provider_type") ?? ""));
      const named = able.filter((entry) => baseId(entry) === name);
      const among = named.length > 0 ? named : able;
      return groupOf({ types: [], group: name }, tool, facts, among);
    }
    const groups = Object.values(family.tools).map(({ group }) => group);
    const known = [...new Set([...Object.keys(family.tools), ...groups])].sort();
    return {
      warnings: [],
      failures: [new UnknownToolGroup({ path, name, server: facts.serverName, known: [...known, "mcp::<name>"] })],
    };
  }
  // Types of providers that failed on their own count as there: one mistake, one message.
  const types = [
    ...entries.map((entry) => stringAt(entry, "provider_type") ?? ""),
    ...(facts.spec.providers?.toolRuntime ?? []).map(({ provider }) => provider),
  ];
  if (
    !kind.types.some((type) =>
      types.some((there) => there === type || `remote::${there}` === type || `inline::${there}` === type)
    )
  ) {
    const entry = {
      name,
      types: kind.types.filter((type) => providerType(catalogue, "tool_runtime", type) !== undefined),
    };
    return {
      warnings: [],
      failures: [new MissingProviderForResource({ path, resource: list, field: "toolRuntime", entry })],
    };
  }
  if (endpoint !== undefined && !family.toolGroups) {
    return { connector: connectorFor(labelOf(name), endpoint), warnings: [], failures: [] };
  }
  return name.startsWith("mcp::") && endpoint === undefined
    ? connectorOf(tool, facts)
    : groupOf(kind, tool, facts, entries);
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
  { endpoint, args }: NamedTool,
  { server: { family }, spec }: Facts,
  entries: ReadonlyArray<JsonObject>,
): Served => {
  if (!family.toolGroups) return { warnings: [], failures: [] };
  const own = ownIds(spec);
  const able = entries.filter((entry) => types.length === 0 || types.includes(stringAt(entry, "provider_type") ?? ""));
  const provider = able.find((entry) => own.includes(baseId(entry))) ?? able[0];
  const id = provider === undefined ? undefined : baseId(provider);
  return id === undefined ? { warnings: [], failures: [] } : {
    group: {
      toolgroup_id: group,
      provider_id: id,
      ...(endpoint === undefined ? {} : { mcp_endpoint: { uri: endpoint } }),
      ...(args === undefined ? {} : { args: args as JsonObject }),
    },
    warnings: [],
    failures: [],
  };
};

/** A group of the base config is unchanged, unless a declared provider serves it or the entry says more than its name. */
const listGroup = (
  config: JsonObject,
  group: JsonObject,
  { provider, endpoint, args }: NamedTool,
  { server: { family }, spec }: Facts,
): JsonObject => {
  const path = [...family.resourcesAt, "tool_groups"];
  const id = stringAt(group, "toolgroup_id");
  const listed = listAt(config, ...path).filter(isObject);
  const known = listed.find((other) => stringAt(other, "toolgroup_id") === id);
  const isOwn = ownIds(spec).includes(stringAt(group, "provider_id"));
  const isPlain = provider === undefined && endpoint === undefined && args === undefined;
  if (known !== undefined && !isOwn && isPlain) return config;
  return put(config, path, upsert(listed, { ...known, ...group }, (other) => stringAt(other, "toolgroup_id") === id));
};

const kindOf = (name: string, { server: { family } }: Facts): ToolKind | undefined => {
  if (name.startsWith("mcp::")) return { types: [MCP_TYPE], group: name };
  if (Object.hasOwn(family.tools, name)) return family.tools[name];
  return Object.values(family.tools).find(({ group }) => group === name);
};

const connectorOf = (tool: NamedTool, facts: Facts): Served => {
  const { name, path, args } = tool;
  const own = addressOf(tool, facts);
  const { family } = facts.server;
  if (own === undefined) {
    const isConnected = !family.toolGroups &&
      (facts.spec.connectors ?? []).some(({ connectorId }) => connectorId === labelOf(name));
    return {
      warnings: isConnected ? [] : [
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
  if (family.toolGroups) {
    const id = effectiveId(own as unknown as Json);
    const group = {
      toolgroup_id: name,
      provider_id: id,
      mcp_endpoint: { uri: own.endpoint },
      ...(args === undefined ? {} : { args: args as JsonObject }),
    };
    return { group, warnings: [], failures: [] };
  }
  return { connector: connectorFor(labelOf(name), own.endpoint), warnings: [], failures: [] };
};
