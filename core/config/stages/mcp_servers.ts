/** The tool groups of a resource, and the MCP servers behind them: what a name and its provider mean, before it is written. */
import { effectiveId } from "../../api/rules.ts";
import type { Provider, Spec } from "../../api/v1alpha2.ts";
import type { ToolGroup } from "../../api/server_resources.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, put, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { RuleBroken } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { MCP_TYPE } from "../connections/endpoint.ts";
import type { Facts } from "../draft.ts";

/** A tool group of the resource, with its place there. */
export interface NamedTool extends ToolGroup {
  readonly list: "tools" | "toolGroups";
  readonly path: FieldPath;
}

export const toolsOf = ({ resources }: Pick<Spec, "resources">): ReadonlyArray<NamedTool> => [
  ...(resources?.tools ?? []).map((name, index): NamedTool => ({
    name,
    list: "tools",
    path: ["spec", "resources", "tools", index],
  })),
  ...(resources?.toolGroups ?? []).map((group, index): NamedTool => ({
    ...group,
    list: "toolGroups",
    path: ["spec", "resources", "toolGroups", index],
  })),
];

/** The id of the connector that a tool group becomes. */
export const labelOf = (name: string): string => name.startsWith("mcp::") ? name.slice("mcp::".length) : name;

export const connectorFor = (id: string, url: string, label = id): JsonObject => ({
  connector_id: id,
  connector_type: "mcp",
  url,
  server_label: label,
});

/** Tool groups that are connectors, where the server has those. */
const connectingTools = (facts: Facts): ReadonlyArray<NamedTool> =>
  facts.server.family.toolGroups ? [] : toolsOf(facts.spec)
    .filter((tool) => tool.endpoint !== undefined || addressOf(tool, facts) !== undefined);

/** The ids of connectors that come from tool groups. */
export const connectorsOfTools = (facts: Facts): ReadonlyArray<string> =>
  connectingTools(facts).map(({ name }) => labelOf(name));

/** `mcp::w` and `w` are different groups and the same connector. */
export const doubledConnectors = (facts: Facts): ReadonlyArray<RuleBroken> =>
  connectingTools(facts).flatMap(({ name, path }, index, all) => {
    const first = all.find((other) => labelOf(other.name) === labelOf(name));
    return first === undefined || all.indexOf(first) === index ? [] : [
      new RuleBroken({
        path,
        detail: `the same connector of the server as ${formatPath(first.path)}: ${quoted(labelOf(name))}; rename one`,
      }),
    ];
  });

/** `mcp::github` is served by the declared MCP provider with id `github`, or by the only one there is. */
export const addressOf = (
  { name, provider: wanted }: NamedTool,
  { spec }: Facts,
): Provider & { readonly endpoint: string } | undefined => {
  if (!name.startsWith("mcp::")) return undefined;
  const candidates = (spec.providers?.toolRuntime ?? [])
    .filter(({ provider }) => provider === MCP_TYPE || `remote::${provider}` === MCP_TYPE)
    .filter((provider) => wanted === undefined || effectiveId(provider as unknown as Json) === wanted);
  const own = candidates.find(({ id }) => id === labelOf(name)) ??
    (candidates.length === 1 ? candidates[0] : undefined);
  return own?.endpoint === undefined ? undefined : { ...own, endpoint: own.endpoint };
};

/** Endpoints of MCP providers that no tool refers to: they would be lost silently. */
export const unnamedServers = ({ spec }: Facts): ReadonlyArray<Warning> => {
  const providers = (spec.providers?.toolRuntime ?? []).map((provider, index) => ({ ...provider, index }))
    .filter(({ provider }) => provider === MCP_TYPE || `remote::${provider}` === MCP_TYPE);
  const named = toolsOf(spec).filter(({ name, endpoint }) => name.startsWith("mcp::") && endpoint === undefined)
    .map(({ name, provider }) => provider ?? labelOf(name));
  const used = (id: string | undefined) => named.includes(id ?? "") || providers.length === 1 && named.length > 0;
  return providers.filter(({ id, endpoint }) => endpoint !== undefined && !used(id)).map(({ id, index }) =>
    warning(
      "FieldNotRead",
      ["spec", "providers", "toolRuntime", index, "endpoint"],
      `no tool group uses this MCP server; add mcp::${id ?? "<name>"} to resources.tools`,
    )
  );
};

export const connect = (config: JsonObject, connector: JsonObject): JsonObject => {
  const others = listAt(config, "connectors").filter(isObject)
    .filter((other) => stringAt(other, "connector_id") !== stringAt(connector, "connector_id"));
  return put(config, ["connectors"], [...others, connector]);
};
