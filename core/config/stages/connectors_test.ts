import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { config, failures, rejected, smallBase, warnings } from "../../../tests/given.ts";

const A = { connectorId: "a", url: "http://a:8000/mcp" };

Deno.test("addConnectors() adds MCP servers to those of the base config, and replaces those of the same id", () => {
  const kept = { connector_id: "kept", connector_type: "mcp", url: "http://kept/mcp" };
  const base = smallBase({ connectors: [{ connector_id: "a", url: "http://old/mcp" }, kept] });
  deepStrictEqual(config({ connectors: [A, { ...A, connectorId: "b", serverLabel: "label" }] }, base).connectors, [
    kept,
    { connector_id: "a", connector_type: "mcp", url: "http://a:8000/mcp", server_label: "a" },
    { connector_id: "b", connector_type: "mcp", url: "http://a:8000/mcp", server_label: "label" },
  ]);
});

Deno.test("addConnectors() gives a tool its MCP server", () => {
  const tools = { connectors: [A], resources: { tools: ["mcp::a"] } };
  deepStrictEqual(warnings(tools), []);
});

Deno.test("addConnectors() rejects what is no URL, and warns of credentials in one", () => {
  deepStrictEqual(failures({ connectors: [{ ...A, url: "a:8000" }] }), ["UnusableEndpoint at spec.connectors[0].url"]);
  deepStrictEqual(warnings({ connectors: [{ ...A, url: "http://me:word@a/mcp" }] }), [
    "CredentialInEndpoint at spec.connectors[0].url",
  ]);
  deepStrictEqual(warnings({ connectors: [{ ...A, url: "http://a/mcp?token=word" }] }), [
    "CredentialInEndpoint at spec.connectors[0].url",
  ]);
  deepStrictEqual(warnings({ connectors: [{ ...A, url: "http://a/mcp?token=${env.PATH}" }] }), []);
});

Deno.test("addConnectors() rejects a second MCP server of one id", () => {
  const resources = { toolGroups: [{ name: "mcp::a", endpoint: "http://other/mcp" }] };
  deepStrictEqual(failures({ connectors: [A], resources }), ["SettingInvalid at spec.connectors[0].connectorId"]);
});

Deno.test("addConnectors() rejects connectors on servers without them, and names the first that has them", () => {
  const spec = { connectors: [A] };
  deepStrictEqual(failures(spec, { serverVersion: "0.4" }), ["NotSupportedByServer at spec.connectors"]);
  strictEqual(
    rejected(spec, { serverVersion: "0.4" }).failures[0]?.message,
    "spec.connectors: not supported by Llama Stack 0.4: connectors; name the MCP server in " +
      "spec.resources.toolGroups, or use Llama Stack 0.5 or newer",
  );
});
