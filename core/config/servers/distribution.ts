/** `spec.distribution` → image, server and base. It is over 300 lines because all sources of one answer are weighed here. */
import * as Result from "effect/Result";
import {
  ImageNotPublished,
  OverrideForOtherServerFamily,
  UnknownDistribution,
  UnsupportedServer,
} from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import type { BaseSource, ReadLabels } from "./image_labels.ts";
import { publishedDistribution } from "../../image/published_image.ts";
import {
  type DistributionTable,
  type NamedDistribution,
  type Release,
  unpublishedSince,
} from "./distribution_table.ts";
import { productOf, type Server, serverName, serverOf, SUPPORTED_SERVERS } from "./families/families.ts";

/** Sources of images besides the table, all by distribution name. */
export interface ImageOverrides {
  /** `image-overrides` of the operator ConfigMap. */
  readonly settings: ReadonlyMap<string, string>;
  /** The environment of the operator: `RELATED_IMAGE_<NAME>` by variable name. */
  readonly related: ReadonlyMap<string, string>;
}

export const NO_OVERRIDES: ImageOverrides = { settings: new Map(), related: new Map() };

/** What the server of a resource runs already. */
export interface RunningServer {
  /** Undefined if only the version is known. */
  readonly image: string | undefined;
  /** Version of its server, e.g. `0.7.1`; undefined if it is unknown. */
  readonly serverVersion: string | undefined;
  /** The distribution by whose name it was made; undefined if that is unknown. */
  readonly distribution?: string | undefined;
  /** Folder of its data inside the claim that the resource names, e.g. `distributions/starter`; undefined: none is known. */
  readonly dataFolder?: string | undefined;
}

export interface ResolvedDistribution {
  /** Undefined for a CR that runs an image of its own. */
  readonly name: string | undefined;
  readonly image: string;
  /** Undefined if the version of the image's server is unknown. */
  readonly server: Server | undefined;
  readonly base: BaseSource | undefined;
  readonly fixNeededToStart: boolean;
  /** The operator's settings or environment name this image in place of the pinned one. */
  readonly isOverridden: boolean;
  /** Set if the server stays on what it runs, although the name means this server now. */
  readonly insteadOf?: Release;
  /** Month since when nobody publishes the image any more, and the operator knows no mirror of it. */
  readonly unpublishedSince?: string;
  /** The labels of the image, where they were read; the base is from them if they have one. */
  readonly labels?: ReadLabels;
}

type ResolutionFailure =
  | UnknownDistribution
  | UnsupportedServer
  | ImageNotPublished
  | OverrideForOtherServerFamily;

export interface Circumstances {
  /** A server to try instead, of whichever product. */
  readonly tried?: string | undefined;
  /** What runs already; undefined for a resource that never ran. */
  readonly running?: RunningServer | undefined;
  /** Whether a mirror that the operator knows may have the image. */
  readonly isMirrored?: ((image: string) => boolean) | undefined;
}

export const resolveDistribution = (
  wanted: Spec["distribution"],
  table: DistributionTable,
  overrides: ImageOverrides,
  circumstances: Circumstances = {},
): Result.Result<ResolvedDistribution, ResolutionFailure> =>
  Result.map(resolved(wanted, table, overrides, circumstances), (found) => {
    const isKnownToBeElsewhere = found.isOverridden || circumstances.isMirrored?.(found.image) === true;
    const since = isKnownToBeElsewhere ? undefined : unpublishedSince(found.image, table);
    return since === undefined ? found : { ...found, unpublishedSince: since };
  });

const resolved = (
  wanted: Spec["distribution"],
  table: DistributionTable,
  overrides: ImageOverrides,
  { tried, running, isMirrored = () => false }: Circumstances,
): Result.Result<ResolvedDistribution, ResolutionFailure> => {
  const asked = tried ?? wanted.serverVersion;
  const versionPath = ["spec", "distribution", "serverVersion"];
  if (wanted.name === undefined) return ownImage(wanted, asked, versionPath, table);
  const path = ["spec", "distribution", "name"];
  const { name } = wanted;
  const named = table.get(name);
  if (named === undefined) {
    const image = overrides.settings.get(name) ?? overrides.related.get(relatedImageVariable(name));
    if (image !== undefined) {
      // As if the resource named the image: nothing else is known of it.
      return Result.map(
        ownImage({ ...wanted, image }, asked, versionPath, table),
        (found) => ({ ...found, name, isOverridden: true }),
      );
    }
    // Those of which nobody publishes an image would be refused next.
    const available = [...table].filter(([, { releases }]) =>
      releases.length === 0 || releases.some(({ unpublishedSince }) => unpublishedSince === undefined)
    ).map(([known]) => known).sort();
    return Result.fail(new UnknownDistribution({ path, name, available }));
  }
  const override = overrideOf(name, named, overrides);
  const overrideVersion = override === undefined ? undefined : versionInTag(override);
  const before = running !== undefined && isOfDistribution(running, named.aliasOf ?? name, override)
    ? running
    : undefined;
  if (asked === undefined && before !== undefined && stays(before, named, table)) {
    if (overrideVersion === undefined) return Result.succeed(staying(name, before, named, override));
    // An image for new servers is not meant for what runs another product.
    if (before.serverVersion !== undefined && productOf(overrideVersion) !== productOf(before.serverVersion)) {
      return Result.succeed(staying(name, before, named, undefined));
    }
  }
  const version = asked ?? overrideVersion ?? named.serverVersion ?? versionInTag(named.image);
  const server = version === undefined ? undefined : serverOf(version);
  if (asked !== undefined && server === undefined) {
    return Result.fail(unsupported(versionPath, asked, SUPPORTED_SERVERS));
  }
  const other = overrideVersion === undefined ? server : serverOf(overrideVersion);
  const release = releaseFor(named, other);
  if (
    override !== undefined && overrideVersion !== undefined && (
      other === undefined || release === undefined || server?.family !== other.family
    )
  ) {
    return Result.fail(
      new OverrideForOtherServerFamily({
        path,
        distribution: name,
        image: override,
        pinned: asked === undefined ? named.image : serverName(asked),
      }),
    );
  }
  if (release === undefined) {
    const isNew = override === undefined && before === undefined && tried === undefined;
    const [gone] = named.releases;
    const offered = named.releases.filter((item) =>
      !isNew || item.unpublishedSince === undefined || isMirrored(item.image)
    );
    if (offered.length === 0 && gone !== undefined) {
      return Result.fail(
        new ImageNotPublished({ path, distribution: name, image: gone.image, since: gone.unpublishedSince ?? "" }),
      );
    }
    const supported = offered.flatMap(({ serverVersion }) => serverVersion ?? []).map(serverName);
    return Result.fail(unsupported(asked === undefined ? path : versionPath, version ?? "", supported));
  }
  // An override without a version in its tag, such as a digest, replaces the pinned image and not those of other versions.
  const isReplaced = release.image === named.image || overrideVersion !== undefined;
  const replacement = isReplaced ? override : undefined;
  const kept = before !== undefined && isSameServer(before, asked, other, table) ? before.image : undefined;
  const image = replacement ?? kept ?? tagged(release, version ?? "");
  if (
    replacement === undefined && before === undefined && tried === undefined && !isMirrored(image) &&
    named.releases.every(({ unpublishedSince }) => unpublishedSince !== undefined)
  ) {
    const since = release.unpublishedSince ?? "";
    return Result.fail(new ImageNotPublished({ path, distribution: name, image, since }));
  }
  return Result.succeed({
    name,
    image,
    server: other,
    base: release.base,
    fixNeededToStart: release.fixNeededToStart,
    isOverridden: replacement !== undefined,
  });
};

const unsupported = (path: FieldPath, version: string, supported: ReadonlyArray<string>) =>
  new UnsupportedServer({ path, version, supported });

/** Of the name itself, else of the name that it is another name of. */
const overrideOf = (
  name: string,
  named: NamedDistribution,
  { settings, related }: ImageOverrides,
): string | undefined => {
  const inherited = named.aliasOf;
  // An image for the other name is one for this name only if it is known to hold the same product.
  const isSameProduct = (image: string): boolean => {
    const version = versionInTag(image);
    return version !== undefined && productOf(version) === productOf(named.serverVersion ?? "");
  };
  const of = (images: (name: string) => string | undefined): ReadonlyArray<string> => [
    ...[images(name)].flatMap((image) => image ?? []),
    ...(inherited === undefined ? [] : [images(inherited)].flatMap((image) => image ?? []).filter(isSameProduct)),
  ];
  const variables = of((item) => related.get(relatedImageVariable(item)));
  // A bundle of OLM names the pinned images too, so that a mirror can replace them: until one does, nothing is overridden.
  return of((item) => settings.get(item))[0] ?? variables.filter((image) => image !== named.image)[0];
};

/** Whether what runs is an image of this distribution, and not one that another name or an image of the author's stood for. */
const isOfDistribution = (
  { image, distribution }: RunningServer,
  name: string,
  override: string | undefined,
): boolean =>
  image === undefined || override !== undefined || distribution === name ||
  new RegExp(`(^|/)distribution-${name}[:@]`).test(`${image}:`);

/** Nobody asked for another server: an image that cannot be replaced stays, and Llama Stack does not become OGX. */
const stays = ({ image, serverVersion }: RunningServer, named: NamedDistribution, table: DistributionTable): boolean =>
  named.aliasOf === undefined && (
    image !== undefined && unpublishedSince(image, table) !== undefined ||
    serverVersion !== undefined && productOf(serverVersion) !== productOf(named.serverVersion ?? "") &&
      productOf(serverVersion) === "Llama Stack"
  );

const staying = (
  name: string,
  { image, serverVersion }: RunningServer,
  named: NamedDistribution,
  override: string | undefined,
): ResolvedDistribution => {
  const server = serverVersion === undefined ? undefined : serverOf(serverVersion);
  const release = server === undefined ? undefined : releaseFor(named, server);
  return {
    name,
    image: override ?? image ?? tagged(release ?? named, serverVersion ?? ""),
    server,
    base: release?.base,
    fixNeededToStart: release?.fixNeededToStart ?? false,
    isOverridden: override !== undefined,
    insteadOf: named,
  };
};

/** Whether the server that is asked for runs already, in an image that nobody publishes any more: it stays. */
const isSameServer = (
  { image, serverVersion }: RunningServer,
  asked: string | undefined,
  server: Server | undefined,
  table: DistributionTable,
): boolean =>
  image !== undefined && asked !== undefined && unpublishedSince(image, table) !== undefined &&
  // Where the version is unknown, the author names it.
  (serverVersion === undefined
    ? productOf(asked) === "Llama Stack"
    : asked === serverVersion || !isPatch(asked) && serverOf(serverVersion)?.catalogue === server?.catalogue);

/** The release whose catalogue is the server's own; undefined: there is none. */
const releaseFor = (named: NamedDistribution, server: Server | undefined): Release | undefined => {
  if (server === undefined) return named;
  return [named, ...named.releases].find((release) => {
    const version = release.serverVersion ?? versionInTag(release.image);
    return version !== undefined && serverOf(version)?.catalogue === server.catalogue;
  });
};

/** The image of another release under the tag of the asked version; `x.y` means the release that the base is from. */
const tagged = ({ image }: Release, version: string): string =>
  isPatch(version) ? image.replace(/:[^:/]+$/, `:${version}`) : image;

const isPatch = (version: string): boolean => /^[0-9]+\.[0-9]+\.[0-9]+$/.test(version);

/** `ogx-starter` → `RELATED_IMAGE_OGX_STARTER`. */
export const relatedImageVariable = (name: string): string =>
  `RELATED_IMAGE_${name.toUpperCase().replaceAll("-", "_")}`;

/** The server of an image, if its path and tag identify it. */
export const serverOfImage = (image: string): Server | undefined => {
  const version = publishedDistribution(image) !== undefined ? versionInTag(image) : undefined;
  return version === undefined ? undefined : serverOf(version);
};

/** A published image has the base of its release, whoever names it; a file of its labels is only in them. */
const ownImage = (
  { image = "", config }: Spec["distribution"],
  serverVersion: string | undefined,
  path: FieldPath,
  table: DistributionTable,
): Result.Result<ResolvedDistribution, UnsupportedServer> => {
  const published = publishedDistribution(image);
  const version = serverVersion ?? (published === undefined ? undefined : versionInTag(image));
  const server = version === undefined ? undefined : serverOf(version);
  if (serverVersion !== undefined && server === undefined) {
    return Result.fail(unsupported(path, serverVersion, SUPPORTED_SERVERS));
  }
  const named = published === undefined || config !== undefined ? undefined : table.get(published);
  const release = named === undefined || server === undefined ? undefined : releaseFor(named, server);
  return Result.succeed({
    name: undefined,
    image,
    server,
    base: release?.base,
    fixNeededToStart: release?.fixNeededToStart ?? false,
    isOverridden: false,
  });
};

/** The tag if it is a version; `latest`, digests and other tags contain none. */
const versionInTag = (image: string): string | undefined => {
  const tag = /:([^/:@]+)(@.*)?$/.exec(image)?.[1];
  return tag !== undefined && /^[0-9]+\.[0-9]+(\.[0-9]+)?$/.test(tag) ? tag : undefined;
};
