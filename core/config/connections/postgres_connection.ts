/**
 * `storage.sql.connectionString` → the parts that the server reads. The string is a secret: messages never quote it.
 */
import { CONNECTION_CHARACTERS_MAX } from "../../data/limits.ts";
import * as Result from "effect/Result";
import { SecretValueUnusable } from "../../failure/failures.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { textTraps } from "./secret_traps.ts";

/** One PostgreSQL server and how to reach it. */
export interface PostgresConnection {
  /** An IPv6 address has no brackets here. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly sslMode: string | undefined;
  readonly sslRootCert: string | undefined;
}

/** The keys of the Secret `<cr>-sql-<digest>`, which are the environment names too; optional ones may be absent. */
export const SQL_VARIABLES: ReadonlyArray<{ readonly name: string; readonly optional: boolean }> = [
  { name: "LLSD_SQL_HOST", optional: false },
  { name: "LLSD_SQL_PORT", optional: false },
  { name: "LLSD_SQL_DB", optional: false },
  { name: "LLSD_SQL_USER", optional: false },
  { name: "PGPASSWORD", optional: true },
  { name: "PGSSLMODE", optional: true },
  { name: "PGSSLROOTCERT", optional: true },
];

export const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/** Whether the resource names a database of PostgreSQL. */
export const usesPostgres = ({ storage, providers }: Spec): boolean =>
  storage?.sql?.type === "postgres" ||
  (storage?.backends ?? []).some(({ type }) => /_postgres$/.test(type)) ||
  (providers?.vectorIo ?? []).some(({ provider }) => /^(remote::)?pgvector$/.test(provider));

/** Whether the drivers want a file with the authority of the server. Source: asyncpg/connect_utils.py, and sslmode of libpq. */
export const verifiesServer = (mode: unknown): boolean => mode === "verify-ca" || mode === "verify-full";

/** PostgreSQL's own port. */
const POSTGRES_PORT = 5432;

/**
 * Reads a `postgres://` or `postgresql://` URL, or libpq keywords (`host=… dbname=…`).
 *
 * `key` is the Secret and key for messages. Several hosts, sockets and options that the drivers of the server do not
 * support are rejected.
 */
export const parsePostgres = (
  text: string,
  key: string,
  path: FieldPath,
): Result.Result<PostgresConnection, SecretValueUnusable> => {
  const refuse = (detail: string) => Result.fail(new SecretValueUnusable({ path, key, detail }));
  if (text.length > CONNECTION_CHARACTERS_MAX) {
    return refuse(`it is longer than ${CONNECTION_CHARACTERS_MAX} characters`);
  }
  const raw = /^postgres(ql)?:\/\//i.test(text.trim()) ? fromUrl(text.trim()) : fromKeywords(text);
  if (typeof raw === "string") return refuse(raw);
  const { host, port = String(POSTGRES_PORT), user, password, dbname, sslmode, sslrootcert, ...others } = raw;
  if (host === undefined || host === "") return refuse("it has no host; write postgresql://user@host:5432/database");
  if (host.includes(",") || port.includes(",")) {
    return refuse("the server connects to a single PostgreSQL host; name one host");
  }
  if (host.startsWith("/")) return refuse("a socket folder cannot be reached from a pod; name a host");
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65535) {
    return refuse("its port is not a number from 1 to 65535");
  }
  if (user === undefined || user === "") return refuse("it has no user; write postgresql://user@host:5432/database");
  if (sslmode !== undefined && !SSL_MODES.includes(sslmode)) {
    return refuse(`its sslmode is not one of ${SSL_MODES.join(", ")}`);
  }
  if (sslrootcert === "system") {
    return refuse(
      "the drivers of the server have no sslrootcert=system; leave it out, and set spec.networking.tls.caBundle",
    );
  }
  const unread = Object.keys(others).filter((name) => others[name] !== undefined);
  if (unread.length > 0) return refuse(`unsupported connection parameter ${unread.sort().join(", ")}; remove it`);
  const database = dbname === undefined || dbname === "" ? user : dbname;
  const traps = [["host", host], ["user", user], ["database name", database]]
    .flatMap(([what, value]) => textTraps(value ?? "").map((trap) => `its ${what} ${trap}`));
  if (traps.length > 0) return refuse(traps.join("; "));
  return Result.succeed({
    host,
    port: Number(port),
    database,
    user,
    password: password === "" ? undefined : password,
    sslMode: sslmode,
    sslRootCert: sslrootcert,
  });
};

/**
 * The content of `<cr>-sql-<digest>`, by key. `rawUrl` is for servers that put host, user and database into a URL unquoted: there an
 * IPv6 host needs its brackets and letters with a meaning in URLs are refused.
 */
export const postgresSecret = (
  connection: PostgresConnection,
  use: { readonly rawUrl: boolean; readonly kvToo: boolean; readonly key: string; readonly path: FieldPath },
): Result.Result<Readonly<Record<string, string>>, SecretValueUnusable> => {
  const { host, port, database, user, password, sslMode, sslRootCert } = connection;
  const refuse = (detail: string) => Result.fail(new SecretValueUnusable({ path: use.path, key: use.key, detail }));
  const isIpv6 = host.includes(":");
  if (use.rawUrl && (/[@:/?#%[\]]/.test(user) || /[?#%]/.test(database))) {
    return refuse("this server cannot use a user or database name with @ : / ? # % or brackets; use plain names");
  }
  if (use.rawUrl && use.kvToo && isIpv6) {
    return refuse("this server cannot use an IPv6 address for both kv and sql; name the host");
  }
  return Result.succeed({
    LLSD_SQL_HOST: use.rawUrl && isIpv6 ? `[${host}]` : host,
    LLSD_SQL_PORT: String(port),
    LLSD_SQL_DB: database,
    LLSD_SQL_USER: user,
    ...(password === undefined ? {} : { PGPASSWORD: password }),
    ...(sslMode === undefined ? {} : { PGSSLMODE: sslMode }),
    ...(sslRootCert === undefined ? {} : { PGSSLROOTCERT: sslRootCert }),
  });
};

type Keywords = { [name: string]: string | undefined };

/** The parts, or an error message. */
const fromUrl = (text: string): Keywords | string => {
  const found = /^[a-z]+:\/\/(?:([^@/?#]*(?:@[^@/?#]*)*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(text);
  if (found === null) {
    return "it is not a PostgreSQL URL; write postgresql://user:password@host:5432/database, percent-encoded";
  }
  const [, userInfo, place = "", dbname, query] = found;
  if (place.includes(",")) return "the server connects to a single PostgreSQL host; name one host";
  const where = /^(\[[0-9a-fA-F:.%]+\]|[^:[\]]*)(?::([0-9]*))?$/.exec(place);
  if (where === null) return "its host is invalid; write host:port or [IPv6]:port";
  const colon = userInfo?.indexOf(":") ?? -1;
  const parts: Keywords = {
    host: decoded(where[1]?.replace(/^\[|\]$/g, "")),
    port: where[2] === "" ? undefined : where[2],
    user: decoded(colon < 0 ? userInfo : userInfo?.slice(0, colon)),
    password: colon < 0 ? undefined : decoded(userInfo?.slice(colon + 1)),
    dbname: decoded(dbname),
  };
  const options = (query ?? "").split("&").filter((pair) => pair !== "").map((pair) => {
    const equals = pair.indexOf("=");
    return equals < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))];
  });
  const all = { ...parts, ...Object.fromEntries(options) } as Keywords;
  const broken = [...Object.values(parts), ...options.flat()].includes(BROKEN);
  return broken ? "its percent-encoding is invalid; write % as %25" : defined(all);
};

/** libpq keywords: `name = value`, values in single quotes where they hold spaces, backslash before quote and backslash. */
const fromKeywords = (text: string): Keywords | string => {
  const pairs = /\s*([A-Za-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/gsy;
  const all: Keywords = {};
  let end = 0;
  for (const found of text.matchAll(pairs)) {
    const name = (found[1] ?? "").toLowerCase();
    all[name] = (found[2] ?? found[3] ?? "").replaceAll(/\\(.)/gs, "$1");
    end = found.index + found[0].length;
  }
  if (text.slice(end).trim() !== "" || Object.keys(all).length === 0) {
    return "it is neither a postgresql:// URL nor libpq keywords such as host=db user=llama dbname=stack";
  }
  return all;
};

const defined = (parts: Keywords): Keywords =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));

const BROKEN = "\u0000broken";

const decoded = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return BROKEN;
  }
};
