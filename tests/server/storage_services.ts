/** The databases around a server, as a user with an own account sees them. */
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { startPostgres } from "../../tools/server/postgres.ts";
import { startRedis } from "../../tools/server/redis.ts";

/** A Redis whose default account is off. */
export interface RedisAccount extends AsyncDisposable {
  /** `redis://user@host:port`, the form with a user and without a password. */
  readonly endpoint: string;
  setPassword(password: string): Promise<void>;
  keyCount(): Promise<number>;
}

export const startRedisAccount = async (first: string): Promise<RedisAccount> => {
  const user = "al@ice";
  let password = first;
  const redis = await startRedis({ user, password });
  const send = async (...command: string[]): Promise<string> => {
    const [login, reply = ""] = await redis.send(["AUTH", user, password], command);
    if (login !== "+OK" || reply.startsWith("-")) throw new Error(`Redis: ${login} ${reply}`);
    return reply;
  };
  return {
    endpoint: `redis://${encodeURIComponent(user)}@${redis.host}:${redis.port}`,
    setPassword: async (next) => {
      await send("ACL", "SETUSER", user, "resetpass", `>${next}`);
      password = next;
    },
    keyCount: async () => Number((await send("DBSIZE")).slice(1)),
    [Symbol.asyncDispose]: () => redis.stop(),
  };
};

/** A PostgreSQL with a database of its own for one role. */
export interface PostgresAccount extends AsyncDisposable {
  setPassword(password: string): Promise<void>;
  /** The fields of a storage backend. */
  readonly place: Readonly<Record<"host" | "db" | "user", string>> & { readonly port: number };
  /** Both spellings of a connection string. */
  url(password: string): string;
  keywords(password: string): string;
  rowCount(table: string): Promise<number>;
}

export const startPostgresAccount = async (first: string): Promise<PostgresAccount> => {
  const superuser = { password: "of the superuser" };
  const postgres = await startPostgres(superuser);
  const account = { user: "stack-user", database: "stack-data" };
  let password = first;
  try {
    await postgres.createDatabase(account.database, account.user, password);
  } catch (cause) {
    await postgres.stop();
    throw cause;
  }
  const { host, port } = postgres;
  return {
    place: { host, port, db: account.database, user: account.user },
    setPassword: async (next) => {
      await postgres.setPassword(account.user, next);
      password = next;
    },
    url: (word) => `postgresql://${account.user}:${encodeURIComponent(word)}@${host}:${port}/${account.database}`,
    keywords: (word) =>
      `host=${host} port=${port} dbname=${account.database} user=${account.user} ` +
      `password='${word.replaceAll(/['\\]/g, "\\$&")}'`,
    rowCount: async (table) =>
      Number(await postgres.query(`select count(*) from "${table}"`, { ...account, password })),
    [Symbol.asyncDispose]: () => postgres.stop(),
  };
};

/** A PostgreSQL that lets its role in by a certificate alone, which names it. */
export interface CertifyingPostgres extends AsyncDisposable {
  /** Of the role. */
  readonly certificate: Readonly<Record<"tls.crt" | "tls.key", string>>;
  /** With options of libpq, such as `sslmode=require`. */
  url(options: string): string;
  /** Of the authority that signed the certificate of the server. */
  readonly caFile: string;
  rowCount(table: string): Promise<number>;
}

export const startCertifyingPostgres = async (): Promise<CertifyingPostgres> => {
  const [user, database, password] = ["stack-user", "stack-data", "of the superuser"];
  const folder = await Deno.makeTempDir();
  const { certificateFile, keyFile, caFile } = await makeServerCertificate(folder, [], user);
  const certificate = {
    "tls.crt": await Deno.readTextFile(certificateFile),
    "tls.key": await Deno.readTextFile(keyFile),
  };
  const postgres = await startPostgres({ password, tls: true, clientCaFile: caFile });
  await Deno.remove(folder, { recursive: true });
  const { host, port, superuser } = postgres;
  try {
    await postgres.createDatabase(database, user, "not asked for");
  } catch (cause) {
    await postgres.stop();
    throw cause;
  }
  return {
    certificate,
    url: (options) => `postgresql://${user}@${host}:${port}/${database}?${options}`,
    caFile: postgres.caFile ?? "",
    rowCount: async (table) =>
      Number(await postgres.query(`select count(*) from "${table}"`, { user: superuser, database, password })),
    [Symbol.asyncDispose]: () => postgres.stop(),
  };
};
