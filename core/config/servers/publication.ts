/** Warnings about images that nobody publishes any more. */
import { placesOf, type Registries } from "../../operator/registries.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import type { ResolvedDistribution } from "./distribution.ts";
import type { DistributionTable, Release } from "./distribution_table.ts";
import { productOf, serverName, serverOf } from "./families/families.ts";

/** Whether the operator's settings name another place for the image. */
export const isMirroredIn = (registries: Registries) => (image: string): boolean =>
  placesOf(image, registries).length > 1;

/** That the image is gone, or that the server stays on another version than the name means; nothing otherwise. */
export const publicationWarnings = (
  distribution: ResolvedDistribution,
  table: DistributionTable,
): ReadonlyArray<Warning> => {
  const { name, image, server, insteadOf, unpublishedSince: since } = distribution;
  const path = ["spec", "distribution", name === undefined ? "image" : "name"];
  const move = moveTo(insteadOf ?? (name === undefined ? undefined : table.get(name)), server?.version);
  if (since !== undefined) {
    const same = sameServer(distribution, table);
    const ways = [
      ...(same === undefined ? [] : [`set spec.distribution.image to ${same}, which has the same server`]),
      "name a copy of it in image-overrides of the operator's settings or in spec.distribution.image",
      ...(move === undefined ? [] : [move]),
    ];
    return [
      warning(
        "ImageNotPublished",
        path,
        `image ${image} has not been published since ${since}, so only nodes that have it can run it; ${
          ways.join(", or ")
        }`,
      ),
    ];
  }
  return insteadOf === undefined || move === undefined ? [] : [
    warning("ServerStays", path, `the server stays on ${serverName(server?.version ?? "")}; ${move}`),
  ];
};

const moveTo = (target: Release | undefined, running: string | undefined): string | undefined => {
  const version = target?.unpublishedSince === undefined ? target?.serverVersion : undefined;
  return version === undefined || running !== undefined && productOf(running) === productOf(version)
    ? undefined
    : `set spec.distribution.serverVersion to "${version}" to move to ${serverName(version)}; docs/upgrade.md says ` +
      "what this move loses";
};

/** An image that is published, of the same minor version of the same distribution. */
const sameServer = ({ image, server }: ResolvedDistribution, table: DistributionTable): string | undefined =>
  [...table].filter(([name]) => new RegExp(`/distribution-${name}[:@]`).test(`${image}:`))
    .flatMap(([, { releases }]) => releases)
    .find(({ unpublishedSince, serverVersion = "" }) =>
      unpublishedSince === undefined && server !== undefined && serverOf(serverVersion)?.catalogue === server.catalogue
    )?.image;
