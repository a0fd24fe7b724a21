/** Stage 2, first half: `spec.distribution` → image, server and base. */
import { Result } from "effect";
import {
  BaseUnreadable,
  type GenerationFailure,
  OverrideOfAnotherLine,
  UnknownDistribution,
  UnsupportedServer,
} from "../failure.ts";
import { isObject, type Json, listAt, member, stringAt } from "../json.ts";
import type { Spec } from "../api/v1alpha2.ts";
import type { BaseSource } from "./base.ts";
import { type Server, serverOf, SUPPORTED_SERVERS } from "./lines/lines.ts";

/** One row of distributions.json. */
export interface NamedDistribution {
  readonly image: string;
  /** Undefined in the old flat form (`name: image`), where only the image's tag tells. */
  readonly serverVersion: string | undefined;
  /** A mend of the base without which the server does not start: then even a bare CR is generated (R30). */
  readonly mendNeededToStart: boolean;
  /** The embedded base document, where there is one. */
  readonly base: BaseSource | undefined;
}

export type DistributionTable = ReadonlyMap<string, NamedDistribution>;

/** distributions.json, today's form or the old flat one; `bases` holds the embedded documents by file name. */
export const readDistributions = (
  document: Json,
  bases: Readonly<Record<string, string>>,
): Result.Result<DistributionTable, BaseUnreadable> => {
  const unreadable = (detail: string) =>
    Result.fail(new BaseUnreadable({ path: [], origin: "distributions.json", detail }));
  if (!isObject(document)) return unreadable("expected an object of distributions by name");
  const table = new Map<string, NamedDistribution>();
  for (const [name, row] of Object.entries(document)) {
    const image = typeof row === "string" ? row : stringAt(row, "image");
    if (name === "" || image === undefined || image === "") return unreadable(`"${name}" names no image`);
    const file = stringAt(row, "base") ?? `${name}.yaml`;
    table.set(name, {
      image,
      serverVersion: stringAt(row, "serverVersion"),
      mendNeededToStart: listAt(row, "mends").some((mend) => member(mend, "neededToStart") === true),
      base: Object.hasOwn(bases, file) ? { origin: `embedded base of ${name}`, content: bases[file] ?? "" } : undefined,
    });
  }
  return Result.succeed(table);
};

/** Where images come from besides the table (R44), all by distribution name. */
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
  /** Undefined when nothing tells the version of an image's server. */
  readonly server: Server | undefined;
  readonly base: BaseSource | undefined;
  readonly mendNeededToStart: boolean;
}

export const resolveDistribution = (
  wanted: Spec["distribution"],
  table: DistributionTable,
  overrides: ImageOverrides,
): Result.Result<ResolvedDistribution, GenerationFailure> => {
  if (wanted.name === undefined) return ownImage(wanted.image ?? "", wanted.serverVersion);
  const path = ["spec", "distribution", "name"];
  const named = table.get(wanted.name);
  if (named === undefined) {
    return Result.fail(new UnknownDistribution({ path, name: wanted.name, available: [...table.keys()].sort() }));
  }
  const version = wanted.serverVersion ?? named.serverVersion ?? versionInTag(named.image);
  const server = version === undefined ? undefined : serverOf(version);
  if (version !== undefined && server === undefined) {
    return Result.fail(new UnsupportedServer({ path, version, supported: SUPPORTED_SERVERS }));
  }
  const override = overrides.settings.get(wanted.name) ?? overrides.related.get(relatedImageVariable(wanted.name));
  const tagged = override === undefined ? undefined : versionInTag(override);
  const other = tagged === undefined ? undefined : serverOf(tagged);
  if (override !== undefined && tagged !== undefined && other?.line !== server?.line) {
    return Result.fail(
      new OverrideOfAnotherLine({ path, distribution: wanted.name, image: override, pinned: named.image }),
    );
  }
  return Result.succeed({
    name: wanted.name,
    image: override ?? named.image,
    server: other ?? server,
    base: named.base,
    mendNeededToStart: named.mendNeededToStart,
  });
};

/** `ogx-starter` → `RELATED_IMAGE_OGX_STARTER`. */
export const relatedImageVariable = (name: string): string =>
  `RELATED_IMAGE_${name.toUpperCase().replaceAll("-", "_")}`;

/** The server of an image whose path and tag tell (R31). */
export const serverOfImage = (image: string): Server | undefined => {
  const version = PUBLISHED_PATH.test(image) ? versionInTag(image) : undefined;
  return version === undefined ? undefined : serverOf(version);
};

const ownImage = (
  image: string,
  serverVersion: string | undefined,
): Result.Result<ResolvedDistribution, GenerationFailure> => {
  const version = serverVersion ?? (PUBLISHED_PATH.test(image) ? versionInTag(image) : undefined);
  const server = version === undefined ? undefined : serverOf(version);
  if (serverVersion !== undefined && server === undefined) {
    const path = ["spec", "distribution", "serverVersion"];
    return Result.fail(new UnsupportedServer({ path, version: serverVersion, supported: SUPPORTED_SERVERS }));
  }
  return Result.succeed({ name: undefined, image, server, base: undefined, mendNeededToStart: false });
};

/** Image paths whose tag is a server version, mirrors included (R31). */
const PUBLISHED_PATH = /(^|\/)(llamastack|ogxai)\/distribution-[^/:@]+(:|@|$)/;

/** The tag where it is a version; `latest`, digests and other words tell nothing. */
const versionInTag = (image: string): string | undefined => {
  const tag = /:([^/:@]+)(@.*)?$/.exec(image)?.[1];
  return tag !== undefined && /^[0-9]+\.[0-9]+(\.[0-9]+)?$/.test(tag) ? tag : undefined;
};
