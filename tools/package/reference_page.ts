/** docs/api.md: every field of the API in the order of the schema, with type, bounds, default and meaning. */
import { RULES } from "../../core/api/rules.ts";
import { EMBEDDED_SCHEMAS } from "../../core/api/embedded.ts";
import type { StructuralSchema } from "../../core/api/structural_check.ts";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";

export const referencePage = (resource: StructuralSchema): string =>
  [
    `# ${KIND}, ${API_VERSION}`,
    "",
    "Made by `deno task gen` from core/api; do not edit.",
    "",
    "`[]` stands for each item of a list, `{}` for each entry of a map. Fields of Kubernetes' own types are not unfolded.",
    "",
    "A *secret key* is `{secretKeyRef: {name, key}}`: a key of a Secret in the namespace of the resource.",
    "",
    ...["spec", "status"].flatMap((part) => [
      `## ${part}`,
      "",
      "| field | type | meaning |",
      "| --- | --- | --- |",
      ...withoutRepeats(rowsOf(part, resource.properties?.[part] ?? {}, true)).map(lineOf),
      "",
    ]),
    "## Rules",
    "",
    "Checked by the API server, by `lint` and before every change of a running server.",
    "",
    "| where | message |",
    "| --- | --- |",
    ...RULES.map(({ at, message }) => `| \`${at === "" ? "metadata.name" : at}\` | ${cell(message)} |`),
    "",
  ].join("\n");

interface Row {
  readonly path: string;
  readonly type: string;
  readonly meaning: string;
  /** The fields of list items, as one text to compare; empty for everything else. */
  readonly shape: string;
}

const lineOf = ({ path, type, meaning }: Row): string => `| \`${path}\` | ${cell(type)} | ${cell(meaning)} |`;

/** Six lists hold providers: only the first one spells out their fields. */
const withoutRepeats = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const first = new Map<string, string>();
  const repeated = new Set<string>();
  return rows.flatMap((row) => {
    if ([...repeated].some((path) => row.path.startsWith(`${path}[]`))) return [];
    const known = first.get(row.shape);
    if (row.shape === "") return [row];
    if (known === undefined) first.set(row.shape, row.path);
    else repeated.add(row.path);
    return [known === undefined ? row : { ...row, meaning: `${row.meaning} Fields as in \`${known}[]\`.` }];
  });
};

const rowsOf = (path: string, node: StructuralSchema, needed: boolean): ReadonlyArray<Row> => {
  const leaf = kubernetesTypeOf(node) ?? (isSecretKey(node) ? "secret key" : undefined);
  const row: Row = {
    path,
    type: leaf === undefined ? typeOf(node, needed) : `${leaf}${needed ? ", **required**" : ""}`,
    meaning: node.description ?? "",
    shape: node.items?.properties === undefined ? "" : JSON.stringify(node.items),
  };
  if (leaf !== undefined) return [row];
  const inner = node.properties === undefined
    ? []
    : Object.entries(node.properties).flatMap(([key, child]) =>
      rowsOf(`${path}.${key}`, child, node.required?.includes(key) === true)
    );
  return [row, ...inner, ...behind(`${path}[]`, node.items), ...behind(`${path}{}`, entryOf(node))];
};

/** Items and entries without fields of their own are told by the type of their list or map. */
const behind = (path: string, node: StructuralSchema | undefined): ReadonlyArray<Row> =>
  node?.properties === undefined || kubernetesTypeOf(node) !== undefined || isSecretKey(node)
    ? []
    : rowsOf(path, node, false).slice(1);

const isSecretKey = (node: StructuralSchema): boolean => Object.keys(node.properties ?? {}).join() === "secretKeyRef";

const entryOf = ({ additionalProperties }: StructuralSchema): StructuralSchema | undefined =>
  typeof additionalProperties === "object" ? additionalProperties : undefined;

const typeOf = (node: StructuralSchema, needed: boolean): string =>
  [
    plainType(node),
    ...bounds(node),
    ...(node.default === undefined ? [] : [`default \`${JSON.stringify(node.default)}\``]),
    ...(needed ? ["**required**"] : []),
  ].join(", ");

const plainType = (node: StructuralSchema): string => {
  if (node["x-kubernetes-int-or-string"] === true) return node.pattern === undefined ? "integer or string" : "quantity";
  if (node.enum !== undefined) {
    return node.enum.length > 12
      ? `one of ${node.enum.length} names`
      : `one of ${node.enum.map((word) => `\`${word}\``).join(" ")}`;
  }
  if (node.items !== undefined) return `list of ${kubernetesTypeOf(node.items) ?? plainType(node.items)}`;
  const entry = entryOf(node);
  if (entry !== undefined) return `map of ${plainType(entry)}`;
  if (isSecretKey(node)) return "secret key";
  return node["x-kubernetes-preserve-unknown-fields"] === true ? "any fields" : node.type ?? "any";
};

const bounds = (node: StructuralSchema): ReadonlyArray<string> => {
  const range = (low: number | undefined, high: number | undefined, unit: string) =>
    low === undefined && high === undefined ? [] : [`${low ?? 0} to ${high ?? "…"}${unit}`];
  const isWhole32 = node.minimum === -2_147_483_648 && node.maximum === 2_147_483_647;
  return [
    ...range(node.minLength, node.maxLength, " characters"),
    ...(isWhole32 ? [] : range(node.minimum, node.maximum === 2_147_483_647 ? undefined : node.maximum, "")),
    ...range(node.minItems, node.maxItems, " items"),
    ...range(node.minProperties, node.maxProperties, " entries"),
  ];
};

const kubernetesTypeOf = (node: StructuralSchema): string | undefined => {
  const found = Object.entries(EMBEDDED_SCHEMAS).find(([, schema]) => schema === node)?.[0];
  return found === undefined ? undefined : `Kubernetes ${found}`;
};

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
