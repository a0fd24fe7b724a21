/** The proof of an import: the config that the operator generates from the result, compared with the config of the author. */
import * as Result from "effect/Result";
import { decodeResource } from "../api/decode.ts";
import { PROVIDERS_MAX } from "../api/v1alpha2.ts";
import { derive, type Derived, type Surroundings } from "../config/derive.ts";
import type { FieldPath } from "../data/field_path.ts";
import { shortWord } from "../data/printable.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, put } from "../data/json.ts";
import type { Fields, Read } from "./entries.ts";
import { AUTH_SUBJECT } from "./auth_meaning.ts";
import { type Meaning, meaningOf } from "./meaning.ts";
import { type Failing, isAbout, type Reason, reasonOf, reasonText, whyLost } from "./reasons.ts";
import { type Expressed, OTHERS_TO_FILL_IN, TO_FILL_IN } from "./express.ts";

export interface Difference {
  readonly kind: "lost" | "changed" | "added";
  readonly what: string;
  /** Of a loss, why; of a change, both values. Never a secret one. */
  readonly detail?: string;
}

export interface Proof {
  readonly resource: JsonObject;
  readonly differences: ReadonlyArray<Difference>;
  /** Of what no difference tells. */
  readonly reasons: ReadonlyArray<Reason>;
  /** Whether the server of the resource would not authenticate its callers as the config says. */
  readonly losesAuth: boolean;
  /** Stores that lie elsewhere. */
  readonly moved: ReadonlyArray<string>;
}

/** Failures of one resource are removed with the fields that cause them; each attempt names all that it finds. */
const ATTEMPTS_MAX = 12;

export const prove = (
  resource: JsonObject,
  { connection }: Expressed,
  own: Read,
  base: Read,
  surroundings: Surroundings,
): Result.Result<Proof, ReadonlyArray<string>> => {
  const found = expressible(resource, surroundings);
  if (Result.isFailure(found)) return Result.fail(found.failure);
  return Result.succeed(compared(found.success, connection, own, base));
};

interface Expressible {
  readonly resource: JsonObject;
  readonly derived: Derived;
  readonly reasons: ReadonlyArray<Reason>;
}

/** The resource without the parts for which no config can be generated. */
export const expressible = (
  resource: JsonObject,
  surroundings: Surroundings,
): Result.Result<Expressible, ReadonlyArray<string>> => {
  let current = resource;
  let reasons: ReadonlyArray<Reason> = [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const derived = derivedOf(current, surroundings);
    if (Result.isSuccess(derived)) return Result.succeed({ resource: current, derived: derived.success, reasons });
    const cut = withoutFailing(current, derived.failure);
    if (cut === undefined) return Result.fail(derived.failure.map(({ message }) => message));
    current = cut.resource;
    reasons = [...reasons, ...cut.reasons];
  }
  return Result.fail(reasons.map(reasonText));
};

export interface OnOther {
  readonly resource: JsonObject;
  readonly before: Derived;
  readonly after: Derived;
  readonly reasons: ReadonlyArray<Reason>;
}

/** The same resource on another distribution, with both configs. */
export const movedTo = (
  resource: JsonObject,
  distribution: string,
  surroundings: Surroundings,
): Result.Result<OnOther, ReadonlyArray<string>> => {
  const before = expressible(resource, surroundings);
  const after = expressible(put(resource, ["spec", "distribution"], { name: distribution }), surroundings);
  if (Result.isFailure(before)) return Result.fail(before.failure);
  if (Result.isFailure(after)) return Result.fail(after.failure);
  const { reasons } = after.success;
  return Result.succeed({
    resource: after.success.resource,
    before: before.success.derived,
    after: after.success.derived,
    reasons,
  });
};

const derivedOf = (
  resource: JsonObject,
  surroundings: Surroundings,
): Result.Result<Derived, ReadonlyArray<Failing>> => {
  const decoded = decodeResource(resource, "strict");
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure);
  return Result.mapError(derive(decoded.success, surroundings), ({ failures }) => failures);
};

/** Without the smallest parts that fail; undefined if one is not a part. */
const withoutFailing = (
  resource: JsonObject,
  failures: ReadonlyArray<Failing>,
): { readonly resource: JsonObject; readonly reasons: ReadonlyArray<Reason> } | undefined => {
  const parts = failures.flatMap((failure) => surplusOf(failure, resource) ?? [failure])
    .map((failure) => ({ failure, part: partOf(failure, resource) }));
  if (parts.some(({ part }) => part === undefined)) return undefined;
  // The last items first, so that the places of the others stay.
  const ordered = parts.toSorted((a, b) => Number(b.part?.at(-1)) - Number(a.part?.at(-1)) || 0);
  const done = new Set<string>();
  const cut = ordered.reduce((tree, { part = [] }) => {
    const key = JSON.stringify(part);
    if (done.has(key)) return tree;
    done.add(key);
    if (part[1] === "workload") return withOtherValue(tree, Number(part.at(-1)));
    return removed(tree, part);
  }, resource);
  const isLoss = ({ part = [] }: typeof parts[number]) => part[1] !== "workload";
  return { resource: cut, reasons: parts.filter(isLoss).map(({ failure }) => reasonOf(failure, resource)) };
};

/** Of a list of providers that is too long, a failure for each item that has no room. */
const surplusOf = ({ _tag, path }: Failing, resource: JsonObject): ReadonlyArray<Failing> | undefined => {
  const [, block, list = "", ...rest] = path;
  const count = listAt(resource, "spec", "providers", String(list)).length;
  return block !== "providers" || rest.length > 0 || count <= PROVIDERS_MAX
    ? undefined
    : Array.from({ length: count - PROVIDERS_MAX }, (_, index) => ({
      _tag,
      path: [...path, PROVIDERS_MAX + index],
      message: `spec.providers.${list} holds at most ${PROVIDERS_MAX}`,
    }));
};

const partOf = ({ _tag, path }: Failing, resource: JsonObject): FieldPath | undefined => {
  const [, block = "", list = "", index] = path;
  const [, , , env, place] = path;
  if (block === "workload" && env === "env" && typeof place === "number") return path.slice(0, 5);
  if (block === "workload" || block === "distribution" || path[0] !== "spec" || block === "") return undefined;
  if (block === "auth") return ["spec", "auth"];
  // A field that this version of the API does not have.
  if (_tag === "SchemaMismatch" && block === "resources" && path.length > 4 && typeof path.at(-1) === "string") {
    return path;
  }
  const inner = at(resource, "spec", String(block), String(list));
  if (isList(inner ?? null) && typeof index === "number") return ["spec", block, list, index];
  if (inner !== undefined) return ["spec", block, list];
  return isList(at(resource, "spec", String(block)) ?? null) && typeof list === "number"
    ? ["spec", block, list]
    : at(resource, "spec", String(block)) === undefined
    ? undefined
    : ["spec", block];
};

const removed = (tree: JsonObject, path: FieldPath): JsonObject => {
  const index = path.findIndex((step) => typeof step === "number");
  if (index >= 0 && index < path.length - 1) {
    const above = path.slice(0, index).map(String);
    const items = listAt(tree, ...above).map((item, place) =>
      place === path[index] && isObject(item) ? removed(item, path.slice(index + 1)) : item
    );
    return put(tree, above, items);
  }
  const last = path.at(-1);
  const above = path.slice(0, -1).map(String);
  if (typeof last !== "number") return put(tree, path.map(String), undefined);
  const rest = listAt(tree, ...above).filter((_, index) => index !== last);
  return put(tree, above, rest.length === 0 ? undefined : rest);
};

const withOtherValue = (tree: JsonObject, place: number): JsonObject => {
  const path = ["spec", "workload", "overrides", "env"];
  const values = [TO_FILL_IN, ...OTHERS_TO_FILL_IN];
  const next = (value: Json | undefined) => values[values.indexOf(String(value)) + 1] ?? TO_FILL_IN;
  return put(
    tree,
    path,
    listAt(tree, ...path).map((env, index) =>
      index === place && isObject(env) ? { ...env, value: next(env.value) } : env
    ),
  );
};

export const compared = (
  { resource, reasons, derived }: Expressible,
  connection: ReadonlyMap<string, string>,
  own: Read,
  base: Read,
): Proof => {
  const tree = derived._tag === "Generated" ? derived.config.tree : base.tree;
  const variables = new Map(derived.env.map((env) => [env.name, env] as const));
  const made: Read = {
    ...own,
    tree,
    valueOf: (name) => {
      if (connection.has(name) || name === "LLSD_KV_USERINFO") return connection.get(name) ?? "";
      const env = variables.get(name);
      if (env === undefined) return "";
      return env.valueFrom !== undefined || [TO_FILL_IN, ...OTHERS_TO_FILL_IN].includes(env.value ?? "")
        ? undefined
        : env.value ?? "";
    },
  };
  const [before, after] = [meaningOf(own), meaningOf(made)];
  const found = differencesOf(before, after);
  const differences = found.map((difference): Difference =>
    difference.kind === "lost" ? { ...difference, detail: whyLost(difference.what, reasons, own) } : difference
  );
  return {
    resource,
    reasons: reasons.filter(({ what }) => !differences.some((difference) => isAbout(what, difference.what))),
    differences,
    losesAuth: differencesOf(ofAuth(before), ofAuth(after)).some(({ kind }) => kind !== "added"),
    moved: movedOf(before, after),
  };
};

const ofAuth = ({ subjects, ...rest }: Meaning): Meaning => ({
  ...rest,
  subjects: new Map([...subjects].filter(([name]) => name === AUTH_SUBJECT)),
});

const differencesOf = (before: Meaning, after: Meaning): ReadonlyArray<Difference> => [
  ...[...before.subjects].flatMap(([name, fields]): ReadonlyArray<Difference> => {
    const other = after.subjects.get(name);
    if (other === undefined) return isEmptySection(name, fields) ? [] : [{ kind: "lost", what: name }];
    return changesOf(name, fields, other);
  }),
  ...[...after.subjects].flatMap(([name, fields]): ReadonlyArray<Difference> =>
    before.subjects.has(name) || isEmptySection(name, fields) ? [] : [{ kind: "added", what: name }]
  ),
];

const isEmptySection = (name: string, fields: Fields): boolean => fields.size === 0 && !name.startsWith("API ");

const changesOf = (name: string, before: Fields, after: Fields): ReadonlyArray<Difference> => {
  const of = (key: string) => name.startsWith("storage of") ? name : `${key} of ${name}`;
  return [
    ...[...before].flatMap(([key, value]): ReadonlyArray<Difference> => {
      if (!after.has(key)) return [{ kind: "lost", what: of(key) }];
      const other = after.get(key) ?? "";
      return other === value
        ? []
        : [{ kind: "changed", what: of(key), detail: `${shortWord(value)} → ${shortWord(other)}` }];
    }),
    ...[...after.keys()].filter((key) => !before.has(key)).map((key): Difference => ({ kind: "added", what: of(key) })),
  ];
};

const movedOf = (before: Meaning, after: Meaning): ReadonlyArray<string> => [
  ...[...before.places].filter(([name, place]) => after.places.has(name) && after.places.get(name) !== place)
    .map(([name, place]) => `${name}: ${place}`),
  ...[...before.folders].filter((folder) => !after.folders.has(folder)).map((folder) => `files in ${folder}`),
];
