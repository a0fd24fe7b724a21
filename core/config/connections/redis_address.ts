/** `storage.kv.endpoint` → host and port, and the user info to put before the host. */
import { UnusableEndpoint } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";

export interface RedisAddress {
  /** IPv6 addresses are in brackets, as in a URL. */
  readonly host: string;
  readonly port: number;
  /** Decoded; undefined when the endpoint names none. */
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** Environment variable with the user info, percent-encoded and ending in `@`; empty when there is none. */
export const KV_USERINFO = "LLSD_KV_USERINFO";

/** Redis' own port. */
const REDIS_PORT = 6379;

/**
 * Reads `redis://[user][:password]@host[:port]` and `host[:port]`; the error explains why the server could not use the
 * address.
 */
export const parseRedis = (
  endpoint: string,
  path: FieldPath,
): { readonly address: RedisAddress } | { readonly failure: UnusableEndpoint } => {
  const refuse = (detail: string) => ({ failure: new UnusableEndpoint({ path, detail }) });
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(endpoint)?.[1]?.toLowerCase();
  if (scheme === "rediss") {
    return refuse("the server does not support TLS to Redis (rediss://); use redis:// or a local proxy that adds TLS");
  }
  if (scheme !== undefined && scheme.includes("sentinel")) {
    return refuse("the server does not support Redis Sentinel; name one Redis host, e.g. redis://redis:6379");
  }
  if (scheme !== undefined && scheme !== "redis") {
    return refuse("the value is not a Redis address; write redis://host:port or host:port, without placeholders");
  }
  const rest = scheme === undefined ? endpoint : endpoint.slice("redis://".length);
  const cut = rest.lastIndexOf("@");
  const userInfo = cut < 0 ? undefined : rest.slice(0, cut);
  const place = rest.slice(cut + 1);
  if (place.includes(",")) {
    return refuse("the server connects to a single Redis host; write one host:port, e.g. of a proxy for the cluster");
  }
  const found = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?(\/.*)?(\?.*)?$/.exec(place);
  if (found === null) {
    return refuse("the value is not a Redis address; write redis://host:port or host:port, without placeholders");
  }
  if (found[4] !== undefined) {
    return refuse("options in a Redis address are not supported; remove the part after the ?");
  }
  if (found[3] !== undefined && !/^\/0?$/.test(found[3])) {
    return refuse("database numbers are not supported; use database 0 and remove the path");
  }
  const port = found[2] === undefined ? REDIS_PORT : Number(found[2]);
  if (port < 1 || port > 65535) return refuse("the port is not a number from 1 to 65535");
  const [user, password] = userInfoOf(userInfo);
  if (user === null || password === null) return refuse("its user or password is not percent-encoded correctly");
  return { address: { host: found[1] ?? "", port, user, password } };
};

/** The prefix of the host: percent-encoded, with `:` and `@`; empty without a user. */
export const redisUserInfo = (user: string | undefined, password: string | undefined): string =>
  user === undefined && password === undefined
    ? ""
    : `${encoded(user ?? "")}${password === undefined ? "" : `:${encoded(password)}`}@`;

/** Stricter than encodeURIComponent: the server would take a leading `~` for a home folder. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const userInfoOf = (userInfo: string | undefined): readonly [string | undefined | null, string | undefined | null] => {
  if (userInfo === undefined) return [undefined, undefined];
  const colon = userInfo.indexOf(":");
  const user = colon < 0 ? userInfo : userInfo.slice(0, colon);
  return [user === "" ? undefined : decoded(user), colon < 0 ? undefined : decoded(userInfo.slice(colon + 1))];
};

/** Null when the text is not percent-encoded correctly. */
const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};
