/** Which resources reference a Secret or ConfigMap, as of the last reconciliation of each. */
import * as Context from "effect/Context";
import { type Reference, TRUSTED_BUNDLE } from "../../core/snapshot/references.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";

/** Of the running operator: an object read in a reconciliation triggers the next one. */
export class ReferenceIndex extends Context.Service<ReferenceIndex, ReturnType<typeof referenceIndex>>()(
  "llama-stack-operator/shell/ReferenceIndex",
) {}

export const referenceIndex = () => {
  const byResource = new Map<string, ReadonlyArray<string>>();
  const byObject = new Map<string, Set<string>>();
  const forget = (key: string): void => {
    for (const object of byResource.get(key) ?? []) {
      byObject.get(object)?.delete(key);
      if (byObject.get(object)?.size === 0) byObject.delete(object);
    }
    byResource.delete(key);
  };
  // Undefined until the ConfigMaps were listed: then every namespace may have a bundle.
  let bundles: Set<string> | undefined;
  return {
    forget,
    /** Whether the CA bundle of the namespace has to be read. */
    mayHaveBundle: (namespace: string): boolean => bundles === undefined || bundles.has(namespace),
    /** The bundle `namespace/name` was seen, or is gone; the resources of that namespace if this is new. */
    bundleSeen: (name: string, exists: boolean, keys: Iterable<string>): ReadonlyArray<string> => {
      const namespace = namespaceOf(name);
      bundles ??= new Set();
      if (bundles.has(namespace) === exists) return [];
      if (exists) bundles.add(namespace);
      else bundles.delete(namespace);
      return [...keys].filter((key) => namespaceOf(key) === namespace);
    },
    /** The bundles `namespace/name` of a complete list of the namespaces that `covers` a key of. */
    bundlesListed: (seen: ReadonlySet<string>, covers: (key: string) => boolean): void => {
      bundles ??= new Set();
      for (const namespace of [...bundles]) {
        if (covers(`${namespace}/`) && !seen.has(`${namespace}/${TRUSTED_BUNDLE}`)) bundles.delete(namespace);
      }
    },
    /** In place of what was known of the resource `namespace/name`. */
    remember: (key: string, references: ReadonlyArray<Reference>): void => {
      forget(key);
      if (references.length === 0) return;
      const own = namespaceOf(key);
      const objects = references.map(({ kind, name, namespace = own }) => `${kind} ${namespace}/${name}`);
      byResource.set(key, objects);
      for (const object of objects) byObject.set(object, (byObject.get(object) ?? new Set()).add(key));
    },
    resourcesNaming: (kind: string): ReadonlyArray<string> =>
      [...byResource].filter(([, objects]) => objects.some((text) => text.startsWith(`${kind} `))).map(([key]) => key),
    /** Resources that name an object of the kind which is not among `there`, `namespace/name` each. */
    missing: (kind: string, there: ReadonlySet<string>): ReadonlyArray<string> =>
      [...byObject].flatMap(([object, keys]) =>
        object.startsWith(`${kind} `) && !there.has(object.slice(kind.length + 1)) ? [...keys] : []
      ),
    dependants: (kind: string, name: string): ReadonlyArray<string> => [...(byObject.get(`${kind} ${name}`) ?? [])],
  };
};
