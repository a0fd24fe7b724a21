/** Manifests and indexes of images, in the formats of OCI and Docker. Every document comes from whoever made the image. */
import { IMAGE_LAYERS_MAX, IMAGE_PLATFORMS_MAX } from "../data/limits.ts";
import * as Data from "effect/Data";
import * as Result from "effect/Result";
import { isSha256Digest } from "../data/image_reference.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";

/** All four, so that no registry converts one into another. */
export const MANIFEST_TYPES: ReadonlyArray<string> = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

/** Of an image, the digests of its config and of its layers. */
export type Manifest =
  | {
    readonly kind: "index";
    readonly platforms: ReadonlyArray<{ readonly digest: string; readonly architecture: string }>;
  }
  | { readonly kind: "image"; readonly config: string; readonly layers: ReadonlyArray<string> };

/** The document is none that a container runtime accepts, or larger than any real one. */
export class ManifestUnusable extends Data.TaggedError("ManifestUnusable")<{ readonly detail: string }> {
  override get message(): string {
    return `the manifest of the image cannot be used: ${this.detail}`;
  }
}

export const readManifest = (document: Json): Result.Result<Manifest, ManifestUnusable> => {
  if (!isObject(document)) return unusable("it is no JSON object");
  // Both formats agree in these two members, and not every registry repeats the media type.
  return Array.isArray(document.manifests) ? index(document) : image(document);
};

const unusable = (detail: string): Result.Result<never, ManifestUnusable> =>
  Result.fail(new ManifestUnusable({ detail }));

const index = (document: JsonObject): Result.Result<Manifest, ManifestUnusable> => {
  const entries = listAt(document, "manifests");
  if (entries.length > IMAGE_PLATFORMS_MAX) return unusable(`its index has ${entries.length} entries`);
  const platforms = entries.flatMap((entry) => {
    const digest = digestIn(entry);
    const [system, architecture] = ["os", "architecture"].map((name) => stringAt(entry, "platform", name));
    // Attestations are entries of an unknown platform.
    return digest === undefined || system !== "linux" || architecture === undefined ? [] : [{ digest, architecture }];
  });
  return platforms.length === 0
    ? unusable("its index has no image for Linux")
    : Result.succeed({ kind: "index", platforms });
};

const image = (document: JsonObject): Result.Result<Manifest, ManifestUnusable> => {
  const config = digestIn(objectAt(document, "config"));
  const entries = listAt(document, "layers");
  const layers = entries.flatMap((entry) => digestIn(entry) ?? []);
  if (config === undefined) return unusable("it has no config");
  if (entries.length > IMAGE_LAYERS_MAX) return unusable(`it has ${entries.length} layers`);
  if (layers.length !== entries.length) return unusable("it has a layer without a digest");
  return Result.succeed({ kind: "image", config, layers });
};

const digestIn = (entry: Json): string | undefined => {
  const digest = stringAt(entry, "digest");
  return isSha256Digest(digest) ? digest : undefined;
};

/** The labels of an image's config; empty if it has none. */
export const labelsOf = (config: Json): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(objectAt(config, "config", "Labels"))
      .filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
