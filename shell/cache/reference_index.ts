/** Which resources reference a Secret or ConfigMap, as of the last reconciliation of each. */
import * as Context from "effect/Context";
import type { Reference } from "../../core/snapshot/references.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";

/** Of the running operator: an object read in a reconciliation triggers the next one. */
export const ReferenceIndex: Context.Reference<ReferenceIndex> = Context.Reference("llama-stack-operator/shell/Named", {
  defaultValue: () => referenceIndex(),
});

export type ReferenceIndex = ReturnType<typeof referenceIndex>;

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
  return {
    forget,
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
