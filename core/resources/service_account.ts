/** The ServiceAccount `<cr>-sa`, also there when the pod uses another one. */
import { metadataOf, type Owner } from "./metadata.ts";
import { manifest, type ManifestOf } from "./kubernetes_objects.ts";

export const serviceAccountName = (name: string): string => `${name}-sa`;

export const serviceAccount = (owner: Owner): ManifestOf<"ServiceAccount"> =>
  manifest<"ServiceAccount">({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: metadataOf(owner, serviceAccountName(owner.name)),
  });
