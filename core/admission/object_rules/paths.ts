/** Paths inside volumes. Source: validateLocalDescendingPath and ValidateLocalNonReservedPath of Kubernetes. */
import { quoted } from "../../data/printable.ts";

/** Whether a path leaves its folder. */
export const climbs = (path: string): boolean => path.startsWith("/") || path.split("/").includes("..");

/** What is wrong with the path of a file in a volume; names that begin with ".." belong to the kubelet. */
export const filePathProblem = (path: string): string | undefined =>
  climbs(path) || path.startsWith("..")
    ? `not a path inside the volume: ${quoted(path)}; use a relative path without ".."`
    : undefined;
