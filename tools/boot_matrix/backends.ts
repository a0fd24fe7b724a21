/** One real PostgreSQL for the whole matrix and a real Redis for each cell, with a password that needs encoding. */
import { startPostgres } from "../server/postgres.ts";
import { startRedis } from "../server/redis.ts";

export interface Backends extends AsyncDisposable {
  /** An empty one: servers that share a Redis share its registry. */
  startRedis(): Promise<{ readonly endpoint: string } & AsyncDisposable>;
  createDatabase(name: string): Promise<void>;
  /** What the Secret `storage` of a cell holds. */
  secrets(cell: { readonly minor: string; readonly distribution: string }): Readonly<Record<string, string>>;
}

const PASSWORD = "p@ss%41:w/o?#d 1";

export const databaseName = (minor: string, distribution: string): string =>
  `stack_${minor}_${distribution}`.replaceAll(/[^a-z0-9]/g, "_");

export const startBackends = async (): Promise<Backends> => {
  const postgres = await startPostgres({ password: "of the superuser" });
  return {
    startRedis: async () => {
      const redis = await startRedis({ password: PASSWORD });
      return { endpoint: `redis://${redis.host}:${redis.port}`, [Symbol.asyncDispose]: () => redis.stop() };
    },
    createDatabase: (name) => postgres.createDatabase(name, name, PASSWORD),
    secrets: ({ minor, distribution }) => {
      const name = databaseName(minor, distribution);
      return {
        redis: PASSWORD,
        sql: `postgresql://${name}:${encodeURIComponent(PASSWORD)}@${postgres.host}:${postgres.port}/${name}`,
      };
    },
    [Symbol.asyncDispose]: () => postgres.stop(),
  };
};
