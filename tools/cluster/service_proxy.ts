/** The way from an API server on loopback to Services: their addresses exist nowhere, so it asks this proxy (CONNECT). */
import { join } from "node:path";

export interface ServiceProxy {
  /** Path of the Unix socket on which it listens: with an address of TCP the API server wants TLS, else it ends in a panic. */
  readonly socket: string;
  /** Says which local port stands for an address and port of a Service; undefined: nothing listens there. */
  readonly resolveWith: (resolve: (address: string, port: number) => Promise<number | undefined>) => void;
  readonly close: () => Promise<void>;
}

export const startServiceProxy = (): ServiceProxy => {
  const folder = Deno.makeTempDirSync({ prefix: "llama-stack-operator-proxy-" });
  const socket = join(folder, "socket");
  const listener = Deno.listen({ transport: "unix", path: socket });
  const open = new Set<Deno.Conn>();
  let resolve: (address: string, port: number) => Promise<number | undefined> = () => Promise.resolve(undefined);

  const serve = async (client: Deno.Conn): Promise<void> => {
    open.add(client);
    let target: Deno.Conn | undefined;
    try {
      const [, address = "", port = ""] = /^CONNECT ([^\s:]+):(\d+) /.exec(await requestHead(client)) ?? [];
      const local = await resolve(address, Number(port));
      if (local === undefined) {
        await client.write(encoder.encode("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
        return;
      }
      target = await Deno.connect({ hostname: "127.0.0.1", port: local });
      open.add(target);
      await client.write(encoder.encode("HTTP/1.1 200 Connection established\r\n\r\n"));
      await Promise.all([copy(client, target), copy(target, client)]);
    } catch {
      // One of both has gone; the API server sees its connection end, and says so.
    } finally {
      for (const connection of [client, target]) {
        if (connection !== undefined && open.delete(connection)) closeQuietly(connection);
      }
    }
  };

  const serving = new Set<Promise<void>>();
  const accepting = (async () => {
    for await (const client of listener) {
      const served = serve(client);
      serving.add(served);
      served.then(() => serving.delete(served));
    }
  })();
  return {
    socket,
    resolveWith: (found) => void (resolve = found),
    close: async () => {
      listener.close();
      await accepting.catch(() => {});
      for (const connection of open) closeQuietly(connection);
      open.clear();
      await Promise.all(serving);
      await Deno.remove(folder, { recursive: true });
    },
  };
};

const encoder = new TextEncoder();

/** The API server sends nothing behind it before it has the answer. */
const requestHead = async (connection: Deno.Conn): Promise<string> => {
  let text = "";
  const part = new Uint8Array(4096);
  while (!text.includes("\r\n\r\n")) {
    const count = await connection.read(part);
    if (count === null) return text;
    text += new TextDecoder().decode(part.subarray(0, count));
  }
  return text;
};

const copy = async (from: Deno.Conn, to: Deno.Conn): Promise<void> => {
  const part = new Uint8Array(65_536);
  try {
    for (let count = await from.read(part); count !== null; count = await from.read(part)) {
      for (let written = 0; written < count;) written += await to.write(part.subarray(written, count));
    }
  } finally {
    await to.closeWrite().catch(() => {});
  }
};

const closeQuietly = (connection: Deno.Conn): void => {
  try {
    connection.close();
  } catch {
    // It ended by itself.
  }
};
