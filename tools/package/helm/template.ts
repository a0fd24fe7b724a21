/** Trees as text of Helm templates: YAML with actions, laid out as deploy/install.yaml is. */
import { isList, isObject, type Json } from "../../../core/data/json.ts";
import { writeYaml } from "../../../core/data/yaml.ts";
import { blockMark, escaped, hasMarks, loopIn, scalarWithMarks } from "./expressions.ts";
import type { Part, Tree } from "./merged.ts";

const STEP = 2;

/** A document, without the line that separates documents. */
export const documentLines = (tree: Tree): ReadonlyArray<string> => childLines(tree, 0);

/** `lines` between the actions of a condition, a loop or both. */
export const guarded = (
  lines: ReadonlyArray<string>,
  actions: ReadonlyArray<string | undefined>,
): ReadonlyArray<string> =>
  actions.reduceRight<ReadonlyArray<string>>(
    (inner, action) => action === undefined ? inner : [`{{- ${action} }}`, ...inner, "{{- end }}"],
    lines,
  );

export const ifTrue = (condition: string | undefined): string | undefined =>
  condition === undefined ? undefined : `if ${condition}`;

/** The entries of a map or a list at this indentation. */
const childLines = (tree: Tree, indent: number): ReadonlyArray<string> => {
  const parts = partsOf(tree);
  if (parts === undefined) throw new Error(`Not a map and not a list: ${JSON.stringify(tree)}`);
  const isInList = tree.kind === "list" || tree.kind === "value" && isList(tree.value);
  return grouped(parts).flatMap(({ when, parts }) => {
    const loops = parts.map((part) => loopIn(isInList ? textOf(part.tree) : part.key));
    const lines = parts.flatMap((part, index) =>
      guarded(isInList ? itemLines(part.tree, indent) : entryLines(part.key, part.tree, indent), [loops[index]])
    );
    return guarded(lines, [loops.length === 1 && repeatsOnlyIf(loops[0], when) ? undefined : ifTrue(when)]);
  });
};

/** A loop over a list does nothing if the list is empty. */
export const repeatsOnlyIf = (loop: string | undefined, when: string | undefined): boolean =>
  loop !== undefined && when !== undefined && loop.endsWith(` := ${when}`);

interface Group {
  readonly when: string | undefined;
  readonly parts: ReadonlyArray<Part>;
}

/** Neighbours with the same condition share it. */
const grouped = (parts: ReadonlyArray<Part>): ReadonlyArray<Group> =>
  parts.reduce<ReadonlyArray<Group>>((groups, part) => {
    const last = groups.at(-1);
    return last !== undefined && last.when === part.when
      ? [...groups.slice(0, -1), { when: part.when, parts: [...last.parts, part] }]
      : [...groups, { when: part.when, parts: [part] }];
  }, []);

/** Without conditions of their own, for values that are the same in every variant. */
const partsOf = (tree: Tree): ReadonlyArray<Part> | undefined => {
  if (tree.kind === "map" || tree.kind === "list") return tree.parts;
  if (tree.kind === "alternatives") return undefined;
  const { value } = tree;
  const entries: ReadonlyArray<readonly [string, Json]> | undefined = isList(value)
    ? value.map((entry): [string, Json] => ["", entry])
    : isObject(value)
    ? Object.entries(value)
    : undefined;
  return entries === undefined || entries.length === 0
    ? undefined
    : entries.map(([key, entry]) => ({ key, when: undefined, tree: { kind: "value", value: entry } }));
};

const entryLines = (key: string, tree: Tree, indent: number): ReadonlyArray<string> => {
  if (tree.kind === "alternatives") {
    return tree.parts.flatMap((part) => guarded(entryLines(key, part.tree, indent), [ifTrue(part.when)]));
  }
  const pad = " ".repeat(indent);
  const block = blockMark(key) ?? blockOf(tree);
  if (block !== undefined) return blockLines(key, block, indent);
  if (isPlain(tree) && !hasMarks(key)) return plainLines({ [key]: tree.value }, indent);
  const keyText = scalarWithMarks(key) ?? writeYaml({ [key]: 0 }).replace(/: 0\n$/, "");
  if (partsOf(tree) === undefined) return [`${pad}${keyText}: ${scalarText(tree)}`];
  return [`${pad}${keyText}:`, ...childLines(tree, indent + STEP)];
};

const itemLines = (tree: Tree, indent: number): ReadonlyArray<string> => {
  const pad = " ".repeat(indent);
  const block = blockOf(tree);
  if (block !== undefined) return blockLines("", block, indent);
  if (isPlain(tree)) return plainLines([tree.value], indent);
  if (partsOf(tree) === undefined) return [`${pad}- ${scalarText(tree)}`];
  const [first = "", ...rest] = childLines(tree, indent + STEP);
  // An action stands before the first entry.
  return first.startsWith("{{-") ? [`${pad}-`, first, ...rest] : [`${pad}- ${first.trimStart()}`, ...rest];
};

const blockOf = (tree: Tree): readonly [string, string] | undefined =>
  tree.kind === "value" && typeof tree.value === "string" ? blockMark(tree.value) : undefined;

const blockLines = (key: string, [kind, path]: readonly [string, string], indent: number): ReadonlyArray<string> => {
  const pad = " ".repeat(indent);
  if (kind === "further") {
    return guarded([`${pad}{{- toYaml . | nindent ${indent} }}`], [`with $.Values.${path}`]);
  }
  return guarded([`${pad}${key}:`, `${pad}  {{- toYaml . | nindent ${indent + STEP} }}`], [`with $.Values.${path}`]);
};

const isPlain = (tree: Tree): tree is Tree & { readonly kind: "value" } =>
  tree.kind === "value" && !hasMarks(JSON.stringify(tree.value));

const plainLines = (value: Json, indent: number): ReadonlyArray<string> =>
  escaped(writeYaml(value).trimEnd()).split("\n").map((line) => line === "" ? "" : " ".repeat(indent) + line);

const scalarText = (tree: Tree): string => {
  if (tree.kind !== "value") throw new Error(`Not a scalar: ${tree.kind}`);
  const { value } = tree;
  return (typeof value === "string" ? scalarWithMarks(value) : undefined) ?? escaped(writeYaml(value).trimEnd());
};

/** The loop around a whole document. */
export const repeated = (tree: Tree): string | undefined => loopIn(textOf(tree));

/** The values that a loop around the entry or document repeats, but not those of lists, which have loops of their own. */
const textOf = (tree: Tree): string => {
  if (tree.kind === "list") return "";
  if (tree.kind === "value") return JSON.stringify(withoutLists(tree.value));
  return tree.parts.map((part) => textOf(part.tree)).join("\n");
};

const withoutLists = (value: Json): Json => {
  if (isList(value)) return null;
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => loopIn(key) === undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutLists(inner)]));
};
