/**
 * Which credentials apply to an image: as the kubelet chooses them, so that the operator can read what a node can pull, and
 * nothing else. Source: package credentialprovider of Kubernetes 1.36; tests/cluster/credentials_test.ts compares both.
 */
import * as Redacted from "effect/Redacted";
import { isLike } from "../data/glob.ts";
import { isObject, type Json } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { DOCKER_HUB, type ImageName, repositoryOf } from "../data/image_reference.ts";

export interface Credential {
  readonly username: string;
  readonly password: Redacted.Redacted;
}

/** Credentials by host, or by host and path, of one Secret or file. */
export type Keyring = ReadonlyMap<string, ReadonlyArray<Credential>>;

/** What a Secret or file contains, by location. Undefined: it cannot be read, and a kubelet would not pull with it. */
export const entriesOf = (file: Json, format: "dockerconfigjson" | "dockercfg"): Entries | undefined => {
  // A config.json has other fields, too: helpers, headers, tokens of other stores; none of them counts.
  const locations = format === "dockercfg" ? file : isObject(file) ? file.auths ?? null : undefined;
  if (locations === null) return new Map();
  if (!isObject(locations)) return undefined;
  const entries = Object.entries(locations).map(([location, entry]) => [location, credentialIn(entry)] as const);
  return entries.some(([, credential]) => credential === undefined)
    ? undefined
    : new Map(entries as ReadonlyArray<readonly [string, Credential]>);
};

export type Entries = ReadonlyMap<string, Credential>;

/** One keyring of several files, in their order. */
export const keyringOf = (files: ReadonlyArray<Entries>): Keyring => {
  const all = new Map<string, ReadonlyArray<Credential>>();
  for (const [location, credential] of files.flatMap((entries) => [...entries])) {
    const key = keyOf(location);
    if (key !== undefined) all.set(key, [...all.get(key) ?? [], credential]);
  }
  return all;
};

/** `https://host/v1/` is the host, as old versions of Docker wrote it; other paths stay. */
const keyOf = (location: string): string | undefined => {
  const parts = partsOf(location.replace(/^https?:\/\//, ""));
  if (parts === undefined) return undefined;
  const path = /^\/v[12]\//.test(parts.path) ? parts.path.slice(3) : parts.path;
  return path === "" || path === "/" ? parts.authority : `${parts.authority}${path}`;
};

/** Undefined: malformed. */
const credentialIn = (entry: Json): Credential | undefined => {
  const fields = entry === null ? {} : isObject(entry) ? entry : undefined;
  if (fields === undefined) return undefined;
  const [username, password, email, auth] = ["username", "password", "email", "auth"].map((name) => fields[name] ?? "");
  if (typeof username !== "string" || typeof password !== "string" || typeof email !== "string") return undefined;
  if (typeof auth !== "string") return undefined;
  return auth === "" ? { username, password: Redacted.make(password) } : decoded(auth);
};

/** Base64 with or without padding, of `user:password`. */
const decoded = (auth: string): Credential | undefined => {
  let text: string;
  try {
    const options = { alphabet: "base64", lastChunkHandling: auth.trim().endsWith("=") ? "strict" : "loose" } as const;
    text = new TextDecoder().decode(Uint8Array.fromBase64(auth, options));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: Redacted.make(text.slice(colon + 1)) };
};

/**
 * All that match, in the order in which they are tried: the more specific entry first. Those of Docker Hub stand in for its own
 * images alone: a host without a dot, for which a kubelet would try them, may be anybody's.
 */
export const credentialsOf = (name: ImageName, keyring: Keyring): ReadonlyArray<Credential> => {
  const found = matching(repositoryOf(name), keyring);
  return found.length > 0 || name.registry !== DOCKER_HUB ? found : keyring.get(HUB_KEY) ?? [];
};

const matching = (image: string, keyring: Keyring): ReadonlyArray<Credential> => {
  const target = partsOf(image);
  if (target === undefined) return [];
  const given = target.host.split(".");
  return globsOf(keyring).filter((glob) => matches(glob, target, given)).flatMap(({ key }) => keyring.get(key) ?? []);
};

interface Glob extends Parts {
  readonly key: string;
  /** Of the host, between its dots. */
  readonly wanted: ReadonlyArray<string>;
}

/** Once for each keyring, which may have thousands of keys and be asked for as many images. */
const globsOf = onceForEach((keyring: Keyring): ReadonlyArray<Glob> =>
  [...keyring.keys()].toSorted((a, b) => a < b ? 1 : -1).flatMap((key) => {
    const parts = partsOf(key);
    return parts === undefined ? [] : [{ ...parts, key, wanted: parts.host.split(".") }];
  })
);

const HUB_KEY = "index.docker.io";

interface Parts {
  /** Host and port, as written. */
  readonly authority: string;
  readonly host: string;
  readonly port: string;
  /** With its slash; empty without one. */
  readonly path: string;
}

/** Undefined: no URL without a scheme. What follows a question mark or hash does not count. */
const partsOf = (text: string): Parts | undefined => {
  const [, authority = "", path = ""] = /^([^/?#]*)(\/[^?#]*)?/.exec(text) ?? [];
  const found = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~!$&'()*+,;=<>"]*)(?::(\d*))?$/.exec(authority);
  if (found === null || !/^[\x21-\x7e\u0080-\uffff]*$/.test(text)) return undefined;
  const [, host = "", port = ""] = found;
  return { authority, host, port, path };
};

const matches = ({ port, path, wanted }: Glob, target: Parts, given: ReadonlyArray<string>): boolean =>
  port === target.port && wanted.length === given.length && target.path.startsWith(path) &&
  // A star stays within one part of the host; other signs of globs are not valid in hosts.
  wanted.every((part, index) => isLike(given[index] ?? "", part));
