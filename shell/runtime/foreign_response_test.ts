import { match, rejects, strictEqual } from "node:assert/strict";
import { foreignResponse } from "./foreign_response.ts";

/** A server that writes this text to each connection, again and again if `endless`. */
const speaking = async (text: string, endless: boolean, use: (url: URL) => Promise<void>): Promise<void> => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Array<Deno.Conn> = [];
  const bytes = new TextEncoder().encode(text);
  const serve = (async () => {
    for await (const connection of listener) {
      connections.push(connection);
      const write = async (): Promise<void> => {
        do await connection.write(bytes); while (endless);
      };
      write().catch(() => {});
    }
  })();
  try {
    await use(new URL(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/v1/version`));
  } finally {
    listener.close();
    for (const connection of connections) connection.close();
    await serve;
  }
};

const asked = (url: URL) => foreignResponse(url, { headers: {}, signal: new AbortController().signal });

Deno.test("foreignResponse() gives up a server that sends interim responses without end", () =>
  speaking("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(100), true, async (url) => {
    await rejects(asked(url), /too many interim responses/);
  }));

Deno.test("foreignResponse() returns the response after a few interim ones, and follows no redirect", async () => {
  await speaking(
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
    false,
    async (url) => {
      const response = await asked(url);
      strictEqual(await response.text(), "{}");
    },
  );
  await speaking(
    "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
    false,
    async (url) => {
      const response = await asked(url);
      strictEqual(response.status, 302);
      await response.body?.cancel();
    },
  );
});

Deno.test("foreignResponse() ends where the other side changes the protocol or closes the connection", () =>
  speaking("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", false, async (url) => {
    const outcome = await asked(url).then(() => "answered", String);
    match(outcome, /closed without a response|status 101/);
  }));
