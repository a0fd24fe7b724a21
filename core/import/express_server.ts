/** The storage, server and authentication of a config as fields of the spec. */
import { camelCase } from "../api/api_names.ts";
import { KV_USERINFO } from "../config/connections/redis_address.ts";
import { isList, isObject, isSameValue, type Json, type JsonObject, objectAt, omit, stringAt } from "../data/json.ts";
import { serverSectionOf, usualBackend, usualName } from "./entries.ts";
import { furtherBackends, variableIn } from "./express_providers.ts";
import { leavesOf } from "./leaves.ts";
import { audienceOn } from "./auth_meaning.ts";
import { rulesOf } from "./policies.ts";
import { settledMap } from "./variables.ts";
import { blocks, secretName, type SecretOf, type Wanted } from "./wanted.ts";

const POSTGRES_KEY = "postgres-url";
const REDIS_KEY = "redis-password";
const CONNECTION = [["host", "localhost"], ["port", "5432"], ["db", ""], ["user", ""]] as const;

/** `kv` and `sql` have the fields of most databases; `backends` has all others, and those of single providers. */
export const storageOf = (wanted: Wanted, secrets: Map<string, string>, secretOf: SecretOf) => {
  const { own, base, name } = wanted;
  const [kv, sql] = (["kv", "sql"] as const).map((kind) => {
    const [here, there] = [own, base].map((read) => settledMap(usualBackend(kind, read.tree), read.valueOf));
    const type = (backend: JsonObject | undefined) => (stringAt(backend, "type") ?? "sqlite").replace(/^(kv|sql)_/, "");
    const parts = (backend: JsonObject | undefined) =>
      omit(backend ?? {}, "db_path", "table_name", "namespace", "password", "type");
    const isSame = type(here) === type(there) && (type(here) === "sqlite" || isSameValue(parts(here), parts(there)));
    const fields = OF_STORAGE[`${kind}_${type(here)}`] ?? [];
    // storage.kv of type postgres is the database of storage.sql.
    const sqlHere = settledMap(usualBackend("sql", own.tree), own.valueOf);
    const isShared = kind === "sql" || type(here) !== "postgres" ||
      type(sqlHere) === "postgres" && isSameValue(parts(here), parts(sqlHere));
    const isOpen = type(here) === "redis" && redisOf(here?.host) === undefined;
    const hasFields = isShared && !isOpen && fields.length > 0 &&
      Object.keys(parts(here)).every((key) => fields.includes(key));
    const [from, to] = [own, base].map(({ tree }) => usualName(kind, tree));
    const further = isSame || hasFields || from === undefined || to === undefined
      ? undefined
      : backendOf(from, to, wanted, secretOf);
    return { type: type(here), backend: here ?? {}, isSame: isSame || further !== undefined, further };
  });
  const connection = new Map<string, string>();
  const isPostgres = (part: typeof kv) => part !== undefined && part.type === "postgres" && !part.isSame;
  if (isPostgres(kv) || isPostgres(sql)) {
    const [host, port, db, user] = CONNECTION.map(([part, usual]) => {
      const value = String(sql?.backend[part] ?? usual);
      connection.set(`LLSD_SQL_${part.toUpperCase()}`, value);
      return value;
    });
    secrets.set(POSTGRES_KEY, `postgres://${user || "USER"}:YOUR_PASSWORD@${host}:${port}/${db || "DATABASE"}`);
  }
  const { host = "localhost", port = 6379 } = kv?.backend ?? {};
  const redis = kv?.isSame === false && kv.type === "redis" ? redisOf(host) : undefined;
  const isGenerated = redis?.password === KV_USERINFO;
  if (isGenerated) secrets.set(REDIS_KEY, "YOUR_PASSWORD");
  else if (redis !== undefined) connection.set(KV_USERINFO, redis.userInfo);
  const storage = blocks({
    kv: kv === undefined || kv.isSame ? undefined : kv.type === "redis"
      ? {
        type: "redis",
        endpoint: `${redis?.user === undefined ? "" : `redis://${redis.user}@`}${redis?.bare ?? host}:${port}`,
        ...(redis?.password === undefined ? {} : {
          password: isGenerated
            ? { secretKeyRef: { name: secretName(name), key: REDIS_KEY } }
            : secretOf(redis.password),
        }),
      }
      : kv.type === "postgres" || kv.type === "sqlite"
      ? { type: kv.type }
      : undefined,
    sql: sql === undefined ||
        !isPostgres(sql) && (sql.isSame && !isPostgres(kv) || sql.type !== "sqlite" && sql.type !== "postgres")
      ? undefined
      : sql.type === "postgres"
      ? { type: "postgres", connectionString: { secretKeyRef: { name: secretName(name), key: POSTGRES_KEY } } }
      : { type: "sqlite" },
    backends: [
      ...[kv, sql].flatMap((part) => part?.further ?? []),
      ...furtherBackends(wanted).map((other) => backendOf(other, other, wanted, secretOf)),
    ],
  });
  return { storage, connection };
};

/**
 * The host of Redis, with the user and the variable of the password in front of it: as a config has them, or in one variable as the
 * operator writes them. Undefined if the endpoint cannot have it.
 */
const redisOf = (host: Json | undefined) => {
  const found = /^(?:\$\{env\.(LLSD_KV_USERINFO)\}|(?:([\w.%-]+)?(?::\$\{env\.([A-Z0-9_]+)\})?)@)?([\w.-]+)$/.exec(
    String(host ?? "localhost"),
  );
  if (found === null) return undefined;
  const [whole, generated, user, variable, bare = ""] = found;
  return { user, password: generated ?? variable, bare, userInfo: whole.slice(0, whole.length - bare.length) };
};

/** What `kv`, `sql` and the Secrets beside them say of a backend. */
const OF_STORAGE: Readonly<Record<string, ReadonlyArray<string>>> = {
  kv_sqlite: ["db_path"],
  sql_sqlite: ["db_path"],
  kv_redis: ["host", "port"],
  kv_postgres: ["host", "port", "db", "user"],
  sql_postgres: ["host", "port", "db", "user"],
};

const backendOf = (from: string, name: string, { own }: Wanted, secretOf: SecretOf): JsonObject => {
  const { tree, server: { catalogue }, valueOf, isComplete } = own;
  const { type = "", ...config } = objectAt(tree, "storage", "backends", from);
  const known = catalogue.backends[String(type)] ?? { fields: {}, extra: "ignore" };
  const leaves = leavesOf(config, { catalogue, type: String(type), known, valueOf, isComplete });
  const refs = leaves.flatMap(({ kind, path: [field = ""], value }) => {
    const variable = kind === "secret" ? variableIn(value) : undefined;
    return variable === undefined ? [] : [[field, secretOf(variable)] as const];
  });
  const settings = leaves.filter(({ kind, value }) =>
    kind === "setting" || kind === "secret" && variableIn(value) === undefined
  ).map(({ path: [field = ""], value }) => [field, value] as const);
  return {
    name,
    type,
    ...(settings.length === 0 ? {} : { settings: Object.fromEntries(settings) }),
    ...(refs.length === 0 ? {} : { secretRefs: Object.fromEntries(refs) }),
  };
};

export const serverOf = ({ own, name }: Wanted): Readonly<Record<string, Json | undefined>> => {
  const section = serverSectionOf(own);
  const { port, workers } = section;
  const { mode, default_tenant_id: tenant } = objectAt(section, "tenancy");
  const isBehindGateway = objectAt(section, "auth", "provider_config").type === "upstream_header";
  return {
    tenancy: typeof mode !== "string" || mode === "disabled"
      ? undefined
      : { mode, ...(typeof tenant === "string" ? { defaultTenantId: tenant } : {}) },
    networking: {
      ...(typeof port === "number" && port !== 8321 ? { port } : {}),
      ...(typeof section.tls_certfile === "string" ? { tls: { enabled: true, secretName: `${name}-tls` } } : {}),
      // A server that believes headers requires it; {} lets in what is in the namespace.
      ...(isBehindGateway ? { allowedFrom: {} } : {}),
    },
    workload: typeof workers === "number" && workers > 1 ? { workers } : undefined,
  };
};

export const authOf = ({ own }: Wanted, secretOf: SecretOf): Json | undefined => {
  const auth = settledMap(objectAt(own.tree, "server", "auth"), own.valueOf);
  const config = objectAt(auth, "provider_config");
  const way = wayOf(config, audienceOn(own.server), secretOf);
  if (way === undefined) return undefined;
  const rules = (key: string) => {
    const list = rulesOf(auth[key]);
    return list === undefined || !isList(list) || list.length === 0 ? {} : { [camelCase(key)]: list };
  };
  return { ...way, ...rules("access_policy"), ...rules("route_policy") };
};

const wayOf = (config: JsonObject, audience: string, secretOf: SecretOf): JsonObject | undefined => {
  const mapping = {
    ...(isObject(config.claims_mapping) ? { claimsMapping: config.claims_mapping } : {}),
    ...(typeof config.tenant_claim === "string" ? { tenantClaim: config.tenant_claim } : {}),
  };
  const [jwks, introspection] = [objectAt(config, "jwks"), objectAt(config, "introspection")];
  const secret = (value: Json | undefined) => {
    const variable = variableIn(value ?? null);
    return variable === undefined ? undefined : secretOf(variable);
  };
  switch (config.type) {
    case "oauth2_token": {
      if (typeof jwks.uri === "string") {
        const token = secret(jwks.token);
        const own = config.audience ?? audience;
        return {
          oidc: {
            // Required; the reason names it where it is missing.
            ...(typeof config.issuer === "string" ? { issuer: config.issuer } : {}),
            audience: own,
            jwksUri: jwks.uri,
            ...(token === undefined ? {} : { jwksToken: token }),
            ...mapping,
          },
        };
      }
      const clientSecret = secret(introspection.client_secret);
      return clientSecret === undefined || introspection.url === undefined ? undefined : {
        introspection: { url: introspection.url, clientId: introspection.client_id ?? "", clientSecret, ...mapping },
      };
    }
    case "kubernetes":
      return { kubernetes: mapping };
    case "custom":
      return config.endpoint === undefined ? undefined : {
        webhook: {
          endpoint: config.endpoint,
          ...(typeof config.tenant_field === "string" ? { tenantField: config.tenant_field } : {}),
        },
      };
    case "upstream_header":
      return {
        upstreamHeader: Object.fromEntries(
          Object.entries(omit(config, "type")).filter(([, value]) => value !== null)
            .map(([key, value]) => [camelCase(key), value]),
        ),
      };
    default:
      return undefined;
  }
};
