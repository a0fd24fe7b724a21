/**
 * Reads images from registries: token and basic authentication with several credentials in turn, redirects, own
 * certificate authorities, pauses that a busy registry asks for. Everything that is read is checked against its digest.
 */
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { type Json, stringAt } from "../../core/data/json.ts";
import { ANSWER_BOUNDS, readJson } from "../../core/data/json_text.ts";
import { type Challenge, challengeIn, tokenUrl } from "../../core/image/challenge.ts";
import type { Credential } from "../../core/image/credentials.ts";
import { type ImageName, registryHost } from "../../core/data/image_reference.ts";
import { type Manifest, MANIFEST_TYPES, type ManifestUnusable, readManifest } from "../../core/image/manifest.ts";
import { TarUnusable } from "../../core/image/tar.ts";
import {
  ImageNotFound,
  PullNotAllowed,
  type RegistryFailure,
  RegistryMisbehaves,
} from "../../core/image/registry_failure.ts";
import { patiently, type RegistryResponse, requested } from "./exchange.ts";
import { IMAGE_CONFIG_BYTES_MAX, LAYER_BYTES_MAX, MANIFEST_BYTES_MAX, TOKEN_BYTES_MAX } from "./limits.ts";
import type { Send } from "./guarded_fetch.ts";
import { beforeLong } from "./long_lookups.ts";
import { fileInLayer } from "./layer.ts";

export interface RegistryAccess {
  /** In the order in which they are tried; without any, the registry is asked anonymously. */
  readonly credentials: ReadonlyArray<Credential>;
  /** PEM texts, in addition to the public authorities. */
  readonly authorities: ReadonlyArray<string>;
  /** For registries without TLS. */
  readonly plainHttp: boolean;
  /** Undefined: to any address, which the person at the command line has chosen. */
  readonly send?: Send;
  /** Of the resource; undefined at the command line. */
  readonly namespace?: string;
}

export interface Registry {
  /** The manifest or index of a tag or digest, with its digest. */
  readonly manifest: (
    reference: string,
  ) => Effect.Effect<{ readonly manifest: Manifest; readonly digest: string }, RegistryFailure | ManifestUnusable>;
  /** The config of an image, as JSON. */
  readonly config: (digest: string) => Effect.Effect<Json, RegistryFailure>;
  /** A file of a layer; undefined if it is not there. */
  readonly file: (
    layer: string,
    path: string,
    bytesMax: number,
  ) => Effect.Effect<Uint8Array | undefined, RegistryFailure | TarUnusable>;
}

/** The client is closed with the scope. */
export const openRegistry = Effect.fn("openRegistry")(function* (
  name: ImageName,
  { credentials, authorities, plainHttp, send, namespace = "" }: RegistryAccess,
) {
  const host = registryHost(name.registry);
  const client: Send = send ?? (yield* fetching(authorities));
  const base = `${plainHttp ? "http" : "https"}://${host}/v2/${name.repository}`;
  const enter = yield* beforeLong(namespace);
  /** The header that worked last; one token serves all requests for a repository. */
  let accepted: string | undefined;

  const answer = (url: string, bytesMax: number, accept: string): Effect.Effect<RegistryResponse, RegistryFailure> =>
    Effect.gen(function* () {
      const get = (authorization: string | undefined) =>
        patiently(host, requested(client, host, url, { accept, authorization }, { bytesMax, beforeLong: enter }));
      let found = yield* get(accepted);
      if (found.status !== 401) return found;
      const challenge = challengeIn(found.challenge);
      if (challenge === undefined) return found;
      for (const credential of candidates(credentials, challenge, base)) {
        const authorization = yield* authorizationFor(client, host, challenge, credential, name.repository, plainHttp);
        if (authorization === undefined) continue;
        found = yield* get(authorization);
        if (found.status === 401 || found.status === 403) continue;
        accepted = authorization;
        return found;
      }
      return found;
    });

  const bytesOf = Effect.fnUntraced(function* (what: string, path: string, bytesMax: number, accept: string) {
    const { status, bytes } = yield* answer(`${base}${path}`, bytesMax, accept);
    if (status === 200) return bytes;
    if (status === 404) return yield* new ImageNotFound({ host, what });
    if (status === 401 || status === 403) {
      return yield* new PullNotAllowed({ host, repository: name.repository, tried: credentials.length });
    }
    return yield* new RegistryMisbehaves({ host, detail: `it answers ${status} to a request for ${what}` });
  });

  const checked = Effect.fnUntraced(function* (bytes: Uint8Array<ArrayBuffer>, expected: string | undefined) {
    const digest = `sha256:${
      new Uint8Array(yield* Effect.promise(() => crypto.subtle.digest("SHA-256", bytes))).toHex()
    }`;
    return expected !== undefined && digest !== expected
      ? yield* new RegistryMisbehaves({ host, detail: `what it sends for ${expected} has the digest ${digest}` })
      : digest;
  });

  const registry: Registry = {
    manifest: (reference) =>
      Effect.gen(function* () {
        const isDigest = reference.startsWith("sha256:");
        const what = `${name.repository}${isDigest ? "@" : ":"}${reference}`;
        const bytes = yield* bytesOf(what, `/manifests/${reference}`, MANIFEST_BYTES_MAX, MANIFEST_TYPES.join(", "));
        const digest = yield* checked(bytes, isDigest ? reference : undefined);
        const manifest = readManifest(yield* parsed(host, bytes));
        return Result.isFailure(manifest) ? yield* manifest.failure : { manifest: manifest.success, digest };
      }),
    config: (digest) =>
      Effect.gen(function* () {
        const bytes = yield* bytesOf(`the config ${digest}`, `/blobs/${digest}`, IMAGE_CONFIG_BYTES_MAX, "*/*");
        yield* checked(bytes, digest);
        return yield* parsed(host, bytes);
      }),
    file: (layer, path, bytesMax) =>
      Effect.gen(function* () {
        const bytes = yield* bytesOf(`the layer ${layer}`, `/blobs/${layer}`, LAYER_BYTES_MAX, "*/*");
        yield* checked(bytes, layer);
        return yield* Effect.tryPromise({
          try: () => fileInLayer(bytes, path, bytesMax),
          catch: (cause) => cause instanceof TarUnusable ? cause : new TarUnusable({ detail: "it cannot be read" }),
        });
      }),
  };
  return registry;
});

const fetching = (authorities: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => Deno.createHttpClient({ caCerts: [...authorities] })),
      (item) => Effect.sync(() => item.close()),
    ),
    (client): Send => (url, headers, signal) => fetch(url, { client, signal, redirect: "manual", headers }),
  );

/**
 * Those that may be sent to where the challenge leads, then none: a registry may serve public images to everybody whose
 * credentials it does not reject. A realm on another host is the registry's choice; it gets credentials only over TLS.
 */
const candidates = (
  credentials: ReadonlyArray<Credential>,
  challenge: Challenge,
  base: string,
): ReadonlyArray<Credential | undefined> => {
  if (challenge.scheme === "basic") return credentials;
  const isSafe = challenge.realm.protocol === "https:" || challenge.realm.host === new URL(base).host;
  return [...(isSafe ? credentials : []), undefined];
};

/** Undefined: the place that issues tokens rejects the credential. */
const authorizationFor = Effect.fnUntraced(function* (
  client: Send,
  host: string,
  challenge: Challenge,
  credential: Credential | undefined,
  repository: string,
  plainHttp: boolean,
): Effect.fn.Return<string | undefined, RegistryFailure> {
  const basic = credential === undefined ? undefined : basicOf(credential);
  if (challenge.scheme === "basic") return basic;
  const url = tokenUrl(challenge, repository);
  if (url.protocol !== "https:" && !plainHttp) {
    return yield* new RegistryMisbehaves({ host, detail: `it sends clients to ${url.host} without TLS` });
  }
  const request = requested(
    client,
    host,
    url.href,
    { accept: "application/json", authorization: basic },
    // Never long.
    { bytesMax: TOKEN_BYTES_MAX, beforeLong: () => Promise.resolve() },
  );
  const found = yield* patiently(host, request);
  if (found.status !== 200) return undefined;
  const body = yield* parsed(host, found.bytes);
  const token = stringAt(body, "token") ?? stringAt(body, "access_token");
  return token === undefined || /[^\x21-\x7e]/.test(token) ? undefined : `Bearer ${token}`;
});

const basicOf = ({ username, password }: Credential): string =>
  `Basic ${new TextEncoder().encode(`${username}:${Redacted.value(password)}`).toBase64()}`;

const parsed = (host: string, bytes: Uint8Array): Effect.Effect<Json, RegistryMisbehaves> =>
  Effect.fromResult(
    Result.mapError(readJson(bytes, ANSWER_BOUNDS), ({ exceeds, message }) =>
      new RegistryMisbehaves({
        host,
        detail: exceeds === undefined ? "it sends something that is not JSON" : `it sends JSON that has ${message}`,
      })),
  );
