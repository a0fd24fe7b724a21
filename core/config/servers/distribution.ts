/** `spec.distribution` → image, server and base. */
import * as Result from "effect/Result";
import {
  BaseUnreadable,
  OverrideForOtherServerFamily,
  ServerOfAnotherProduct,
  UnknownDistribution,
  UnsupportedServer,
} from "../../failure/failures.ts";
import { isObject, type Json, listAt, member, stringAt } from "../../data/json.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import type { ReadLabels } from "../../image/image_labels.ts";
import type { BaseSource } from "./base.ts";
import { productOf, type Server, serverName, serverOf, SUPPORTED_SERVERS } from "./families/families.ts";

/** One image of a distribution with its server and its base. */
export interface Release {
  readonly image: string;
  /** Undefined in the old flat form (`name: image`), where only the image's tag contains the version. */
  readonly serverVersion: string | undefined;
  /**
   * Whether the server does not start without a fix of the base config: then even a resource without further fields
   * gets a generated config.
   */
  readonly fixNeededToStart: boolean;
  /** The embedded base document, where there is one. */
  readonly base: BaseSource | undefined;
}

/** One row of distributions.json. */
export interface NamedDistribution extends Release {
  /** The same distribution for servers of other minor versions, oldest first. */
  readonly releases: ReadonlyArray<Release>;
}

export type DistributionTable = ReadonlyMap<string, NamedDistribution>;

/**
 * distributions.json, today's form or the old flat one; `bases` holds the embedded documents by file name, `releases` the
 * rows of releases.json by the name under which distributions.json refers to them.
 */
export const readDistributions = (
  document: Json,
  bases: Readonly<Record<string, string>>,
  releases: Json = {},
): Result.Result<DistributionTable, BaseUnreadable> => {
  const unreadable = (detail: string) =>
    Result.fail(new BaseUnreadable({ path: [], origin: "distributions.json", detail }));
  if (!isObject(document)) return unreadable("expected an object of distributions by name");
  const table = new Map<string, NamedDistribution>();
  for (const [name, row] of Object.entries(document)) {
    const image = typeof row === "string" ? row : stringAt(row, "image");
    if (name === "" || image === undefined || image === "") return unreadable(`"${name}" has no image`);
    const others = listAt(releases, stringAt(row, "releases") ?? name);
    table.set(name, {
      ...releaseOf(row, image, stringAt(row, "base") ?? `${name}.yaml`, name, bases),
      releases: others.map((other) =>
        releaseOf(other, stringAt(other, "image") ?? "", stringAt(other, "base") ?? "", name, bases)
      ),
    });
  }
  return Result.succeed(table);
};

const releaseOf = (
  row: Json,
  image: string,
  file: string,
  name: string,
  bases: Readonly<Record<string, string>>,
): Release => ({
  image,
  serverVersion: stringAt(row, "serverVersion"),
  fixNeededToStart: listAt(row, "fixes").some((fix) => member(fix, "neededToStart") === true),
  base: Object.hasOwn(bases, file) ? { origin: `embedded base of ${name}`, content: bases[file] ?? "" } : undefined,
});

/** Sources of images besides the table, all by distribution name. */
export interface ImageOverrides {
  /** `image-overrides` of the operator ConfigMap. */
  readonly settings: ReadonlyMap<string, string>;
  /** The environment of the operator: `RELATED_IMAGE_<NAME>` by variable name. */
  readonly related: ReadonlyMap<string, string>;
}

export const NO_OVERRIDES: ImageOverrides = { settings: new Map(), related: new Map() };

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
  /** The labels of the image, where they were read; the base is from them if they have one. */
  readonly labels?: ReadLabels;
}

type ResolutionFailure =
  | UnknownDistribution
  | UnsupportedServer
  | ServerOfAnotherProduct
  | OverrideForOtherServerFamily;

export const resolveDistribution = (
  wanted: Spec["distribution"],
  table: DistributionTable,
  overrides: ImageOverrides,
  /** A server to try instead, of whichever product. */
  tried?: string,
): Result.Result<ResolvedDistribution, ResolutionFailure> => {
  if (wanted.name === undefined) return ownImage(wanted.image ?? "", tried ?? wanted.serverVersion);
  const path = ["spec", "distribution", "name"];
  const named = table.get(wanted.name);
  if (named === undefined) {
    return Result.fail(new UnknownDistribution({ path, name: wanted.name, available: [...table.keys()].sort() }));
  }
  const pinned = named.serverVersion ?? versionInTag(named.image);
  const asked = tried ?? wanted.serverVersion;
  const version = asked ?? pinned;
  const server = version === undefined ? undefined : serverOf(version);
  const versionPath = asked === undefined ? path : ["spec", "distribution", "serverVersion"];
  if (version !== undefined && server === undefined) {
    return Result.fail(new UnsupportedServer({ path: versionPath, version, supported: SUPPORTED_SERVERS }));
  }
  if (tried === undefined && asked !== undefined && pinned !== undefined && productOf(asked) !== productOf(pinned)) {
    return Result.fail(
      new ServerOfAnotherProduct({
        path: versionPath,
        version: asked,
        distribution: wanted.name,
        product: productOf(pinned),
        others: [...table].filter(([, { serverVersion = "" }]) => productOf(serverVersion) === productOf(asked))
          .map(([name]) => name).sort(),
      }),
    );
  }
  const related = overrides.related.get(relatedImageVariable(wanted.name));
  // A bundle of OLM names the pinned images too, so that a mirror can replace them: until one does, nothing is overridden.
  const override = overrides.settings.get(wanted.name) ?? (related === named.image ? undefined : related);
  const overrideVersion = override === undefined ? undefined : versionInTag(override);
  const other = overrideVersion === undefined ? undefined : serverOf(overrideVersion);
  if (override !== undefined && overrideVersion !== undefined && other?.family !== server?.family) {
    return Result.fail(
      new OverrideForOtherServerFamily({ path, distribution: wanted.name, image: override, pinned: named.image }),
    );
  }
  const runs = other ?? server;
  const release = releaseFor(named, runs);
  if (release === undefined) {
    const supported = named.releases.flatMap(({ serverVersion }) => serverVersion ?? []).map(serverName);
    return Result.fail(new UnsupportedServer({ path: versionPath, version: version ?? "", supported }));
  }
  // An override without a version in its tag, such as a digest, replaces the pinned image and not those of other versions.
  const isReplaced = release === named || overrideVersion !== undefined;
  const replacement = isReplaced ? override : undefined;
  return Result.succeed({
    name: wanted.name,
    image: replacement ?? (release === named ? named.image : tagged(release, version ?? "")),
    server: runs,
    base: release.base,
    fixNeededToStart: release.fixNeededToStart,
    isOverridden: replacement !== undefined,
  });
};

/** The pinned release where its catalogue is the server's own, else the one of the server's minor; undefined: there is none. */
const releaseFor = (named: NamedDistribution, server: Server | undefined): Release | undefined => {
  if (server === undefined) return named;
  return [named, ...named.releases].find((release) => {
    const version = release.serverVersion ?? versionInTag(release.image);
    return version !== undefined && serverOf(version)?.catalogue === server.catalogue;
  });
};

/** The image of another release under the tag of the asked version; `x.y` means the release that the base is from. */
const tagged = ({ image }: Release, version: string): string =>
  /^[0-9]+\.[0-9]+\.[0-9]+$/.test(version) ? image.replace(/:[^:/]+$/, `:${version}`) : image;

/** `ogx-starter` → `RELATED_IMAGE_OGX_STARTER`. */
export const relatedImageVariable = (name: string): string =>
  `RELATED_IMAGE_${name.toUpperCase().replaceAll("-", "_")}`;

/** The server of an image, if its path and tag identify it. */
export const serverOfImage = (image: string): Server | undefined => {
  const version = PUBLISHED_PATH.test(image) ? versionInTag(image) : undefined;
  return version === undefined ? undefined : serverOf(version);
};

const ownImage = (
  image: string,
  serverVersion: string | undefined,
): Result.Result<ResolvedDistribution, UnsupportedServer> => {
  const version = serverVersion ?? (PUBLISHED_PATH.test(image) ? versionInTag(image) : undefined);
  const server = version === undefined ? undefined : serverOf(version);
  if (serverVersion !== undefined && server === undefined) {
    const path = ["spec", "distribution", "serverVersion"];
    return Result.fail(new UnsupportedServer({ path, version: serverVersion, supported: SUPPORTED_SERVERS }));
  }
  return Result.succeed({
    name: undefined,
    image,
    server,
    base: undefined,
    fixNeededToStart: false,
    isOverridden: false,
  });
};

/** Image paths whose tag is a server version, including mirrors. */
const PUBLISHED_PATH = /(^|\/)(llamastack|ogxai)\/distribution-[^/:@]+(:|@|$)/;

/** The tag if it is a version; `latest`, digests and other tags contain none. */
const versionInTag = (image: string): string | undefined => {
  const tag = /:([^/:@]+)(@.*)?$/.exec(image)?.[1];
  return tag !== undefined && /^[0-9]+\.[0-9]+(\.[0-9]+)?$/.test(tag) ? tag : undefined;
};
