/** What a resource asks for, held against what the API of its running server says; our own config is never looked at. */
import { deepStrictEqual, ok, partialDeepStrictEqual, strictEqual } from "node:assert/strict";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import type { Answer } from "../../tools/server/llama_stack.ts";
import { endpointReading } from "./provider_endpoints.ts";

/** The part of a running server that is asked here. */
export interface Asked {
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
}

/** One entry of `/v1/providers`; secrets in its config are masked. */
export interface ListedProvider {
  readonly api: string;
  readonly provider_id: string;
  readonly provider_type: string;
  readonly config: JsonObject;
}

/** A provider of a resource with what is left out there: the API, the id, the full type. */
export interface AskedProvider {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly endpoint: string | undefined;
  readonly key: { readonly name: string; readonly key: string } | undefined;
  readonly settings: JsonObject;
}

export const listedProviders = async (stack: Asked): Promise<ListedProvider[]> => {
  const { status, body } = await stack.get("/v1/providers");
  strictEqual(status, 200, JSON.stringify(body));
  return body.data;
};

/** The providers of a spec, telemetry aside, which is no provider of a server. */
export const askedProviders = (spec: JsonObject): AskedProvider[] =>
  Object.entries(APIS).flatMap(([field, api]) =>
    listAt(spec, "providers", field).filter(isObject).map((provider) => {
      const written = stringAt(provider, "provider") ?? "";
      const ref = objectAt(provider, "apiKey", "secretKeyRef");
      const [name, key] = [stringAt(ref, "name"), stringAt(ref, "key")];
      return {
        api,
        id: stringAt(provider, "id") ?? written.split("::").at(-1) ?? "",
        type: written.includes("::") ? written : `remote::${written}`,
        endpoint: stringAt(provider, "endpoint"),
        key: name === undefined || key === undefined ? undefined : { name, key },
        settings: objectAt(provider, "settings"),
      };
    })
  );

/** Every provider is listed once under its API, with its type, its settings and its endpoint in the field that is read. */
export const assertProviders = async (spec: JsonObject, stack: Asked): Promise<void> => {
  const listed = await listedProviders(stack);
  for (const { api, id, type, endpoint, settings } of askedProviders(spec)) {
    const found = listed.filter((listedProvider) => listedProvider.api === api && listedProvider.provider_id === id);
    deepStrictEqual(found.map(({ provider_type }) => provider_type), [type], `${api} ${id}`);
    const expected = { ...settings, ...(endpoint === undefined ? {} : addressFields(api, type, endpoint)) };
    partialDeepStrictEqual(found[0]?.config, expected, `${api} ${id}`);
  }
};

/** The fields in which a provider type reads an address, with the path that a bare one lacks. */
export const addressFields = (api: string, type: string, endpoint: string): JsonObject => {
  const reading = endpointReading(api, type);
  if (reading === undefined) return {};
  if (reading.portField !== undefined) {
    const [host = "", port = ""] = endpoint.split(":");
    return { [reading.field]: host, [reading.portField]: Number(port) };
  }
  const bare = /^https?:\/\/[^/]*$/.test(endpoint);
  return { [reading.field]: bare ? `${endpoint}${reading.path ?? ""}` : endpoint };
};

/** A model as clients address it, and what it is. */
export interface AskedModel {
  readonly id: string;
  readonly provider: string;
  readonly modelType: string;
  readonly embeddingDimension: Json | undefined;
}

export const askedModels = (spec: JsonObject): AskedModel[] =>
  listAt(spec, "resources", "models").filter(isObject).map((model) => {
    const provider = stringAt(model, "provider") ?? askedProviders(spec).find(({ api }) => api === "inference")?.id ??
      "";
    return {
      id: `${provider}/${stringAt(model, "providerModelId") ?? stringAt(model, "name")}`,
      provider,
      modelType: stringAt(model, "modelType") ?? "llm",
      embeddingDimension: model.embeddingDimension,
    };
  });

export const assertModels = async (spec: JsonObject, stack: Asked): Promise<void> => {
  const { body } = await stack.get("/v1/models");
  for (const { id, provider, modelType, embeddingDimension } of askedModels(spec)) {
    const found = body.data.filter((model: { id: string }) => model.id === id);
    strictEqual(found.length, 1, `${id} among ${body.data.map((model: { id: string }) => model.id)}`);
    partialDeepStrictEqual(found[0].custom_metadata, {
      provider_id: provider,
      model_type: modelType,
      ...(embeddingDimension === undefined ? {} : { embedding_dimension: embeddingDimension }),
    }, id);
  }
};

/** On servers that have shields. */
export const assertShields = async (spec: JsonObject, stack: Asked): Promise<void> => {
  const { body } = await stack.get("/v1/shields");
  const listed: string[] = body.data.map(({ identifier }: { identifier: string }) => identifier);
  const configured = listAt(spec, "resources", "shieldConfigs").map((shield) => stringAt(shield, "name"));
  for (const shield of [...listAt(spec, "resources", "shields"), ...configured]) {
    ok(listed.includes(String(shield)), `${shield}: ${listed}`);
  }
};

/**
 * Tools by their groups; where a server's tools endpoint is broken (OGX, answers 500), by the type of a tool provider
 * that serves the group. Tools of MCP servers are connectors.
 */
export const assertTools = async (spec: JsonObject, stack: Asked, isOgx: boolean): Promise<void> => {
  const tools = listAt(spec, "resources", "tools").map(String);
  const groups = isOgx ? [] : await toolGroups(stack);
  const types = (await listedProviders(stack)).filter(({ api }) => api === "tool_runtime")
    .map(({ provider_type }) => provider_type);
  // v1alpha up to 0.6.
  const paths = isOgx ? ["/v1alpha/admin/connectors"] : ["/v1beta/connectors", "/v1alpha/connectors"];
  const answers = await Promise.all(paths.map((path) => stack.get(path)));
  const connectors = answers.find(({ status }) => status === 200)?.body.data;
  // Until 0.6 an MCP server is a group of tools.
  const lists = isOgx ? [] : listAt((await stack.get("/v1/toolgroups")).body ?? null, "data");
  const registered = lists.filter(isObject);
  for (const tool of tools) {
    if (tool.startsWith("mcp::")) {
      const label = tool.slice("mcp::".length);
      const servers = listAt(spec, "providers", "toolRuntime").filter(isObject)
        .filter((provider) => /^(remote::)?model-context-protocol$/.test(String(provider.provider)));
      const endpoint = (servers.find(({ id }) => id === label) ?? servers[0])?.endpoint;
      const found = connectors.filter((connector: { connector_id: string }) => connector.connector_id === label)
        .map((item: { url: string }) => item.url);
      deepStrictEqual([...found, ...registered.flatMap((group) => addressOf(group, tool))], [endpoint], tool);
      continue;
    }
    const row = TOOLS[tool];
    ok(row !== undefined, `the tests do not know the tool ${tool}`);
    if (isOgx) ok(types.some((type) => row.types.includes(type)), `${tool}: ${types}`);
    // Up to 0.6 the group of file search has the name of the tool.
    else ok([row.group, `builtin::${tool}`].some((group) => groups.includes(group)), `${tool}: ${groups}`);
  }
};

const addressOf = (group: JsonObject, tool: string): ReadonlyArray<string> =>
  stringAt(group, "identifier") === tool ? [stringAt(group, "mcp_endpoint", "uri") ?? ""] : [];

/** The groups behind the listed tools; Llama Stack only. */
export const toolGroups = async (stack: Asked): Promise<string[]> => {
  const { body } = await stack.get("/v1/tools");
  return [...new Set<string>(body.data.map((tool: { toolgroup_id: string }) => tool.toolgroup_id))];
};

/** Fields of `spec.providers` and the API that each one configures. */
const APIS: Readonly<Record<string, string>> = {
  inference: "inference",
  safety: "safety",
  vectorIo: "vector_io",
  toolRuntime: "tool_runtime",
  files: "files",
};

const TOOLS: Readonly<Record<string, { readonly group: string; readonly types: readonly string[] }>> = {
  websearch: {
    group: "builtin::websearch",
    types: ["remote::brave-search", "remote::tavily-search", "remote::bing-search"],
  },
  rag: { group: "builtin::file_search", types: ["inline::file-search"] },
  wolfram_alpha: { group: "builtin::wolfram_alpha", types: ["remote::wolfram-alpha"] },
};
