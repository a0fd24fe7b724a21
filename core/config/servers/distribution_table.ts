/** configs/distributions.json: which image each name means, and where it is published. */
import * as Result from "effect/Result";
import { BaseUnreadable } from "../../failure/failures.ts";
import { isObject, type Json, listAt, member, stringAt } from "../../data/json.ts";
import { imageName, repositoryOf } from "../../data/image_reference.ts";
import type { BaseSource } from "./image_labels.ts";

/** One image of a distribution with its server and its base. */
export interface Release {
  readonly image: string;
  /** Undefined in the flat form (`name: image`), where only the image's tag contains the version. */
  readonly serverVersion: string | undefined;
  /** Month (`2026-06`) since when nobody publishes the image any more; undefined: it is published. */
  readonly unpublishedSince: string | undefined;
  /**
   * Whether the server does not start without a fix of the base config: then even a resource without further fields
   * gets a generated config.
   */
  readonly fixNeededToStart: boolean;
  /** The embedded base document, where there is one. */
  readonly base: BaseSource | undefined;
}

/** What a name means: one release, and the others that `serverVersion` may ask for. */
export interface NamedDistribution extends Release {
  /** The name that this one is another name of; undefined: this is it. */
  readonly aliasOf: string | undefined;
  /** All releases, oldest first. */
  readonly releases: ReadonlyArray<Release>;
}

export type DistributionTable = ReadonlyMap<string, NamedDistribution>;

/**
 * distributions.json, or its flat form of images by name. `bases` holds the embedded documents by file name.
 */
export const readDistributions = (
  document: Json,
  bases: Readonly<Record<string, string>>,
): Result.Result<DistributionTable, BaseUnreadable> => {
  const unreadable = (detail: string) =>
    Result.fail(new BaseUnreadable({ path: [], origin: "distributions.json", detail }));
  if (!isObject(document)) return unreadable("expected an object of distributions by name");
  const table = new Map<string, NamedDistribution>();
  for (const [name, row] of Object.entries(document)) {
    const releases = (typeof row === "string" ? [{ image: row }] : listAt(row, "releases"))
      .map((item) => releaseOf(item, name, bases));
    const version = stringAt(row, "serverVersion");
    const meant = releases.find(({ serverVersion }) => serverVersion === version);
    if (name === "" || meant === undefined || meant.image === "") return unreadable(`"${name}" has no image`);
    const aliases = listAt(row, "aliases").filter((alias) => typeof alias === "string");
    table.set(name, { ...meant, releases, aliasOf: undefined });
    for (const alias of aliases) table.set(alias, { ...meant, releases, aliasOf: name });
  }
  return Result.succeed(table);
};

const releaseOf = (row: Json, name: string, bases: Readonly<Record<string, string>>): Release => {
  const file = stringAt(row, "base") ?? `${name}.yaml`;
  return {
    image: stringAt(row, "image") ?? "",
    serverVersion: stringAt(row, "serverVersion"),
    unpublishedSince: stringAt(row, "unpublishedSince"),
    fixNeededToStart: listAt(row, "fixes").some((fix) => member(fix, "neededToStart") === true),
    base: Object.hasOwn(bases, file) ? { origin: `embedded base of ${name}`, content: bases[file] ?? "" } : undefined,
  };
};

/** Month since when nobody publishes images of this organization; undefined: somebody does, or nothing is known of it. */
export const unpublishedSince = (image: string, table: DistributionTable): string | undefined =>
  [...table.values()].flatMap(({ releases }) => releases)
    .find((release) => release.unpublishedSince !== undefined && organization(release.image) === organization(image))
    ?.unpublishedSince;

const organization = (image: string): string => repositoryOf(imageName(image)).replace(/[^/]*$/, "");
