/**
 * A claim as it can be applied to one that exists: an apply of anything else would be rejected, and the claim is not worth stopping
 * every other change. Warnings name what it keeps.
 */
import type { Spec } from "../api/v1alpha2.ts";
import { amount } from "../data/quantity.ts";
import { at, type Json, type JsonObject, put } from "../data/json.ts";
import { type Warning, warning } from "../failure/warning.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { CLAIM_SIZE_DEFAULT, claimName } from "../resources/claim.ts";
import { manifestDigest, stamped } from "../resources/objects.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { CLAIM_CLASS, CLAIM_SIZE, liveClaim } from "../snapshot/live_claim.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

type Storage = NonNullable<NonNullable<Spec["workload"]>["storage"]>;

/** The same manifest where it is no claim, or where the claim does not exist. */
export const keptClaim = (manifest: Manifest, live: JsonObject | undefined): Manifest => {
  if (manifest.kind !== "PersistentVolumeClaim" || live === undefined) return manifest;
  const { size, accessModes, isBound } = liveClaim(live);
  const sized = size === undefined || grows(at(manifest, ...CLAIM_SIZE), size) && isBound
    ? manifest
    : put(manifest, CLAIM_SIZE, size) as Manifest;
  const withModes = accessModes.length === 0 ? sized : put(sized, ["spec", "accessModes"], accessModes) as Manifest;
  return withClass(withModes, live);
};

/**
 * A class that the resource does not name is that of the cluster's default, which the operator leaves alone; or an earlier spec
 * named it, and an apply without it would ask to remove it.
 */
const withClass = (manifest: Manifest, live: JsonObject): Manifest => {
  const [wanted, found] = [at(manifest, ...CLAIM_CLASS), liveClaim(live).className];
  const isLeftAlone = wanted === undefined &&
    manifestDigest(stamped(manifest)) === manifestDigest(live);
  return found === undefined || found === wanted || isLeftAlone
    ? manifest
    : put(manifest, CLAIM_CLASS, found) as Manifest;
};

const grows = (wanted: Json | undefined, size: Json): boolean => (amount(size) ?? 0) < (amount(wanted) ?? 0);

const isSame = (wanted: Json, size: Json): boolean => amount(wanted) === amount(size);

/**
 * Fields of the resource that the claim does not follow, each with what it keeps; `live` is the claim. Whether its StorageClass
 * can expand it is known to commands alone: the operator has no right to read classes, and reports what the API server answers.
 */
export const keptFields = (storage: Storage, live: JsonObject, canExpand?: boolean): ReadonlyArray<Warning> =>
  found(storage, { ...liveClaim(live), canExpand });

/** The StorageClass on which it depends whether the claim of the resource can grow as asked; empty: it has none. */
export const growingClass = ({ resource, live }: Pick<ClusterSnapshot, "resource" | "live">): string | undefined => {
  const { claimSize } = liveResource(resource);
  const claim = live.get(liveKey("PersistentVolumeClaim", claimName(liveObject(resource).name)));
  if (claim === undefined || claimSize === undefined) return undefined;
  const { size = "", isBound, className = "" } = liveClaim(claim);
  return grows(claimSize, size) && isBound ? className : undefined;
};

/** Fields of the claim that an edit changes and that are kept; from the spec before it, for admission. */
export const keptFieldsAfter = (before: Storage | undefined, storage: Storage | undefined): ReadonlyArray<Warning> =>
  before === undefined || storage === undefined || before.existingClaim !== undefined ? [] : found(storage, {
    size: before.size ?? CLAIM_SIZE_DEFAULT,
    accessModes: [before.accessMode ?? "ReadWriteOnce"],
    // Without a name, the cluster chose the class.
    className: before.storageClassName ?? CHOSEN,
    isBound: true,
    canExpand: undefined,
  }).concat(ofGrowth(before.size ?? CLAIM_SIZE_DEFAULT, storage));

/** Nobody but the API server knows yet. */
const ofGrowth = (before: Json, { size, existingClaim }: Storage): ReadonlyArray<Warning> =>
  size === undefined || existingClaim !== undefined || !grows(size, before) ? [] : [
    warning(
      "ClaimGrows",
      ["spec", "workload", "storage", "size"],
      `the claim grows to ${size} only if its StorageClass can expand volumes (allowVolumeExpansion); otherwise it keeps ` +
        `${before}, and the condition StorageReady says so`,
    ),
  ];

const CHOSEN = Symbol("chosen by the cluster");

interface Claim {
  readonly size: Json | undefined;
  readonly accessModes: ReadonlyArray<Json>;
  readonly className: string | typeof CHOSEN | undefined;
  readonly isBound: boolean;
  /** Undefined: not known. */
  readonly canExpand: boolean | undefined;
}

const found = (storage: Storage, claim: Claim): ReadonlyArray<Warning> => {
  if (storage.existingClaim !== undefined) return [];
  const { size, accessMode, storageClassName } = storage;
  const kept = (field: keyof Storage, has: Json, why: string) =>
    warning("ClaimKept", ["spec", "workload", "storage", field], `the claim keeps ${has}, because ${why}`);
  return [
    ...(size === undefined || claim.size === undefined || isSame(size, claim.size) ||
        grows(size, claim.size) && claim.isBound && claim.canExpand !== false
      ? []
      : [
        kept(
          "size",
          claim.size,
          grows(size, claim.size)
            ? claim.isBound
              ? `${classOf(claim.className)}; ${EXPAND}`
              : "only a bound claim can grow; it does once it is bound"
            : `claims cannot shrink; set size to ${claim.size}, or restore a backup into a smaller claim`,
        ),
      ]),
    ...(accessMode === undefined || claim.accessModes.length === 0 || claim.accessModes.includes(accessMode)
      ? []
      : [kept("accessMode", claim.accessModes.join(), `it cannot change; ${NEW_CLAIM}`)]),
    ...(storageClassName === undefined || claim.className === undefined || claim.className === storageClassName ? [] : [
      kept(
        "storageClassName",
        claim.className === CHOSEN ? "the class that it has" : `class "${claim.className}"`,
        `it cannot change; ${NEW_CLAIM}`,
      ),
    ]),
  ];
};

const classOf = (name: Claim["className"]): string =>
  typeof name === "string" && name !== ""
    ? `its StorageClass "${name}" cannot expand volumes`
    : "it has no StorageClass, and no other claim can be expanded";

const EXPAND =
  "set size back, let the class expand volumes (allowVolumeExpansion: true), or restore a backup into a larger claim of your own " +
  "and name it in spec.workload.storage.existingClaim";

const NEW_CLAIM =
  "revert the field, or restore a backup into a claim of your own and name it in spec.workload.storage.existingClaim";
