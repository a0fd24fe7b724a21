/**
 * How much of the cluster is kept in memory, per namespace and in all. A tenant chooses how large and how many his objects
 * are; what is beyond the bounds is read again when it is needed, so that it costs time of his own and nobody's memory.
 */
import type { Packed } from "./packed.ts";
import { KEPT_BYTES_MAX, KEPT_NAMESPACE_BYTES_MAX } from "../limits.ts";

export interface KeptBytes {
  /** Whether `bytes` more may be kept for this namespace. */
  readonly hasRoom: (namespace: string, bytes: number) => boolean;
  /** Counts an entry; call again after its text was deflated. */
  readonly count: (namespace: string, entry: object, bytes: number) => void;
  readonly forget: (namespace: string, entry: object) => void;
}

export const keptBytes = (): KeptBytes => {
  const byNamespace = new Map<string, number>();
  const byEntry = new WeakMap<object, number>();
  let total = 0;
  const add = (namespace: string, bytes: number): void => {
    total += bytes;
    const sum = (byNamespace.get(namespace) ?? 0) + bytes;
    if (sum === 0) byNamespace.delete(namespace);
    else byNamespace.set(namespace, sum);
  };
  return {
    hasRoom: (namespace, bytes) =>
      total + bytes <= KEPT_BYTES_MAX && (byNamespace.get(namespace) ?? 0) + bytes <= KEPT_NAMESPACE_BYTES_MAX,
    count: (namespace, entry, bytes) => {
      add(namespace, bytes - (byEntry.get(entry) ?? 0));
      byEntry.set(entry, bytes);
    },
    forget: (namespace, entry) => {
      add(namespace, -(byEntry.get(entry) ?? 0));
      byEntry.delete(entry);
    },
  };
};

/** Bytes of the text as V8 keeps it: one for each character, two where any of them is beyond Latin-1. */
export const bytesOf = ({ rest }: Pick<Packed, "rest">): number =>
  // deno-lint-ignore no-control-regex -- the range is the point
  rest.length * (/[^\u0000-\u00ff]/.test(rest) ? 2 : 1);
