import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import type { Resource } from "../../core/api/decode.ts";
import { derive, type Derived, type Surroundings } from "../../core/config/derive.ts";
import { type JsonObject, put } from "../../core/data/json.ts";
import { manifest, secret } from "../given.ts";
import { askedProviders, assertProviders, listedProviders, toolGroups } from "./asked.ts";
import { boot, type Booted } from "../../tools/server/boot.ts";
import { ServerDidNotStart } from "../../tools/server/llama_stack.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { startObjectStore } from "./object_store.ts";
import { startPostgres } from "../../tools/server/postgres.ts";
import { sideBySide } from "./side_by_side.ts";
import { uploadFile, withModels } from "./stored_state.ts";
import { knownTypes, onEveryServer, TESTED_SERVERS, type TestedServer } from "./tested_servers.ts";

/** Nobody listens there: what starts with it asks its service later. */
const AWAY = "127.0.0.1:9";
const KEY = secret("service", "key");
const SECRETS = { service: { key: "key 1#2" }, aws: { id: "AKIAEXAMPLE", key: "aws/secret+key" } };

/** Fields of `spec.providers` whose lists may be long. Inference has tests of its own; only one files provider runs at a time. */
const FIELDS = { safety: "safety", toolRuntime: "tool_runtime", vectorIo: "vector_io" } as const;
type Field = keyof typeof FIELDS;

type Rows = Readonly<Record<string, JsonObject>>;

/** What starts without its service. All of a server's go into one resource. */
const BOOTED: Readonly<Record<Field, Rows>> = {
  safety: {
    "inline::code-scanner": {},
    "inline::llama-guard": { settings: { excluded_categories: ["S1", "S13"] } },
    "remote::bedrock": {
      // The server's own default of session_ttl stops its start as soon as keys are given.
      settings: { region_name: "eu-central-1", session_ttl: null },
      secretRefs: { aws_access_key_id: secret("aws", "id"), aws_secret_access_key: secret("aws", "key") },
    },
    "remote::nvidia": { endpoint: `http://${AWAY}`, settings: { config_id: "self-check" } },
    "remote::passthrough": { endpoint: `http://${AWAY}`, apiKey: KEY },
    "remote::sambanova": { endpoint: `http://${AWAY}`, apiKey: KEY },
  },
  toolRuntime: {
    "inline::file-search": {},
    "remote::bing-search": { apiKey: KEY, settings: { top_k: 7 } },
    "remote::brave-search": { apiKey: KEY, settings: { max_results: 7 } },
    "remote::exa-search": { apiKey: KEY },
    "remote::model-context-protocol": {},
    "remote::nimble-search": { apiKey: KEY, settings: { max_results: 7 } },
    "remote::serply-search": { apiKey: KEY },
    "remote::tavily-search": { apiKey: KEY, settings: { max_results: 7 } },
    "remote::wolfram-alpha": { apiKey: KEY },
  },
  vectorIo: {
    "inline::builtin": {},
    "inline::chromadb": {},
    "inline::faiss": {},
    "inline::milvus": {},
    "inline::qdrant": {},
    "inline::sqlite-vec": {},
    "inline::sqlite_vec": {},
    "remote::elasticsearch": { endpoint: `http://${AWAY}`, apiKey: KEY },
    "remote::infinispan": { endpoint: `http://${AWAY}`, apiKey: KEY, settings: { username: "admin" } },
    "remote::milvus": { endpoint: `http://${AWAY}`, apiKey: KEY },
    "remote::qdrant": { endpoint: `http://${AWAY}`, apiKey: KEY },
    "remote::weaviate": { endpoint: "localhost:9", apiKey: KEY },
  },
};

/** Stores inside the server that start, but whose use hangs on how the Python of this machine and its packages were built. */
const UNSEARCHED: Readonly<Record<string, string>> = {
  "inline::milvus": "milvus-lite lacks a method that its own client calls",
  "inline::sqlite-vec": "it needs a Python whose sqlite3 loads extensions",
  "inline::sqlite_vec": "it needs a Python whose sqlite3 loads extensions",
};

interface Refused {
  readonly field: Field;
  readonly type: string;
  /** Minor versions of the servers that refuse it. */
  readonly by: readonly string[];
  readonly why: string;
  readonly provider: JsonObject;
  /** The operator rejects the type: a type with the same fields, in whose place it is written into the config. */
  readonly inPlaceOf?: string;
  readonly log: RegExp;
}

/** What a server does not start with on this machine. */
const REFUSED: readonly Refused[] = [
  {
    field: "safety",
    type: "inline::prompt-guard",
    by: ["0.7"],
    why: "it runs a model in the server, with packages of some gigabytes",
    provider: {},
    log: /No module named 'transformers'/,
  },
  {
    field: "vectorIo",
    type: "inline::chromadb",
    by: ["1.4", "1.5"],
    why: "its config has not the field that its own code reads",
    provider: {},
    inPlaceOf: "inline::sqlite-vec",
    log: /'ChromaVectorIOConfig' object has no attribute 'metadata_store'/,
  },
  {
    field: "vectorIo",
    type: "remote::chromadb",
    by: ["0.7", "1.4", "1.5"],
    why: "it connects when it starts",
    provider: { endpoint: `http://${AWAY}` },
    log: /httpx\w*\.ConnectError/,
  },
  {
    field: "vectorIo",
    type: "remote::milvus",
    by: ["0.7"],
    why: "it connects when it starts",
    provider: { endpoint: `http://${AWAY}`, apiKey: KEY },
    log: /Fail connecting to server on 127\.0\.0\.1:9/,
  },
  {
    field: "vectorIo",
    type: "remote::neo4j",
    by: ["1.4", "1.5"],
    why: "it connects when it starts",
    provider: { endpoint: `bolt://${AWAY}`, apiKey: KEY },
    log: /Couldn't connect to 127\.0\.0\.1:9/,
  },
  {
    field: "vectorIo",
    type: "remote::oci",
    by: ["0.7", "1.4", "1.5"],
    why: "it connects when it starts, by the files of a wallet",
    provider: {
      endpoint: "database_high",
      apiKey: KEY,
      settings: { user: "admin", tnsnames_loc: "/nowhere", ewallet_pem_loc: "/nowhere" },
      secretRefs: { ewallet_password: KEY },
    },
    log: /file '\/nowhere\/tnsnames\.ora' is missing/,
  },
];

Deno.test("every provider type of a server is either started here or listed as unstartable", () => {
  for (const server of TESTED_SERVERS) {
    for (const [field, api] of Object.entries(FIELDS) as [Field, string][]) {
      const elsewhere = api === "vector_io" ? ["remote::pgvector"] : [];
      const known = [...Object.keys(bootedRows(field, server)), ...elsewhere, ...refusedTypes(field, server)];
      deepStrictEqual(known.sort(), knownTypes(server, api), field);
    }
  }
});

Deno.test("every provider that a server starts with has its endpoint, key and settings", () =>
  onEveryServer(async (server) => {
    const models = startModelServer();
    try {
      const asked = withProviders(server, models.baseUrl);
      await using stack = await boot(asked, { ...server.options, secrets: SECRETS });
      const spec = asked.spec as JsonObject;
      await assertProviders(spec, stack);
      await assertNoSecretIsListed(stack);
      if (!server.isOgx) {
        const groups = await toolGroups(stack);
        for (const group of ["builtin::websearch", "builtin::wolfram_alpha", "builtin::file_search"]) {
          ok(groups.includes(group), `${group}: ${groups}`);
        }
      }
      const inline = askedProviders(spec).filter(({ api, type }) => api === "vector_io" && type.startsWith("inline::"));
      for (const { id } of inline.filter(({ type }) => !Object.hasOwn(UNSEARCHED, type))) {
        await assertKeepsVectors(stack, id);
      }
    } finally {
      await models.stop();
    }
  }));

Deno.test("no server starts with the types that are listed as unstartable", () =>
  onEveryServer((server) =>
    sideBySide(
      REFUSED.filter(({ by }) => by.includes(server.minor)),
      async ({ field, type, provider, inPlaceOf, log }) => {
        const asked = manifest({
          distribution: { name: server.distribution },
          providers: { [field]: [{ provider: inPlaceOf ?? type, ...provider }] },
        });
        const options = {
          ...server.options,
          secrets: SECRETS,
          ...(inPlaceOf === undefined ? {} : { derive: derivedWith(inPlaceOf, type) }),
        };
        const failure = await boot(asked, options).then(
          (stack) => stack.stop().then(() => `${type} started`),
          (error) => error,
        );
        ok(failure instanceof ServerDidNotStart, String(failure));
        match(unwrapped(failure.log), log, type);
      },
    )
  ));

/** As the operator derives it, with another type in the place of one. */
const derivedWith = (type: string, other: string) => (resource: Resource, surroundings: Surroundings): Derived => {
  const derived = Result.getOrThrow(derive(resource, surroundings));
  ok(derived._tag === "Generated" && derived.config.yaml.includes(type));
  return { ...derived, config: { ...derived.config, yaml: derived.config.yaml.replaceAll(type, other) } };
};

Deno.test("remote::pgvector reaches its database with user and password", () =>
  onEveryServer(async (server) => {
    const password = "p@ss 'w/d";
    const postgres = await startPostgres({ password: "of the superuser" });
    try {
      await postgres.createDatabase("of-the-role", "vectors", password);
      const pgvector = {
        provider: "pgvector",
        endpoint: `${postgres.host}:${postgres.port}`,
        apiKey: secret("pg", "password"),
        // The role may not make the extension there, so the start ends after the login, with and without the package.
        settings: { db: "postgres", user: "vectors" },
      };
      const asked = manifest({ distribution: { name: server.distribution }, providers: { vectorIo: [pgvector] } });
      const failure = await boot(asked, { ...server.options, secrets: { pg: { password } } }).then(
        (stack) => stack.stop().then(() => "it started"),
        (error) => error,
      );
      ok(failure instanceof ServerDidNotStart, String(failure));
      match(unwrapped(failure.log), /extension \\*"vector\\*"/);
    } finally {
      await postgres.stop();
    }
  }));

Deno.test("files of every server go to an S3 store with its own keys", () =>
  onEveryServer(async (server) => {
    const store = startObjectStore();
    try {
      const s3 = {
        id: "builtin-files",
        provider: "s3",
        endpoint: store.endpoint,
        settings: { bucket_name: "uploads", region: "eu-central-1", auto_create_bucket: true },
        secretRefs: { aws_access_key_id: secret("aws", "id"), aws_secret_access_key: secret("aws", "key") },
      };
      const asked = manifest({ distribution: { name: server.distribution }, providers: { files: [s3] } });
      await using stack = await boot(asked, { ...server.options, secrets: SECRETS });
      await assertProviders(asked.spec as JsonObject, stack);
      await assertNoSecretIsListed(stack);
      const id = await uploadFile(stack, "kept elsewhere");
      deepStrictEqual([...store.objects.values()], ["kept elsewhere"]);
      deepStrictEqual([...store.accessKeys], [SECRETS.aws.id]);
      strictEqual((await stack.get(`/v1/files/${id}/content`)).body, "kept elsewhere");
    } finally {
      await store.stop();
    }
  }));

Deno.test("every files type of every server is booted by some test", () => {
  for (const server of TESTED_SERVERS) {
    deepStrictEqual(knownTypes(server, "files"), ["inline::localfs", "remote::openai", "remote::s3"]);
  }
});
const refusedTypes = (field: Field, { minor }: TestedServer): string[] =>
  REFUSED.filter((row) => row.field === field && row.by.includes(minor)).map(({ type }) => type);

/** A row for a type that a server lacks belongs to another server; one that it refuses is not booted. */
const bootedRows = (field: Field, server: TestedServer): Rows =>
  Object.fromEntries(
    Object.entries(BOOTED[field]).filter(([type]) =>
      knownTypes(server, FIELDS[field]).includes(type) && !refusedTypes(field, server).includes(type)
    ),
  );

const withProviders = (server: TestedServer, modelsUrl: string): JsonObject =>
  manifest(
    (Object.keys(FIELDS) as Field[]).reduce((spec, field) => {
      const list = Object.entries(bootedRows(field, server)).map(([provider, row]) => ({
        id: `my-${provider.replace("::", "-")}`,
        provider,
        ...row,
      }));
      return list.length === 0 ? spec : put(spec, ["providers", field], list);
    }, withModels({ distribution: { name: server.distribution } }, modelsUrl)),
  );

const assertNoSecretIsListed = async (stack: Booted): Promise<void> => {
  const listed = JSON.stringify(await listedProviders(stack));
  for (const value of Object.values(SECRETS).flatMap((secret) => Object.values(secret))) {
    ok(!listed.includes(JSON.stringify(value).slice(1, -1)) || value === SECRETS.aws.id, value);
  }
};

/** A text that goes into a store of this provider is found in it. */
const assertKeepsVectors = async (stack: Booted, id: string): Promise<void> => {
  const store = await stack.post("/v1/vector_stores", {
    name: id,
    provider_id: id,
    embedding_model: "vllm/test-embedding",
    embedding_dimension: 384,
  });
  strictEqual(store.status, 200, `${id}: ${JSON.stringify(store.body)}`);
  const file = await uploadFile(stack, `a note for ${id}`);
  const attached = await stack.post(`/v1/vector_stores/${store.body.id}/files`, { file_id: file });
  strictEqual(attached.body.status, "completed", `${id}: ${JSON.stringify(attached.body)}`);
  const found = await stack.post(`/v1/vector_stores/${store.body.id}/search`, { query: "which note" });
  ok(JSON.stringify(found.body).includes(`a note for ${id}`), `${id}: ${JSON.stringify(found.body)}`);
};

/** The log without its frame: the servers break long lines and draw boxes around them. */
const unwrapped = (log: string): string => log.replaceAll(/[│╭╮╰╯❱─]/g, " ").replaceAll(/\s+/g, " ");
