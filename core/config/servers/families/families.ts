/** Server version → its family and its catalogue. */
import { type Catalogue, CATALOGUES } from "../catalogue.ts";
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_3 } from "./family_0_3.ts";
import { FAMILY_0_4 } from "./family_0_4.ts";
import { FAMILY_0_7 } from "./family_0_7.ts";
import { FAMILY_0_8 } from "./family_0_8.ts";
import { FAMILY_1_0 } from "./family_1_0.ts";
import { FAMILY_1_2 } from "./family_1_2.ts";
import { FAMILY_LEGACY } from "./family_legacy.ts";

/** Every server family, oldest first. A new family is a new file and a row here. */
export const SERVER_FAMILIES: ReadonlyArray<ServerFamily> = [
  FAMILY_LEGACY,
  FAMILY_0_3,
  FAMILY_0_4,
  FAMILY_0_7,
  FAMILY_0_8,
  FAMILY_1_0,
  FAMILY_1_2,
];

export interface Server {
  /** The requested version, e.g. `1.4.1` or `1.5`. */
  readonly version: string;
  readonly family: ServerFamily;
  readonly catalogue: Catalogue;
  /** The catalogue is that of an older minor, since none of this one is known. */
  readonly newer: boolean;
}

/** The server of a version `x.y` or `x.y.z`; undefined if no family or no catalogue covers it. */
export const serverOf = (version: string): Server | undefined => {
  const minor = minorOf(version);
  if (minor === undefined) return undefined;
  const family = SERVER_FAMILIES.find(({ from, to }) => compare(from, minor) <= 0 && compare(minor, to ?? from) <= 0);
  if (family === undefined || isBefore(version, family)) return undefined;
  const known = CATALOGUES.map((catalogue) => ({ catalogue, minor: minorOf(catalogue.server) ?? [0, 0] as const }))
    .filter((row) => compare(family.from, row.minor) <= 0 && compare(row.minor, minor) <= 0);
  const nearest = known.at(-1);
  if (nearest === undefined) return undefined;
  return { version, family, catalogue: nearest.catalogue, newer: compare(nearest.minor, minor) < 0 };
};

/** The name of an API on a server, since servers renamed one; undefined where it does not have the API. */
export const apiOn = ({ catalogue, family }: Pick<Server, "catalogue" | "family">, api: string): string | undefined =>
  [api, family.apiAliases[api] ?? api].find((name) => Object.hasOwn(catalogue.apis, name));

/** Advice for an API that a server does not have: what takes its place, or the servers that have providers of it. */
export const withoutApi = ({ family }: Pick<Server, "family">, api: string): string => {
  const instead = Object.hasOwn(family.insteadOf, api) ? family.insteadOf[api] : undefined;
  if (instead !== undefined) return instead;
  const having = CATALOGUES.map(({ server }) => server).filter((minor) => {
    const server = serverOf(minor);
    const name = server === undefined ? undefined : apiOn(server, api);
    return server !== undefined && name !== undefined && Object.hasOwn(server.catalogue.providers, name);
  });
  const [first, last] = [having[0], having.at(-1)];
  if (first === undefined || last === undefined) return "remove it";
  return last === CATALOGUES.at(-1)?.server
    ? `remove it, or use ${serverName(first)} or newer`
    : `remove it, or use ${serverName(last)}, the last server that has it`;
};

/** The name of a server in messages: `Llama Stack 0.7.1`, `OGX 1.4.1`. */
export const serverName = (version: string): string => `${productOf(version)} ${version}`;

/** OGX begins with 0.8. */
export const productOf = (version: string): "Llama Stack" | "OGX" =>
  compare(minorOf(version) ?? [0, 0], [0, 8]) < 0 ? "Llama Stack" : "OGX";

/** Whether the minor version `version` comes before that of `other`; false if one of them is not a version. */
export const isOlderMinor = (version: string, other: string): boolean => {
  const [minor, otherMinor] = [minorOf(version), minorOf(other)];
  return minor !== undefined && otherMinor !== undefined && compare(minor, otherMinor) < 0;
};

const minorOf = (version: string): readonly [number, number] | undefined => {
  const found = /^([0-9]+)\.([0-9]+)(\.[0-9]+)?$/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
};

/** True for a patch release of the family's lowest minor that still has another config format. */
const isBefore = (version: string, { from, fromPatch = 0 }: ServerFamily): boolean => {
  const [major, minor, patch] = version.split(".").map(Number);
  return patch !== undefined && major === from[0] && minor === from[1] && patch < fromPatch;
};

const compare = (a: readonly [number, number], b: readonly [number, number]): number => a[0] - b[0] || a[1] - b[1];

/** For messages: the minors with a catalogue. */
export const SUPPORTED_SERVERS: ReadonlyArray<string> = CATALOGUES.map(({ server }) => {
  const patch = serverOf(server)?.family.fromPatch;
  return patch === undefined ? serverName(server) : `${serverName(server)} from ${server}.${patch} on`;
});
