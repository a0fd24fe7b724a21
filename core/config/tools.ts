/** Stage 6, tools: every tool group of the resource has a provider that serves it (FR-043). */
import { type GenerationFailure, MissingProviderForResource } from "../failure.ts";
import type { FieldPath } from "../field_path.ts";
import { isObject, type JsonObject, listAt, put, stringAt } from "../json.ts";
import { type Warning, warning } from "../warning.ts";
import { isConditional } from "./base.ts";
import { MCP_TYPE } from "./endpoint.ts";
import { entriesOf, type Facts, noted, type Stage, withConfig } from "./draft.ts";
import type { ToolKind } from "./lines/line.ts";

/**
 * On these lines the server makes the groups itself, from the providers that are there; the file only has to have them.
 * A group of an MCP server is a connector, whose address is the endpoint of the provider of that name.
 */
export const provideTools: Stage = (draft, facts) => {
  const tools = facts.spec.resources?.tools ?? [];
  if (tools.length === 0) return noted(draft, { warnings: unnamedServers(facts) });
  const path: FieldPath = ["spec", "resources", "tools"];
  const declared = facts.spec.providers?.toolRuntime ?? [];
  const entries = entriesOf(draft.config, "tool_runtime").filter((entry) => !isConditional(entry));
  if (entries.length === 0 && declared.length === 0) {
    return noted(draft, {
      failures: [new MissingProviderForResource({ path, resource: "tools", field: "toolRuntime" })],
    });
  }
  // Types of providers that failed on their own count as there: one mistake, one message.
  const types = [
    ...entries.map((entry) => stringAt(entry, "provider_type") ?? ""),
    ...declared.map(({ provider }) => provider),
  ];
  const served = tools.map((name, index) => serve(name, [...path, index], types, facts));
  const connectors = served.flatMap(({ connector }) => connector === undefined ? [] : [connector]);
  return noted(withConfig(draft, connectors.reduce(connect, draft.config)), {
    warnings: [...served.flatMap(({ warnings }) => warnings), ...unnamedServers(facts)],
    failures: served.flatMap(({ failures }) => failures),
  });
};

interface Served {
  readonly connector?: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<GenerationFailure>;
}

const serve = (name: string, path: FieldPath, types: ReadonlyArray<string>, facts: Facts): Served => {
  const kind = kindOf(name, facts);
  if (kind === undefined) {
    // A group that this table does not know: any tool provider may serve it, and the server has the last word.
    return { warnings: [], failures: [] };
  }
  if (
    !kind.types.some((type) =>
      types.some((there) => there === type || `remote::${there}` === type || `inline::${there}` === type)
    )
  ) {
    const entry = { name, types: kind.types };
    return {
      warnings: [],
      failures: [new MissingProviderForResource({ path, resource: "tools", field: "toolRuntime", entry })],
    };
  }
  return name.startsWith("mcp::") ? connectorOf(name, path, facts) : { warnings: [], failures: [] };
};

const kindOf = (name: string, { server: { line } }: Facts): ToolKind | undefined => {
  if (name.startsWith("mcp::")) return { types: [MCP_TYPE], group: name };
  if (Object.hasOwn(line.tools, name)) return line.tools[name];
  return Object.values(line.tools).find(({ group }) => group === name);
};

/** `mcp::github` is served by the declared MCP provider with id `github`, or by the only one there is. */
const connectorOf = (name: string, path: FieldPath, facts: Facts): Served => {
  const label = name.slice("mcp::".length);
  const candidates = (facts.spec.providers?.toolRuntime ?? [])
    .filter(({ provider }) => provider === MCP_TYPE || `remote::${provider}` === MCP_TYPE);
  const own = candidates.find(({ id }) => id === label) ?? (candidates.length === 1 ? candidates[0] : undefined);
  if (own?.endpoint === undefined || !facts.server.line.connectors) {
    return {
      warnings: [
        warning(
          "ToolNeedsClient",
          path,
          `the server knows no address for "${name}": give the model-context-protocol provider an endpoint, ` +
            `or let clients name the MCP server in their requests`,
        ),
      ],
      failures: [],
    };
  }
  return {
    connector: { connector_id: label, connector_type: "mcp", url: own.endpoint, server_label: label },
    warnings: [],
    failures: [],
  };
};

/** Endpoints of MCP providers that no tool refers to: they would be lost without a word. */
const unnamedServers = ({ spec }: Facts): ReadonlyArray<Warning> => {
  const providers = (spec.providers?.toolRuntime ?? []).map((provider, index) => ({ ...provider, index }))
    .filter(({ provider }) => provider === MCP_TYPE || `remote::${provider}` === MCP_TYPE);
  const named = (spec.resources?.tools ?? []).filter((name) => name.startsWith("mcp::")).map((name) => name.slice(5));
  const used = (id: string | undefined) => named.includes(id ?? "") || providers.length === 1 && named.length > 0;
  return providers.filter(({ id, endpoint }) => endpoint !== undefined && !used(id)).map(({ id, index }) =>
    warning(
      "FieldNotRead",
      ["spec", "providers", "toolRuntime", index, "endpoint"],
      `nothing uses this MCP server; name it under resources.tools as mcp::${id ?? "<name>"}`,
    )
  );
};

const connect = (config: JsonObject, connector: JsonObject): JsonObject => {
  const others = listAt(config, "connectors").filter(isObject)
    .filter((other) => stringAt(other, "connector_id") !== stringAt(connector, "connector_id"));
  return put(config, ["connectors"], [...others, connector]);
};
