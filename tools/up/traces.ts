/** The objects that a run created in a cluster, in order, so that exactly these can be removed. */
import type { JsonObject } from "../../core/data/json.ts";
import { type Api, collectionOf, nameOf, namespaceOf, uidOf } from "./api.ts";

export interface Traces {
  /** False if an object of that name already exists; it is left unchanged, now and at the end. */
  readonly make: (object: JsonObject, namespace: string) => Promise<boolean>;
  /** Remembers an object that will be created for this run, unless it already exists. */
  readonly expect: (path: string) => Promise<void>;
  /** Removes what was made, the last first, and waits until namespaces are gone. */
  readonly remove: () => Promise<void>;
}

export const tracesIn = (api: Api): Traces => {
  const made: Array<{ readonly path: string; readonly uid: string; readonly isNamespace: boolean }> = [];
  const expected: Array<string> = [];
  const isThere = async (path: string, uid: string) => {
    const found = await api.get(path);
    return found !== undefined && uidOf(found) === uid;
  };
  return {
    make: async (object, namespace) => {
      const collection = await collectionOf(api, object, namespaceOf(object) ?? namespace);
      const created = await api.create(collection, object);
      if (created === false) return false;
      const isNamespace = object.kind === "Namespace";
      made.push({ path: `${collection}/${nameOf(created)}`, uid: uidOf(created), isNamespace });
      return true;
    },
    expect: async (path) => {
      if (await api.get(path) === undefined) expected.push(path);
    },
    remove: async () => {
      for (const { path, uid } of made.toReversed()) await api.remove(path, uid);
      for (const path of expected) {
        const found = await api.get(path);
        if (found !== undefined) await api.remove(path, uidOf(found));
      }
      const end = Date.now() + GONE_WITHIN_MS;
      for (const { path, uid } of made.filter(({ isNamespace }) => isNamespace)) {
        while (await isThere(path, uid)) {
          if (Date.now() > end) {
            throw new Error(`${path} is still being deleted; check with kubectl get ${path.split("/").at(-1)}`);
          }
          await new Promise((resolve) => setTimeout(resolve, 250));
        }
      }
    },
  };
};

/** An empty namespace is gone in about ten seconds; pods with a grace period take 30 more. */
const GONE_WITHIN_MS = 90_000;
