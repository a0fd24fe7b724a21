/** What is wrong with the Secrets and ConfigMaps that a resource names. */
import {
  BaseConfigRequired,
  ConfigMapKeyMissing,
  ConfigMapNotFound,
  ReferenceTooLarge,
  SecretKeyMissing,
  SecretNotFound,
} from "../failure/failures.ts";
import { CONFIG_MAPS_BYTES_MAX, SECRET_VALUES_BYTES_MAX } from "../data/limits.ts";
import type { Reference } from "../snapshot/references.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";

/** Findings that require a read of the cluster. */
export type MissingReference = SecretNotFound | SecretKeyMissing | ConfigMapNotFound | ConfigMapKeyMissing;

/** References that are too large were not cached, so their keys are unknown. What no pod reads keeps none from starting. */
export const referenceFailures = (
  references: ReadonlyArray<Reference>,
  snapshot: Pick<Sources, "secrets" | "configMaps" | "tooLarge">,
  ownNamespace: string,
): ReadonlyArray<MissingReference | ReferenceTooLarge> => {
  const read = references.filter(({ operatorOnly }) => operatorOnly !== true);
  const oversized = oversizedReferences(read, snapshot, ownNamespace);
  return oversized.length > 0 ? oversized : missingReferences(read, snapshot, ownNamespace);
};

/** What is wrong with a resource and its references: that a base config is missing is said by the ConfigMap that is. */
export const withReferenceFailures = <E extends { readonly _tag: string }>(
  failures: ReadonlyArray<E | BaseConfigRequired>,
  missing: ReadonlyArray<MissingReference | ReferenceTooLarge>,
): ReadonlyArray<E | BaseConfigRequired | MissingReference | ReferenceTooLarge> => [
  ...failures.filter((failure) =>
    !(failure instanceof BaseConfigRequired) || failure.configMap === undefined ||
    missing.every(({ name }) => name !== failure.configMap)
  ),
  ...missing,
];

export const missingReferences = (
  references: ReadonlyArray<Reference>,
  snapshot: Pick<Sources, "secrets" | "configMaps" | "tooLarge">,
  ownNamespace: string,
): ReadonlyArray<MissingReference> =>
  oncePerObject(
    references.filter(({ optional }) => !optional).flatMap((reference): ReadonlyArray<MissingReference> => {
      const { kind, name, namespace = ownNamespace, key, orKey } = reference;
      const map = snapshot.configMaps.get(`${namespace}/${name}`);
      const contents = (kind === "Secret" ? [snapshot.secrets.get(name)] : [map?.data, map?.binaryData])
        .filter((content) => content !== undefined);
      if (contents.length === 0) return [missing(reference, "NoObject", ownNamespace)];
      const has = (key: string) => contents.some((content) => Object.hasOwn(content, key));
      return key === undefined || has(key) || orKey !== undefined && has(orKey)
        ? []
        : [missing(reference, "NoKey", ownNamespace)];
    }),
  );

/** Of an object that does not exist, or has not the key. */
export const missing = (
  { kind, name, path, key = "", namespace }: Reference,
  lacks: "NoObject" | "NoKey",
  ownNamespace: string,
): MissingReference => {
  const object = { path, name, namespace: namespace ?? ownNamespace };
  if (kind === "Secret") {
    return lacks === "NoObject" ? new SecretNotFound(object) : new SecretKeyMissing({ ...object, key });
  }
  return lacks === "NoObject" ? new ConfigMapNotFound(object) : new ConfigMapKeyMissing({ ...object, key });
};

/** An object that is missing is reported once, however many fields reference it. */
export const oncePerObject = (failures: ReadonlyArray<MissingReference>): ReadonlyArray<MissingReference> => {
  const keyOf = (failure: MissingReference) => [failure._tag, failure.namespace, failure.name].join("\n");
  const isAbsence = ({ _tag }: MissingReference) => _tag === "SecretNotFound" || _tag === "ConfigMapNotFound";
  return failures.flatMap((failure, index) => {
    if (!isAbsence(failure)) return [failure];
    const same = failures.filter((other) => keyOf(other) === keyOf(failure));
    if (same.length === 1) return [failure];
    if (failures.findIndex((other) => keyOf(other) === keyOf(failure)) !== index) return [];
    const { path, name, namespace } = failure;
    const others = same.length - 1;
    return failure._tag === "SecretNotFound"
      ? [new SecretNotFound({ path, name, namespace, others })]
      : [new ConfigMapNotFound({ path, name, namespace, others })];
  });
};

const oversizedReferences = (
  references: ReadonlyArray<Reference>,
  snapshot: Pick<Sources, "secrets" | "configMaps" | "tooLarge">,
  ownNamespace: string,
): ReadonlyArray<ReferenceTooLarge> =>
  snapshot.tooLarge.flatMap(({ kind, name }) => {
    const first = references.find((reference) => reference.kind === kind && reference.name === name);
    if (first === undefined) return [];
    const { path, namespace = ownNamespace } = first;
    const bytesMax = kind === "Secret" ? SECRET_VALUES_BYTES_MAX : CONFIG_MAPS_BYTES_MAX;
    return [new ReferenceTooLarge({ path, kind, name, namespace, bytesMax })];
  });
