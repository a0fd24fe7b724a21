/** How the operator reaches registries: the settings `registries.*`. */
import * as Result from "effect/Result";
import { isCertificate } from "../data/digest.ts";
import { isList } from "../data/json.ts";
import { PATTERNS_MAX } from "../data/limits.ts";
import { readYaml11 } from "../data/yaml.ts";
import { yamlMap } from "./setting_text.ts";

export interface Registries {
  /** PEM texts of authorities to trust beside the public ones; empty: none. */
  readonly authorities: string;
  /** Hosts, with a port if there is one, that are asked without TLS. */
  readonly plainHttp: ReadonlyArray<string>;
  /** Hosts that may have a loopback or link-local address, or that of an API server or node. */
  readonly internal: ReadonlyArray<string>;
  /** Prefix of images → prefixes to try in its place, before it. */
  readonly mirrors: ReadonlyMap<string, ReadonlyArray<string>>;
}

export const REGISTRIES_DEFAULT: Registries = { authorities: "", plainHttp: [], internal: [], mirrors: new Map() };

interface RegistryRow<Part extends keyof Registries = keyof Registries> {
  readonly part: Part;
  readonly value: string;
  readonly meaning: string;
  /** A failure is the end of a sentence. */
  readonly read: (text: string) => Result.Result<Registries[Part], string>;
}

export const REGISTRY_ROWS: ReadonlyArray<RegistryRow> = [
  {
    part: "authorities",
    value: "certificates in PEM, default none",
    meaning: "Certificate authorities of registries to trust, besides the public ones",
    read: (text) =>
      blocks(text).length > 0 && blocks(text).every(isCertificate)
        ? Result.succeed(blocks(text).join("\n"))
        : Result.fail("expected certificates in PEM"),
  },
  {
    part: "plainHttp",
    value: "YAML list of `host` or `host:port`, default `[]`",
    meaning: "Registries whose labels are read without TLS",
    read: (text) => hosts(text),
  },
  {
    part: "internal",
    value: "YAML list of `host` or `host:port`, default `[]`",
    meaning: "Registries that may have a loopback or link-local address, or that of an API server or node",
    read: (text) => hosts(text),
  },
  {
    part: "mirrors",
    value: "YAML map, prefix of images → list of prefixes; default none",
    meaning: "Where labels are read instead, in this order; the registry of the image itself comes last",
    read: (text) => mirrors(text),
  },
];

const blocks = (text: string): ReadonlyArray<string> =>
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];

const hosts = (text: string): Result.Result<ReadonlyArray<string>, string> => {
  const read = readYaml11(text);
  const list = Result.isSuccess(read) && isList(read.success) ? read.success : [null];
  return list.length <= PATTERNS_MAX && list.every((item) => typeof item === "string" && HOST.test(item))
    ? Result.succeed(list as ReadonlyArray<string>)
    : Result.fail(`expected a list of at most ${PATTERNS_MAX} hosts, such as registry.example.com:5000`);
};

const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?$/;

const mirrors = (text: string): Result.Result<Registries["mirrors"], string> => {
  const map = yamlMap(text);
  const rows = typeof map === "string" ? [] : Object.entries(map).map(([prefix, list]) => [prefix, list] as const);
  const isValid = rows.length > 0 && rows.length <= PATTERNS_MAX &&
    rows.every(([prefix, list]) =>
      PREFIX.test(prefix) && isList(list) && list.length <= PATTERNS_MAX &&
      list.every((item) => typeof item === "string" && PREFIX.test(item))
    );
  return isValid
    ? Result.succeed(new Map(rows as ReadonlyArray<readonly [string, ReadonlyArray<string>]>))
    : Result.fail("expected a map of prefixes, such as quay.io/team: [mirror.example.com/team]");
};

/** A host, or a host and the start of a path that ends at a slash. */
const PREFIX = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?(?:\/[a-z0-9._-]+)*$/;

/** The same image below each prefix that stands in for the longest one it begins with, and then as it is named. */
export const placesOf = (image: string, { mirrors: all }: Registries): ReadonlyArray<string> => {
  const prefix = [...all.keys()].filter((key) => image === key || image.startsWith(`${key}/`))
    .toSorted((a, b) => b.length - a.length)[0];
  if (prefix === undefined) return [image];
  return [...(all.get(prefix) ?? []).map((other) => `${other}${image.slice(prefix.length)}`), image];
};
