import { deepStrictEqual, ok } from "node:assert/strict";
import { config, envOf, failures, rejected, secret, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, listAt } from "../../data/json.ts";

const FILES = {
  name: "sql_files",
  type: "sql_postgres",
  settings: { host: "files-db", db: "files", user: "app" },
  secretRefs: { password: secret("files", "password") },
};
const on = (serverVersion: string, name = "starter"): JsonObject => ({ distribution: { name, serverVersion } });
const spec = (...backends: ReadonlyArray<JsonObject>): JsonObject => ({ storage: { backends } });
const backend = (given: JsonObject, name: string) => at(config(given), "storage", "backends", name);

Deno.test("addBackends() writes a backend beside those of the base config, with its Secrets as variables", () => {
  deepStrictEqual(backend(spec(FILES), "sql_files"), {
    type: "sql_postgres",
    host: "files-db",
    db: "files",
    user: "app",
    password: "${env.LLSD_STORAGE_SQL_FILES_PASSWORD}",
  });
  deepStrictEqual(
    at(envOf(spec(FILES), "LLSD_STORAGE_SQL_FILES_PASSWORD") ?? null, "valueFrom"),
    secret("files", "password"),
  );
  deepStrictEqual(
    at(config(spec(FILES)), "storage", "stores"),
    at(config({ disabled: ["eval"] }), "storage", "stores"),
  );
});

Deno.test("addBackends() puts the file of a SQLite backend into the data folder", () => {
  deepStrictEqual(backend(spec({ name: "kv_more", type: "kv_sqlite" }), "kv_more"), {
    type: "kv_sqlite",
    db_path: "${env.SQLITE_STORE_DIR:=/.llama/distributions/starter}/kv_more.db",
  });
});

Deno.test("addBackends() lets settings of providers name a backend", () => {
  const settings = { metadata_store: { backend: "sql_files", table_name: "files" } };
  const providers = { files: [{ provider: "localfs", settings }] };
  deepStrictEqual(
    at(listAt(config({ ...spec(FILES), providers }), "providers", "files")[0], "config", "metadata_store"),
    {
      backend: "sql_files",
      table_name: "files",
    },
  );
  deepStrictEqual(failures({ providers }), [
    "SettingInvalid at spec.providers.files[0].settings.metadata_store.backend",
  ]);
});

Deno.test("addBackends() replaces a backend of the base config by one of its kind", () => {
  const kv = { name: "kv_default", type: "kv_redis", settings: { host: "redis" } };
  deepStrictEqual(backend(spec(kv), "kv_default"), { type: "kv_redis", host: "redis" });
  deepStrictEqual(failures(spec({ name: "kv_default", type: "sql_sqlite" })), [
    "RuleBroken at spec.storage.backends[0].name",
  ]);
  deepStrictEqual(failures({ storage: { kv: {}, backends: [kv] } }), ["RuleBroken at spec.storage.backends[0].name"]);
});

for (
  const [what, given, expected] of [
    ["a field that is required", { settings: {} }, "SettingInvalid at spec.storage.backends[0].settings.user"],
    [
      "a value of another type",
      { settings: { user: "u", table_name: [] } },
      "SettingInvalid at " +
      "spec.storage.backends[0].settings.table_name",
    ],
    [
      "a field that is set twice",
      { settings: { user: "u" }, secretRefs: { user: secret("s", "u") } },
      "RuleBroken at spec.storage.backends[0].settings.user",
    ],
    [
      "a port that is not a number",
      { settings: { user: "u", port: "relative.db" } },
      "SettingInvalid at spec.storage.backends[0].settings.port",
    ],
    [
      "a variable that sets such a port",
      { settings: { user: "u", port: "${env.X:=relative.db}" } },
      "SettingInvalid at spec.storage.backends[0].settings.port",
    ],
  ] as const
) {
  Deno.test(`addBackends() rejects ${what}`, () => {
    deepStrictEqual(failures(spec({ name: "kv_pg", type: "kv_postgres", ...given })), [expected]);
  });
}

Deno.test("addBackends() wants a user or a connection string where the server takes both, and not both", () => {
  const given = (more: JsonObject) => ({
    ...on("1.5", "ogx-starter"),
    ...spec({ name: "sql_b", type: "sql_postgres", ...more }),
  });
  const secretRefs = { connection_string: secret("s", "url") };
  const at = "SettingInvalid at spec.storage.backends[0].settings";
  deepStrictEqual(failures(given({})), [`${at}.connection_string`]);
  deepStrictEqual(warnings(given({ secretRefs })), []);
  deepStrictEqual(failures(given({ secretRefs, settings: { db: "x" } })), [`${at}.db`]);
  deepStrictEqual(failures(given({ settings: { user: "" } })), [`${at}.user`]);
});

Deno.test("addBackends() names the server that has backends to one that has none", () => {
  const { message = "" } = rejected({ ...on("0.2"), ...spec(FILES) }).failures[0] ?? {};
  ok(message.startsWith("spec.storage.backends[0]: not supported by Llama Stack 0.2"), message);
});

Deno.test("addBackends() warns of clear text, of fields that nobody reads, and of a borrowed password", () => {
  const settings = { user: "u", password: "hunter2", colour: "red" };
  deepStrictEqual(warnings(spec({ name: "sql_b", type: "sql_postgres", settings })), [
    "CredentialInSettings at spec.storage.backends[0].settings.password",
    "UnknownSetting at spec.storage.backends[0].settings.colour",
  ]);
  const sql = { type: "postgres", connectionString: secret("db", "url") };
  const storage = { sql, backends: [{ name: "sql_b", type: "sql_postgres", settings: { user: "u" } }] };
  deepStrictEqual(warnings({ storage }), ["FieldNotRead at spec.storage.backends[0].secretRefs.password"]);
});

Deno.test("addBackends() keeps the host of Redis out of the log if it comes from a Secret", () => {
  const redis = { name: "kv_r", type: "kv_redis", secretRefs: { host: secret("redis", "host") } };
  deepStrictEqual(at(envOf(spec(redis), "LLAMA_STACK_LOGGING") ?? null, "value"), "core=warning");
  deepStrictEqual(warnings(spec(redis)), ["ServerLogsHost at spec.storage.backends[0].secretRefs"]);
  const kv = { type: "redis", endpoint: "redis:6379", password: secret("redis", "password") };
  ok(
    warnings({ storage: { kv, backends: [redis] } }).includes("ServerLogsHost at spec.storage.backends[0].secretRefs"),
  );
});

Deno.test("addBackends() rejects a name that MongoDB accepts for no database", () => {
  const of = (db: string) => ({ ...on("1.5"), ...spec({ name: "kv_more", type: "kv_mongodb", settings: { db } }) });
  deepStrictEqual(failures(of("/tmp/x.db")), ["SettingInvalid at spec.storage.backends[0].settings.db"]);
  config(of("llama-stack"));
});

for (
  const [settings, field] of [
    [{ host: "mongo", user: "u" }, "password"],
    [{ host: "mongodb://u:p@a:1,b:99999/x" }, "host"],
    [{ host: "mongo:abc" }, "host"],
    [{ host: "mongodb+srv://u:p@mongo.example.com:27017" }, "host"],
    [{ host: "mongodb://u:p@ss@mongo/x" }, "host"],
  ] as const
) {
  Deno.test(`addBackends() rejects what the client of MongoDB does not parse: ${JSON.stringify(settings)}`, () =>
    deepStrictEqual(failures({ ...on("1.5"), ...spec({ name: "kv_more", type: "kv_mongodb", settings }) }), [
      `SettingInvalid at spec.storage.backends[0].settings.${field}`,
    ]));
}

Deno.test("addBackends() accepts the addresses that the client of MongoDB does", () => {
  for (
    const host of [
      "mongo",
      "mongo:27017",
      "mongodb://u:p%40@a:1,[::1]:65535/x?a=b:c",
      "mongodb+srv://u:p@a.example.com/x",
    ]
  ) {
    config({ ...on("1.5"), ...spec({ name: "kv_more", type: "kv_mongodb", settings: { host } }) });
  }
  const refs = {
    name: "kv_more",
    type: "kv_mongodb",
    settings: { host: "mongo", user: "u" },
    secretRefs: { password: secret("mongo", "password") },
  };
  config({ ...on("1.5"), ...spec(refs) });
});
