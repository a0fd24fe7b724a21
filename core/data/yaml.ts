/**
 * YAML in and out, through js-yaml, in the dialects of those who read and write the other end.
 *
 * Out: Llama Stack reads with PyYAML (YAML 1.1), so a string that PyYAML could take for something else is quoted.
 * In: base documents were written for PyYAML, so they are read as YAML 1.1; custom resources are read as kubectl reads them.
 */
import * as Data from "effect/Data";
import * as Result from "effect/Result";
import {
  boolYaml11Tag,
  CORE_SCHEMA,
  DEFAULT_SCALAR_STYLE_RULES,
  defineScalarTag,
  dump,
  FAILSAFE_SCHEMA,
  floatCoreTag,
  floatYaml11Tag,
  intYaml11Tag,
  load,
  loadAll,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  SCALAR_STYLE,
  type ScalarLayout,
  type Schema,
  YAMLException,
} from "js-yaml";
import { type DoubledKey, doubledKeys } from "./doubled_keys.ts";
import { type Json, listAt, stringAt } from "./json.ts";
import {
  CONFIG_TEXT_BYTES_MAX,
  MANIFEST_DOCUMENTS_MAX,
  MANIFEST_VALUES_MAX,
  YAML_ALIASES_MAX,
  YAML_DEPTH_MAX,
  YAML_PLACES_PER_VALUE,
  YAML_VALUES_MAX,
} from "./limits.ts";
import { excessOf } from "./tree_size.ts";
import { mayExceed } from "./yaml_size.ts";

/**
 * A text that is not YAML, or that is not allowed as a config: `detail` is the location and the reason, without quoting
 * the text.
 */
export class NotYaml extends Data.TaggedError("NotYaml")<{
  readonly detail: string;
  /** One map has a key twice. */
  readonly isDoubledKey?: boolean;
}> {
  override get message(): string {
    return `Cannot read YAML: ${this.detail}`;
  }
}

/**
 * Block-style YAML of `value`, keys in the order of the objects.
 *
 * PyYAML (SafeLoader and CSafeLoader) reads every string back unchanged. `value` holds JSON only: a Date or an
 * undefined has no place here.
 */
export const writeYaml = (value: unknown): string =>
  dump(value, { lineWidth: -1, noRefs: true, quoteStyle: "double", scalarStyleRules: STYLE_RULES });

/** Reads one document as PyYAML would (YAML 1.1: `yes`, `012`, merge keys), with bounded length, aliases, depth and values. */
export const readYaml11 = (text: string): Result.Result<Json, NotYaml> => read11(text, PYYAML);

/** A config as its server reads it. */
export interface ConfigYaml {
  readonly tree: Json;
  /** Of these keys the tree has the last value. */
  readonly doubled: ReadonlyArray<DoubledKey>;
}

/** The same, but of a key that is written twice in one map the last counts, as for PyYAML. */
export const readConfigYaml = (text: string): Result.Result<ConfigYaml, NotYaml> => readConfig(text, PYYAML);

/** The same, for a document that is written again: an integer that would be another one then is an error. */
export const readExactConfigYaml = (text: string): Result.Result<ConfigYaml, NotYaml> => {
  const rounded: Array<string> = [];
  return Result.flatMap(
    readConfig(text, pyYaml((source) => rounded.push(source))),
    (read) => rounded[0] === undefined ? Result.succeed(read) : Result.fail(imprecise(rounded[0], text)),
  );
};

const readConfig = (text: string, schema: Schema): Result.Result<ConfigYaml, NotYaml> => {
  const strict = read11(text, schema);
  if (Result.isSuccess(strict)) return Result.succeed({ tree: strict.success, doubled: [] });
  if (strict.failure.isDoubledKey !== true) return Result.fail(strict.failure);
  return Result.map(
    read11(text, schema, true),
    (tree) => ({ tree, doubled: doubledKeys(text, YAML_DEPTH_MAX) }),
  );
};

const read11 = (text: string, schema: Schema, takesLast = false): Result.Result<Json, NotYaml> =>
  text.length > CONFIG_TEXT_BYTES_MAX
    ? Result.fail(new NotYaml({ detail: `${text.length} characters; at most ${CONFIG_TEXT_BYTES_MAX} are supported` }))
    : beyond(text, YAML_VALUES_MAX) ?? Result.flatMap(
      reading(
        text,
        () => load(text, { schema, json: takesLast, maxAliases: YAML_ALIASES_MAX, maxDepth: YAML_DEPTH_MAX }) as Json,
      ),
      within(YAML_VALUES_MAX),
    );

/**
 * Reads the documents of a manifest file as kubectl does (`y`, `yes` and `on` are booleans, `0400` is octal); empty documents are left out. Their
 * number is bounded, and so are the values of all of them together.
 */
export const readManifests = (text: string): Result.Result<ReadonlyArray<Json>, NotYaml> => {
  if (separatorsIn(text) > MANIFEST_DOCUMENTS_MAX) {
    return Result.fail(new NotYaml({ detail: `more than ${MANIFEST_DOCUMENTS_MAX} documents` }));
  }
  const rounded: Array<string> = [];
  const schema = kubectl((source) => rounded.push(source));
  return beyond(text, MANIFEST_VALUES_MAX) ?? Result.flatMap(
    Result.flatMap(
      reading(
        text,
        () =>
          (loadAll(text, { schema, maxAliases: YAML_ALIASES_MAX, maxDepth: YAML_DEPTH_MAX }) as ReadonlyArray<
            Json
          >).filter((document) => document !== null && document !== undefined),
      ),
      (documents) =>
        rounded[0] === undefined || !documents.some(isRoundedHere)
          ? Result.succeed(documents)
          : Result.fail(imprecise(rounded[0], text)),
    ),
    within(MANIFEST_VALUES_MAX),
  );
};

/** Whether the document is written again, and has an integer that is not exact. Of other objects nothing is written. */
const isRoundedHere = (document: Json): boolean => {
  const group = stringAt(document, "apiVersion")?.split("/")[0];
  if (stringAt(document, "kind") === "List") return listAt(document, "items").some(isRoundedHere);
  return (group === undefined || group === "llamastack.io") && hasUnsafe(document);
};

const hasUnsafe = (value: Json): boolean =>
  typeof value === "number"
    ? value === Math.trunc(value) && !Number.isSafeInteger(value)
    : value !== null && typeof value === "object" && Object.values(value).some(hasUnsafe);

/** An integer that a number of JavaScript does not hold, and that would become another one. */
const imprecise = (source: string, text: string): NotYaml => {
  const line = text.slice(0, Math.max(text.indexOf(source), 0)).split("\n").length;
  return new NotYaml({
    detail:
      `the integer at line ${line} has more than 53 bits and would be rounded; write a smaller one, or quote it where ` +
      "a text is expected",
  });
};

const beyond = (text: string, values: number): Result.Result<never, NotYaml> | undefined =>
  mayExceed(text, values * YAML_PLACES_PER_VALUE)
    ? Result.fail(new NotYaml({ detail: `more than ${values} values` }))
    : undefined;

/**
 * A mapping that contains itself, or few anchors that expand to millions of values, would end any code that walks it.
 */
const within = (values: number) => <A extends Json>(tree: A): Result.Result<A, NotYaml> =>
  // A list of documents is a level of its own.
  excessOf(tree, { depth: YAML_DEPTH_MAX + 1, values }) === undefined
    ? Result.succeed(tree)
    : Result.fail(new NotYaml({ detail: `more than ${values} values once aliases are expanded` }));

/** Lines that begin with `---`: the parser would make an object of each before anybody could count them. */
const separatorsIn = (text: string): number => {
  let count = text.startsWith("---") ? 1 : 0;
  for (let at = text.indexOf("\n---"); at >= 0 && count <= MANIFEST_DOCUMENTS_MAX; at = text.indexOf("\n---", at + 4)) {
    count++;
  }
  return count;
};

const reading = <A>(text: string, read: () => A): Result.Result<A, NotYaml> =>
  Result.try({
    try: read,
    catch: (cause) =>
      cause instanceof YAMLException
        ? new NotYaml({
          detail: `${sentenceOf(cause)}${templateIn(text)}`,
          isDoubledKey: cause.reason === "duplicated mapping key",
        })
        : new NotYaml({ detail: "unreadable document" }),
  });

/** Continues the reason where the text is not rendered: then the parser stumbles over the braces, and says so of another line. */
const templateIn = (text: string): string => {
  const at = text.search(/\{\{-? *[.$a-z]/i);
  return at < 0
    ? ""
    : `; line ${
      text.slice(0, at).split("\n").length
    } is a template of Helm, which has to be rendered before: helm template`;
};

/**
 * js-yaml's `message` quotes the lines around the mistake, and such a line may contain a secret: use reason and
 * location only.
 */
const sentenceOf = (exception: YAMLException): string => {
  const { mark, reason } = exception;
  const plain = reason.replaceAll(/"[^"]*"|'[^']*'|<[^>]*>/g, "…");
  return mark === undefined || mark === null ? plain : `${plain} (line ${mark.line + 1}, column ${mark.column + 1})`;
};

/** PyYAML knows the booleans yes, no, on, off, true, false; the YAML 1.1 page also has y and n, which PyYAML leaves as text. */
const boolTag = defineScalarTag<boolean>("tag:yaml.org,2002:bool", {
  ...boolYaml11Tag,
  resolve: (source, isExplicit, tagName) =>
    source.length === 1 ? NOT_RESOLVED : boolYaml11Tag.resolve(source, isExplicit, tagName),
});

/**
 * Integers as kubectl's reader takes them, which is Go's: underscores are left out, and 0x, 0o, 0b and a leading 0 set
 * the base. So `0400` of a file mode is 256.
 */
const kubectlInt = (source: string, onRounded: (source: string) => void): number | typeof NOT_RESOLVED => {
  if (!/^[-+]?[0-9]/.test(source)) return NOT_RESOLVED;
  const text = source.replaceAll("_", "");
  const found = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  if (found === null) return NOT_RESOLVED;
  const [, sign = "", digits = ""] = found;
  const plain = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  const value = Number(plain);
  if (!Number.isSafeInteger(value) && isRounded(plain, value)) onRounded(source);
  return sign === "-" ? -value : value;
};

/** Not if the value is written with the same digits again. Numbers with more digits than this are infinite. */
const isRounded = (digits: string, value: number): boolean =>
  !Number.isFinite(value) || digits.length > DIGITS_MAX || String(value) !== digits && BigInt(digits) !== BigInt(value);
const DIGITS_MAX = 1100;

const kubectlFloatTag = defineScalarTag<number>("tag:yaml.org,2002:float", {
  ...floatCoreTag,
  resolve: (source, isExplicit, tagName) =>
    floatCoreTag.resolve(/^[-+.]?[0-9]/.test(source) ? source.replaceAll("_", "") : source, isExplicit, tagName),
});

const pyYamlOf = (int: typeof intYaml11Tag): Schema =>
  FAILSAFE_SCHEMA.withTags(nullYaml11Tag, boolTag, int, floatYaml11Tag, mergeTag);
const PYYAML: Schema = pyYamlOf(intYaml11Tag);
const pyYaml = (onRounded: (source: string) => void): Schema =>
  pyYamlOf(defineScalarTag<number>("tag:yaml.org,2002:int", {
    ...intYaml11Tag,
    resolve: (source, isExplicit, tagName) => {
      const value = intYaml11Tag.resolve(source, isExplicit, tagName);
      const digits = source.replaceAll("_", "").replace(/^[-+]/, "");
      if (typeof value === "number" && !Number.isSafeInteger(value)) {
        // In base 60 and in octal it is not compared digit by digit.
        if (!/^(0x[0-9a-f]+|[1-9][0-9]*)$/i.test(digits) || isRounded(digits, Math.abs(value))) onRounded(source);
      }
      return value;
    },
  }));
const kubectl = (onRounded: (source: string) => void): Schema => {
  const int = defineScalarTag<number>("tag:yaml.org,2002:int", {
    ...intYaml11Tag,
    resolve: (source) => kubectlInt(source, onRounded),
  });
  return CORE_SCHEMA.withTags(boolYaml11Tag, int, kubectlFloatTag, mergeTag);
};

/**
 * Quotes plain strings that begin like a number, a marker or a null.
 *
 * js-yaml alone leaves a few that PyYAML misreads (`0x_`, `0b_`, a key that begins with `--- `); with this rule 10,000
 * hostile strings come back unchanged (tests/server/pyyaml_test.ts).
 */
const quoteRisky = (layout: ScalarLayout): void => {
  if (
    layout.style === SCALAR_STYLE.PLAIN &&
    layout.node.tag === layout.presenterOptions.schema.defaultScalarTag.tagName &&
    /^[0-9+\-.=<~]/.test(layout.node.value) && !layout.node.value.includes("\n")
  ) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
};
const STYLE_RULES = [quoteRisky, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)];
