/** What the labels of a resource's image say: of the registry's answer, or of the record of an earlier one. */
import { isObject, type Json, type JsonObject, stringAt } from "../data/json.ts";
import type { BaseSource } from "../config/servers/base.ts";

/** Whether labels are read: for images without an embedded base and for overridden images, for every image, or for none. */
export type LabelUse = "Auto" | "Always" | "Never";

export type ImageLabels =
  /** The registry has been asked, and has not answered yet. */
  | { readonly kind: "awaited" }
  | { readonly kind: "unreadable"; readonly detail: string }
  /** `tagDigest`: what the tag has come to mean since then, as far as it is known. */
  | { readonly kind: "read"; readonly read: ReadLabels; readonly tagDigest?: string | undefined };

export interface ReadLabels {
  /** As the resource or the operator's setting names it. */
  readonly image: string;
  /** What that name meant when the labels were read; empty in a file that does not say it. */
  readonly digest: string;
  /** The file that the resource asks for; undefined: the image's default. */
  readonly wanted: string | undefined;
  /** Undefined: the image has no labels with a config. */
  readonly config: LabelledConfig | undefined;
}

export interface LabelledConfig {
  readonly file: string;
  readonly base: BaseSource;
  /** Version of the server, if the image names it. */
  readonly serverVersion: string | undefined;
}

/** `host/path:tag` or `host/path@digest` with this digest, so that pods run what the labels were read from. */
export const atDigest = (image: string, digest: string): string => {
  const rest = image.split("@")[0] ?? "";
  const colon = rest.lastIndexOf(":");
  return `${colon > rest.lastIndexOf("/") ? rest.slice(0, colon) : rest}@${digest}`;
};

/** Origin of a base in messages. */
export const originOf = (image: string, file: string): string => `${file} of image ${image}`;

/** Annotation of a generated ConfigMap: the labels that it was made from. The base is in a key of its own. */
export const LABELS_ANNOTATION = "llamastack.io/image-labels";
export const BASE_KEY = "base.yaml";

/** Longer ones do not fit into a ConfigMap beside the config; bytes. */
const RECORDED_BYTES_MAX = 900 * 1024;

export interface LabelsRecord {
  readonly annotation: string;
  /** Undefined: the image has no labels, or the base is too long to be kept. */
  readonly base: string | undefined;
}

/** What a generated ConfigMap keeps of them, so that no registry is asked again; `config` is its text. */
export const recordOf = ({ image, digest, wanted, config }: ReadLabels, text: string): LabelsRecord | undefined => {
  const base = config === undefined ? undefined : textOf(config.base);
  if (base !== undefined && base.length + text.length > RECORDED_BYTES_MAX) return undefined;
  const annotation = JSON.stringify({
    image,
    digest,
    ...(wanted === undefined ? {} : { wanted }),
    ...(config === undefined ? {} : {
      file: config.file,
      ...(config.serverVersion === undefined ? {} : { serverVersion: config.serverVersion }),
    }),
  });
  return { annotation, base };
};

export const textOf = ({ content }: BaseSource): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** The labels that a generated ConfigMap was made from; undefined if it was made without, or another has changed it. */
export const recordedIn = (configMap: JsonObject): ReadLabels | undefined => {
  const text = stringAt(configMap, "metadata", "annotations", LABELS_ANNOTATION);
  const record = text === undefined ? undefined : parsed(text);
  const [image, digest] = ["image", "digest"].map((name) => stringAt(record, name));
  if (image === undefined || digest === undefined || !/^sha256:[0-9a-f]{64}$/.test(digest)) return undefined;
  const wanted = stringAt(record, "wanted");
  const file = stringAt(record, "file");
  const base = stringAt(configMap, "data", BASE_KEY);
  if (file === undefined) return { image, digest, wanted, config: undefined };
  return base === undefined ? undefined : {
    image,
    digest,
    wanted,
    config: {
      file,
      base: { origin: originOf(image, file), content: base },
      serverVersion: stringAt(record, "serverVersion"),
    },
  };
};

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
