/** Where an object is on the API server. */
import { isNamespaceName, isObjectName } from "../../core/api/object_names.ts";
import { groupPath, OTHER_KINDS, POD_KINDS, WRITTEN_KINDS } from "../../core/snapshot/kinds.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";

/**
 * Undefined for names that no object can have. `..` or a `?` in one would make a request for something else of what was meant
 * for an object of this namespace.
 */
export const pathOf = (key: ObjectKey): string | undefined => {
  const { apiVersion, kind, namespace, name } = key;
  return isNamespaceName(namespace) && isObjectName(name)
    ? `${groupPath(apiVersion)}/namespaces/${namespace}/${PLURALS.get(kind) ?? kind}/${name}`
    : undefined;
};

const PLURALS: ReadonlyMap<string, string> = new Map(
  [...WRITTEN_KINDS, ...POD_KINDS, ...OTHER_KINDS].map(({ kind, plural }) => [kind, plural]),
);
