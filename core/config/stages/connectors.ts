/** MCP servers that requests name by an id, in server versions that have them. */
import { NotSupportedByServer, SettingInvalid, type UnusableEndpoint } from "../../failure/failures.ts";
import { noted, withConfig } from "../draft.ts";
import { mcpAddress } from "../connections/endpoint.ts";
import { isOlderMinor, serverName } from "../servers/families/families.ts";
import type { Stage } from "../stage.ts";
import { connect, connectorFor, connectorsOfTools } from "./mcp_servers.ts";

type ConnectorFailure = NotSupportedByServer | SettingInvalid | UnusableEndpoint;

/** The first version that reads them. Source: register_connectors in core/stack.py; 0.4 has the list, and nothing reads it. */
const SINCE = "0.5";

export const addConnectors: Stage<ConnectorFailure> = (draft, facts) => {
  const connectors = facts.spec.connectors ?? [];
  if (connectors.length === 0) return { draft, failures: [] };
  const path = ["spec", "connectors"];
  if (isOlderMinor(facts.server.version, SINCE)) {
    const instead = `name the MCP server in spec.resources.toolGroups, or use ${serverName(SINCE)} or newer`;
    return {
      draft,
      failures: [new NotSupportedByServer({ path, what: "connectors", server: facts.serverName, instead })],
    };
  }
  const ofTools = connectorsOfTools(facts);
  const judged = connectors.map(({ connectorId, url, serverLabel }, index) => {
    const address = mcpAddress(url, [...path, index, "url"]);
    const detail = "a tool group of spec.resources is a connector of the same id; remove one of them";
    return {
      entry: connectorFor(connectorId, url, serverLabel),
      warnings: address.warnings,
      failures: [
        ...address.failures,
        ...(ofTools.includes(connectorId)
          ? [new SettingInvalid({ path: [...path, index, "connectorId"], detail })]
          : []),
      ],
    };
  });
  const entries = judged.filter(({ failures }) => failures.length === 0).map(({ entry }) => entry);
  return {
    draft: noted(withConfig(draft, entries.reduce(connect, draft.config)), {
      warnings: judged.flatMap(({ warnings }) => warnings),
    }),
    failures: judged.flatMap(({ failures }) => failures),
  };
};
