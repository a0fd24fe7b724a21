/** Marks in the objects of an installation, and the expressions of the chart that replace them. */

/** A mark within a string or in place of one; no object contains such brackets otherwise. */
export const mark = (name: keyof typeof EXPRESSIONS): string => `⟪${name}⟫`;

/** In place of a value: the value of the chart as YAML, or nothing if it is empty. */
export const optional = (path: string): string => `⟪optional ${path}⟫`;

/** In place of a key, with any value, or of a list's entry: further entries of the map or list, from the chart. */
export const further = (path: string): string => `⟪further ${path}⟫`;

interface Expression {
  readonly text: string;
  /** Neither quoted nor a part of a string. */
  readonly isNumber?: true;
  /** The action around the list entry or document that contains the mark: once for each of something. */
  readonly loop?: string;
}

const WATCHED = "range $namespace := $.Values.watchNamespaces";
const RELATED = "range $distribution, $image := $.Values.relatedImages";
const SETTINGS = "range $key, $value := $.Values.settings";

/** With `$`, as they may be within a loop. */
export const EXPRESSIONS = {
  namespace: { text: "$.Release.Namespace" },
  // A label value has no "+", which begins the build metadata of a version.
  version: { text: '$.Chart.AppVersion | replace "+" "_"' },
  image: { text: 'include "llama-stack-operator.image" $' },
  replicas: { text: "int $.Values.replicas", isNumber: true },
  watched: { text: "$namespace", loop: WATCHED },
  "related variable": { text: '$distribution | upper | replace "-" "_"', loop: RELATED },
  "related image": { text: "$image", loop: RELATED },
  "setting key": { text: "$key", loop: SETTINGS },
  setting: { text: 'kindIs "string" $value | ternary $value (toYaml $value)', loop: SETTINGS },
} as const satisfies Readonly<Record<string, Expression>>;

const PATTERN = new RegExp(`⟪(${Object.keys(EXPRESSIONS).join("|")})⟫`, "g");

const expressionOf = (name: string): Expression => EXPRESSIONS[name as keyof typeof EXPRESSIONS];

/** A string of YAML with its marks replaced; undefined if it has none. */
export const scalarWithMarks = (text: string): string | undefined => {
  const parts = text.split(PATTERN);
  if (parts.length === 1) return undefined;
  const [before, name = "", after] = parts;
  if (parts.length === 3 && before === "" && after === "") {
    const { text: expression, isNumber } = expressionOf(name);
    return isNumber === true ? `{{ ${expression} }}` : `{{ ${expression} | quote }}`;
  }
  // Every other part is a name. None of these expressions has a value that would need an escape in quotes.
  return JSON.stringify(parts.map((part, index) => index % 2 === 0 ? escaped(part) : `⟪${part}⟫`).join(""))
    .replaceAll(PATTERN, (_, found: string) => `{{ ${expressionOf(found).text} }}`);
};

/** Text that the template engine would take for an action. */
export const escaped = (text: string): string => text.replaceAll("{{", "{{ `{{` }}");

/** The loop around an entry with this text. */
export const loopIn = (text: string): string | undefined => {
  const loops = new Set(
    [...text.matchAll(PATTERN)].flatMap(([, name = ""]) => expressionOf(name).loop ?? []),
  );
  if (loops.size > 1) throw new Error(`Two loops in one entry: ${text}`);
  return [...loops][0];
};

/** `["optional", "nodeSelector"]` of such a mark. */
export const blockMark = (text: string): readonly [kind: string, path: string] | undefined => {
  const [, kind, path] = /^⟪(optional|further) ([\w.]+)⟫$/.exec(text) ?? [];
  return kind === undefined || path === undefined ? undefined : [kind, path];
};

export const hasMarks = (text: string): boolean => text.includes("⟪");
