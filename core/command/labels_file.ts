/** Labels of an image from a file, for commands that work offline: of `skopeo inspect`, `crane config`, or a plain map. */
import * as Result from "effect/Result";
import { isObject, type Json, objectAt, stringAt } from "../data/json.ts";
import { type ImageLabels, originOf } from "../config/servers/image_labels.ts";
import { imageName, isImageReference, isSha256Digest, repositoryOf } from "../data/image_reference.ts";
import { PROVIDER_LABELS, providerLabelsIn, type ReadProviderLabels } from "../image/provider_labels.ts";
import { configsIn, type Labels } from "../image/labels.ts";

export interface LabelsFile {
  readonly labels: Labels;
  /** Undefined: the file does not say it. */
  readonly digest: string | undefined;
  /** Registry and repository; undefined: the file does not say it. */
  readonly repository: string | undefined;
}

/** Undefined: there are no labels in it. */
export const readLabelsFile = (document: Json): LabelsFile | undefined => {
  // A manifest has no labels, but texts.
  if (!isObject(document) || document.schemaVersion !== undefined) return undefined;
  const found = [objectAt(document, "Labels"), objectAt(document, "config", "Labels"), document]
    .find((labels) => Object.values(labels).some((value) => typeof value === "string"));
  if (found === undefined) return undefined;
  const [digest, name] = ["Digest", "Name"].map((field) => stringAt(document, field));
  return {
    labels: Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    ),
    digest: isSha256Digest(digest) ? digest : undefined,
    repository: name !== undefined && isImageReference(name) ? repositoryOf(imageName(name)) : undefined,
  };
};

export interface SortedFiles {
  /** Of images of servers: at most one of them does not name its image. */
  readonly ofServers: ReadonlyArray<LabelsFile>;
  /** Those that say something about a provider. */
  readonly ofProviders: ReadonlyArray<LabelsFile>;
}

/** The failure is a sentence. */
export const sortedFiles = (files: ReadonlyArray<LabelsFile>): Result.Result<SortedFiles, string> => {
  const isOfProvider = ({ labels }: LabelsFile) => PROVIDER_LABELS.some((label) => Object.hasOwn(labels, label));
  const isNameless = ({ repository }: LabelsFile) => repository === undefined;
  const ofProviders = files.filter(isOfProvider);
  const ofServers = files.filter((file) => !isOfProvider(file));
  if (ofServers.length > 1 && ofServers.some(isNameless)) {
    return Result.fail("of several files, each must name its image, as skopeo inspect does");
  }
  return ofProviders.some(isNameless)
    ? Result.fail("a file with labels of an external provider must name its image, as skopeo inspect does")
    : Result.succeed({ ofServers, ofProviders });
};

const isOf = (image: string) => {
  const name = imageName(image);
  return ({ repository, digest }: LabelsFile): boolean =>
    repository === repositoryOf(name) && (name.digest === undefined || digest === undefined || name.digest === digest);
};

/**
 * By repository, and by digest where both say it. Nothing is known of an image with two different files, and of two images of one
 * repository: a file does not say its tag.
 */
const fileOf = (
  files: ReadonlyArray<LabelsFile>,
  image: string,
  /** All that are asked about. */
  images: ReadonlyArray<string>,
): LabelsFile | undefined => {
  if (!isImageReference(image)) return undefined;
  const name = imageName(image);
  const isOther = (other: string) =>
    other !== image && isImageReference(other) && repositoryOf(imageName(other)) === repositoryOf(name);
  if (name.digest === undefined && images.some(isOther)) return undefined;
  const [found, ...others] = files.filter(isOf(image));
  return others.some(({ digest }) => digest !== found?.digest) ? undefined : found;
};

export const providerLabelsInFiles =
  (files: ReadonlyArray<LabelsFile>) =>
  ({ image }: { readonly image: string }, images: ReadonlyArray<string> = [image]): ReadProviderLabels | undefined => {
    const found = fileOf(files, image, images);
    return found === undefined ? undefined : providerLabelsIn(found.labels);
  };

/** Images of one resource. */
export interface NamedImages {
  /** Undefined: it is that of the name of a distribution. */
  readonly ofServer: string | undefined;
  readonly ofProviders: ReadonlyArray<string>;
}

/** Sentences on files that say nothing, since a wrong file would otherwise look like a good image. */
export const unusedFiles = (
  { ofServers, ofProviders }: SortedFiles,
  resources: ReadonlyArray<NamedImages>,
): ReadonlyArray<string> => {
  const images = resources.flatMap(({ ofProviders }) => ofProviders);
  const has = (named: ReadonlyArray<string>) => (file: LabelsFile) =>
    named.some((image) => isImageReference(image) && isOf(image)(file));
  const found = resources.flatMap(({ ofProviders: together }) =>
    together.flatMap((image) => fileOf(ofProviders, image, together) ?? [])
  );
  const unreadable = [...new Set(found)].flatMap((file) =>
    Result.match(providerLabelsIn(file.labels), {
      onSuccess: () => [],
      onFailure: ({ message }) => [`the labels of ${shown(file)} are not used: ${message}`],
    })
  );
  const servers = resources.flatMap(({ ofServer }) => ofServer ?? []);
  const foundServers = servers.flatMap((image) => fileOf(ofServers, image, servers) ?? []);
  const isForeign = (file: LabelsFile) =>
    file.repository !== undefined && servers.length === resources.length && !has([...servers, ...images])(file);
  const foreign = [
    ...ofServers.filter(isForeign),
    ...ofProviders.filter((file) => !found.includes(file) && !has(images)(file)),
  ];
  const doubtful = [
    ...ofServers.filter((file) => !foundServers.includes(file) && has(servers)(file)),
    ...ofProviders.filter((file) => !found.includes(file) && has(images)(file)),
  ];
  return [
    ...foreign.map((file) => `the labels of ${shown(file)} are not used: no resource has this image`),
    ...doubtful.map((file) =>
      `the labels of ${
        shown(file)
      } are not used: several files or images are of this repository, so name the images by digest`
    ),
    ...unreadable,
  ];
};

const shown = ({ repository = "an unnamed image", digest }: LabelsFile): string =>
  digest === undefined ? repository : `${repository}@${digest}`;

/** What the file of an image says for a resource with it; undefined if there is no such file. */
export const labelsInFiles =
  (files: ReadonlyArray<LabelsFile>, images: ReadonlyArray<string> = []) =>
  (image: string, wanted: string | undefined): ImageLabels | undefined => {
    const found = files.find(({ repository }) => repository === undefined) ?? fileOf(files, image, images);
    return found === undefined ? undefined : labelsOf(found, image, wanted);
  };

const labelsOf = ({ labels, digest }: LabelsFile, image: string, wanted: string | undefined): ImageLabels => {
  const configs = configsIn(labels, wanted);
  if (Result.isFailure(configs)) return { kind: "unreadable", detail: configs.failure.message };
  const { chosen = "", serverVersion } = configs.success ?? {};
  const source = configs.success?.configs.get(chosen);
  if (source?.kind === "layer") {
    return { kind: "unreadable", detail: `${chosen} is in a layer of the image, at ${source.path}; use --base` };
  }
  return {
    kind: "read",
    read: {
      image,
      digest: digest ?? "",
      wanted,
      config: source === undefined
        ? undefined
        : { file: chosen, base: { origin: originOf(image, chosen), content: source.text }, serverVersion },
    },
  };
};
