/** A gateway in front of a server: it knows callers by their tokens, and tells the server who they are in headers. */
import type { Booted } from "../../tools/server/boot.ts";

/** By token; headers of these names that a caller sends itself do not reach the server. */
export type Callers = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Gateway extends AsyncDisposable {
  readonly url: string;
}

export const startGateway = (stack: Pick<Booted, "url">, callers: Callers): Gateway => {
  const names = Object.values(callers).flatMap((headers) => Object.keys(headers));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    const caller = Object.hasOwn(callers, token) ? callers[token] : undefined;
    if (caller === undefined) return new Response(null, { status: 401 });
    const headers = new Headers(request.headers);
    for (const name of [...names, "authorization", "host"]) headers.delete(name);
    for (const [name, value] of Object.entries(caller)) headers.set(name, value);
    const { pathname, search } = new URL(request.url);
    const body = request.method === "GET" ? undefined : await request.arrayBuffer();
    return await fetch(`${stack.url}${pathname}${search}`, { method: request.method, headers, ...(body && { body }) });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
};

/** The server as one caller sees it. */
export const throughGateway = (stack: Booted, { url }: Gateway, token: string): Booted => {
  const ask = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${url}${path}`, init);
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  const authorization = `Bearer ${token}`;
  return {
    ...stack,
    url,
    get: (path, headers) => ask(path, { headers: { ...Object.fromEntries(new Headers(headers)), authorization } }),
    post: (path, body, headers) =>
      ask(path, {
        method: "POST",
        headers: { ...Object.fromEntries(new Headers(headers)), "content-type": "application/json", authorization },
        body: JSON.stringify(body),
      }),
  };
};
