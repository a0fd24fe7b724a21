/** Keys `namespace/name` in order of arrival, round-robin over namespaces. */
import { namespaceOf } from "../../core/snapshot/object_key.ts";

export interface NamespaceRotation {
  readonly add: (key: string) => void;
  readonly has: (key: string) => boolean;
  /** Whether the key was there. */
  readonly delete: (key: string) => boolean;
  /** Removes and returns the oldest key of the next eligible namespace. */
  readonly take: (mayTake: (namespace: string) => boolean) => string | undefined;
  readonly size: () => number;
}

export const namespaceRotation = (): NamespaceRotation => {
  // The next namespace comes first; a Map keeps the order of insertion.
  const namespaces = new Map<string, Set<string>>();
  let size = 0;
  const remove = (namespace: string, keys: Set<string>, key: string): boolean => {
    if (!keys.delete(key)) return false;
    size--;
    if (keys.size === 0) namespaces.delete(namespace);
    return true;
  };
  return {
    add: (key) => {
      const namespace = namespaceOf(key);
      const keys = namespaces.get(namespace) ?? new Set();
      if (keys.has(key)) return;
      namespaces.set(namespace, keys.add(key));
      size++;
    },
    has: (key) => namespaces.get(namespaceOf(key))?.has(key) === true,
    delete: (key) => {
      const namespace = namespaceOf(key);
      const keys = namespaces.get(namespace);
      return keys !== undefined && remove(namespace, keys, key);
    },
    take: (mayTake) => {
      for (const [namespace, keys] of namespaces) {
        if (!mayTake(namespace)) continue;
        const [key] = keys;
        if (key === undefined) continue;
        // It goes to the end of the order.
        namespaces.delete(namespace);
        namespaces.set(namespace, keys);
        remove(namespace, keys, key);
        return key;
      }
      return undefined;
    },
    size: () => size,
  };
};
