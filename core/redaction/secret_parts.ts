import { HOST_CHARACTERS_MAX, REDACTED_CONNECTION_CHARACTERS_MAX } from "../data/limits.ts";

/**
 * The secret parts of a value: all of it, or user, password, options and tokens of a connection. Its host and database
 * are needed to understand the error of a server, and so are common words.
 */
export const secretParts = (value: string): ReadonlyArray<string> => {
  const text = value.trim();
  const parts = text.length > REDACTED_CONNECTION_CHARACTERS_MAX ? undefined : partsOfUrl(text) ?? partsOfPairs(text);
  return (parts ?? [value]).filter((part) => !isOrdinary(part.trim()));
};

/** Of a URL; undefined where the text is none. */
const partsOfUrl = (text: string): ReadonlyArray<string> | undefined => {
  const [, scheme = "", rest = ""] = /^(?:jdbc:)?([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text) ?? [];
  if (scheme === "") return undefined;
  const isWeb = WEB.has(scheme.toLowerCase());
  const userInfo = rest.slice(0, userInfoEnd(rest, isWeb));
  const behind = userInfo === "" ? rest : rest.slice(userInfo.length + 1);
  const [address = "", fragment = ""] = split(behind, "#");
  const [place = "", query = ""] = split(address, "?");
  const [user = "", password = ""] = split(userInfo, ":");
  return [
    user,
    password,
    ...(query + (fragment === "" ? "" : `&${fragment}`)).split("&").map((pair) => pair.slice(pair.indexOf("=") + 1)),
    ...(isWeb ? place.split("/").slice(1).filter(isToken) : []),
  ].filter((part) => part !== "");
};

/** Of which the path may hold a token, as those of incoming webhooks do; elsewhere it is the name of a database. */
const WEB: ReadonlySet<string> = new Set(["http", "https", "ws", "wss"]);

/**
 * Where user and password end. By the standard they have no `/`, `?` or `#`, but people write passwords as they are: what
 * stands before the last `@` is theirs, unless a host and port come first.
 */
const userInfoEnd = (rest: string, isWeb: boolean): number => {
  const authorityEnd = rest.search(/[/?#]/);
  const authority = authorityEnd < 0 ? rest : rest.slice(0, authorityEnd);
  const strict = authority.lastIndexOf("@");
  const isAddress = /^(?:\[[0-9a-f:.]*\]|[^:@]*)(?::\d{1,5})?$/i.test(authority);
  const question = rest.indexOf("?", strict + 1);
  // An `@` of an option is none of the password where that has an end before.
  const wide = strict >= 0 && question >= 0 ? rest.slice(0, question).lastIndexOf("@") : rest.lastIndexOf("@");
  if (strict >= 0 && isWeb) return strict;
  if (strict < 0 && isAddress) {
    const isOption = question >= 0 && rest.lastIndexOf("@", question) < 0;
    if (isWeb || isOption || !authority.includes(":")) return 0;
  }
  return Math.max(strict, wide, 0);
};

/** At the first separator. */
const split = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
};

/** A path segment that is not a word. */
const isToken = (step: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i.test(step) ||
  step.split(/[-_.~@:]/).some((part) =>
    part.length >= 9 && /\d/.test(part) && /[A-Za-z]/.test(part) || part.length >= 20
  );

/** Of a connection in libpq keywords; undefined if the text is not one. */
const partsOfPairs = (text: string): ReadonlyArray<string> | undefined => {
  if (!/(^|\s)host\s*=/.test(text)) return undefined;
  const given = [...text.matchAll(/(?:^|\s)(?:password|user|passfile)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']*)/gi)];
  if (given.length === 0) return undefined;
  return given.map(([, part = ""]) => part.replace(/^'|'$/g, "").replaceAll(/\\(.)/g, "$1"));
};

/** Stored in Secrets next to secret values, and found in the messages of every server: ports, addresses, host names. */
const isOrdinary = (text: string): boolean =>
  /^\d{1,5}$/.test(text) || ORDINARY.has(text.toLowerCase()) ||
  text.length <= HOST_CHARACTERS_MAX && (ADDRESS.test(text) || HOST.test(text));

const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?$/;
const HOST = /^(?:[a-z0-9-]{1,63}\.){1,16}(?:svc|local|internal|com|net|org|io|cloud|dev|ai|example|lan)(?::\d{1,5})?$/;

const ORDINARY: ReadonlySet<string> = new Set([
  ...["true", "false", "yes", "no", "on", "off", "none", "null", "default", "any", "auto"],
  ...["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "read-write", "read-only", "primary"],
  ...["localhost", "postgres", "postgresql", "mysql", "mariadb", "redis", "valkey", "mongodb", "sqlite", "minio"],
  ...["root", "admin", "user", "username", "password", "guest", "public", "database", "host", "port", "main", "test"],
  ...["llama", "llamastack", "llama-stack", "llama_stack", "ogx", "vllm", "ollama", "openai", "model", "server"],
  ...["http", "https", "http://", "https://", "utf8", "utf-8", "info", "debug", "warning", "error", "production"],
  ...["us-east-1", "us-east-2", "us-west-1", "us-west-2", "eu-west-1", "eu-central-1", "us-central1"],
]);
