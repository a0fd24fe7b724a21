/** What a generated ConfigMap keeps of the labels that it was made from, so that no registry is asked again. */
import { type BaseSource, originOf, type ReadLabels } from "../config/servers/image_labels.ts";
import { isSha256Digest } from "../data/image_reference.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";

/** Annotation of the ConfigMap. The base is in a key of its own. */
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

/** `data`: the other content of the ConfigMap. */
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

const textOf = ({ content }: BaseSource): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** What a ConfigMap says about the labels that it was made from. */
export interface RecordedLabels {
  readonly image: string;
  readonly digest: string;
  /** Undefined: the base was too long to be kept. */
  readonly read: ReadLabels | undefined;
}

/** Undefined if it was made without, or another has changed it. */
export const recordedIn = (configMap: JsonObject): RecordedLabels | undefined => {
  const text = stringAt(configMap, "metadata", "annotations", LABELS_ANNOTATION);
  const record = objectIn(text);
  const [image, digest] = ["image", "digest"].map((name) => stringAt(record, name));
  if (image === undefined || !isSha256Digest(digest)) return undefined;
  const named = { image, digest };
  const wanted = stringAt(record, "wanted");
  const file = stringAt(record, "file");
  const base = stringAt(configMap, "data", BASE_KEY);
  if (file === undefined) return { ...named, read: { ...named, wanted, config: undefined } };
  const serverVersion = stringAt(record, "serverVersion");
  const config = base === undefined
    ? undefined
    : { file, base: { origin: originOf(image, file), content: base }, serverVersion };
  return { ...named, read: config === undefined ? undefined : { ...named, wanted, config } };
};
