import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { CLIENT_TLS_FOLDER } from "../../core/config/stages/client_certificate.ts";
import { type JsonObject, put } from "../../core/data/json.ts";
import { knownEnd } from "../../core/report/last_words.ts";
import { manifest, secret } from "../given.ts";
import { boot, type BootOptions } from "../../tools/server/boot.ts";
import { ServerDidNotStart } from "../../tools/server/llama_stack.ts";
import { type ModelServer, startModelServer } from "../../tools/model_server.ts";
import { ODD_PASSWORDS } from "./odd_passwords.ts";
import { pastStaleConnections } from "./redis_of_0_7.ts";
import { startCertifyingPostgres, startPostgresAccount, startRedisAccount } from "./storage_services.ts";
import { assertState, type StoredState, storeState, withModels } from "./stored_state.ts";
import { onEveryServer, type TestedServer } from "./tested_servers.ts";
import { until } from "../waiting.ts";

/** Each of these is its own trap: letters of URLs, percent signs, a variable, and what YAML or Python would convert. */
const PASSWORDS = [...ODD_PASSWORDS, "true", "1e5", "~root"];

/** One start each. Llama Stack puts its database URLs together by hand, OGX by a library: a few of them tell there. */
const passwordsFor = ({ minor }: TestedServer): readonly string[] =>
  minor === "0.7" ? PASSWORDS : [PASSWORDS[0] ?? "", minor === "1.4" ? "0123456789" : "~root"];

const POSTGRES = { type: "postgres", connectionString: secret("database", "url") };
/** The log as users see it, frames and all: what must not be in it is looked for there. */
const AS_PUBLISHED = { LLAMA_STACK_LOG_FORMAT: "", OGX_LOG_FORMAT: "" };
const redisAt = (endpoint: string) => ({ type: "redis", endpoint, password: secret("redis", "password") });

const resource = ({ distribution }: TestedServer, storage: JsonObject, { baseUrl }: ModelServer): JsonObject =>
  manifest(withModels({ distribution: { name: distribution }, storage }, baseUrl));

Deno.test("storage of type sqlite is kept on the data volume over a restart of every server", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    const asked = resource(server, { kv: { type: "sqlite" }, sql: { type: "sqlite" } }, around.models);
    let state: StoredState;
    {
      await using stack = await boot(asked, { ...server.options, folder: around.folder });
      state = await storeState(stack);
    }
    deepStrictEqual((await databaseFiles(around.folder)).filter((file) => file.endsWith(".db")), [
      "kvstore.db",
      "sql_store.db",
    ]);
    await using stack = await boot(asked, { ...server.options, folder: around.folder });
    await assertState(stack, state);
  }));

Deno.test("storage in Redis and PostgreSQL survives every server, whatever the passwords", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    await using redis = await startRedisAccount("first");
    await using postgres = await startPostgresAccount("first");
    const asked = resource(server, { kv: redisAt(redis.endpoint), sql: POSTGRES }, around.models);
    let state: StoredState | undefined;
    for (const [index, sqlPassword] of passwordsFor(server).entries()) {
      const kvPassword = passwordsFor(server).at(index - 1) ?? "";
      await redis.setPassword(kvPassword);
      await postgres.setPassword(sqlPassword);
      const url = index % 2 === 0 ? postgres.url(sqlPassword) : postgres.keywords(sqlPassword);
      const secrets = { redis: { password: kvPassword }, database: { url } };
      await using stack = pastStaleConnections(
        await boot(asked, { ...server.options, folder: around.folder, secrets }),
      );
      state ??= await storeState(stack);
      await assertState(stack, state);
    }
    ok(await postgres.rowCount("openai_conversations") > 0);
    ok(await redis.keyCount() > 0);
    deepStrictEqual(await databaseFiles(around.folder), []);
  }));

Deno.test("the state of every server is in Redis and PostgreSQL, and its log has neither password", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    const [kvPassword, sqlPassword] = ["canary/4711", "canary@0815"];
    await using redis = await startRedisAccount(kvPassword);
    await using postgres = await startPostgresAccount(sqlPassword);
    const asked = resource(server, { kv: redisAt(redis.endpoint), sql: POSTGRES }, around.models);
    const secrets = { redis: { password: kvPassword }, database: { url: postgres.url(sqlPassword) } };
    await using booted = await boot(asked, { ...server.options, folder: around.folder, secrets, env: AS_PUBLISHED });
    const stack = pastStaleConnections(booted);
    await assertState(stack, await storeState(stack));
    ok(await postgres.rowCount("openai_conversations") > 0);
    ok(await redis.keyCount() > 0);
    deepStrictEqual(await databaseFiles(around.folder), []);
    doesNotMatch(await stack.log(), /canary/);
  }));

Deno.test("kv and sql share one PostgreSQL on every server, and its password may change", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    await using postgres = await startPostgresAccount("first");
    const asked = resource(server, { kv: { type: "postgres" }, sql: POSTGRES }, around.models);
    let state: StoredState | undefined;
    for (const password of passwordsFor(server).slice(0, 2)) {
      await postgres.setPassword(password);
      const secrets = { database: { url: postgres.url(password) } };
      await using stack = await boot(asked, { ...server.options, folder: around.folder, secrets });
      state ??= await storeState(stack);
      await assertState(stack, state);
    }
    ok(await postgres.rowCount("llamastack_kvstore") > 0);
    deepStrictEqual(await databaseFiles(around.folder), []);
  }));

Deno.test("storage.kv alone goes to Redis on every server, whose log never shows the password", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    const password = "canary/4711";
    await using redis = await startRedisAccount(password);
    const asked = resource(server, { kv: redisAt(redis.endpoint) }, around.models);
    const secrets = { redis: { password } };
    let quiet: string;
    {
      await using stack = await boot(asked, { ...server.options, secrets, env: AS_PUBLISHED });
      const chat = { model: "vllm/test-model", messages: [{ role: "user", content: "hello" }] };
      const { status } = await stack.post("/v1/chat/completions", chat);
      strictEqual(status, server.isOgx ? 200 : 500, "the first use of Redis");
      const settled = pastStaleConnections(stack);
      await assertState(settled, await storeState(settled));
      quiet = await stack.log();
    }
    doesNotMatch(quiet, /canary/);
    {
      await using stack = await boot(asked, {
        ...server.options,
        secrets,
        env: { ...AS_PUBLISHED, [server.loggingVariable]: "" },
      });
      const loud = await stack.log();
      match(loud, /canary%2F4711/, "without the level the password is there, or this test could not fail");
      const silenced = categories(loud).filter((category) => !categories(quiet).includes(category));
      deepStrictEqual(silenced.filter((category) => !/^core(::|$)/.test(category)), []);
    }
    const secretsWrong = { redis: { password: `${password} wrong` } };
    const wrong = await failedStart(asked, { ...server.options, secrets: secretsWrong, env: AS_PUBLISHED });
    doesNotMatch(wrong.log, /canary/);
  }));

Deno.test("storage.sql alone goes to PostgreSQL on every server, and a wrong password shows", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    await using postgres = await startPostgresAccount("first");
    const asked = resource(server, { sql: POSTGRES }, around.models);
    {
      await using stack = await boot(asked, {
        ...server.options,
        secrets: { database: { url: postgres.url("first") } },
      });
      await assertState(stack, await storeState(stack));
    }
    ok(await postgres.rowCount("openai_conversations") > 0);
    const secrets = { database: { url: postgres.url("canary") } };
    if (!server.isOgx) {
      // Llama Stack opens its relational store with the first request.
      await using stack = await boot(asked, { ...server.options, secrets });
      strictEqual((await stack.post("/v1/conversations", { metadata: {} })).status, 500);
      await until("its log says why", async () => /password authentication failed/.test(await stack.log()));
      doesNotMatch(await stack.log(), /canary/);
    } else {
      const wrong = await failedStart(asked, { ...server.options, secrets });
      match(wrong.log, /password authentication failed/);
      doesNotMatch(wrong.log, /canary/);
    }
  }));

Deno.test("a PostgreSQL that demands a certificate keeps the state of every server that presents one, and of no other", () =>
  onEveryServer(async (server) => {
    await using around = await startAround();
    await using postgres = await startCertifyingPostgres();
    const presenting = (tls: JsonObject) =>
      put(resource(server, { kv: { type: "postgres" }, sql: POSTGRES }, around.models), ["spec", "networking"], {
        tls,
      });
    const options = {
      ...server.options,
      secrets: { database: { url: postgres.url(`sslmode=verify-full&sslrootcert=${postgres.caFile}`) } },
      files: Object.fromEntries(
        Object.entries(postgres.certificate).map(([key, content]) => [`${CLIENT_TLS_FOLDER}/${key}`, content]),
      ),
    };
    const failure = await failedStart(presenting({}), { ...server.options, secrets: options.secrets });
    match(failure.log, /connection requires a valid client certificate/);
    // OGX names the cause many lines before the end.
    match(knownEnd(failure.log, () => false) ?? "", /^PostgreSQL (demands a client|cannot be reached, or refuses)/);
    {
      await using stack = await boot(presenting({ clientSecretName: "me" }), { ...options, folder: around.folder });
      await assertState(stack, await storeState(stack));
    }
    ok(await postgres.rowCount("openai_conversations") > 0);
    ok(await postgres.rowCount("llamastack_kvstore") > 0);
    deepStrictEqual(await databaseFiles(around.folder), []);
  }));

interface Around extends AsyncDisposable {
  readonly models: ModelServer;
  /** Outlives the servers that use it. */
  readonly folder: string;
}

const startAround = async (): Promise<Around> => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-storage-" });
  const models = startModelServer();
  return {
    models,
    folder,
    [Symbol.asyncDispose]: async () => {
      await models.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
};

/** The sqlite files of the two backends on the data volume. */
const databaseFiles = async (folder: string): Promise<string[]> => {
  const state = await Array.fromAsync(Deno.readDir(join(folder, "distributions", "starter")), ({ name }) => name);
  return state.filter((file) => /^(kvstore|sql_store)\.db/.test(file)).sort();
};

const failedStart = async (asked: JsonObject, options: BootOptions): Promise<ServerDidNotStart> => {
  const failure = await boot(asked, options).then((stack) => stack.stop(), (error) => error);
  ok(failure instanceof ServerDidNotStart, String(failure));
  return failure;
};

/** What wrote to the log, e.g. `core::server`. */
const categories = (log: string): string[] => [
  ...new Set([...log.matchAll(/\bcategory=([a-z0-9_:]+)/g)].map(([, category]) => category ?? "")),
];
