/** The permissions of the default installation as a table of docs/security.md. */
import { DEFAULT } from "./choices.ts";
import { type Permission, permissionsFor } from "./permissions.ts";

const [BEGIN, END] = ["<!-- permissions: made by `deno task gen` -->", "<!-- end of permissions -->"] as const;

/** The page with the table between its marks; undefined where a mark is missing. */
export const withPermissions = (page: string): string | undefined => {
  const [before, after] = [page.split(BEGIN)[0], page.split(END)[1]];
  return before === undefined || after === undefined || !page.includes(BEGIN)
    ? undefined
    : `${before}${BEGIN}\n\n${table(permissionsFor(DEFAULT).map(row))}\n\n${END}${after}`;
};

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

/** In columns of equal width, as `deno fmt` wants it. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = HEAD.map((head, column) =>
    Math.max(...[head, ...rows.map((cells) => cells[column] ?? "")].map((cell) => cell.length))
  );
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
};
