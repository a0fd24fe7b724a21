/** The PersistentVolumeClaim `<cr>-pvc`: kept when the resource is deleted, unless `retentionPolicy` is Delete. */
import type { Blueprint, Manifest } from "./blueprint.ts";
import { metadataOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

export const claimName = (name: string): string => `${name}-pvc`;

/** Size of a claim, if the resource sets none. Source: the Go operator, whose claims are adopted. */
const SIZE_DEFAULT = "10Gi";

/** Undefined without `workload.storage`, and with an existing claim. */
export const claim = (blueprint: Blueprint): Manifest | undefined => {
  const storage = blueprint.spec.workload?.storage;
  if (storage === undefined || storage.existingClaim !== undefined) return undefined;
  return manifest<"PersistentVolumeClaim">({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: metadataOf(blueprint, claimName(blueprint.name), { owned: storage.retentionPolicy === "Delete" }),
    spec: {
      accessModes: [storage.accessMode ?? "ReadWriteOnce"],
      resources: { requests: { storage: String(storage.size ?? SIZE_DEFAULT) } },
      ...(storage.storageClassName === undefined ? {} : { storageClassName: storage.storageClassName }),
    },
  });
};

/** The claim that the pod mounts; undefined: an emptyDir. */
export const mountedClaim = ({ name, spec }: Blueprint): string | undefined => {
  const storage = spec.workload?.storage;
  return storage === undefined ? undefined : storage.existingClaim ?? claimName(name);
};
