/** The ServiceAccount `<cr>-sa`, also there when the pod uses another one. */
import type { Blueprint, Manifest } from "./blueprint.ts";
import { metadataOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

export const serviceAccountName = (name: string): string => `${name}-sa`;

export const serviceAccount = (blueprint: Blueprint): Manifest =>
  manifest<"ServiceAccount">({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: metadataOf(blueprint, serviceAccountName(blueprint.name)),
  });
