/** Where the server keeps its state. Backend names never change, so that every reference stays valid. */
import { EnvNameCollision, type UnusableEndpoint } from "../../failure/failures.ts";
import { SHORT_DIGITS, shortDigest } from "../../data/digest.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { type Json, type JsonObject, objectAt } from "../../data/json.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { providerType } from "../servers/catalogue.ts";
import { type Draft, type EnvEntry, type Facts, noted, withConfig } from "../draft.ts";
import { SQL_VARIABLES } from "../connections/postgres_connection.ts";
import { KV_USERINFO, parseRedis } from "../connections/redis_address.ts";
import { STORES_IN_BACKENDS } from "../servers/families/stores_in_backends.ts";
import { envName, nameOfProvider, placeholder } from "./secrets.ts";
import type { Stage } from "../stage.ts";

export const placeStorage: Stage<EnvNameCollision | UnusableEndpoint> = (draft, facts) => {
  const { kv, sql, backends: [further] = [] } = facts.spec.storage ?? {};
  const { family, catalogue } = facts.server;
  // A base config without backends relies on the server's defaults, which end as soon as there is one.
  const needsBoth = (kv ?? sql ?? further) !== undefined && family.stores === STORES_IN_BACKENDS &&
    Object.keys(objectAt(draft.config, "storage", "backends")).length === 0;
  const parts = [
    ...(kv === undefined && !needsBoth ? [] : [kvPart(facts)]),
    ...(sql === undefined && !needsBoth ? [] : [sqlPart(facts)]),
  ];
  const usesPostgres = sql?.type === "postgres";
  const config = parts.reduce(
    (tree, { kind, value }) =>
      value === undefined ? tree : family.stores.place(
        tree,
        { kind, value },
        (api, type) => providerType(catalogue, api, type)?.references ?? {},
      ),
    draft.config,
  );
  return {
    draft: noted(withConfig(draft, config), {
      env: [...parts.flatMap(({ env }) => env), ...(usesPostgres ? connectionEnv(facts) : [])],
      warnings: [
        ...parts.flatMap(({ warnings }) => warnings),
        ...(usesPostgres ? vectorPasswordWarnings(draft, facts.spec) : []),
      ],
    }),
    failures: [...parts.flatMap(({ failures }) => failures), ...reservedIds(draft)],
  };
};

/**
 * Names of the Secrets that the operator makes: with the parts of the connection string, and with the user info of Redis. What names
 * another source has another Secret, so that pods of a former template, and a rollback to it, keep theirs. No password is part of it.
 */
export const sqlSecretName = (name: string, { storage }: Pick<Spec, "storage">): string =>
  `${name}-sql-${shortDigest(storage?.sql?.connectionString ?? null)}`;
export const kvSecretName = (name: string, { storage: { kv } = {} }: Pick<Spec, "storage">): string => {
  const { endpoint = "", password } = kv ?? {};
  return `${name}-kv-${shortDigest([endpoint.slice(endpoint.lastIndexOf("@") + 1), password ?? null])}`;
};

/** The end of these names, as a regular expression. */
export const CONNECTION_SECRET = `(sql|kv)-[0-9a-f]{${SHORT_DIGITS}}`;

export const isConnectionSecret = (secret: string, name: string): boolean =>
  secret.startsWith(`${name}-`) && new RegExp(`^${CONNECTION_SECRET}$`).test(secret.slice(name.length + 1));

interface Part {
  readonly kind: "kv" | "sql";
  readonly value: JsonObject | undefined;
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnusableEndpoint>;
}

const part = (kind: Part["kind"], value: JsonObject): Part => ({ kind, value, env: [], warnings: [], failures: [] });

const kvPart = (facts: Facts): Part => {
  const kv = facts.spec.storage?.kv ?? {};
  switch (kv.type ?? "sqlite") {
    case "sqlite":
      return part("kv", { type: "kv_sqlite", db_path: sqliteFile(facts, "kvstore.db") });
    case "postgres":
      return part("kv", {
        type: "kv_postgres",
        ...connection(),
        // Written out, because the server's default changed with its name; no password: PGPASSWORD is read instead.
        table_name: "llamastack_kvstore",
      });
    case "redis":
      return redisPart(facts);
  }
};

const sqlPart = (facts: Facts): Part =>
  (facts.spec.storage?.sql?.type ?? "sqlite") === "sqlite"
    ? part("sql", { type: "sql_sqlite", db_path: sqliteFile(facts, "sql_store.db") })
    // A literal empty password makes both drivers fall back to PGPASSWORD, in every server family and with any
    // character.
    : part("sql", { type: "sql_postgres", ...connection(), password: "" });

const sqliteFile = ({ folders }: Facts, file: string): string => `\${env.SQLITE_STORE_DIR:=${folders.state}}/${file}`;

const connection = (): JsonObject => ({
  host: placeholder("LLSD_SQL_HOST"),
  port: placeholder("LLSD_SQL_PORT"),
  db: placeholder("LLSD_SQL_DB"),
  user: placeholder("LLSD_SQL_USER"),
});

const connectionEnv = (facts: Facts): ReadonlyArray<EnvEntry> =>
  SQL_VARIABLES.map(({ name, optional }) => ({
    env: {
      name,
      valueFrom: {
        secretKeyRef: {
          name: sqlSecretName(facts.name, facts.spec),
          key: name,
          ...(optional ? { optional: true } : {}),
        },
      },
    },
    path: ["spec", "storage", "sql", "connectionString"],
  }));

const redisPart = (facts: Facts): Part => {
  const { endpoint = "", password } = facts.spec.storage?.kv ?? {};
  const parsed = parseRedis(endpoint, ["spec", "storage", "kv", "endpoint"]);
  if ("failure" in parsed) return { kind: "kv", value: undefined, env: [], warnings: [], failures: [parsed.failure] };
  const { host, port, user, password: literal } = parsed.address;
  const secured = password !== undefined || user !== undefined || literal !== undefined;
  const value: Json = {
    type: "kv_redis",
    // Redis' password has no field on any server; user info in front of the host is what its client reads.
    host: secured ? `\${env.${KV_USERINFO}:=}${host}` : host,
    port,
  };
  const path = ["spec", "storage", "kv", password === undefined ? "endpoint" : "password"];
  const { redisDefect } = facts.server.family;
  const logged = secured ? redisInLog(facts, path) : { env: [], warnings: [] };
  return {
    kind: "kv",
    value,
    env: secured
      ? [
        {
          env: {
            name: KV_USERINFO,
            valueFrom: { secretKeyRef: { name: kvSecretName(facts.name, facts.spec), key: KV_USERINFO } },
          },
          path,
        },
        ...logged.env,
      ]
      : [],
    warnings: [
      ...(redisDefect === undefined ? [] : [warning("ServerDefect", ["spec", "storage", "kv", "type"], redisDefect)]),
      ...logged.warnings,
      ...(literal === undefined ? [] : [
        warning(
          "CredentialInEndpoint",
          ["spec", "storage", "kv", "endpoint"],
          "a password in the resource is visible to everyone who can read the resource; use storage.kv.password",
        ),
      ]),
    ],
    failures: [],
  };
};

/** Every server logs the host of Redis, which contains the password, when it starts; some can be kept from it. */
export const redisInLog = (
  { server: { family: { process } } }: Facts,
  path: FieldPath,
): { readonly env: ReadonlyArray<EnvEntry>; readonly warnings: ReadonlyArray<Warning> } => ({
  env: process.quietStartup === undefined
    ? []
    : [{ env: { name: process.loggingVariable, value: process.quietStartup }, path }],
  warnings: [
    warning(
      "ServerLogsHost",
      path,
      "the server logs its Redis host with the password when it starts; " +
        (process.quietStartup === undefined
          ? "this cannot be prevented on this server: give access to the log only to those who may know the password, " +
            "or use kv of type postgres"
          : `${process.loggingVariable}=${process.quietStartup} is set to keep it out of the log; do not lower it`),
    ),
  ],
});

/** A provider called `sql` or `kv` would get environment names that belong to the storage connections. */
const reservedIds = (draft: Draft): ReadonlyArray<EnvNameCollision> => {
  const reserved = new Set([...SQL_VARIABLES.map(({ name }) => name), KV_USERINFO]);
  return draft.env.filter(({ env }) => reserved.has(env.name)).map(({ env, path }) =>
    new EnvNameCollision({ path, name: env.name, paths: [formatPath(path), "spec.storage"] })
  );
};

/** PGPASSWORD holds for the whole process: a pgvector provider without its own password would send that of storage.sql. */
const vectorPasswordWarnings = (draft: Draft, spec: Spec): ReadonlyArray<Warning> =>
  draft.declared.filter(({ type, config }) =>
    type === "remote::pgvector" && !Object.hasOwn(objectAt(config), "password")
  )
    .map(({ path, id }) =>
      warning(
        "FieldNotRead",
        [...path, "apiKey"],
        `"${id}" has no password and would use that of storage.sql; set apiKey (environment variable ${
          envName(nameOfProvider(spec, "vectorIo", id), "API_KEY")
        })`,
      )
    );
