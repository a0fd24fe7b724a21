/** values.yaml, values.schema.json and the README's table, from the table of values. */
import { isObject, type JsonObject, objectAt, put } from "../../../core/data/json.ts";
import { writeYaml } from "../../../core/data/yaml.ts";
import type { ChartValue } from "./values.ts";

const PAGE_WIDTH = 118;

/** Each value below its comment. */
export const valuesFile = (values: ReadonlyArray<ChartValue>): string => {
  const tree = values.reduce<JsonObject>((all, { path, value }) => put(all, path.split("."), value), {});
  const lines = (object: JsonObject, before: string, indent: string): ReadonlyArray<string> =>
    Object.entries(object).flatMap(([key, value]) => {
      const path = `${before}${key}`;
      const row = values.find((entry) => entry.path === path);
      if (row === undefined) return [`${indent}${key}:`, ...lines(objectAt(value), `${path}.`, `${indent}  `)];
      const text = writeYaml({ [key]: value }).trimEnd().split("\n").map((line) => indent + line);
      return [...wrapped(row.comment, PAGE_WIDTH - indent.length).map((line) => `${indent}# ${line}`), ...text];
    });
  return `${lines(tree, "", "").join("\n")}\n`;
};

const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

/** Nothing but the values of the table, and what Helm passes to a chart that is a dependency of another one. */
export const valuesSchema = (values: ReadonlyArray<ChartValue>): JsonObject => {
  const tree = values.reduce<JsonObject>(
    (all, { path, schema, comment }) => put(all, path.split("."), { [LEAF]: { ...schema, description: comment } }),
    {},
  );
  const schemaOf = (object: JsonObject): JsonObject => {
    const leaf = object[LEAF];
    if (isObject(leaf)) return leaf;
    const properties = Object.entries(object).map(([key, value]): [string, JsonObject] => [
      key,
      schemaOf(objectAt(value)),
    ]);
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      // `null` removes a value: those that a template needs must remain.
      required: properties.filter(([, schema]) => schema.required !== undefined || isScalar(schema)).map(([key]) =>
        key
      ),
      additionalProperties: false,
    };
  };
  const { properties, ...rest } = schemaOf(tree);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...rest,
    properties: {
      ...objectAt(properties),
      global: { type: "object", description: "Set by Helm if the chart is a dependency of another chart; not used." },
      enabled: {
        type: "boolean",
        description: "For the condition of a dependency in another chart; not used by this chart.",
      },
    },
  };
};

const isScalar = ({ type, enum: words }: JsonObject): boolean =>
  words !== undefined || ["string", "boolean", "integer"].includes(String(type));

const LEAF = "⟪leaf⟫";

export const valuesTable = (values: ReadonlyArray<ChartValue>): string =>
  [
    "| value | default | meaning |",
    "| --- | --- | --- |",
    ...values.map(({ path, value, comment }) =>
      `| \`${path}\` | \`${typeof value === "string" ? value || '""' : JSON.stringify(value)}\` | ${comment} |`
    ),
  ].join("\n");
