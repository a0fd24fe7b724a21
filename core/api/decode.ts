/** Unknown JSON → a resource of v1alpha2, or every place where it does not fit, all at once. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SchemaIssue from "effect/SchemaIssue";
import { didYouMean } from "../data/closest.ts";
import { InvalidName, RuleBroken, SchemaMismatch } from "../failure/failures.ts";
import { type FieldPath, formatPath, valueAt } from "../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject, member, stringAt } from "../data/json.ts";
import { UNCONVERTED_ANNOTATION } from "./convert/annotation.ts";
import { API_NAMES, DISABLED_EXPECTED, DISABLED_NAMES } from "./api_names.ts";
import { quoted, shortWord } from "../data/printable.ts";
import { FINDINGS_MAX, SPEC_DEPTH_MAX, SPEC_VALUES_MAX } from "../data/limits.ts";
import { type Excess, excessOf } from "../data/tree_size.ts";
import { bounded, type Findings, firstOf, mismatchOf, NO_FINDINGS } from "./findings.ts";
import { documentHint, hintFor } from "./hints.ts";
import { generatedName, type MetadataFinding, metadataFindings } from "./metadata_check.ts";
import { referenceNameFindings } from "./reference_names.ts";
import { isUsableName, NAME_MESSAGE, ruleFindings } from "./rules.ts";
import { defaulted, RESOURCE, schemaAt } from "./resource_schema.ts";
import type { StructuralSchema } from "./structural_check.ts";
import { V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION, KIND, Spec } from "./v1alpha2.ts";

/** A resource whose spec has been decoded; metadata stays as it came. */
export interface Resource {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Spec;
}

export type DecodeFailure = SchemaMismatch | RuleBroken | InvalidName;

/**
 * Strict: what an author wrote, with unknown fields refused and every rule checked (`lint`, `render`, admission).
 * Lenient: what the cluster stored, with unknown fields left alone, since another version may have written them, and without
 * the rules that v1alpha1 does not have.
 */
export const decodeResource = (
  value: Json,
  mode: "strict" | "lenient",
): Result.Result<Resource, ReadonlyArray<DecodeFailure>> => {
  const identity = identityFindings(value);
  if (!isObject(value) || identity.length > 0) return Result.fail(identity);
  // Before anything that recurses or compares: what follows costs time that grows with both.
  const size = sizeFindings(value);
  if (size.length > 0) return Result.fail(size);
  const decoded = decodeSpec(member(value, "spec") ?? {}, {
    errors: "all",
    onExcessProperty: mode === "strict" ? "error" : "ignore",
  });
  const stray = mode === "strict" ? [...strayFields(value), ...metadataFindings(value)] : [];
  const schema = Result.isFailure(decoded) ? schemaFindings(decoded.failure.issue, value) : NO_FINDINGS;
  const withDefaults = defaulted(value);
  const rules = ruleFindings(withDefaults).filter(({ rule }) =>
    rule.at !== "" && (mode === "strict" || rule.tolerated === undefined)
  );
  const own = stringAt(value, "metadata", "name");
  const name = own ?? generatedName(value) ?? "";
  const naming = own === undefined || isUsableName(own)
    ? []
    : [new InvalidName({ path: ["metadata", "name"], name, detail: NAME_MESSAGE })];
  const references = Result.isFailure(decoded) ? [] : referenceNameFindings(value);
  const findings = bounded<DecodeFailure>([
    { found: naming, more: 0 },
    firstOf(stray, mismatchOf),
    schema,
    firstOf(references, mismatchOf),
    firstOf(rules, ({ path, message }) => new RuleBroken({ path, detail: message })),
  ]);
  if (Result.isFailure(decoded) || findings.length > 0) return Result.fail(findings);
  return Result.succeed({
    name,
    namespace: stringAt(value, "metadata", "namespace"),
    annotations: annotationsOf(value),
    spec: decoded.success,
  });
};

const decodeSpec = Schema.decodeUnknownResult(Spec);

/** One judgement asks several times, and a spec that is too large takes tens of milliseconds each. */
const measured = new WeakMap<object, { readonly excess: Excess | undefined }>();

const excessIn = (value: Json): Excess | undefined => {
  const spec = member(value, "spec");
  if (!isObject(spec) && !isList(spec)) return undefined;
  const known = measured.get(spec) ?? { excess: excessOf(spec, { depth: SPEC_DEPTH_MAX, values: SPEC_VALUES_MAX }) };
  measured.set(spec, known);
  return known.excess;
};

/** Whether the spec is larger or nested more deeply than the operator works on. */
export const isOversized = (value: Json): boolean => excessIn(value) !== undefined;

const sizeFindings = (value: JsonObject): ReadonlyArray<SchemaMismatch> => {
  const excess = excessIn(value);
  return excess === undefined ? [] : [
    new SchemaMismatch({
      path: ["spec", ...excess.path],
      detail: excess.what === "depth"
        ? `Nested too deeply: at most ${SPEC_DEPTH_MAX} levels are supported`
        : `Too many values: a spec may have at most ${SPEC_VALUES_MAX}`,
    }),
  ];
};

/** What is wrong with its version, kind and name. */
export const identityFindings = (value: Json): ReadonlyArray<SchemaMismatch> => {
  if (!isObject(value)) return [new SchemaMismatch({ path: [], detail: "Expected a Kubernetes object" })];
  const hint = documentHint(value);
  if (hint !== undefined) return [new SchemaMismatch(hint)];
  const kind = stringAt(value, "kind");
  const version = stringAt(value, "apiVersion");
  const unconverted = stringAt(value, "metadata", "annotations", UNCONVERTED_ANNOTATION);
  return [
    ...(version === API_VERSION ? [] : [
      new SchemaMismatch({
        path: ["apiVersion"],
        detail: `Expected ${API_VERSION} or ${V1ALPHA1}${version ? `, got ${quoted(version)}` : ""}`,
      }),
    ]),
    ...(kind === KIND
      ? []
      : [new SchemaMismatch({ path: ["kind"], detail: `Expected ${KIND}${kind ? `, got ${quoted(kind)}` : ""}` })]),
    ...(stringAt(value, "metadata", "name") === undefined &&
        (at(value, "metadata", "name") !== undefined || generatedName(value) === undefined)
      ? [
        new SchemaMismatch({
          path: ["metadata", "name"],
          detail: at(value, "metadata", "name") === undefined
            ? "Required field is missing: give the resource a name"
            : "Expected a string; put the name in quotes",
        }),
      ]
      : []),
    ...(unconverted === undefined ? [] : [
      new SchemaMismatch({
        path: ["metadata", "annotations", UNCONVERTED_ANNOTATION],
        detail: `Only the name could be converted: the object has ${
          shortWord(unconverted)
        }; shorten or delete it in v1alpha1`,
      }),
    ]),
    ...(isObject(member(value, "spec")) ? [] : [
      new SchemaMismatch({
        path: ["spec"],
        detail: "Required field is missing: name a distribution under spec.distribution",
      }),
    ]),
  ];
};

const strayFields = (value: JsonObject): ReadonlyArray<MetadataFinding> => {
  const known = ["apiVersion", "kind", "metadata", "spec", "status"];
  return Object.keys(value).filter((key) => !known.includes(key))
    .map((key, index) => {
      // The others are only counted.
      if (index >= FINDINGS_MAX) return { path: [key], detail: "" };
      const hint = hintFor({ path: [key], value: value[key], schema: {}, known, root: RESOURCE });
      return { path: [key], detail: hint ?? `Unknown field${didYouMean(key, known)}` };
    });
};

const annotationsOf = (value: JsonObject): Readonly<Record<string, string>> => {
  const found = member(member(value, "metadata"), "annotations");
  if (!isObject(found)) return {};
  const isText = (text: Json): text is string => typeof text === "string";
  return Object.values(found).every(isText)
    ? found as Readonly<Record<string, string>>
    : Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => isText(entry[1])));
};

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1();

/** Effect's findings on the spec of a resource with this schema, one failure for each path. */
export const schemaFindings = (
  issue: SchemaIssue.Issue,
  resource: JsonObject,
  schema: StructuralSchema = RESOURCE,
): Findings<SchemaMismatch> => {
  const { issues } = formatIssue(issue);
  // One mistake, one message: a hint speaks of everything at and under its field.
  const reported = new Set<string>();
  const found: Array<SchemaMismatch> = [];
  for (const [index, { path, message }] of issues.entries()) {
    if (found.length === FINDINGS_MAX) return { found, more: issues.length - index };
    const full: FieldPath = ["spec", ...(path ?? []).map((step) => typeof step === "number" ? step : String(step))];
    const hint = hintOf(full, resource, schema);
    if (hint === undefined) {
      found.push(new SchemaMismatch({ path: full, detail: detailed(full, message, resource, schema) }));
    } else if (!reported.has(formatPath(hint.path))) {
      reported.add(formatPath(hint.path));
      found.push(new SchemaMismatch(hint));
    }
  }
  return { found, more: 0 };
};

/** Of the field itself, or of the one around it. */
const hintOf = (
  path: FieldPath,
  resource: JsonObject,
  schema: StructuralSchema,
): { readonly path: FieldPath; readonly detail: string } | undefined =>
  [path, path.slice(0, -1)].flatMap((place) => {
    const detail = hintFor({
      path: place,
      value: valueAt(resource, place),
      schema: schemaAt(schema, place),
      known: Object.keys(schemaAt(schema, place.slice(0, -1)).properties ?? {}),
      root: schema,
    });
    return detail === undefined ? [] : [{ path: place, detail }];
  })[0];

/** Effect's message, extended with similar names, and with the value if it cannot be a secret. */
const detailed = (path: FieldPath, message: string, resource: JsonObject, schema: StructuralSchema): string => {
  const last = path.at(-1);
  if (message === "Expected no excess property") {
    return `Unknown field${
      didYouMean(String(last), Object.keys(schemaAt(schema, path.slice(0, -1)).properties ?? {}))
    }`;
  }
  if (message.startsWith("Duplicate value")) return `${message}; remove one of them`;
  if (message === "Missing key") return "Required field is missing";
  const words = message.includes(DISABLED_EXPECTED) ? DISABLED_NAMES : schemaAt(schema, path).enum;
  const got = printable(path, valueAt(resource, path));
  if (words !== undefined) {
    // Of a provider of an API, `vllm` in `inference/vllm`, the API alone can be wrong.
    const written = String(valueAt(resource, path));
    const provider = /\/.+$/s.exec(written)?.[0] ?? "";
    const near = typeof last === "undefined" ? "" : didYouMean(written, words.map((word) => `${word}${provider}`));
    // APIs have two spellings, of which one is enough to name them.
    const shown = words.length <= WORDS_MAX ? words.filter((word) => word !== "") : near === "" ? API_NAMES : [];
    const offered = shown.length === 0 ? "Expected a known name" : `Expected one of ${shown.join(", ")}`;
    return `${offered}${got}${near}`;
  }
  // The value of an unknown field is not what is wrong.
  if (message.startsWith("Unknown field")) return message;
  const expected = TYPES.get(message) ?? message;
  return `${expected}${got}${
    isTextWithoutQuotes(expected, valueAt(resource, path)) ? "; put the value in quotes" : ""
  }`;
};

/** Effect's names of types, in the words of YAML. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["Expected string", "Expected a string"],
  ["Expected number", "Expected a number"],
  ["Expected boolean", "Expected true or false"],
  ["Expected object", "Expected an object"],
  ["Expected array", "Expected a list"],
]);

/** Words that are listed unchanged; only the list of APIs is longer. */
const WORDS_MAX = 8;

/** `N` and `yes` are booleans in YAML, and `1.10` is a number. */
const isTextWithoutQuotes = (message: string, value: Json | undefined): boolean =>
  message.startsWith("Expected a string") && (typeof value === "boolean" || typeof value === "number");

/** Fields whose content, or whose misplaced content, may be secret: their values are never quoted. */
const SECRET_STEPS = new Set([
  "apiKey",
  "secretRefs",
  "password",
  "connectionString",
  "endpoint",
  "settings",
  "config",
  "env",
  "envFrom",
  "command",
  "args",
]);

const printable = (path: FieldPath, value: Json | undefined): string => {
  if (path.some((step) => SECRET_STEPS.has(String(step)))) return "";
  const scalar = typeof value === "number" || typeof value === "boolean" ||
    typeof value === "string" && value.length <= 64;
  return scalar ? `, got ${JSON.stringify(value)}` : "";
};
