import { join } from "node:path";
import { installPostgres } from "../install/databases.ts";
import { lastLines, startInBackground, waitUntilReady } from "../cluster/background_process.ts";
import { freePorts } from "../cluster/free_ports.ts";
import { makeServerCertificate } from "./certificate.ts";

/** A real PostgreSQL on loopback that asks everybody for a password (SCRAM). */
export interface Postgres {
  readonly host: string;
  readonly port: number;
  readonly superuser: string;
  /** Only with `tls`: what a client has to trust. Connections without TLS are then refused. */
  readonly caFile?: string;
  createDatabase(name: string, user: string, password: string): Promise<void>;
  setPassword(user: string, password: string): Promise<void>;
  /** One statement as the given user; fails with the output of psql. */
  query(sql: string, as: { user: string; password: string; database: string }): Promise<string>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Of the superuser. */
  readonly password: string;
  readonly tls?: boolean;
  /** A file of certificates, for `tls`: who is not the superuser logs in with one of them that names him, and without a password. */
  readonly clientCaFile?: string;
}

export const startPostgres = async (
  { password, tls = false, clientCaFile }: PostgresOptions,
): Promise<Postgres> => {
  const programs = await installPostgres();
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-postgres-" });
  const data = join(folder, "data");
  const account = await unprivilegedAccount();
  const asAccount = account === undefined ? {} : { uid: account.userId, gid: account.groupId };
  const [port] = freePorts(1) as [number];

  try {
    const certificate = tls ? await makeServerCertificate(folder) : undefined;
    const passwordFile = join(folder, "password");
    await Deno.writeTextFile(passwordFile, password, { mode: 0o600 });
    const clients = join(folder, "clients.crt");
    if (clientCaFile !== undefined) await Deno.copyFile(clientCaFile, clients);
    if (account !== undefined) await giveTo(account, folder);

    const made = await new Deno.Command(join(programs, "initdb"), {
      args: [
        ...["--pgdata", data, "--username", SUPERUSER, "--pwfile", passwordFile],
        ...["--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
      ],
      ...asAccount,
      cwd: folder,
      stdin: "null",
    }).output();
    if (!made.success) throw new Error(`initdb failed: ${new TextDecoder().decode(made.stderr)}`);
    if (tls) {
      const logins = clientCaFile === undefined ? ["all scram-sha-256"] : [`${SUPERUSER} scram-sha-256`, "all cert"];
      const lines = logins.map((login) => `hostssl all ${login.replace(" ", ` ${HOST}/32 `)}\n`);
      await Deno.writeTextFile(join(data, "pg_hba.conf"), lines.join(""));
    }

    const settings = {
      listen_addresses: HOST,
      port: `${port}`,
      unix_socket_directories: "",
      fsync: "off",
      ...(certificate === undefined
        ? {}
        : { ssl: "on", ssl_cert_file: certificate.certificateFile, ssl_key_file: certificate.keyFile }),
      ...(clientCaFile === undefined ? {} : { ssl_ca_file: clients }),
    };
    const server = await startInBackground({
      command: [
        join(programs, "postgres"),
        "-D",
        data,
        ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      ],
      workingFolder: folder,
      logFile: join(folder, "postgres.log"),
      // SIGTERM would wait until the last client has gone.
      stopSignal: "SIGINT",
      ...(account === undefined ? {} : account),
    });

    const query: Postgres["query"] = async (sql, { user, password, database }) => {
      const psql = new Deno.Command(join(programs, "psql"), {
        args: ["--no-psqlrc", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1", "--command", sql],
        clearEnv: true,
        env: {
          PGHOST: HOST,
          PGPORT: `${port}`,
          PGUSER: user,
          PGPASSWORD: password,
          PGDATABASE: database,
          ...(certificate === undefined ? {} : { PGSSLMODE: "verify-full", PGSSLROOTCERT: certificate.caFile }),
        },
        stdin: "null",
      });
      const { success, stdout, stderr } = await psql.output();
      if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
      return new TextDecoder().decode(stdout).trim();
    };
    const asSuperuser = (sql: string) => query(sql, { user: SUPERUSER, password, database: "postgres" });

    const postgres: Postgres = {
      host: HOST,
      port,
      superuser: SUPERUSER,
      ...(certificate === undefined ? {} : { caFile: certificate.caFile }),
      createDatabase: async (name, user, userPassword) => {
        await asSuperuser(`create role ${identifier(user)} login password ${literal(userPassword)}`);
        await asSuperuser(`create database ${identifier(name)} owner ${identifier(user)}`);
      },
      setPassword: async (user, userPassword) => {
        await asSuperuser(`alter role ${identifier(user)} password ${literal(userPassword)}`);
      },
      query,
      stop: async () => {
        await server.stop();
        await Deno.remove(folder, { recursive: true });
      },
    };
    let refusal = "";
    const answers = () =>
      asSuperuser("select 1").then(() => true, (error: Error) => {
        refusal = error.message;
        return false;
      });
    if (await waitUntilReady(server, answers, START_WITHIN_MS)) return postgres;
    await server.stop();
    throw new Error(`PostgreSQL did not start: ${refusal}\n${lastLines(await server.log(), 40)}`);
  } catch (cause) {
    await Deno.remove(folder, { recursive: true });
    throw cause;
  }
};

const HOST = "127.0.0.1";
const SUPERUSER = "postgres";

/** 1 s on an idle machine; the rest is for a machine that compiles at the same time. */
const START_WITHIN_MS = 120_000;

interface Account {
  readonly userId: number;
  readonly groupId: number;
}

/** PostgreSQL refuses to run as root; undefined when we are not root and may run it ourselves. */
const unprivilegedAccount = async (): Promise<Account | undefined> => {
  if (Deno.uid() !== 0) return undefined;
  const accounts = (await Deno.readTextFile("/etc/passwd")).split("\n").map((line) => line.split(":"));
  for (const wanted of ["postgres", "nobody"]) {
    const account = accounts.find(([name]) => name === wanted);
    if (account !== undefined) return { userId: Number(account[2]), groupId: Number(account[3]) };
  }
  throw new Error('PostgreSQL refuses to run as root, and there is neither an account "postgres" nor "nobody"');
};

const giveTo = async ({ userId, groupId }: Account, folder: string): Promise<void> => {
  await Deno.chown(folder, userId, groupId);
  for await (const entry of Deno.readDir(folder)) await Deno.chown(join(folder, entry.name), userId, groupId);
};

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** standard_conforming_strings is on by default: nothing but the quote is special. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
