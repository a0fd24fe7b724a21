/** Labels of an image from a file, for commands that work offline: of `skopeo inspect`, `crane config`, or a plain map. */
import * as Result from "effect/Result";
import { isObject, type Json, objectAt, stringAt } from "../data/json.ts";
import { type ImageLabels, originOf } from "./image_labels.ts";
import { configsIn, type Labels } from "./labels.ts";

export interface LabelsFile {
  readonly labels: Labels;
  /** Undefined: the file does not say it. */
  readonly digest: string | undefined;
}

/** Undefined: there are no labels in it. */
export const readLabelsFile = (document: Json): LabelsFile | undefined => {
  if (!isObject(document)) return undefined;
  const found = [objectAt(document, "Labels"), objectAt(document, "config", "Labels"), document]
    .find((labels) => Object.values(labels).some((value) => typeof value === "string"));
  if (found === undefined) return undefined;
  const digest = stringAt(document, "Digest");
  return {
    labels: Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    ),
    digest: digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined,
  };
};

/** What they say for a resource with this image. */
export const labelsInFile =
  ({ labels, digest }: LabelsFile) => (image: string, wanted: string | undefined): ImageLabels => {
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
