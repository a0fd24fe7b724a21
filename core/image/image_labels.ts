/** What the labels of a resource's image say: of the registry's answer, or of the record of an earlier one. */
import { isSha256Digest } from "../data/image_reference.ts";
import type { FieldPath } from "../data/field_path.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";

/** A base config and its source, e.g. `embedded base of starter`. */
export interface BaseSource {
  readonly origin: string;
  /** The field of the resource that names it; if unset, `spec.distribution`. */
  readonly path?: FieldPath;
  /** Text, or the bytes of a file or label. */
  readonly content: string | Uint8Array;
}

export type ImageLabels =
  /** The registry has been asked, and has not answered yet. */
  | { readonly kind: "awaited" }
  | {
    readonly kind: "unreadable";
    readonly detail: string;
    /** Set if the server must be left as it is. */
    readonly kept?: KeptServer | undefined;
  }
  | {
    readonly kind: "read";
    readonly read: ReadLabels;
    /** The server runs on the embedded base; the labels count after the next edit, or `rollout`. */
    readonly isHeld?: boolean | undefined;
    /** The annotation of the resource asks for this digest. */
    readonly isRequested?: boolean | undefined;
  };

/** A server that runs on labels, or for which a digest was requested: no failure of a registry changes it. */
export interface KeptServer {
  /** Whose labels are needed. */
  readonly reference: string;
  /** The ConfigMap that contained them, if it does not exist any more. */
  readonly missing: string | undefined;
  /** The annotation of the resource asks for this digest. */
  readonly isRequested: boolean;
}

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

/** Origin of a base in messages. */
export const originOf = (image: string, file: string): string => `${file} of image ${image}`;

/** Annotation of a generated ConfigMap: the labels that it was made from. The base is in a key of its own. */
export const LABELS_ANNOTATION = "llamastack.io/image-labels";
export const BASE_KEY = "base.yaml";
/** HMAC over that annotation and the content: who can write ConfigMaps must not choose what the operator runs. */
export const LABELS_PROOF_ANNOTATION = "llamastack.io/image-labels-proof";

/** Longer ones do not fit into a ConfigMap beside the config; bytes. */
const RECORDED_BYTES_MAX = 900 * 1024;

export interface LabelsRecord {
  readonly annotation: string;
  /** Undefined: the image has no labels, or the base is too long to be kept. */
  readonly base: string | undefined;
}

/** What a generated ConfigMap keeps of them, so that no registry is asked again; `data` is its other content. */
export const recordOf = (
  { image, digest, wanted, config }: ReadLabels,
  data: Readonly<Record<string, string>>,
): LabelsRecord => {
  const base = config === undefined ? undefined : textOf(config.base);
  const bytes = [base ?? "", ...Object.values(data)].reduce((sum, text) => sum + bytesOf(text), 0);
  const annotation = JSON.stringify({
    image,
    digest,
    ...(wanted === undefined ? {} : { wanted }),
    ...(config === undefined ? {} : {
      file: config.file,
      ...(config.serverVersion === undefined ? {} : { serverVersion: config.serverVersion }),
    }),
  });
  return { annotation, base: bytes > RECORDED_BYTES_MAX ? undefined : base };
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const textOf = ({ content }: BaseSource): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** What a generated ConfigMap says about the labels that it was made from. */
export interface RecordedLabels {
  readonly image: string;
  readonly digest: string;
  readonly wanted: string | undefined;
  /** Undefined: the base was too long to be kept. */
  readonly read: ReadLabels | undefined;
}

/** Undefined if it was made without, or another has changed it. */
export const recordedIn = (configMap: JsonObject): RecordedLabels | undefined => {
  const text = stringAt(configMap, "metadata", "annotations", LABELS_ANNOTATION);
  const record = objectIn(text);
  const [image, digest] = ["image", "digest"].map((name) => stringAt(record, name));
  if (image === undefined || !isSha256Digest(digest)) return undefined;
  const named = { image, digest, wanted: stringAt(record, "wanted") };
  const file = stringAt(record, "file");
  const base = stringAt(configMap, "data", BASE_KEY);
  if (file === undefined) return { ...named, read: { ...named, config: undefined } };
  const serverVersion = stringAt(record, "serverVersion");
  const config = base === undefined
    ? undefined
    : { file, base: { origin: originOf(image, file), content: base }, serverVersion };
  return { ...named, read: config === undefined ? undefined : { ...named, config } };
};
