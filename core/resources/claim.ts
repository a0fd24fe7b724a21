/** The PersistentVolumeClaim `<cr>-pvc`: kept when the resource is deleted, unless `retentionPolicy` is Delete. */
import type { Blueprint, Manifest } from "./blueprint.ts";
import { metadataOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

export const claimName = (name: string): string => `${name}-pvc`;

/** Size of a claim, if the resource sets none. Source: the Go operator, whose claims are adopted. */
export const CLAIM_SIZE_DEFAULT = "10Gi";

/**
 * Argo CD takes an object with the label `app.kubernetes.io/instance` for part of the Application of that name, if it tracks
 * by label, and would delete a claim that the resource does not own.
 */
const NOT_OF_ARGO_CD = {
  "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
  "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
};

/** Undefined without `workload.storage`, and with an existing claim. */
export const claim = (blueprint: Blueprint): Manifest | undefined => {
  const storage = blueprint.spec.workload?.storage;
  if (storage === undefined || storage.existingClaim !== undefined) return undefined;
  const owned = storage.retentionPolicy === "Delete";
  return manifest<"PersistentVolumeClaim">({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: metadataOf(blueprint, claimName(blueprint.name), {
      owned,
      ...(owned ? {} : { annotations: NOT_OF_ARGO_CD }),
    }),
    spec: {
      accessModes: [storage.accessMode ?? "ReadWriteOnce"],
      resources: { requests: { storage: String(storage.size ?? CLAIM_SIZE_DEFAULT) } },
      ...(storage.storageClassName === undefined ? {} : { storageClassName: storage.storageClassName }),
    },
  });
};

/** The claim that the pod mounts; undefined: an emptyDir. */
export const mountedClaim = ({ name, spec }: Blueprint): string | undefined => {
  const storage = spec.workload?.storage;
  return storage === undefined ? undefined : storage.existingClaim ?? claimName(name);
};
