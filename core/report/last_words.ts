/**
 * The end of a server's log, told without quoting it: the log may have any secret in any form. A text that no row knows says
 * nothing but the class of its exception.
 */
import { KNOWN_ENDS, type KnownEnd } from "./known_ends.ts";

/** Undefined: no line is known. `isPublic`: whether the resource or its config has this name, so that it may be shown. */
export const knownEnd = (log: string, isPublic: (name: string) => boolean): string | undefined => {
  const lines = log.split("\n").slice(-LINES_MAX).map((line) => line.slice(-LINE_CHARACTERS_MAX)).toReversed();
  for (const row of KNOWN_ENDS) {
    for (const line of lines) {
      const found = row.says.exec(line);
      if (found !== null) return sentence(row, found.groups ?? {}, isPublic);
    }
  }
  return undefined;
};

/** The kubelet keeps 80 lines of a log, of together 2,048 bytes. */
const LINES_MAX = 80;
const LINE_CHARACTERS_MAX = 2048;

const sentence = (
  { meaning, advice }: KnownEnd,
  names: Readonly<Record<string, string>>,
  isPublic: (name: string) => boolean,
): string => {
  const filled = meaning.replaceAll(/\{(\w+)\|([^}]*)\}/g, (_, key: string, other: string) => {
    const name = names[key];
    return name !== undefined && isPublic(name) ? `"${name}"` : other;
  });
  return `${filled}; ${advice}`;
};

/** The class of the Python exception that ended a server, if it is one of those that everybody has. */
export const exceptionClass = (log: string): string | undefined => {
  for (const line of log.split("\n").toReversed()) {
    const [, name] = /^(?:[A-Za-z_]\w{0,80}\.){0,8}([A-Z]\w{2,60})(?::|$)/.exec(line) ?? [];
    if (name !== undefined && EXCEPTIONS.has(name)) return name;
  }
  return undefined;
};

const EXCEPTIONS: ReadonlySet<string> = new Set([
  ...["Arithmetic", "Assertion", "Attribute", "BlockingIO", "BrokenPipe", "Buffer", "ChildProcess", "Connection"],
  ...["ConnectionAborted", "ConnectionRefused", "ConnectionReset", "EOF", "FileExists", "FileNotFound"],
  ...["Import", "Index", "IsADirectory", "Key", "Lookup", "Memory", "ModuleNotFound", "Name"],
  ...["NotADirectory", "NotImplemented", "OS", "Overflow", "Permission", "Recursion", "Runtime", "Syntax", "System"],
  ...["Timeout", "Type", "UnboundLocal", "UnicodeDecode", "UnicodeEncode", "Value", "ZeroDivision"],
  // Of the servers and their libraries.
  ...["APIConnection", "APIStatus", "AuthServiceUnavailable", "Authentication", "BadRequest", "ClientConnector"],
  ...["ClientResponse", "Connect", "Constructor", "EnvVar", "HTTPStatus", "Interface", "InvalidProvider"],
  ...["JSONDecode", "LocalEntryNotFound", "ModelNotFound", "NoCredentials", "NotFound", "Operational", "Parser"],
  ...[
    "Programming",
    "RateLimit",
    "Response",
    "SSL",
    "SSLCertVerification",
    "Scanner",
    "UnsupportedModel",
    "Validation",
  ],
].map((name) => `${name}Error`));

/** The words of texts that everybody may read who may read the resource. */
export const publicNames = (...texts: ReadonlyArray<string>): (name: string) => boolean => {
  let words: ReadonlySet<string> | undefined;
  return (name) =>
    (words ??= new Set(texts.flatMap((text) => [...text.match(/[\w./:@+-]+/g) ?? [], ...text.match(/\w+/g) ?? []])))
      .has(name);
};
