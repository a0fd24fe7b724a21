/** What the labels of a resource's image say: of the registry's answer, or of the record of an earlier one. */
import type { FieldPath } from "../../data/field_path.ts";

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
