import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import type { Credential } from "../../core/image/credentials.ts";
import { imageName } from "../../core/data/image_reference.ts";
import { LongLookups } from "./long_lookups.ts";
import { openRegistry } from "./registry.ts";

interface Seen {
  readonly path: string;
  readonly authorization: string | null;
}

const MANIFEST = JSON.stringify({ config: { digest: `sha256:${"a".repeat(64)}` }, layers: [] });
const credential = (username: string): Credential => ({ username, password: Redacted.make("word") });
const basic = (username: string): string => `Basic ${btoa(`${username}:word`)}`;

const serving = (handler: (request: Request, count: number) => Response | Promise<Response>) => {
  const seen: Seen[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const url = new URL(request.url);
    seen.push({ path: `${url.pathname}${url.search}`, authorization: request.headers.get("authorization") });
    return handler(request, seen.length);
  });
  return Object.assign(server, { seen, host: `127.0.0.1:${server.addr.port}` });
};

/** The digest that was read, or the message of the failure. */
const read = (host: string, credentials: ReadonlyArray<Credential> = [], reference = "1"): Promise<string> =>
  Effect.runPromise(
    Effect.scoped(Effect.gen(function* () {
      const registry = yield* openRegistry(imageName(`${host}/a/b:1`), {
        credentials,
        authorities: [],
        plainHttp: true,
      });
      return (yield* registry.manifest(reference)).digest;
    })).pipe(
      Effect.provideServiceEffect(LongLookups, LongLookups.make),
      Effect.catch((failure) => Effect.succeed(failure.message)),
    ),
  );

const unauthorized = (challenge: string) =>
  new Response("canary of an error", { status: 401, headers: { "www-authenticate": challenge } });

Deno.test("openRegistry() requests a token, and tries credentials in turn until one is accepted", async () => {
  await using server = serving((request) => {
    const { pathname, host } = new URL(request.url);
    const authorization = request.headers.get("authorization");
    if (pathname === "/token") {
      return authorization === basic("right") ? Response.json({ token: "abc" }) : new Response("", { status: 401 });
    }
    return authorization === "Bearer abc"
      ? new Response(MANIFEST)
      : unauthorized(`Bearer realm="http://${host}/token",service="s"`);
  });
  match(await read(server.host, [credential("wrong"), credential("right")]), /^sha256:/);
  const scope = "/token?service=s&scope=repository%3Aa%2Fb%3Apull";
  deepStrictEqual(server.seen, [
    { path: "/v2/a/b/manifests/1", authorization: null },
    { path: scope, authorization: basic("wrong") },
    { path: scope, authorization: basic("right") },
    { path: "/v2/a/b/manifests/1", authorization: "Bearer abc" },
  ]);
});

Deno.test("openRegistry() requests a token without credentials for public images", async () => {
  await using server = serving((request) => {
    const { pathname, host } = new URL(request.url);
    if (pathname === "/token") return Response.json({ access_token: "open" });
    return request.headers.get("authorization") === "Bearer open"
      ? new Response(MANIFEST)
      : unauthorized(`Bearer realm="http://${host}/token"`);
  });
  match(await read(server.host), /^sha256:/);
});

Deno.test("openRegistry() uses basic authentication, and reports how many credentials were rejected", async () => {
  await using server = serving((request) =>
    request.headers.get("authorization") === basic("right") ? new Response(MANIFEST) : unauthorized('Basic realm="x"')
  );
  match(await read(server.host, [credential("right")]), /^sha256:/);
  const message = await read(server.host, [credential("one"), credential("two")]);
  match(message, /does not allow to read a\/b: 2 credentials were rejected$/);
  ok(!message.includes("canary"));
  match(await read(server.host), /there are no credentials for it$/);
});

Deno.test("openRegistry() sends credentials neither to a redirect nor to a realm on another host without TLS", async () => {
  await using thief = serving(() => new Response("", { status: 404 }));
  await using redirecting = serving((request) =>
    request.headers.get("authorization") === null
      ? unauthorized('Basic realm="x"')
      : new Response("", { status: 307, headers: { location: `http://${thief.host}/stolen` } })
  );
  match(await read(redirecting.host, [credential("right")]), /does not have a\/b:1$/);
  await using asking = serving(() => unauthorized(`Bearer realm="http://${thief.host}/token"`));
  match(await read(asking.host, [credential("right")]), /does not allow/);
  deepStrictEqual(thief.seen.map(({ authorization }) => authorization), [null, null]);
});

Deno.test("openRegistry() rejects what does not have its digest", async () => {
  await using server = serving(() => new Response(MANIFEST));
  match(await read(server.host, [], `sha256:${"b".repeat(64)}`), /what it sends for sha256:b+ has the digest sha256:/);
});

Deno.test("openRegistry() stops reading a manifest that has no end", async () => {
  let chunks = 0;
  await using server = serving(() => {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        chunks++;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    return new Response(body);
  });
  match(await read(server.host), /a response has more than 4194304 bytes/);
  ok(chunks < 500, `${chunks} chunks`);
});

Deno.test("openRegistry() follows a few redirects and no more", async () => {
  await using server = serving((request, count) => {
    const { pathname } = new URL(request.url);
    return pathname === "/v2/a/b/manifests/1" && count > 3
      ? new Response(MANIFEST)
      : new Response("", { status: 302, headers: { location: "/v2/a/b/manifests/1" } });
  });
  match(await read(server.host), /^sha256:/);
  await using endless = serving(() => new Response("", { status: 302, headers: { location: "/again" } }));
  match(await read(endless.host), /redirects more than 5 times/);
  strictEqual(endless.seen.length, 6);
});

Deno.test("openRegistry() waits for a busy registry as long as it asks for, within bounds", async () => {
  await using server = serving((_request, count) =>
    count < 3 ? new Response("", { status: 429, headers: { "retry-after": "0" } }) : new Response(MANIFEST)
  );
  match(await read(server.host), /^sha256:/);
  await using away = serving(() => new Response("", { status: 503, headers: { "retry-after": "3600" } }));
  match(await read(away.host), /it is busy \(status 503\), and asks to come back in 3600 s$/);
  strictEqual(away.seen.length, 1);
});

Deno.test("openRegistry() reports a registry that speaks something else", async () => {
  await using server = serving(() => new Response("<html>a login page</html>"));
  match(await read(server.host), /it sends something that is not JSON$/);
  await using empty = serving(() => new Response("{}"));
  match(await read(empty.host), /the manifest of the image cannot be used: it has no config$/);
  await using broken = serving(() => new Response("canary", { status: 500 }));
  match(await read(broken.host), /it answers 500 to a request for a\/b:1$/);
});
