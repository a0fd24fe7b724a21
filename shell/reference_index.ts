/** Which resources name a Secret or ConfigMap. */
import { Result } from "effect";
import { decodeResource } from "../core/api/decode.ts";
import { type JsonObject, stringAt } from "../core/json.ts";
import { referencesOf } from "../core/plan/references.ts";

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
    remember: (key: string, resource: JsonObject): void => {
      forget(key);
      const decoded = decodeResource(resource, "lenient");
      if (Result.isFailure(decoded)) return;
      const own = stringAt(resource, "metadata", "namespace") ?? "";
      const objects = referencesOf(decoded.success.spec).map(({ kind, name, namespace = own }) =>
        `${kind} ${namespace}/${name}`
      );
      byResource.set(key, objects);
      for (const object of objects) byObject.set(object, (byObject.get(object) ?? new Set()).add(key));
    },
    resourcesNaming: (kind: string): ReadonlyArray<string> =>
      [...byResource].filter(([, objects]) => objects.some((one) => one.startsWith(`${kind} `))).map(([key]) => key),
    /** Resources that name an object of the kind which is not among `there`, `namespace/name` each. */
    missing: (kind: string, there: ReadonlySet<string>): ReadonlyArray<string> =>
      [...byObject].flatMap(([object, keys]) =>
        object.startsWith(`${kind} `) && !there.has(object.slice(kind.length + 1)) ? [...keys] : []
      ),
    dependants: (kind: string, name: string): ReadonlyArray<string> => [...(byObject.get(`${kind} ${name}`) ?? [])],
  };
};
