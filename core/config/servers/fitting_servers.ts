/** Which other servers a config was written for. */
import * as Result from "effect/Result";
import { readBase } from "./base.ts";
import type { BaseSource } from "./image_labels.ts";
import { CATALOGUES } from "./catalogue.ts";
import type { ResolvedDistribution } from "./distribution.ts";
import type { DistributionTable, Release } from "./distribution_table.ts";
import { type Server, serverOf } from "./families/families.ts";

/** Versions that a resource may ask for, oldest first: of published images of a name, else the minors that are known. */
export const fittingServers = (
  accepts: (server: Server) => boolean,
  { name }: Pick<ResolvedDistribution, "name">,
  table: DistributionTable,
  isMirrored: (image: string) => boolean,
): ReadonlyArray<string> => {
  const isThere = ({ image, unpublishedSince }: Release) => unpublishedSince === undefined || isMirrored(image);
  const offered = name === undefined
    ? CATALOGUES.map(({ server }) => server)
    : (table.get(name)?.releases ?? []).filter(isThere).flatMap(({ serverVersion }) => serverVersion ?? []);
  return offered.filter((version) => {
    const server = serverOf(version);
    return server !== undefined && accepts(server);
  });
};

/**
 * What helps where a base config does not fit its server, apart from a change of it; each continues "or …".
 * `isTried`: a flag of the command line chooses the server.
 */
export const waysAround = (
  base: BaseSource,
  distribution: ResolvedDistribution,
  table: DistributionTable,
  isMirrored: (image: string) => boolean,
  isTried: boolean,
): ReadonlyArray<string> => {
  const { name, labels } = distribution;
  // The labels decide about the server, and nobody but the publisher of the image can change them.
  if (labels?.config !== undefined && (name !== undefined || labels.config.serverVersion !== undefined)) {
    return ["replace spec.providers, spec.resources and spec.storage by a complete config in spec.overrideConfig"];
  }
  const accepts = (server: Server) => Result.isSuccess(readBase(base, server));
  const fitting = fittingServers(accepts, distribution, table, isMirrored);
  const newest = fitting.at(-1);
  if (newest === undefined) return [];
  const field = isTried ? "--server-version" : "spec.distribution.serverVersion";
  return name === undefined
    ? [`set ${field} to the version of the server in the image, if it is ${anyOf(fitting)}`]
    : [`set ${field} to ${newest}, which has that`];
};

const anyOf = (words: ReadonlyArray<string>): string =>
  words.length === 1 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
