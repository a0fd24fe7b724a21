/** How a registry asks for credentials: the header WWW-Authenticate of a response with status 401. */

export type Challenge =
  | { readonly scheme: "basic" }
  | {
    readonly scheme: "bearer";
    /** Where a token is requested. */
    readonly realm: URL;
    readonly service: string | undefined;
    /** What the token is for; undefined: as the request needs it. */
    readonly scope: string | undefined;
  };

/** The first challenge that can be answered; undefined if there is none. */
export const challengeIn = (header: string): Challenge | undefined => {
  for (const { scheme, parameters } of challenges(header)) {
    if (scheme === "basic") return { scheme };
    if (scheme !== "bearer") continue;
    const realm = parameters.get("realm");
    if (realm === undefined || !URL.canParse(realm)) continue;
    return { scheme, realm: new URL(realm), service: parameters.get("service"), scope: parameters.get("scope") };
  }
  return undefined;
};

/** Longer headers are no challenge of a registry. */
const CHARACTERS_MAX = 4096;

const challenges = function* (header: string): Generator<{
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}> {
  if (header.length > CHARACTERS_MAX) return;
  // A word that no equals sign follows begins the next challenge.
  const tokens = header.matchAll(/([A-Za-z][\w-]*)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g);
  let current: { readonly scheme: string; readonly parameters: Map<string, string> } | undefined;
  for (const [, name = "", quoted, bare] of tokens) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? bare;
    if (value === undefined) {
      if (current !== undefined) yield current;
      current = { scheme: name.toLowerCase(), parameters: new Map() };
    } else current?.parameters.set(name.toLowerCase(), value);
  }
  if (current !== undefined) yield current;
};

/** The address at which a token for pulling from a repository is requested. */
export const tokenUrl = (challenge: Challenge & { readonly scheme: "bearer" }, repository: string): URL => {
  const url = new URL(challenge.realm);
  if (challenge.service !== undefined) url.searchParams.set("service", challenge.service);
  url.searchParams.set("scope", challenge.scope ?? `repository:${repository}:pull`);
  return url;
};
