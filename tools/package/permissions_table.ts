/** The permissions of the default installation as a table of docs/security.md. */
import { DEFAULT } from "./choices.ts";
import { withTable } from "./page_table.ts";
import { type Permission, permissionsFor } from "./permissions.ts";

/** The page with the table between its marks; undefined where a mark is missing. */
export const withPermissions = (page: string): string | undefined =>
  withTable(page, "permissions", HEAD, permissionsFor(DEFAULT).map(row));

const HEAD = ["where", "resource", "verbs", "needed to"];

const PLACES: Readonly<Record<Permission["where"], string>> = {
  watched: "watched namespaces",
  own: "own namespace",
  cluster: "cluster",
};

const row = ({ apiGroup, resource, verbs, names, where, why }: Permission): ReadonlyArray<string> => [
  PLACES[where],
  `${resource}${apiGroup === "" ? "" : `.${apiGroup}`}${names === undefined ? "" : ` \`${names.join("`, `")}\``}`,
  verbs.join(", "),
  why,
];
