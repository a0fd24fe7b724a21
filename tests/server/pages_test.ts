/** The walk-throughs of docs/index.md, docs/rag.md and docs/tools.md: their resource on a real server, and their program as written. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import * as Result from "effect/Result";
import { installServer } from "../../tools/install/python_server.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { boot } from "../../tools/server/boot.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import { withMcpServer } from "./mcp_server.ts";

const VERSION = "1.5.0";
const MODELS = ["meta-llama/Llama-3.2-3B-Instruct", "all-minilm"];

const page = async (name: string) => {
  const text = await Deno.readTextFile(new URL(`../../docs/${name}`, import.meta.url));
  const first = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text)?.[1] ?? "";
  return { text, resource: first("yaml"), program: first("python") };
};

const python = async (): Promise<string> => (await installServer(`ogx ${VERSION}`)).python;

/** What the page's program prints, against the page's server. Addresses of the page become those of this machine. */
const printed = async (name: string, addresses: Readonly<Record<string, string>>): Promise<string> => {
  const { resource, program } = await page(name);
  const here = (text: string) =>
    Object.entries(addresses).reduce((before, [there, address]) => before.replaceAll(there, address), text);
  const [manifest] = Result.getOrThrow(readManifests(here(resource)));
  await using stack = await boot(manifest as JsonObject, { surroundings: { serverVersion: VERSION } });
  return await inFolder(async (folder) => {
    const file = join(folder, "program.py");
    await Deno.writeTextFile(file, program.replace("http://localhost:8321", stack.url));
    const { code, stdout, stderr } = await new Deno.Command(await python(), { args: [file] }).output();
    const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    strictEqual(code, 0, `${errors}\n${await stack.log()}`);
    return out ?? "";
  });
};

Deno.test("docs/rag.md finds the passage of the uploaded file on a real server", async () => {
  const models = startModelServer({ models: MODELS });
  try {
    const output = await printed("rag.md", {
      "http://vllm.models:8000/v1": models.baseUrl,
      "http://embeddings.models:8000/v1": models.baseUrl,
    });
    match(output, /^\d\.\d\d The office closes at six\.$/m);
    match(output, /You said: .*When does the office close/);
  } finally {
    await models.stop();
  }
});

Deno.test("docs/index.md ends at a chat on a real server", async () => {
  const models = startModelServer({ models: ["llama3.2:1b"] });
  try {
    const { text, resource } = await page("index.md");
    const [, path = "", body = ""] = /curl http:\/\/localhost:8321(\S+) .* -d '(.*)'$/m.exec(text) ?? [];
    const [manifest] = Result.getOrThrow(readManifests(resource.replace("http://ollama:11434/v1", models.baseUrl)));
    await using stack = await boot(manifest as JsonObject, { surroundings: { serverVersion: VERSION } });
    const { status, body: answer } = await stack.post(path, JSON.parse(body));
    strictEqual(status, 200, JSON.stringify(answer));
    strictEqual(answer.choices[0].message.content, "You said: Say hello");
  } finally {
    await models.stop();
  }
});

Deno.test("docs/tools.md lists the tools of an MCP server on a real server", () =>
  withMcpServer("weather", "forecast", async (url) => {
    const models = startModelServer({ models: MODELS });
    try {
      const output = await printed("tools.md", {
        "http://vllm.models:8000/v1": models.baseUrl,
        "http://weather.tools:8000/mcp": url,
      });
      match(output, /^mcp_list_tools \['forecast'\]$/m);
      match(output, /You said: What is the weather in Oslo\?/);
    } finally {
      await models.stop();
    }
  }));

for (const version of ["0.7.3", "1.5.0"]) {
  Deno.test(`two MCP servers of one resource answer a request to server ${version}`, () =>
    withMcpServer("weather", "forecast", (weather) =>
      withMcpServer("maps", "route", async (maps) => {
        const models = startModelServer({ models: MODELS });
        try {
          const resource = manifest({
            distribution: { name: "starter", serverVersion: version },
            providers: { inference: [{ provider: "vllm", endpoint: models.baseUrl }] },
            resources: {
              models: [{ name: MODELS[0] ?? "" }],
              toolGroups: [{ name: "mcp::weather", endpoint: weather }],
            },
            connectors: [{ connectorId: "maps", url: maps }],
          });
          await using stack = await boot(resource, { surroundings: { serverVersion: version } });
          const { status, body } = await stack.post("/v1/responses", {
            model: `vllm/${MODELS[0]}`,
            input: "How do I get to Oslo?",
            tools: ["weather", "maps"].map((id) => ({ type: "mcp", server_label: id, connector_id: id })),
          });
          strictEqual(status, 200, JSON.stringify(body));
          const listed = listAt(body, "output").filter((item) => stringAt(item, "type") === "mcp_list_tools");
          deepStrictEqual(
            listed.map((item) => [
              stringAt(item, "server_label"),
              listAt(item, "tools").map((tool) => stringAt(tool, "name")),
            ]),
            [["weather", ["forecast"]], ["maps", ["route"]]],
          );
        } finally {
          await models.stop();
        }
      })));
}
