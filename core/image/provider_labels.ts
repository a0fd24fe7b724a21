/**
 * Labels of an image of an external provider: they repeat what is in the image, so that it can be judged without pulling it.
 * The pod judges the files themselves (prepare_providers.py).
 */
import * as Data from "effect/Data";
import * as Result from "effect/Result";
import { isList, isObject, type Json } from "../data/json.ts";
import { ANSWER_BOUNDS, readJson } from "../data/json_text.ts";
import { decodedLabel, type Labels, type LabelUnusable, unusable } from "./labels.ts";
import { namedWheel, type Wheel } from "./wheel.ts";

/** Base64 of the whole lls-provider-spec.yaml. */
export const DESCRIPTION_LABEL = "io.llamastack.provider.description";
/** Base64 of JSON: a list of `{"file": NAME, "requires": [REQUIREMENT]}`, one for each wheel of the image. */
export const WHEELS_LABEL = "io.llamastack.provider.wheels";

export const PROVIDER_LABELS: ReadonlyArray<string> = [DESCRIPTION_LABEL, WHEELS_LABEL];

/** A wheel as far as its name and its requirements say. */
export type LabelledWheel = Pick<Wheel, "file" | "name" | "version" | "requires">;

export interface ProviderLabels {
  /** Text of the description; undefined: the image has no such label. */
  readonly description: string | undefined;
  /** Undefined: the image has no such label. */
  readonly wheels: ReadonlyArray<ListedWheel> | undefined;
}

export interface ListedWheel {
  /** Its name in the folder `packages`. */
  readonly file: string;
  /** A failure is a sentence. */
  readonly wheel: Result.Result<LabelledWheel, string>;
}

/** Undefined: the image does not say what it contains. */
export type ReadProviderLabels = Result.Result<ProviderLabels | undefined, LabelUnusable>;

export const providerLabelsIn = (labels: Labels): ReadProviderLabels => {
  const [description, wheels] = [labels[DESCRIPTION_LABEL], labels[WHEELS_LABEL]];
  if (description === undefined && wheels === undefined) return Result.succeed(undefined);
  const text = description === undefined
    ? Result.succeed(undefined)
    : decodedLabel(DESCRIPTION_LABEL, description, ITS_TEXT);
  if (Result.isFailure(text)) return Result.fail(text.failure);
  if (wheels === undefined) return Result.succeed({ description: text.success, wheels: undefined });
  return Result.map(
    Result.flatMap(decodedLabel(WHEELS_LABEL, wheels, ITS_TEXT), wheelsIn),
    (found) => ({ description: text.success, wheels: found }),
  );
};

export interface LabelsOfPlatform {
  readonly architecture: string;
  readonly labels: Labels;
}

/** Those of all architectures of an image, without labels of other purposes: a pod may be scheduled to a node of any of them. */
export const providersAgreed = (
  platforms: ReadonlyArray<LabelsOfPlatform>,
): Result.Result<Labels, ProvidersDiffer> => {
  const own = platforms.map(({ architecture, labels }) => ({
    architecture,
    labels: Object.fromEntries(
      PROVIDER_LABELS.flatMap((label) => {
        const value = labels[label];
        return value === undefined ? [] : [[label, value]];
      }),
    ),
  }));
  const [first, ...others] = own;
  const different = others.find(({ labels }) => JSON.stringify(labels) !== JSON.stringify(first?.labels));
  return first !== undefined && different !== undefined
    ? Result.fail(new ProvidersDiffer({ architectures: [first.architecture, different.architecture] }))
    : Result.succeed(first?.labels ?? {});
};

export class ProvidersDiffer extends Data.TaggedError("ProvidersDiffer")<{
  readonly architectures: readonly [string, string];
}> {
  override get message(): string {
    return `the labels of the architectures ${this.architectures.join(" and ")} of the image differ`;
  }
}

/** The labels for an image with this description and these wheels. */
export const providerLabels = (
  description: string,
  wheels: ReadonlyArray<Wheel>,
): ReadonlyArray<readonly [string, string]> =>
  [
    [DESCRIPTION_LABEL, description] as const,
    [WHEELS_LABEL, JSON.stringify(wheels.map(({ file, requires }) => ({ file, requires })))] as const,
  ].filter(([, text]) => new TextEncoder().encode(text).length <= LABEL_BYTES_MAX)
    .map(([label, text]) => [label, new TextEncoder().encode(text).toBase64()]);

/** Of the text in one label; in Base64 it then still fits into a line of a Containerfile, which has at most 64 KiB. */
const LABEL_BYTES_MAX = 48_000;

const ITS_TEXT = { bytesMax: LABEL_BYTES_MAX, what: "its text" };

const wheelsIn = (text: string): Result.Result<NonNullable<ProviderLabels["wheels"]>, LabelUnusable> => {
  const list = Result.getOrUndefined(readJson(text, ANSWER_BOUNDS));
  if (!isList(list)) return unusable(WHEELS_LABEL, "expected a list of wheels in JSON");
  const wheels = list.map(wheelIn);
  const known = wheels.filter((wheel) => wheel !== undefined);
  return known.length < wheels.length
    ? unusable(WHEELS_LABEL, 'expected {"file": NAME, "requires": [REQUIREMENT]} for each wheel')
    : Result.succeed(known);
};

const wheelIn = (entry: Json): ListedWheel | undefined => {
  const { file, requires } = isObject(entry) ? entry : {};
  if (typeof file !== "string" || !FILE.test(file) || !isList(requires)) {
    return undefined;
  }
  const texts = requires.filter((item) => typeof item === "string");
  return texts.length < requires.length
    ? undefined
    : { file, wheel: Result.map(namedWheel(file), (named) => ({ ...named, requires: texts })) };
};

/** A name without folders, as the folder `packages` can have it. */
const FILE = /^[^/\s\p{Cc}]{1,255}\.whl$/u;
