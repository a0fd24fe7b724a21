/** Where an object is on the API server. */
import { groupPath, OTHER_KINDS, OWN_KINDS, POD_KINDS, ROUTES } from "../core/plan/kinds.ts";
import type { ObjectKey } from "../core/plan/step.ts";

export const pathOf = ({ apiVersion, kind, namespace, name }: ObjectKey): string =>
  `${groupPath(apiVersion)}/namespaces/${namespace}/${PLURALS.get(kind) ?? kind}/${name}`;

const PLURALS: ReadonlyMap<string, string> = new Map(
  [...OWN_KINDS, ROUTES, ...POD_KINDS, ...OTHER_KINDS].map(({ kind, plural }) => [kind, plural]),
);
