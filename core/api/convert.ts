/**
 * v1alpha1 ↔ v1alpha2: total and without loss.
 *
 * What both versions have is moved (convert/spec.ts, convert/status.ts). What the other version has no place for becomes
 * leftovers (convert/leftovers.ts) in annotations of the converted object (convert/annotation.ts), and comes back from
 * there. So `there and back` is the same object, whatever it holds; and an edit in between wins over what was left over.
 */
import { at, isObject, type Json, type JsonObject, member, omit, put, withMember } from "../data/json.ts";
import { defaulted } from "./resource_schema.ts";
import { applied, differences, type Leftover, V1ALPHA1_SHAPE, V1ALPHA2_SHAPE } from "./convert/leftovers.ts";
import { type Carried, carriedBy, INCOMPLETE_ANNOTATION, withLeftovers } from "./convert/annotation.ts";
import { specToV1alpha1, specToV1alpha2 } from "./convert/spec.ts";
import { statusToV1alpha1, statusToV1alpha2 } from "./convert/status.ts";
import { V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION } from "./v1alpha2.ts";

/** Defaults to fill in: those of the API server, or none for a file that remains a file. */
export type Filling = (resource: JsonObject) => JsonObject;

/** As the API server does it with every object that it reads or takes. */
export const FILLED: Filling = (resource) =>
  resource.apiVersion === V1ALPHA1 ? withUnobserved(resource) : defaulted(resource);
export const AS_WRITTEN: Filling = (resource) => resource;

/** The object in another version. An object that already has that version, or an unknown one, is unchanged. */
export const converted = (resource: JsonObject, apiVersion: string, filling: Filling = FILLED): JsonObject => {
  if (resource.apiVersion === V1ALPHA1 && apiVersion === API_VERSION) return toV1alpha2(resource, filling);
  if (resource.apiVersion === API_VERSION && apiVersion === V1ALPHA1) return toV1alpha1(resource, filling);
  return resource;
};

/**
 * In v1alpha2, an object of v1alpha1 that says itself that it does not hold everything: with what it lacks from the object that is
 * stored, which it was read from or is about to replace.
 */
export const completed = (old: JsonObject, stored: JsonObject): JsonObject => {
  const shown = carriedBy(toV1alpha1(stored, FILLED), "v1alpha2").leftovers.map(placeOf);
  const lacking = leftoversOf(stored, FILLED).leftovers.filter((leftover) => !shown.includes(placeOf(leftover)));
  return toV1alpha2(put(old, ["metadata", "annotations", INCOMPLETE_ANNOTATION], undefined), FILLED, lacking);
};

const placeOf = ({ at: path }: Leftover): string => JSON.stringify(path);

/** In v1alpha2, without what annotations say of the status. */
export const withoutCarriedStatus = (old: JsonObject): JsonObject =>
  toV1alpha2(old, FILLED, [], ({ at: [part] }) => part !== "status");

const toV1alpha2 = (
  old: JsonObject,
  filling: Filling,
  lacking: ReadonlyArray<Leftover> = [],
  counts: (leftover: Leftover) => boolean = () => true,
): JsonObject => {
  const own = carriedBy(old, "v1alpha2");
  const carried = { ...own, leftovers: [...own.leftovers.filter(counts), ...lacking] };
  const plain = filling(body(specToV1alpha2(old.spec), statusToV1alpha2(old.status)));
  const fresh = applied(plain, carried.leftovers, V1ALPHA2_SHAPE);
  const back = movedBack(fresh, filling);
  // As in toV1alpha1, a missing default is not a difference: a new resource has none while it is stored.
  const wanted = at(back, ...OBSERVED) === UNOBSERVED ? withUnobserved(old) : old;
  return assembled(old, API_VERSION, fresh, carried, differences(back, parts(wanted), V1ALPHA1_SHAPE));
};

const toV1alpha1 = (fresh: JsonObject, filling: Filling): JsonObject => {
  const { carried, old, leftovers } = leftoversOf(fresh, filling);
  return assembled(fresh, V1ALPHA1, old, carried, leftovers);
};

/** An object of v1alpha2 in v1alpha1, and all that this lacks of it. */
const leftoversOf = (fresh: JsonObject, filling: Filling) => {
  const carried = carriedBy(fresh, "v1alpha1");
  const old = applied(movedBack(parts(fresh), filling), carried.leftovers, V1ALPHA1_SHAPE);
  const back = filling(body(specToV1alpha2(old.spec), statusToV1alpha2(old.status)));
  // Missing defaults will be set by the API server: they are not a difference.
  const wanted = carried.moved.reduce(
    (made, path) => put(made, path, at(back, ...path)),
    parts(filling(fresh)),
  );
  return { carried, old, leftovers: differences(back, wanted, V1ALPHA2_SHAPE) };
};

/** With the only default of v1alpha1: nobody has reconciled the resource. */
const withUnobserved = (old: JsonObject): JsonObject =>
  (old.status === undefined || isObject(old.status)) && at(old, ...OBSERVED) === undefined
    ? put(old, OBSERVED, UNOBSERVED)
    : old;

const OBSERVED = ["status", "observedGeneration"] as const;
const UNOBSERVED = -1;

/** What v1alpha1 shows of an object of v1alpha2 before anything is restored. */
const movedBack = (fresh: JsonObject, filling: Filling): JsonObject => {
  const { spec, status } = filling(fresh);
  return body(specToV1alpha1(spec), statusToV1alpha1(status));
};

const body = (spec: JsonObject, status: JsonObject | undefined): JsonObject => ({
  spec,
  ...(status === undefined ? {} : { status }),
});

/** The two parts that are converted. */
const parts = (resource: JsonObject): JsonObject =>
  Object.fromEntries(
    ["spec", "status"].flatMap((key): ReadonlyArray<[string, Json]> => {
      const part = member(resource, key);
      return part === undefined ? [] : [[key, part]];
    }),
  );

/** Everything but spec and status is the object's own: the API server allows no other change (and of metadata only this). */
const assembled = (
  source: JsonObject,
  apiVersion: string,
  made: JsonObject,
  carried: Carried,
  leftovers: ReadonlyArray<Leftover>,
): JsonObject => {
  const annotations = withLeftovers(carried, apiVersion === V1ALPHA1 ? "v1alpha2" : "v1alpha1", leftovers);
  const metadata = source.metadata;
  const own = omit(source, "spec", "status");
  const changed = annotations === undefined
    ? isObject(metadata) && Object.hasOwn(metadata, "annotations") ? omit(metadata, "annotations") : metadata
    : withMember(isObject(metadata) ? metadata : {}, "annotations", annotations);
  return { ...own, apiVersion, ...(changed === undefined ? {} : { metadata: changed }), ...made };
};
