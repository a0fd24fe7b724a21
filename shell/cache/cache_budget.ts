/**
 * Limits of the memory for the cache, per namespace and in total. Tenants choose the size and number of their objects;
 * objects beyond the limits are read again when they are needed, which costs their own time and no shared memory.
 *
 * When all of it is used, the namespace with the largest share evicts its oldest entries for one with a smaller share:
 * every namespace gets an equal share, whatever the others store.
 */
import type { Packed } from "./packed.ts";
import { KEPT_BYTES_MAX, KEPT_NAMESPACE_BYTES_MAX } from "../limits.ts";

export interface CacheBudget {
  /** Makes room for `bytes` more of this namespace; false if it has its full share, or reached its limit. */
  readonly makeRoom: (namespace: string, bytes: number) => boolean;
  /**
   * Counts an entry; call again after its text was compressed. `giveUp` is called once, when its memory is given to
   * another namespace, after the entry was removed here; an entry without it is never evicted.
   */
  readonly count: (namespace: string, entry: object, bytes: number, giveUp?: () => void) => void;
  readonly forget: (namespace: string, entry: object) => void;
}

interface Share {
  bytes: number;
  readonly entries: Map<object, number>;
  /** How to give up those that can be, in the order in which they came. */
  readonly evictable: Map<object, () => void>;
}

export const cacheBudget = (max = KEPT_BYTES_MAX, namespaceMax = KEPT_NAMESPACE_BYTES_MAX): CacheBudget => {
  const shares = new Map<string, Share>();
  let total = 0;
  const forget = (namespace: string, entry: object): void => {
    const share = shares.get(namespace);
    const bytes = share?.entries.get(entry);
    if (share === undefined || bytes === undefined) return;
    share.entries.delete(entry);
    share.evictable.delete(entry);
    share.bytes -= bytes;
    total -= bytes;
    if (share.entries.size === 0) shares.delete(namespace);
  };
  const largest = (): { readonly namespace: string; readonly share: Share } | undefined => {
    let found: { readonly namespace: string; readonly share: Share } | undefined;
    for (const [namespace, share] of shares) {
      if (share.evictable.size > 0 && share.bytes > (found?.share.bytes ?? 0)) found = { namespace, share };
    }
    return found;
  };
  return {
    makeRoom: (namespace, bytes) => {
      const wanted = (shares.get(namespace)?.bytes ?? 0) + bytes;
      if (wanted > namespaceMax) return false;
      while (total + bytes > max) {
        const other = largest();
        if (other === undefined || other.share.bytes <= wanted) return false;
        const [oldest] = other.share.evictable;
        if (oldest === undefined) return false;
        const [entry, giveUp] = oldest;
        forget(other.namespace, entry);
        giveUp();
      }
      return true;
    },
    count: (namespace, entry, bytes, giveUp) => {
      const share: Share = shares.get(namespace) ?? { bytes: 0, entries: new Map(), evictable: new Map() };
      shares.set(namespace, share);
      const change = bytes - (share.entries.get(entry) ?? 0);
      share.bytes += change;
      total += change;
      share.entries.set(entry, bytes);
      if (giveUp !== undefined && !share.evictable.has(entry)) share.evictable.set(entry, giveUp);
    },
    forget,
  };
};

/** Bytes of the text as V8 keeps it: one for each character, two where any of them is beyond Latin-1. */
export const bytesOf = ({ rest }: Pick<Packed, "rest">): number =>
  // deno-lint-ignore no-control-regex -- the range is the point
  rest.length * (/[^\u0000-\u00ff]/.test(rest) ? 2 : 1);
