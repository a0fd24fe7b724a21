import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { config, failures, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, listAt } from "../../data/json.ts";

const TAVILY = { id: "search", provider: "tavily-search" };
const MCP = { id: "weather", provider: "model-context-protocol", endpoint: "http://weather:8000/mcp" };

Deno.test("provideTools() uses the tool provider of the resource", () => {
  const made = config({ providers: { toolRuntime: [TAVILY] }, resources: { tools: ["websearch"] } }, smallBase());
  deepStrictEqual(listAt(made, "apis"), ["inference", "tool_runtime"]);
});

Deno.test("provideTools() uses the tool provider of the base", () => {
  config({ resources: { tools: ["websearch", "rag", "builtin::websearch"] } });
});

Deno.test("provideTools() rejects an MCP provider that takes over a tool group of the base", () => {
  const of = (id: string, serverVersion: string, more: JsonObject = {}) => ({
    distribution: { name: "starter", serverVersion },
    providers: { toolRuntime: [{ id, provider: "model-context-protocol" }] },
    ...more,
  });
  for (const version of ["0.2", "0.6"]) {
    deepStrictEqual(failures(of("tavily-search", version)), ["RuleBroken at spec.providers.toolRuntime[0].id"]);
    config(of("mcp", version));
  }
  config(of("tavily-search", "0.7"));
  const toolGroups = [{ name: "websearch", provider: "tavily-search" }];
  deepStrictEqual(failures(of("tavily-search", "0.6", { resources: { toolGroups } })), [
    "MissingSetting at spec.resources.toolGroups[0].endpoint",
  ]);
});

Deno.test("provideTools() rejects two tool groups that are one connector", () => {
  const of = (serverVersion: string) => ({
    distribution: { name: "starter", serverVersion },
    resources: {
      toolGroups: [
        { name: "mcp::weather", endpoint: "http://weather:8000/mcp" },
        { name: "weather", endpoint: "http://other:8000/mcp" },
      ],
    },
  });
  deepStrictEqual(failures(of("1.0")), ["RuleBroken at spec.resources.toolGroups[1]"]);
  config(of("0.6"));
});

Deno.test("provideTools() fails without a tool provider", () => {
  const spec = { resources: { tools: ["websearch"] } };
  deepStrictEqual(failures(spec, smallBase()), ["MissingProviderForResource at spec.resources.tools"]);
  strictEqual(
    rejected(spec, smallBase()).failures[0]?.message,
    "spec.resources.tools requires at least one toolRuntime provider to be configured; add one to spec.providers.toolRuntime, and do " +
      "not disable that API in spec.disabled",
  );
});

Deno.test("provideTools() names the types that could serve a tool which no provider serves", () => {
  const spec = { providers: { toolRuntime: [TAVILY] }, resources: { tools: ["websearch", "wolfram_alpha"] } };
  deepStrictEqual(failures(spec, smallBase()), ["MissingProviderForResource at spec.resources.tools[1]"]);
  strictEqual(
    rejected(spec, smallBase()).failures[0]?.message,
    'spec.resources.tools[1]: "wolfram_alpha" needs a toolRuntime provider of type remote::wolfram-alpha; ' +
      "add one to spec.providers.toolRuntime",
  );
});

Deno.test("provideTools() rejects a tool group that the server does not have", () => {
  const spec = { resources: { tools: ["websearch", "nonsense"] } };
  deepStrictEqual(failures(spec), ["UnknownToolGroup at spec.resources.tools[1]"]);
  strictEqual(
    rejected(spec).failures[0]?.message,
    'spec.resources.tools[1]: unknown tool group for Llama Stack 0.7.1: "nonsense"; known tool groups: ' +
      "builtin::file_search, builtin::websearch, builtin::wolfram_alpha, file_search, rag, websearch, wolfram_alpha, " +
      "mcp::<name>",
  );
  deepStrictEqual(failures(spec, { serverVersion: "0.4" }), ["UnknownToolGroup at spec.resources.tools[1]"]);
  deepStrictEqual(failures(spec, { serverVersion: "1.4" }), ["UnknownToolGroup at spec.resources.tools[1]"]);
});

Deno.test("provideTools() leaves other groups to an unknown tool provider of the base", () => {
  const tool_runtime = [{ provider_id: "own", provider_type: "remote::own", module: "own" }];
  const base = smallBase({ providers: { tool_runtime } });
  deepStrictEqual(warnings({ resources: { tools: ["own::group"] } }, base), []);
});

Deno.test("provideTools() makes a connector of an MCP server that a tool names", () => {
  const made = config({ providers: { toolRuntime: [MCP] }, resources: { tools: ["mcp::weather"] } }, smallBase());
  deepStrictEqual(made.connectors, [
    { connector_id: "weather", connector_type: "mcp", server_label: "weather", url: "http://weather:8000/mcp" },
  ]);
});

Deno.test("provideTools() makes a connector of a tool group with an endpoint, and says what newer servers ignore", () => {
  const toolGroups = [
    { name: "mcp::weather", endpoint: "http://weather:8000/mcp", args: { a: 1 } },
    { name: "maps", endpoint: "http://maps/mcp", provider: "model-context-protocol" },
  ];
  deepStrictEqual(config({ resources: { toolGroups } }).connectors, [
    { connector_id: "weather", connector_type: "mcp", server_label: "weather", url: "http://weather:8000/mcp" },
    { connector_id: "maps", connector_type: "mcp", server_label: "maps", url: "http://maps/mcp" },
  ]);
  deepStrictEqual(warnings({ resources: { toolGroups } }), [
    "FieldNotRead at spec.resources.toolGroups[0].args",
    "FieldNotRead at spec.resources.toolGroups[1].provider",
  ]);
});

Deno.test("provideTools() writes provider, endpoint and arguments of a group for servers that read them", () => {
  const spec = {
    providers: { toolRuntime: [TAVILY, { ...MCP, endpoint: "http://other:8000/mcp" }] },
    resources: {
      toolGroups: [
        { name: "websearch", provider: "search", args: { max_results: 3 } },
        { name: "mcp::a", endpoint: "http://a/mcp" },
        { name: "mcp::b", provider: "weather" },
        { name: "own::group", provider: "weather", endpoint: "http://c/mcp" },
      ],
    },
  };
  const made = config(spec, { serverVersion: "0.6.1", ...smallBase() });
  deepStrictEqual(at(made, "registered_resources", "tool_groups"), [
    { toolgroup_id: "builtin::websearch", provider_id: "search", args: { max_results: 3 } },
    { toolgroup_id: "mcp::a", provider_id: "weather", mcp_endpoint: { uri: "http://a/mcp" } },
    { toolgroup_id: "mcp::b", provider_id: "weather", mcp_endpoint: { uri: "http://other:8000/mcp" } },
    { toolgroup_id: "own::group", provider_id: "weather", mcp_endpoint: { uri: "http://c/mcp" } },
  ]);
});

Deno.test("provideTools() changes a group of the base config as its entry says", () => {
  const toolGroups = [{ name: "websearch", provider: "model-context-protocol", endpoint: "http://a/mcp" }];
  const groups = (resources: JsonObject) =>
    listAt(config({ resources }, { serverVersion: "0.3.5" }), "registered_resources", "tool_groups");
  deepStrictEqual(groups({ toolGroups })[0], {
    toolgroup_id: "builtin::websearch",
    provider_id: "model-context-protocol",
    mcp_endpoint: { uri: "http://a/mcp" },
  });
  deepStrictEqual(groups({ tools: ["websearch"] }), groups({ tools: ["rag"] }));
});

Deno.test("provideTools() rejects a provider that is not there and an endpoint that is no URL", () => {
  const toolGroups = [{ name: "websearch", provider: "absent" }, { name: "mcp::a", endpoint: "nowhere" }];
  deepStrictEqual(failures({ resources: { toolGroups } }), [
    "UnknownProvider at spec.resources.toolGroups[0].provider",
    "UnusableEndpoint at spec.resources.toolGroups[1].endpoint",
  ]);
});

Deno.test("provideTools() warns of an MCP server that no tool names, and of a tool without an address", () => {
  deepStrictEqual(warnings({ providers: { toolRuntime: [MCP] } }, smallBase()), [
    "FieldNotRead at spec.providers.toolRuntime[0].endpoint",
  ]);
  deepStrictEqual(warnings({ resources: { tools: ["mcp::weather"] } }), ["ToolNeedsClient at spec.resources.tools[0]"]);
});

Deno.test("tools() requires the endpoint of a group whose provider connects to MCP servers", () => {
  deepStrictEqual(
    failures({
      distribution: { name: "starter", serverVersion: "0.6.1" },
      resources: { toolGroups: [{ name: "mcp::b", provider: "model-context-protocol" }] },
    } as never),
    ["MissingSetting at spec.resources.toolGroups[0].endpoint"],
  );
});
