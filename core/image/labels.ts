/**
 * The configs that an image carries in its labels. Three families of names:
 *
 * | prefix | published by |
 * | --- | --- |
 * | `io.llamastack.config.` | nobody yet; `base64`, or `layer` and `path`, and `version` |
 * | `com.ogx.` | OGX from 1.2 on, Open Data Hub, Red Hat: `config.<file>`, `distribution.name`, `.version`, `.default-config`, `.configs` |
 * | `com.llamastack.` | the same, as Llama Stack's build wrote it for a short time |
 */
import { CONFIG_TEXT_BYTES_MAX, IMAGE_CONFIGS_MAX } from "../data/limits.ts";
import * as Data from "effect/Data";
import * as Result from "effect/Result";
import { isSha256Digest } from "../data/image_reference.ts";
import { printable } from "../data/printable.ts";

export type Labels = Readonly<Record<string, string>>;

/** Where the text of a config is. */
export type ConfigSource =
  | { readonly kind: "inline"; readonly text: string }
  /** `layer`: the digest of a layer as the registry has it. */
  | { readonly kind: "layer"; readonly layer: string; readonly path: string };

export interface ImageConfigs {
  /** By file name. */
  readonly configs: ReadonlyMap<string, ConfigSource>;
  /** The one to use if nobody chooses; a name of `configs`. */
  readonly chosen: string;
  /** Name of the distribution, if the image has one. */
  readonly distribution: string | undefined;
  /** Version of the server, `x.y.z`; undefined if the image does not say it. */
  readonly serverVersion: string | undefined;
}

/** A label cannot be used; `detail` never quotes its value. */
export class LabelUnusable extends Data.TaggedError("LabelUnusable")<{
  readonly label: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `label ${
      printable(this.label.replaceAll(/\s/g, " ")).slice(0, LABEL_CHARACTERS_SHOWN)
    } of the image: ${this.detail}`;
  }
}

/** Of the name of a label, in messages. */
const LABEL_CHARACTERS_SHOWN = 200;

/** Longest name of a file, in characters: keys of ConfigMaps are as long. */
const FILE_NAME = /^[A-Za-z0-9._-]{1,253}$/;

const OWN = "io.llamastack.config.";
const PUBLISHED = ["com.ogx.", "com.llamastack."] as const;

/** Undefined: the labels name no config. `wanted`: the file to use instead of the default. */
export const configsIn = (labels: Labels, wanted?: string): Result.Result<ImageConfigs | undefined, LabelUnusable> => {
  if (Object.keys(labels).some((label) => label.startsWith(OWN))) return own(labels, wanted);
  const prefix = PUBLISHED.find((start) => Object.keys(labels).some((label) => label.startsWith(start)));
  return prefix === undefined ? Result.succeed(undefined) : published(labels, prefix, wanted);
};

export const unusable = (label: string, detail: string): Result.Result<never, LabelUnusable> =>
  Result.fail(new LabelUnusable({ label, detail }));

const own = (labels: Labels, wanted: string | undefined): Result.Result<ImageConfigs | undefined, LabelUnusable> => {
  const [inline, layer, path] = ["base64", "layer", "path"].map((name) => labels[`${OWN}${name}`]);
  let source: ConfigSource;
  if (inline !== undefined) {
    const text = decodedLabel(`${OWN}base64`, inline, A_CONFIG);
    if (Result.isFailure(text)) return Result.fail(text.failure);
    source = { kind: "inline", text: text.success };
  } else if (layer !== undefined || path !== undefined) {
    if (!isSha256Digest(layer)) {
      return unusable(`${OWN}layer`, "expected the digest of a layer, sha256: and 64 hexadecimal digits");
    }
    if (!isSafePath(path ?? "")) return unusable(`${OWN}path`, "expected the path of a file, without ..");
    source = { kind: "layer", layer, path: (path ?? "").replace(/^\/+/, "") };
  } else return Result.succeed(undefined);
  if (wanted !== undefined && wanted !== DEFAULT_NAME) {
    return unusable(`${OWN}base64`, `the image has one config only, and not ${wanted}`);
  }
  return Result.succeed({
    configs: new Map([[DEFAULT_NAME, source]]),
    chosen: DEFAULT_NAME,
    distribution: undefined,
    serverVersion: versionIn(labels[`${OWN}version`]),
  });
};

const DEFAULT_NAME = "config.yaml";

const published = (
  labels: Labels,
  prefix: string,
  wanted: string | undefined,
): Result.Result<ImageConfigs | undefined, LabelUnusable> => {
  const start = `${prefix}config.`;
  const found = Object.entries(labels).filter(([label]) => label.startsWith(start));
  const listLabel = `${prefix}distribution.configs`;
  // An image with one config may have it in the label that otherwise lists the names.
  const only = labels[listLabel];
  const all = found.length === 0 && only !== undefined && !/\.ya?ml/.test(only)
    ? [[`${start}${DEFAULT_NAME}`, only] as const]
    : found;
  if (all.length === 0) return Result.succeed(undefined);
  if (all.length > IMAGE_CONFIGS_MAX) {
    return unusable(`${start}*`, `there are ${all.length}; at most ${IMAGE_CONFIGS_MAX} are read`);
  }
  const configs = new Map<string, ConfigSource>();
  for (const [label, value] of all) {
    if (!FILE_NAME.test(label.slice(start.length))) {
      return unusable(label, "expected a name of a file of at most 253 letters, digits, dots, dashes and underscores");
    }
    const text = decodedLabel(label, value, A_CONFIG);
    if (Result.isFailure(text)) return Result.fail(text.failure);
    configs.set(label.slice(start.length), { kind: "inline", text: text.success });
  }
  const defaultLabel = `${prefix}distribution.default-config`;
  const chosen = wanted ?? labels[defaultLabel] ??
    (configs.has(DEFAULT_NAME) ? DEFAULT_NAME : [...configs.keys()][0] ?? "");
  if (!configs.has(chosen)) {
    const names = [...configs.keys()].toSorted().join(", ");
    return unusable(
      wanted === undefined ? defaultLabel : `${start}${wanted}`,
      `there is no such config in the image; it has ${names}; ${
        wanted === undefined ? "choose one with" : "correct or remove"
      } spec.distribution.config`,
    );
  }
  return Result.succeed({
    configs,
    chosen,
    distribution: labels[`${prefix}distribution.name`],
    serverVersion: versionIn(labels[`${prefix}distribution.version`]),
  });
};

/** The text of a label in Base64. */
export const decodedLabel = (
  label: string,
  value: string,
  { bytesMax, what }: { readonly bytesMax: number; readonly what: string },
): Result.Result<string, LabelUnusable> => {
  // Four characters of Base64 are three bytes.
  if (value.length > bytesMax * 4 / 3 + 4) {
    return unusable(label, `it has ${value.length} characters; ${what} has at most ${bytesMax} bytes`);
  }
  try {
    const bytes = Uint8Array.fromBase64(value.replace(/\s+/g, ""));
    return Result.succeed(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return unusable(label, "expected UTF-8 text in Base64");
  }
};

const A_CONFIG = { bytesMax: CONFIG_TEXT_BYTES_MAX, what: "a config" };

/** `v1.2.4+rhaiv.0` is 1.2.4. A whole number, as build scripts write it, is the version of the config's format. */
const versionIn = (text: string | undefined): string | undefined =>
  /^v?(\d+\.\d+(?:\.\d+)?)(?![\d.])/.exec(text ?? "")?.[1];

const isSafePath = (path: string): boolean =>
  path !== "" && path.length <= 1024 && !path.includes("\0") && path.split("/").every((part) => part !== "..");
