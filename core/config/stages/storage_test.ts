import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { config, envOf, failures, generated, rejected, secret, smallBase, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, objectAt } from "../../data/json.ts";
import { kvSecretName, sqlSecretName } from "./storage.ts";

const POSTGRES = { type: "postgres", connectionString: secret("db", "url") };
const backend = (storage: JsonObject, name: string) => at(config({ storage }), "storage", "backends", name);
const connection = {
  db: "${env.LLSD_SQL_DB}",
  host: "${env.LLSD_SQL_HOST}",
  port: "${env.LLSD_SQL_PORT}",
  user: "${env.LLSD_SQL_USER}",
};

Deno.test("placeStorage() touches nothing when nothing is given", () => {
  const untouched = config({ providers: { inference: [{ provider: "openai" }] } });
  deepStrictEqual(at(config({ storage: {}, disabled: ["eval"] }), "storage"), at(untouched, "storage"));
});

Deno.test("placeStorage() writes sqlite as the default type of each part", () => {
  const storage = { kv: {}, sql: {} };
  deepStrictEqual(backend(storage, "kv_default"), {
    type: "kv_sqlite",
    db_path: "${env.SQLITE_STORE_DIR:=/.llama/distributions/starter}/kvstore.db",
  });
  deepStrictEqual(backend(storage, "sql_default"), {
    type: "sql_sqlite",
    db_path: "${env.SQLITE_STORE_DIR:=/.llama/distributions/starter}/sql_store.db",
  });
});

Deno.test("placeStorage() writes Redis without a password as host and port", () => {
  deepStrictEqual(backend({ kv: { type: "redis", endpoint: "redis://redis.data:6380" } }, "kv_default"), {
    type: "kv_redis",
    host: "redis.data",
    port: 6380,
  });
});

Deno.test("placeStorage() puts Redis' user info in front of the host and keeps it out of the log", () => {
  const kv = { type: "redis", endpoint: "redis:6379", password: secret("redis", "password") };
  deepStrictEqual(backend({ kv }, "kv_default"), {
    type: "kv_redis",
    host: "${env.LLSD_KV_USERINFO:=}redis",
    port: 6379,
  });
  deepStrictEqual(envOf({ storage: { kv } }, "LLSD_KV_USERINFO"), {
    name: "LLSD_KV_USERINFO",
    valueFrom: { secretKeyRef: { name: kvSecretName("my", { storage: { kv } } as never), key: "LLSD_KV_USERINFO" } },
  });
  ok(generated({ storage: { kv } }).env.some(({ name }) => name === "LLAMA_STACK_LOGGING"));
  deepStrictEqual(warnings({ storage: { kv } }), [
    "ServerDefect at spec.storage.kv.type",
    "ServerLogsHost at spec.storage.kv.password",
  ]);
});

Deno.test("placeStorage() splits PostgreSQL into parts and leaves the password to PGPASSWORD", () => {
  deepStrictEqual(backend({ sql: POSTGRES }, "sql_default"), { type: "sql_postgres", ...connection, password: "" });
  const env = generated({ storage: { sql: POSTGRES } }).env.filter(({ valueFrom }) =>
    valueFrom?.secretKeyRef?.name === sqlSecretName("my", { storage: { sql: POSTGRES } } as never)
  );
  deepStrictEqual(
    env.map((
      { name, valueFrom },
    ) => [name, valueFrom?.secretKeyRef?.key === name, valueFrom?.secretKeyRef?.optional ?? false]),
    [
      ["LLSD_SQL_DB", true, false],
      ["LLSD_SQL_HOST", true, false],
      ["LLSD_SQL_PORT", true, false],
      ["LLSD_SQL_USER", true, false],
      ["PGPASSWORD", true, true],
      ["PGSSLMODE", true, true],
      ["PGSSLROOTCERT", true, true],
    ],
  );
});

Deno.test("placeStorage() serves kv from the same PostgreSQL", () => {
  deepStrictEqual(backend({ kv: { type: "postgres" }, sql: POSTGRES }, "kv_default"), {
    type: "kv_postgres",
    ...connection,
    table_name: "llamastack_kvstore",
  });
});

Deno.test("placeStorage() replaces each part on its own", () => {
  const before = config({ disabled: ["eval"] });
  const after = config({ disabled: ["eval"], storage: { sql: POSTGRES } });
  deepStrictEqual(at(after, "storage", "backends", "kv_default"), at(before, "storage", "backends", "kv_default"));
  deepStrictEqual(at(after, "storage", "stores"), at(before, "storage", "stores"));
});

for (const id of ["sql", "kv"]) {
  Deno.test(`placeStorage() rejects a provider called ${id} whose variable belongs to the storage`, () => {
    const field = id === "sql" ? "host" : "userinfo";
    const spec = { providers: { inference: [{ id, provider: "openai", secretRefs: { [field]: secret("s", "k") } }] } };
    deepStrictEqual(failures(spec), [`EnvNameCollision at spec.providers.inference[0].secretRefs.${field}`]);
  });
}

Deno.test("placeStorage() warns of a pgvector provider that would send the password of storage.sql", () => {
  const spec = {
    providers: { vectorIo: [{ id: "v", provider: "pgvector", endpoint: "pg" }] },
    storage: { sql: POSTGRES },
  };
  deepStrictEqual(warnings(spec), ["FieldNotRead at spec.providers.vectorIo[0].apiKey"]);
});

for (
  const [endpoint, words] of [
    ["rediss://redis:6379", "TLS"],
    ["redis://redis:6379/1", "database number"],
    ["redis+sentinel://redis", "Sentinel"],
    ["redis://redis:6379?ssl=true", "options"],
    ["http://redis", "not a Redis address"],
    ["a:1,b:2", "a single Redis host"],
    ["redis:99999", "port is not a number"],
    ["redis://:%zz@redis", "percent-encoded"],
    ["re dis", "not a Redis address"],
  ] as const
) {
  Deno.test(`parseRedis() rejects ${endpoint} with the reason`, () => {
    const spec = { storage: { kv: { type: "redis", endpoint } } };
    deepStrictEqual(failures(spec), ["UnusableEndpoint at spec.storage.kv.endpoint"]);
    ok(rejected(spec).failures[0]?.message.includes(words));
  });
}

Deno.test("placeStorage() keeps a password of the endpoint out of the config and of every message", () => {
  const spec = { storage: { kv: { type: "redis", endpoint: "redis://u:hunter2@redis" } } };
  const made = generated(spec);
  deepStrictEqual(warnings(spec), [
    "ServerDefect at spec.storage.kv.type",
    "ServerLogsHost at spec.storage.kv.endpoint",
    "CredentialInEndpoint at spec.storage.kv.endpoint",
  ]);
  ok(!JSON.stringify(made).includes("hunter2"));
});

Deno.test("placeStorage() adds both backends to a base config that has none", () => {
  const surroundings = smallBase();
  const bare = {
    base: {
      origin: "test",
      content: JSON.stringify({ ...JSON.parse(String(surroundings.base?.content)), storage: undefined }),
    },
  };
  const storage = { sql: { type: "postgres", connectionString: secret("db", "url") } };
  deepStrictEqual(Object.keys(objectAt(config({ storage }, bare), "storage", "backends")).sort(), [
    "kv_default",
    "sql_default",
  ]);
});

Deno.test("the Secrets have another name for another source, and no password is in it", () => {
  const kv = (endpoint: string, name = "redis") =>
    kvSecretName("my", { storage: { kv: { type: "redis", endpoint, password: secret(name, "password") } } } as never);
  const sql = (name: string) =>
    sqlSecretName("my", { storage: { sql: { type: "postgres", connectionString: secret(name, "url") } } } as never);
  strictEqual(new Set([kv("a:1"), kv("b:1"), kv("a:1", "other")]).size, 3);
  strictEqual(new Set([kv("redis://u:one@a:1"), kv("redis://u:t@w:o@a:1")]).size, 1);
  strictEqual(new Set([sql("a"), sql("a"), sql("b")]).size, 2);
  match(sql("a"), /^my-sql-[0-9a-f]{8}$/);
});
