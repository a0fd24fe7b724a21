/**
 * Registries that images come from besides Debian's: each with TLS, with passwords, and with what only it does.
 *
 * - distribution: tokens of a server of its own, and blobs behind a redirect to another host
 * - zot: 429 without Retry-After
 * - nginx in front of Debian's registry: 429 with Retry-After
 */
import { join } from "node:path";
import { startInBackground } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { installProgram } from "../../tools/install/debian_packages.ts";
import { must } from "../../tools/install/run_program.ts";
import { makeServerCertificate, type ServerCertificate } from "../../tools/server/certificate.ts";
import { NAME, registryAnswers, startProtectedRegistry, type Target } from "./protected_registry.ts";

export interface OtherRegistry {
  /** Host and port, as images name it. */
  readonly host: string;
  /** Where images are pushed. */
  readonly target: Target;
  /** PEM. */
  readonly authority: string;
  /** Hosts and ports that a client reaches. */
  readonly hosts: ReadonlyArray<string>;
  /** What only this registry does, seen so far. */
  readonly seen: () => Promise<Readonly<Record<string, number>>>;
  readonly stop: () => Promise<void>;
}

/** It may be busy already, or ask for credentials. */
const IS_UP = (status: number): boolean => status < 500;

const basic = `Basic ${btoa(`${NAME.username}:${NAME.password}`)}`;

/** A server of this process with the same certificate. */
const serve = (
  port: number,
  { cert, key }: { readonly cert: string; readonly key: string },
  handler: (request: Request) => Response | Promise<Response>,
) => Deno.serve({ hostname: "127.0.0.1", port, cert, key, onListen: () => {} }, handler);

const textsOf = async ({ certificateFile, keyFile }: ServerCertificate) => ({
  cert: await Deno.readTextFile(certificateFile),
  key: await Deno.readTextFile(keyFile),
});

export const startDistribution = async (folder: string): Promise<OtherRegistry> => {
  const { registry: program } = await installControlPlane(["registry"]);
  await Deno.mkdir(folder, { recursive: true });
  const certificate = await makeServerCertificate(folder);
  const texts = await textsOf(certificate);
  const [port, tokens, blobs] = freePorts(3) as [number, number, number];
  const [host, realm, store] = [port, tokens, blobs].map((number) => `127.0.0.1:${number}`) as [string, string, string];
  const data = join(folder, "data");
  const signer = await startTokens(tokens, texts, host);
  const jwks = join(folder, "jwks.json");
  await Deno.writeTextFile(jwks, JSON.stringify({ keys: [signer.publicKey] }));
  const redirected = { blobs: 0, credentials: 0 };
  const files = serve(blobs, texts, async (request) => {
    redirected.blobs++;
    if (request.headers.has("authorization")) redirected.credentials++;
    const body = await Deno.readFile(join(data, new URL(request.url).pathname)).catch(() => undefined);
    return body === undefined ? new Response(null, { status: 404 }) : new Response(body);
  });
  const config = join(folder, "registry.yaml");
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: "error" },
      storage: { filesystem: { rootdirectory: data } },
      middleware: { storage: [{ name: "redirect", options: { baseurl: `https://${store}/` } }] },
      http: { addr: host, tls: { certificate: certificate.certificateFile, key: certificate.keyFile } },
      auth: { token: { realm: `https://${realm}/token`, service: host, issuer: ISSUER, jwks } },
    }),
  );
  const process = await startInBackground({
    command: [program, "serve", config],
    env: { OTEL_TRACES_EXPORTER: "none" },
    logFile: join(folder, "registry.log"),
    stopWithinMs: 5_000,
  });
  await registryAnswers(process, host, texts.cert, IS_UP);
  return {
    host,
    target: {
      host,
      authority: texts.cert,
      authorization: async (repository) => `Bearer ${await signer.tokenFor([`repository:${repository}:pull,push`])}`,
    },
    authority: texts.cert,
    hosts: [host, realm, store],
    seen: () => Promise.resolve({ ...redirected, tokens: signer.given() }),
    stop: async () => {
      await process.stop();
      await Promise.all([files.shutdown(), signer.stop()]);
    },
  };
};

const ISSUER = "test";

/** Gives a token with every scope to whoever knows the password. Source: the token specification of distribution. */
const startTokens = async (
  port: number,
  texts: { readonly cert: string; readonly key: string },
  audience: string,
) => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const kid = "test-key";
  const encoded = (value: unknown) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  let given = 0;
  const tokenFor = async (scopes: ReadonlyArray<string>): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const access = scopes.map((scope) => {
      const [type = "", name = "", actions = ""] = scope.split(":");
      return { type, name, actions: actions.split(",") };
    });
    const claims = { iss: ISSUER, sub: NAME.username, aud: audience, iat: now, nbf: now - 10, exp: now + 300, access };
    const signed = `${encoded({ alg: "ES256", typ: "JWT", kid })}.${encoded({ ...claims, jti: crypto.randomUUID() })}`;
    const signature = await crypto.subtle.sign(
      { name: "ECDSA", hash: "SHA-256" },
      privateKey,
      new TextEncoder().encode(signed),
    );
    return `${signed}.${new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true })}`;
  };
  const server = serve(port, texts, async (request) => {
    if (request.headers.get("authorization") !== basic) return new Response("no", { status: 401 });
    given++;
    return Response.json({ token: await tokenFor(new URL(request.url).searchParams.getAll("scope")) });
  });
  return {
    publicKey: { ...await crypto.subtle.exportKey("jwk", publicKey), kid, alg: "ES256", use: "sig" },
    tokenFor,
    given: () => given,
    stop: () => server.shutdown(),
  };
};

/** Requests in a second; an index of two architectures takes at least six. */
const RATE = 1;

export const startZot = async (folder: string): Promise<OtherRegistry> => {
  const { zot: program } = await installControlPlane(["zot"]);
  const htpasswd = await installProgram("htpasswd", ["apache2-utils"]);
  await Deno.mkdir(folder, { recursive: true });
  const certificate = await makeServerCertificate(folder);
  const [port] = freePorts(1) as [number];
  const host = `127.0.0.1:${port}`;
  const [passwords, config, logFile] = ["htpasswd", "config.json", "zot.log"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await Deno.writeTextFile(passwords, await must(htpasswd, ["-Bbn", NAME.username, NAME.password]));
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      distSpecVersion: "1.0.1",
      storage: { rootDirectory: join(folder, "data") },
      http: {
        address: "127.0.0.1",
        port: String(port),
        tls: { cert: certificate.certificateFile, key: certificate.keyFile },
        auth: { htpasswd: { path: passwords } },
        ratelimit: { rate: RATE },
      },
      log: { level: "info" },
    }),
  );
  const process = await startInBackground({ command: [program, "serve", config], logFile, stopWithinMs: 5_000 });
  const authority = await Deno.readTextFile(certificate.caFile);
  await registryAnswers(process, host, authority, IS_UP);
  return {
    host,
    target: { host, authority, authorization: () => Promise.resolve(basic) },
    authority,
    hosts: [host],
    seen: async () => ({ busy: await busyAmong(3, host, authority) }),
    stop: async () => void await process.stop(),
  };
};

/** Of so many requests at once, those that are too many: zot writes no line about them. */
const busyAmong = async (count: number, host: string, authority: string): Promise<number> => {
  const client = Deno.createHttpClient({ caCerts: [authority] });
  const answers = await Promise.all(Array.from({ length: count }, async () => {
    const response = await fetch(`https://${host}/v2/`, { client });
    await response.body?.cancel();
    return response.status;
  }));
  client.close();
  return answers.filter((status) => status === 429).length;
};

export const startNginx = async (folder: string): Promise<OtherRegistry> => {
  const program = await installProgram("nginx", ["nginx-light"]);
  const behind = await startProtectedRegistry(join(folder, "registry"));
  const { certificateFile, keyFile, caFile } = await makeServerCertificate(folder);
  const [port] = freePorts(1) as [number];
  const host = `127.0.0.1:${port}`;
  const config = join(folder, "nginx.conf");
  const accessLog = join(folder, "access.log");
  await Deno.writeTextFile(
    config,
    `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log ${accessLog};
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  limit_req_zone $binary_remote_addr zone=all:1m rate=${RATE}r/s;
  limit_req_status 429;
  server {
    listen ${host} ssl;
    ssl_certificate ${certificateFile};
    ssl_certificate_key ${keyFile};
    location / {
      limit_req zone=all;
      error_page 429 = @busy;
      proxy_pass https://${behind.host};
      proxy_set_header Host $http_host;
    }
    location @busy {
      add_header Retry-After 1 always;
      return 429;
    }
  }
}
`,
  );
  const process = await startInBackground({
    command: [program, "-p", folder, "-c", config],
    logFile: join(folder, "nginx.log"),
    stopSignal: "SIGQUIT",
    stopWithinMs: 5_000,
  });
  const authority = await Deno.readTextFile(caFile);
  await registryAnswers(process, host, authority, IS_UP);
  return {
    host,
    target: { host: behind.host, authority: behind.authority, authorization: () => Promise.resolve(basic) },
    authority,
    hosts: [host],
    seen: async () => ({ busy: (await Deno.readTextFile(accessLog)).match(/ 429 /g)?.length ?? 0 }),
    stop: async () => {
      await process.stop();
      await behind.stop();
    },
  };
};
