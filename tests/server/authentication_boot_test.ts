/** What real servers answer to callers whom spec.auth does not let in, and to those whom it does. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/data/json.ts";
import { boot, type Booted } from "../../tools/server/boot.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { manifest } from "../given.ts";
import { withModels } from "./stored_state.ts";
import { onEveryServer, type TestedServer } from "./tested_servers.ts";

const GOOD = "good-token";
const GUEST = "guest-token";

/** An endpoint of the test, on a port of its own. */
const serve = (answer: (request: Request) => Promise<Response> | Response) => {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, answer);
  return { url: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
};

/** Roles of the callers, by their token. */
const ROLES: Readonly<Record<string, string>> = { [GOOD]: "user", [GUEST]: "guest" };

const startWebhook = () =>
  serve(async (request) => {
    const { api_key: token } = await request.json() as { readonly api_key: string };
    const role = ROLES[token];
    return role === undefined
      ? new Response("", { status: 401 })
      : Response.json({ principal: `the-${role}`, attributes: { roles: [role] } });
  });

const startIntrospection = () =>
  serve(async (request) => {
    if (request.headers.get("authorization") !== `Basic ${btoa("stack:letters-7")}`) {
      return new Response("", { status: 403 });
    }
    const role = ROLES[String((await request.formData()).get("token"))];
    return Response.json(role === undefined ? { active: false } : { active: true, sub: `the-${role}`, roles: [role] });
  });

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const encoded = (value: unknown): string => base64url(new TextEncoder().encode(JSON.stringify(value)));

/** An OpenID Connect issuer: its keys, and tokens that it signs. */
const startIssuer = async () => {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const makeKeys = () =>
    crypto.subtle.generateKey(
      { ...algorithm, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
      true,
      ["sign", "verify"],
    );
  const keys = await makeKeys();
  const stranger = await makeKeys();
  const jwk = await crypto.subtle.exportKey("jwk", keys.publicKey);
  const published = serve(() => Response.json({ keys: [{ ...jwk, kid: "one", use: "sig", alg: "RS256" }] }));
  const token = async (claims: JsonObject, key = keys.privateKey): Promise<string> => {
    const expires = Math.floor(Date.now() / 1000) + 600;
    const text = `${encoded({ alg: "RS256", kid: "one", typ: "JWT" })}.${
      encoded({ iss: published.url, aud: "the-stack", sub: "someone", exp: expires, ...claims })
    }`;
    const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(text));
    return `${text}.${base64url(new Uint8Array(signature))}`;
  };
  return { ...published, token, forged: () => token({ groups: ["user"] }, stranger.privateKey) };
};

const bearer = (token: string): HeadersInit => ({ authorization: `Bearer ${token}` });

/** Users may do everything, and guests may list what there is. */
const ACCESS_POLICY = [
  { permit: { actions: ["create", "read", "update", "delete"] }, when: ["user with user in roles"] },
  { permit: { actions: ["read"], resource: "regex:tool_?group::.*" } },
];

const bootWith = (
  server: TestedServer,
  baseUrl: string,
  auth: JsonObject,
  more: JsonObject = {},
): Promise<Booted> =>
  boot(manifest({ ...withModels({ distribution: { name: server.distribution } }, baseUrl), auth, ...more }), {
    ...server.options,
    secrets: { auth: { client: "letters-7" } },
  });

const statusOf = async (stack: Booted, path: string, headers?: HeadersInit): Promise<number> =>
  (await stack.get(path, headers)).status;

/** Ids of the models that a caller sees. */
const seen = async (stack: Booted, headers: HeadersInit): Promise<number> =>
  ((await stack.get("/v1/models", headers)).body as { readonly data: ReadonlyArray<unknown> }).data.length;

Deno.test("with spec.auth servers answer only callers that a webhook or an OpenID Connect issuer knows, by their roles", () =>
  onEveryServer(async (server) => {
    const models = startModelServer();
    try {
      await using webhook = await startWebhook();
      {
        const auth = { webhook: { endpoint: `${webhook.url}/who` }, accessPolicy: ACCESS_POLICY };
        await using stack = await bootWith(server, models.baseUrl, auth);
        const asked = [undefined, bearer("wrong"), bearer(GOOD), bearer(GUEST)];
        deepStrictEqual(await Promise.all(asked.map((headers) => statusOf(stack, "/v1/models", headers))), [
          401,
          401,
          200,
          200,
        ]);
        deepStrictEqual(
          await Promise.all(["/v1/health", "/v1/version"].map((path) => statusOf(stack, path))),
          [200, 200],
        );
        strictEqual(await seen(stack, bearer(GOOD)) > 0, true);
        strictEqual(await seen(stack, bearer(GUEST)), 0);
        const question = { model: "vllm/test-model", messages: [{ role: "user", content: "hello" }] };
        const [user, guest] = await Promise.all(
          [GOOD, GUEST].map((token) => stack.post("/v1/chat/completions", question, bearer(token))),
        );
        // What a caller may not read does not exist for it.
        deepStrictEqual([user?.status, guest?.status], [200, 404], JSON.stringify([user?.body, guest?.body]));
      }
      await using issuer = await startIssuer();
      const auth = {
        oidc: {
          issuer: issuer.url,
          audience: "the-stack",
          jwksUri: `${issuer.url}/keys`,
          claimsMapping: { groups: "roles" },
        },
        routePolicy: [{ permit: { paths: ["/v1/models"] }, when: ["user with user in roles"] }],
      };
      await using stack = await bootWith(server, models.baseUrl, auth);
      const user = await issuer.token({ groups: ["user"] });
      const others = await Promise.all([
        issuer.token({ groups: ["user"], exp: 1 }),
        issuer.token({ groups: ["user"], aud: "another" }),
        issuer.token({ groups: ["user"], iss: "http://another" }),
        issuer.forged(),
      ]);
      deepStrictEqual([await statusOf(stack, "/v1/models"), await statusOf(stack, "/v1/models", bearer(user))], [
        401,
        200,
      ]);
      for (const token of others) strictEqual(await statusOf(stack, "/v1/models", bearer(token)), 401);
      const guest = await issuer.token({ groups: ["guest"] });
      deepStrictEqual([
        await statusOf(stack, "/v1/models", bearer(guest)),
        await statusOf(stack, "/v1/files", bearer(user)),
        await statusOf(stack, "/v1/health"),
        await statusOf(stack, "/v1/version"),
      ], [403, 403, 200, 200]);
    } finally {
      await models.stop();
    }
  }));

Deno.test("with spec.auth servers ask the introspection endpoint with the Secret, and OGX trusts the headers of a gateway", () =>
  onEveryServer(async (server) => {
    const models = startModelServer();
    try {
      await using introspection = await startIntrospection();
      {
        const clientSecret = { secretKeyRef: { name: "auth", key: "client" } };
        await using stack = await bootWith(server, models.baseUrl, {
          introspection: { url: introspection.url, clientId: "stack", clientSecret },
        });
        deepStrictEqual(
          await Promise.all([undefined, bearer("wrong"), bearer(GOOD)].map((it) => statusOf(stack, "/v1/models", it))),
          [401, 401, 200],
        );
      }
      if (!server.isOgx) return;
      const auth = {
        upstreamHeader: {
          principalHeader: "x-user",
          attributeHeaders: { "x-roles": "roles" },
          trustedProxyCidrs: ["127.0.0.0/8"],
        },
        accessPolicy: ACCESS_POLICY,
      };
      {
        await using stack = await bootWith(server, models.baseUrl, auth, { networking: { allowedFrom: {} } });
        strictEqual(await statusOf(stack, "/v1/models"), 401);
        strictEqual(await seen(stack, { "x-user": "a", "x-roles": "user" }) > 0, true);
        strictEqual(await seen(stack, { "x-user": "a", "x-roles": "guest" }), 0);
      }
      const { accessPolicy: _, ...byHeader } = auth;
      await using apart = await bootWith(server, models.baseUrl, {
        upstreamHeader: { ...byHeader.upstreamHeader, tenantHeader: "x-tenant" },
      }, { networking: { allowedFrom: {} }, tenancy: { mode: "multi" } });
      const of = (tenant: string) => ({ "x-user": "ann", "x-tenant": tenant });
      deepStrictEqual(
        await Promise.all(
          [{ "x-user": "ann" }, of("Not a tenant"), of("a")].map((it) => statusOf(apart, "/v1/models", it)),
        ),
        [401, 401, 200],
      );
      const made = await apart.post("/v1/conversations", {}, of("a"));
      const path = `/v1/conversations/${(made.body as { readonly id: string }).id}`;
      deepStrictEqual([await statusOf(apart, path, of("a")), await statusOf(apart, path, of("b"))], [200, 404]);
    } finally {
      await models.stop();
    }
  }));
