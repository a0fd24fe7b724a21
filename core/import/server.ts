/** Which servers a config may be for: every version is tried, and the one that understands most of it comes first. */
import * as Result from "effect/Result";
import { entriesOf } from "../config/draft.ts";
import { CATALOGUES, providerType } from "../config/servers/catalogue.ts";
import { contradictionsIn, readBase } from "../config/servers/base.ts";
import type { DistributionTable } from "../config/servers/distribution_table.ts";
import { apiOn, productOf, type Server, serverOf } from "../config/servers/families/families.ts";
import { ignoredSections } from "../config/servers/ignored_sections.ts";
import { type JsonObject, objectAt, omit, stringAt } from "../data/json.ts";

/** A distribution of the operator on one of its servers. */
export interface Candidate {
  readonly name: string;
  readonly server: Server;
  readonly base: JsonObject;
  /** Whether a resource that names no version gets this one. */
  readonly isUsual: boolean;
}

/** What of a config a server does not understand; fewer is better. */
const misfit = (tree: JsonObject, server: Server): number => {
  const { catalogue, family } = server;
  const keys = Object.keys(objectAt(tree, "providers")).flatMap((api) => {
    const here = apiOn(server, api) ?? api;
    return entriesOf(tree, api).flatMap((entry) => {
      const known = providerType(catalogue, here, stringAt(entry, "provider_type") ?? "");
      const names = Object.entries(known?.fields ?? {}).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
      const roots = Object.keys(known?.references ?? {}).map((path) => path.split(".")[0] ?? "");
      return known === undefined || known.extra === "allow"
        ? []
        : Object.keys(objectAt(entry, "config")).filter((key) => !names.includes(key) && !roots.includes(key));
    });
  });
  // An API under the name that it has on other servers.
  const renamed = Object.keys(objectAt(tree, "providers")).filter((api) => Object.hasOwn(family.apiAliases, api));
  // Most configs have this switch, whatever their server.
  const ignored = ignoredSections(omit(tree, "telemetry"), server);
  return 100 * (contradictionsIn(tree, server, false).length + renamed.length) +
    10 * (ignored.length + keys.length);
};

export interface Asked {
  readonly serverVersion?: string | undefined;
  readonly distribution?: string | undefined;
}

/** Of several that say the same, the one whose stores a resource names itself. */
export const USUAL = "starter";

/** Versions that are tried in full. */
const TRIED_MAX = 3;

/** The best first, and those that understand as much of it. */
export const candidatesFor = (
  tree: JsonObject,
  table: DistributionTable,
  { serverVersion, distribution }: Asked,
): { readonly tried: ReadonlyArray<Candidate>; readonly rivals: ReadonlyArray<string> } => {
  const asked = serverVersion === undefined ? undefined : serverOf(serverVersion);
  const all = [...table].filter(([name, { aliasOf }]) =>
    distribution === undefined ? aliasOf === undefined : name === distribution
  )
    .flatMap(([name, named]) =>
      named.releases.flatMap((release) => {
        const server = release.serverVersion === undefined ? undefined : serverOf(release.serverVersion);
        if (server === undefined || release.base === undefined) return [];
        if (asked !== undefined && asked.catalogue !== server.catalogue) return [];
        return [{
          name,
          server: asked === undefined ? server : { ...server, version: asked.version },
          source: release.base,
          isUsual: release.serverVersion === named.serverVersion,
        }];
      })
    );
  const minors = CATALOGUES.filter((catalogue) => all.some(({ server }) => server.catalogue === catalogue));
  const ranked = minors.flatMap((catalogue) => serverOf(catalogue.server) ?? serverOf(`${catalogue.server}.99`) ?? [])
    .map((server) => ({ server, misfit: misfit(tree, server) }))
    .sort((a, b) => a.misfit - b.misfit);
  const best = ranked.filter((row) => row.misfit === ranked[0]?.misfit).map(({ server }) => server.catalogue);
  const usual = all.find(({ name, isUsual, server }) => name === USUAL && isUsual && best.includes(server.catalogue))
    ?.server.catalogue;
  const isFormer = /llama_stack|\/\.llama\//.test(JSON.stringify(tree));
  // Of servers that understand it alike, one of the product after which its files and packages are called.
  const fitting = best.filter(({ server }) => isFormer === (productOf(server) === "Llama Stack"));
  const order = [
    ...new Set([usual, ...fitting.toReversed(), ...best.toReversed()].filter((other) => other !== undefined)),
  ];
  const tried = order.slice(0, TRIED_MAX);
  return {
    tried: tried.flatMap((catalogue) =>
      all.filter(({ server }) => server.catalogue === catalogue).flatMap(({ source, ...found }) => {
        const base = readBase(source, found.server);
        return Result.isFailure(base) ? [] : [{ ...found, base: base.success }];
      })
    ),
    rivals: order.map(({ server }) => server).sort(),
  };
};
