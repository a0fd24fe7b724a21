import { createHash } from "node:crypto";
import { join } from "node:path";
import { installRedis } from "../install/databases.ts";
import { type BackgroundProcess, lastLines, startInBackground, waitUntilReady } from "../cluster/background_process.ts";
import { freePorts } from "../cluster/free_ports.ts";

/** A real Redis on loopback, empty, that keeps nothing. */
export interface Redis {
  readonly host: string;
  readonly port: number;
  /** Sends the commands over one connection and returns the raw replies, without line ends. */
  send(...commands: readonly (readonly string[])[]): Promise<string[]>;
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Without a user this is the password of everybody; without both, everything is open. */
  readonly password?: string;
  /** An ACL user; the default user is then switched off. */
  readonly user?: string;
}

export const startRedis = async ({ password, user }: RedisOptions = {}): Promise<Redis> => {
  const program = await installRedis();
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-redis-" });
  const [port] = freePorts(1) as [number];
  let server: BackgroundProcess | undefined;
  try {
    server = await startInBackground({
      command: [program, "-"],
      input: [
        `bind ${HOST}`,
        `port ${port}`,
        `dir ${folder}`,
        'save ""',
        "appendonly no",
        ...accounts(user, password),
        "",
      ].join("\n"),
      workingFolder: folder,
      logFile: join(folder, "redis.log"),
    });
    // A reply that requests a password is a reply, too.
    const answers = () => send(port, [["PING"]]).then(() => true, () => false);
    if (!await waitUntilReady(server, answers, START_WITHIN_MS)) {
      throw new Error(`Redis did not start:\n${lastLines(await server.log(), 40)}`);
    }
  } catch (cause) {
    await server?.stop();
    await Deno.remove(folder, { recursive: true });
    throw cause;
  }
  const started = server;
  return {
    host: HOST,
    port,
    send: (...commands) => send(port, commands),
    stop: async () => {
      await started.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
};

const HOST = "127.0.0.1";

/** Some 100 ms on an idle machine; the rest is for a machine that compiles at the same time. */
const START_WITHIN_MS = 120_000;

const accounts = (user: string | undefined, password: string | undefined): string[] => {
  // Redis takes the digest in place of the password: nothing in it needs quotes.
  const secret = password === undefined ? "nopass" : `#${createHash("sha256").update(password).digest("hex")}`;
  const mayAll = "~* &* +@all";
  if (user === undefined) return [`user default on ${secret} ${mayAll}`];
  return ["user default off", `user ${user} on ${secret} ${mayAll}`];
};

const send = async (port: number, commands: readonly (readonly string[])[]): Promise<string[]> => {
  using connection = await Deno.connect({ hostname: HOST, port });
  const replies: string[] = [];
  for (const command of commands) {
    await writeWhole(connection, new TextEncoder().encode(asArrayOfBulkStrings(command)));
    replies.push(await readLine(connection));
  }
  return replies;
};

/** The request format of the Redis protocol; lengths are in bytes. */
const asArrayOfBulkStrings = (words: readonly string[]): string =>
  `*${words.length}\r\n` + words.map((word) => `$${new TextEncoder().encode(word).length}\r\n${word}\r\n`).join("");

const writeWhole = async (connection: Deno.Conn, bytes: Uint8Array): Promise<void> => {
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
};

/** Enough for simple replies (`+OK`, `-WRONGPASS …`, `:1`); a bulk reply shows only its length. */
const readLine = async (connection: Deno.Conn): Promise<string> => {
  const buffer = new Uint8Array(1024);
  let text = "";
  while (!text.includes("\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`Redis closed the connection after ${JSON.stringify(text)}`);
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text.slice(0, text.indexOf("\r\n"));
};
