/** What servers are known to say when they do not start, against the code of the real ones. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { join } from "node:path";
import { KNOWN_ENDS } from "../../core/report/known_ends.ts";
import { installServer } from "../../tools/install/python_server.ts";
import { ended } from "../../tools/install/run_program.ts";
import { COMPARED_VERSIONS } from "./tested_servers.ts";

/** Sentences of the servers themselves; what is in braces is filled in at run time. */
const SENTENCES: ReadonlyArray<readonly [python: string, filled: string]> = [
  ["Environment variable '{var_name}' not set or empty", "Environment variable 'A' not set or empty"],
  ["Embedding model '{model_identifier}' not found.", "Embedding model 'a/b' not found."],
  ["Reranker model '{model_identifier}' not found.", "Reranker model 'a' not found."],
  ["Embedding dimension '{embedding_dimension}' cannot be converted", "Embedding dimension 'x' cannot be converted"],
  ["Models API is not available but vector_stores config requires model", ""],
  ["storage.stores.metadata must be configured with a kv_* backend", ""],
  ["{store_name} references unknown backend '{backend_name}'.", "a references unknown backend 'b'."],
  ["{store_name} references backend '{backend_name}' of type", "a references backend 'b' of type"],
  ["Unknown KVStore backend '{backend_name}'.", "Unknown KVStore backend 'a'."],
  [
    "Provider `{provider.provider_type}` is not available for API `{api}`",
    "Provider `a::b` is not available for API `c`",
  ],
  ["Provider for `{api_str}` is automatically provided", "Provider for `a` is automatically provided"],
  ["Failed to sort providers: circular dependency detected", ""],
  ["does not implement the following methods:", ""],
  ["Provider '{provider_id}' not found in routing table", "Provider 'a' not found in routing table"],
  ["Please specify a provider_id for model {model_id} since", "Please specify a provider_id for model a since"],
  [
    "Provider '{provider_id}' returned no models for auto resolution",
    "Provider 'a' returned no models for auto resolution",
  ],
  ["Failed to list models from provider '{provider_id}'", "Failed to list models from provider 'a'"],
  ["is not available from provider {self.__provider_id__}", "Model a is not available from provider b"],
  ["mcp_endpoint is required", ""],
  ["FATAL: verify_tls=False in auth provider config.", ""],
  ["One of jwks or introspection must be configured", ""],
  ["Cannot use wildcard origins with credentials enabled", ""],
  ["OGX_CONFIG environment variable is required", ""],
  ["LLAMA_STACK_CONFIG environment variable is required", ""],
  ["Could not connect to PostgreSQL database server", ""],
  ["Could not connect to PGVector database server", ""],
  ["Could not connect to MongoDB database server", ""],
  ["Failed to validate PostgreSQL connection_string", ""],
];

const sourcesIn = async (folder: string): Promise<string> => {
  const texts: Array<string> = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) texts.push(await sourcesIn(path));
    else if (entry.name.endsWith(".py")) texts.push(await Deno.readTextFile(path));
  }
  return texts.join("\n");
};

Deno.test("the known ends are sentences of the real servers", async () => {
  const sources = await Promise.all(COMPARED_VERSIONS.map(async (version) => {
    const { python } = await installServer(version);
    const { stdout } = await ended(python, ["-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]);
    return await sourcesIn(join(stdout.trim(), version.startsWith("ogx") ? "ogx" : "llama_stack"));
  }));
  ok(sources.every(({ length }) => length > 1_000_000));
  deepStrictEqual(SENTENCES.filter(([python]) => !sources.some((source) => source.includes(python))), []);
  const unknown = SENTENCES.filter(([python, filled]) =>
    !KNOWN_ENDS.some(({ says }) => says.test(filled === "" ? python : filled))
  );
  deepStrictEqual(unknown, []);
});
