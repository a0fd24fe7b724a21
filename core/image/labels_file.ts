/** Labels of an image from a file, for commands that work offline: of `skopeo inspect`, `crane config`, or a plain map. */
import * as Result from "effect/Result";
import { isImageReference } from "../api/image_reference.ts";
import { isObject, type Json, objectAt, stringAt } from "../data/json.ts";
import { type ImageLabels, originOf } from "./image_labels.ts";
import { imageName, repositoryOf } from "./image_name.ts";
import { PROVIDER_LABELS, providerLabelsIn, type ReadProviderLabels } from "./provider_labels.ts";
import { configsIn, type Labels } from "./labels.ts";

export interface LabelsFile {
  readonly labels: Labels;
  /** Undefined: the file does not say it. */
  readonly digest: string | undefined;
  /** Registry and repository; undefined: the file does not say it. */
  readonly repository: string | undefined;
}

/** Undefined: there are no labels in it. */
export const readLabelsFile = (document: Json): LabelsFile | undefined => {
  if (!isObject(document)) return undefined;
  const found = [objectAt(document, "Labels"), objectAt(document, "config", "Labels"), document]
    .find((labels) => Object.values(labels).some((value) => typeof value === "string"));
  if (found === undefined) return undefined;
  const [digest, name] = ["Digest", "Name"].map((field) => stringAt(document, field));
  return {
    labels: Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    ),
    digest: digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined,
    repository: name !== undefined && isImageReference(name) ? repositoryOf(imageName(name)) : undefined,
  };
};

/** Those that say something about a provider are of the images of providers, the other one is of the server's. */
export interface SortedFiles {
  /** Undefined: there is none. */
  readonly ofServer: LabelsFile | undefined;
  readonly ofProviders: ReadonlyArray<LabelsFile>;
}

/** The failure is a sentence. */
export const sortedFiles = (files: ReadonlyArray<LabelsFile>): Result.Result<SortedFiles, string> => {
  const isOfProvider = ({ labels }: LabelsFile) => PROVIDER_LABELS.some((label) => Object.hasOwn(labels, label));
  const ofProviders = files.filter(isOfProvider);
  const [ofServer, ...others] = files.filter((file) => !isOfProvider(file));
  if (others.length > 0) return Result.fail("there are two files without labels of an external provider; use one");
  return ofProviders.some(({ repository }) => repository === undefined)
    ? Result.fail("a file with labels of an external provider must name its image, as skopeo inspect does")
    : Result.succeed({ ofServer, ofProviders });
};

/**
 * By repository, and by digest where both say it. Nothing is known of an image with two different files, and of two images of one
 * repository: a file does not say its tag.
 */
export const providerLabelsInFiles =
  (files: ReadonlyArray<LabelsFile>) =>
  ({ image }: { readonly image: string }, images: ReadonlyArray<string> = [image]): ReadProviderLabels | undefined => {
    if (!isImageReference(image)) return undefined;
    const name = imageName(image);
    const isOther = (other: string) =>
      other !== image && isImageReference(other) && repositoryOf(imageName(other)) === repositoryOf(name);
    if (name.digest === undefined && images.some(isOther)) return undefined;
    const fit = files.filter(({ repository, digest }) =>
      repository === repositoryOf(name) && (name.digest === undefined || digest === undefined || name.digest === digest)
    );
    const [found] = fit;
    return found === undefined || fit.some(({ digest }) => digest !== found.digest)
      ? undefined
      : providerLabelsIn(found.labels);
  };

/** What they say for a resource with this image. */
export const labelsInFile =
  ({ labels, digest }: Pick<LabelsFile, "labels" | "digest">) =>
  (image: string, wanted: string | undefined): ImageLabels => {
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
