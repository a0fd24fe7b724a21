import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/json.ts";
import { manifest, secret } from "../given.ts";
import { assertProviders, listedProviders, toolGroups } from "./asked.ts";
import { boot, type Booted } from "./boot.ts";
import { ServerDidNotStart } from "./llama_stack.ts";
import { startModelServer } from "./model_server.ts";
import { startObjectStore } from "./object_store.ts";
import { startPostgresAccount } from "./storage_services.ts";
import { withModels } from "./stored_state.ts";
import { knownTypes, TESTED_SERVERS, type TestedServer } from "./tested_servers.ts";

/** Nobody listens there: what starts with it asks its service later. */
const AWAY = "127.0.0.1:9";

/** A provider of a resource, without its id. */
type Provider = Omit<JsonObject, "id">;

/** What starts without its service, by field of the resource and type; all of a server's go into one resource. */
const BOOTED: Readonly<Record<string, Readonly<Record<string, JsonObject>>>> = {
  safety: {
    "inline::code-scanner": {},
    "inline::llama-guard": { settings: { excluded_categories: ["S1", "S13"] } },
    "remote::bedrock": {
      settings: { region_name: "eu-central-1" },
      secretRefs: { aws_access_key_id: secret("aws", "id"), aws_secret_access_key: secret("aws", "key") },
    },
    "remote::nvidia": { endpoint: `http://${AWAY}`, settings: { config_id: "self-check" } },
    "remote::passthrough": { endpoint: `http://${AWAY}`, apiKey: secret("service", "key") },
  },
  toolRuntime: {
    "inline::file-search": {},
    "remote::bing-search": { apiKey: secret("service", "key"), settings: { top_k: 7 } },
    "remote::brave-search": { apiKey: secret("service", "key"), settings: { max_results: 7 } },
    "remote::exa-search": { apiKey: secret("service", "key"), settings: { max_results: 7 } },
    "remote::model-context-protocol": {},
    "remote::nimble-search": { apiKey: secret("service", "key"), settings: { max_results: 7 } },
    "remote::serply-search": { apiKey: secret("service", "key"), settings: { max_results: 7 } },
    "remote::tavily-search": { apiKey: secret("service", "key"), settings: { max_results: 7 } },
    "remote::wolfram-alpha": { apiKey: secret("service", "key") },
  },
  vectorIo: {
    "inline::builtin": {},
    "inline::chromadb": {},
    "inline::faiss": {},
    "inline::milvus": {},
    "inline::qdrant": {},
    "inline::sqlite-vec": {},
    "inline::sqlite_vec": {},
    "remote::elasticsearch": { endpoint: `http://${AWAY}`, apiKey: secret("service", "key") },
    "remote::infinispan": {
      endpoint: `http://${AWAY}`,
      apiKey: secret("service", "key"),
      settings: { username: "admin", auth_mechanism: "basic" },
    },
    "remote::milvus": { endpoint: `http://${AWAY}`, apiKey: secret("service", "key") },
    "remote::qdrant": { endpoint: `http://${AWAY}`, apiKey: secret("service", "key") },
    "remote::weaviate": { endpoint: AWAY, apiKey: secret("service", "key") },
  },
};
