/** Where the server keeps its data inside the pod. */
import type { Spec } from "../api/v1alpha2.ts";

/** Absolute folders inside the pod. */
export interface DataFolders {
  /** Where the volume is mounted. */
  readonly mount: string;
  /** Databases of the server. */
  readonly state: string;
  /** Uploaded files. */
  readonly files: string;
}

export const foldersOf = (spec: Spec): DataFolders => {
  const mount = (spec.workload?.storage?.mountPath || MOUNT_DEFAULT).replace(/(.)\/+$/, "$1");
  const distribution = (spec.distribution.name ?? "image").replace(/^ogx-/, "");
  const state = `${mount === "/" ? "" : mount}/distributions/${distribution}`;
  return { mount, state, files: `${state}/files` };
};

/** Mount path of the data volume, for every server. */
const MOUNT_DEFAULT = "/.llama";
