/** A resource without the parts that lint rejects, so that a drawn one says something of all its other parts. */
import * as Result from "effect/Result";
import { decodeResource } from "../core/api/decode.ts";
import { derive } from "../core/config/derive.ts";
import type { FieldPath } from "../core/data/field_path.ts";
import { isList, isObject, type Json, type JsonObject } from "../core/data/json.ts";
import type { ArbitraryConfig } from "./arbitrary_configs.ts";
import { SURROUNDINGS } from "./given.ts";
import { secretsOf } from "./snapshots.ts";

/** Each time, more of what is around a rejected field goes. */
const ROUNDS = 6;

/** Without the parts that are rejected, or as it is where that does not help. */
export const repaired = (config: ArbitraryConfig): ArbitraryConfig => {
  let { manifest } = config;
  for (let round = 0; round < ROUNDS; round++) {
    const paths = rejectedIn({ ...config, manifest });
    if (paths.length === 0) return { ...config, manifest };
    const inSpec = paths.map((path) => path.slice(0, Math.max(path.length - round, KEPT_STEPS)))
      .filter(([first, second]) => first === "spec" && second !== undefined && second !== "distribution");
    // From the end, so that the places in lists stay what they are.
    for (const path of inSpec.toSorted(byPlace).toReversed()) manifest = without(manifest, path) as JsonObject;
  }
  return config;
};

/** `spec.FIELD` at least. */
const KEPT_STEPS = 2;

const rejectedIn = ({ manifest, secrets, configMaps }: ArbitraryConfig): ReadonlyArray<FieldPath> => {
  const surroundings = {
    ...SURROUNDINGS,
    ...(configMaps === undefined ? {} : { configMaps }),
    secrets: secretsOf(secrets),
  };
  const resource = decodeResource(manifest, "strict");
  if (Result.isFailure(resource)) return resource.failure.map(({ path }) => path);
  const derived = derive(resource.success, surroundings);
  return Result.isSuccess(derived) ? [] : derived.failure.failures.map(({ path }) => path);
};

const byPlace = (one: FieldPath, other: FieldPath): number => {
  const at = one.findIndex((step, index) => step !== other[index]);
  const [a, b] = [one[at], other[at]];
  if (typeof a === "number" && typeof b === "number") return a - b;
  return at < 0 || b === undefined ? one.length - other.length : String(a) < String(b) ? -1 : 1;
};

const without = (tree: Json, [step, ...rest]: FieldPath): Json => {
  if (isList(tree) && typeof step === "number" && step in tree) {
    return rest.length === 0 ? tree.toSpliced(step, 1) : tree.with(step, without(tree[step] as Json, rest));
  }
  if (isObject(tree) && step !== undefined && Object.hasOwn(tree, step)) {
    if (rest.length > 0) return { ...tree, [step]: without(tree[step] as Json, rest) };
    return Object.fromEntries(Object.entries(tree).filter(([key]) => key !== step));
  }
  return tree;
};
