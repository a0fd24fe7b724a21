/** A distribution with the base that the labels of its image contain. */
import * as Result from "effect/Result";
import {
  BaseUnreadable,
  ImageLabelsAwaited,
  ImageLabelsUnread,
  OverrideForOtherServerFamily,
  UnsupportedConfigVersion,
  UnsupportedImageVersion,
} from "../../failure/failures.ts";
import { atDigest } from "../../data/image_reference.ts";
import type { ImageLabels, ReadLabels } from "./image_labels.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import type { Settings } from "../../operator/settings.ts";
import type { ResolvedDistribution } from "./distribution.ts";
import { serverOf, SUPPORTED_SERVERS } from "./families/families.ts";

/** Whether the labels count before the embedded base, which belongs to the image that the operator pins. */
export const readsLabels = ({ base, isOverridden }: ResolvedDistribution, use: Settings["imageLabels"]): boolean =>
  use === "Always" || use === "Auto" && (base === undefined || isOverridden);

export interface Labelled {
  readonly distribution: ResolvedDistribution;
  readonly warnings: ReadonlyArray<Warning>;
  /** Why the labels have no base; undefined if they were not asked for, or have one. */
  readonly cause: string | undefined;
}

/** `labels`: undefined if nobody asks for them. */
export const labelled = (
  distribution: ResolvedDistribution,
  labels: ImageLabels | undefined,
): Result.Result<Labelled, ImageLabelsAwaited | ImageLabelsUnread | Unfit> => {
  const path = ["spec", "distribution", distribution.name === undefined ? "image" : "name"];
  const without = (cause: string | undefined, warnings: ReadonlyArray<Warning> = []) =>
    Result.succeed({ distribution, warnings, cause });
  switch (labels?.kind) {
    case undefined:
      return without(undefined);
    case "awaited":
      return Result.fail(new ImageLabelsAwaited({ path, image: distribution.image }));
    case "unreadable":
      if (labels.kept !== undefined) {
        const { reference, ...rest } = labels.kept;
        return Result.fail(new ImageLabelsUnread({ path, ...rest, image: reference, detail: labels.detail }));
      }
      return without(
        labels.detail,
        distribution.base === undefined ? [] : [
          warning(
            "ImageLabelsUnread",
            path,
            `the labels of image ${distribution.image} could not be read, and the base config that the operator has for ` +
              `this name is used: ${labels.detail}`,
          ),
        ],
      );
    case "read":
      return labels.isHeld === true && labels.read.config !== undefined
        ? without(undefined, [heldWarning(labels.read, path)])
        : withRead(distribution, labels, path);
  }
};

type Read = Extract<ImageLabels, { readonly kind: "read" }>;
type Unfit = ImageLabelsUnread | UnsupportedImageVersion | OverrideForOtherServerFamily;

const heldWarning = ({ image, digest }: ReadLabels, path: ReadonlyArray<string>): Warning =>
  warning(
    "ImageLabelsHeld",
    path,
    `the labels of image ${image} can be read now; the server runs on the base config that the operator has for this ` +
      `name, until you edit the resource or run \`llama-stack-operator rollout NAME --image-digest ${digest}\``,
  );

const withRead = (
  distribution: ResolvedDistribution,
  { read, isRequested = false }: Read,
  path: ReadonlyArray<string>,
): Result.Result<Labelled, Unfit> => {
  const { config, digest } = read;
  const reference = digest === "" ? distribution.image : atDigest(distribution.image, digest);
  if (config === undefined && isRequested) {
    const detail = "the image has no labels with a config";
    return Result.fail(new ImageLabelsUnread({ path, image: reference, detail, missing: undefined, isRequested }));
  }
  if (config === undefined) {
    return Result.succeed({
      distribution: { ...distribution, labels: read },
      warnings: [],
      cause: "the image has no labels with a config",
    });
  }
  const version = config.serverVersion;
  const server = version === undefined ? distribution.server : serverOf(version);
  if (version !== undefined && server === undefined) {
    return Result.fail(
      new UnsupportedImageVersion({ path, image: reference, version, supported: SUPPORTED_SERVERS, isRequested }),
    );
  }
  // A name promises a server of its family: fields of the resource are read for that one.
  if (
    distribution.name !== undefined && distribution.server !== undefined &&
    server?.family !== distribution.server.family
  ) {
    const { name, image } = distribution;
    return Result.fail(
      new OverrideForOtherServerFamily({
        path,
        distribution: name,
        image,
        pinned: `server ${distribution.server.version}`,
        isRequested,
      }),
    );
  }
  return Result.succeed({
    distribution: {
      ...distribution,
      image: reference,
      server,
      base: config.base,
      labels: read,
    },
    warnings: [],
    cause: undefined,
  });
};

/** The message then says how to leave the requested image. */
export const ofRequestedImage = <E>(failure: E): E | BaseUnreadable | UnsupportedConfigVersion => {
  if (failure instanceof BaseUnreadable) return new BaseUnreadable({ ...failure, isRequested: true });
  return failure instanceof UnsupportedConfigVersion
    ? new UnsupportedConfigVersion({ ...failure, isRequested: true })
    : failure;
};
