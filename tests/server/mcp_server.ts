/** An MCP server of the MCP library's own, with one tool. */
import { dirname, join } from "node:path";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { installServer } from "../../tools/install/python_server.ts";
import { inFolder } from "../folder.ts";
import { until } from "../waiting.ts";

const PROGRAM = `
import sys
from mcp.server.mcpserver import MCPServer

name, tool, port = sys.argv[1:]
server = MCPServer(name)

@server.tool(name=tool)
def answer(about: str) -> str:
    """What the server knows about something."""
    return "nothing about " + about

server.run(transport="streamable-http", host="127.0.0.1", port=int(port))
`;

/** `use` gets the URL while the server runs. */
export const withMcpServer = <A>(name: string, tool: string, use: (url: string) => Promise<A>): Promise<A> =>
  inFolder(async (folder) => {
    const [port] = freePorts(1) as [number];
    const file = join(folder, "server.py");
    await Deno.writeTextFile(file, PROGRAM);
    const { python } = await installServer("ogx 1.5.0");
    const server = new Deno.Command(python, {
      args: [file, name, tool, String(port)],
      stdout: "null",
      stderr: "null",
      env: { PATH: dirname(python) },
    }).spawn();
    try {
      const url = `http://127.0.0.1:${port}/mcp`;
      await until(
        `the MCP server ${name} answers`,
        () => fetch(url).then((answer) => answer.body?.cancel()).then(() => true, () => false),
      );
      return await use(url);
    } finally {
      server.kill();
      await server.status;
    }
  });
