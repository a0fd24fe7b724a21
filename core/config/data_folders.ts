/** Where the server keeps its data inside the pod. */
import type { Spec } from "../api/v1alpha2.ts";
import { publishedDistribution } from "../image/published_image.ts";

/** Absolute folders inside the pod. */
export interface DataFolders {
  /** Where the volume is mounted. */
  readonly mount: string;
  /** Databases of the server. */
  readonly state: string;
  /** Uploaded files. */
  readonly files: string;
}

/**
 * `used` is the folder inside the volume where the server has its data already. Without it, the same image has the same
 * folder, whether a resource names it by name or by image.
 */
export const foldersOf = ({ workload, distribution: { name, image = "" } }: Spec, used?: string): DataFolders => {
  const mount = (workload?.storage?.mountPath || MOUNT_DEFAULT).replace(/(.)\/+$/, "$1");
  const distribution = name?.replace(/^ogx-/, "") ?? publishedDistribution(image) ?? "image";
  const state = `${mount === "/" ? "" : mount}/${used ?? `distributions/${distribution}`}`;
  return { mount, state, files: `${state}/files` };
};

/** Mount path of the data volume, for every server. */
export const MOUNT_DEFAULT = "/.llama";
