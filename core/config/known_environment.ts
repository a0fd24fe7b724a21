/** What is known of the container's environment before there is a container: which `${env.…}` will find a value. */
import type { EnvVar } from "../api/embedded.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { looksLikeNumber } from "./connections/secret_traps.ts";
import type { EnvEntry, Facts } from "./draft.ts";
import { baseId, conditionOf, isConditional } from "./servers/base.ts";
import type { Server } from "./servers/families/families.ts";
import { containerEnv } from "./environment.ts";

/** `Unknown`: something else than the resource decides, e.g. the ConfigMap behind an `envFrom`. */
export type Presence = "Set" | "Unset" | "Unknown";

export type KnownEnvironment = (variable: string) => Presence;

/** `config` is what the stages so far asked for. An empty variable counts as unset, as it does to the server. */
export const knownEnvironment = (
  { spec, server, folders, hasNoOtherVariables = false }:
    & Pick<Facts, "spec" | "folders" | "hasNoOtherVariables">
    & { readonly server: Server | undefined },
  config: ReadonlyArray<EnvEntry>,
): KnownEnvironment => {
  const overrides = spec.workload?.overrides;
  // Built for the first variable that somebody asks for: most configs name none.
  let values: ReadonlyMap<string, EnvVar> | undefined;
  const valuesOf = () =>
    values ??= new Map(
      containerEnv(spec, server?.family, folders, config, true).map((env) => [env.name, env] as const),
    );
  // An image of the author's may set variables of its own, and so may a shell in front of the server.
  const open = spec.distribution.image !== undefined || (overrides?.envFrom ?? []).length > 0 ||
    overrides?.command !== undefined || overrides?.args !== undefined;
  const unknown = hasNoOtherVariables ? "Unset" : "Unknown";
  return (variable) => {
    const found = valuesOf().get(variable);
    const presence = found === undefined ? undefined : presenceOf(found);
    if (presence !== undefined) return presence === "Unknown" ? unknown : presence;
    if (OF_EVERY_CONTAINER.test(variable)) return "Set";
    return open ? unknown : "Unset";
  };
};

/** Where the key of a Secret or ConfigMap may be missing, the cluster decides. */
const presenceOf = ({ value = "", valueFrom }: EnvVar): Presence => {
  if (valueFrom === undefined) return value === "" ? "Unset" : "Set";
  const { optional } = valueFrom.secretKeyRef ?? valueFrom.configMapKeyRef ?? {};
  return optional === true ? "Unknown" : "Set";
};

/** `Maybe`: a variable decides that is not known before the pod starts. */
export const stateOf = (entry: JsonObject, environment: KnownEnvironment): "On" | "Off" | "Maybe" => {
  const condition = conditionOf(entry);
  if (condition !== undefined) return ({ Set: "On", Unset: "Off", Unknown: "Maybe" } as const)[environment(condition)];
  if (["", undefined, "__disabled__"].includes(baseId(entry))) return "Off";
  return isConditional(entry) ? "Maybe" : "On";
};

export interface GivenValue {
  readonly value: string;
  /** `<Secret>/<key>` that holds it; undefined: the resource itself. Messages must not quote a value of a Secret. */
  readonly secret: string | undefined;
  /** Of what is wrong if the value is. */
  readonly path: FieldPath;
}

/** What the resource gives a variable of the pod, as far as it is known: what it writes, else what its Secret has. */
export const givenValue = (
  { spec, secretValue }: Pick<Facts, "spec" | "secretValue">,
  variable: string,
): GivenValue | undefined => {
  const env = spec.workload?.overrides?.env ?? [];
  const index = env.findLastIndex(({ name }) => name === variable);
  const entry = env[index];
  const path: FieldPath = ["spec", "workload", "overrides", "env", index];
  if (entry === undefined) return undefined;
  if (entry.valueFrom === undefined) {
    // The kubelet expands `$(…)`.
    const { value = "" } = entry;
    return value.includes("$(") ? undefined : { value, secret: undefined, path: [...path, "value"] };
  }
  const { name, key = "" } = entry.valueFrom.secretKeyRef ?? {};
  const value = name === undefined ? undefined : secretValue?.(name, key);
  return value === undefined ? undefined : { value, secret: `${name}/${key}`, path };
};

/** Variables of other Services are not set, because the pods have no service links. */
const OF_EVERY_CONTAINER =
  /^(HOME|HOSTNAME|PATH|KUBERNETES_(SERVICE_HOST|SERVICE_PORT(_HTTPS)?|PORT(_443_TCP(_.+)?)?))$/;

/** The form that the server expands: name, then `=` or `+` with what belongs to it. */
export const PLACEHOLDER = /\$\{env\.([A-Z0-9_]+)(?::([=+])([^}]*))?\}/g;

/** The expression is slow to say that a text has none, as most texts of a config. */
const placeholdersIn = (text: string): ReadonlyArray<RegExpExecArray> =>
  text.includes("${env.") ? [...text.matchAll(PLACEHOLDER)] : [];

/** Text that the author meant as a placeholder, which the server would leave as it is. */
export const invalidPlaceholder = (text: string): boolean =>
  text.includes("${env.") &&
  (text.replaceAll(PLACEHOLDER, "").includes("${env.") ||
    placeholdersIn(text).some(([, , , operand = ""]) => operand.includes("${env.")));

/** In any text of the value. */
export const hasInvalidPlaceholder = (value: Json): boolean =>
  typeof value === "string"
    ? invalidPlaceholder(value)
    : (isList(value) || isObject(value)) && Object.values(value).some(hasInvalidPlaceholder);

const FORMS =
  'write ${env.NAME}, ${env.NAME:=default} or ${env.NAME:+value}, with a name of upper-case letters, digits and "_"';

export const PLACEHOLDER_FORMS = `invalid or nested placeholder; ${FORMS}`;

/** Of such a text in a config that the author wrote, where the server starts with it. */
export const LITERAL_PLACEHOLDER =
  `invalid or nested placeholder, which stays in the value as it is, at least in part; ${FORMS}`;

/** A message if the text has a variable as a shell has it. */
export const shellForm = (text: string): string | undefined => {
  const name = /\$\{([A-Z_][A-Z0-9_]*)\}/.exec(text)?.[1];
  return name === undefined ? undefined : `only a shell knows variables in this form; write \${env.${name}}`;
};

/** The value of a variable. Empty: not set. Undefined: not known before the pod starts. */
export interface ValueOf {
  (variable: string): string | undefined;
  /** Whether a variable has a value that is not known, such as that of a Secret. */
  readonly isSet?: (variable: string) => boolean;
}

/** What is known of the variables of a pod, and of their values. */
export interface KnownVariables {
  readonly environment: KnownEnvironment;
  readonly valueOf: ValueOf;
}

/** What the server reads where a config has this value; undefined if only the pod knows. A form that it does not expand stays as it is. */
export const readValue = <A extends Json | undefined>(value: A, valueOf: ValueOf): A | Json | undefined =>
  typeof value === "string" && placeholdersIn(value).length > 0 ? expandedText(value, valueOf) : value;

/** A whole number as the classes of the servers read it, in quotes as well; undefined if it is none, or if only the pod knows. */
export const readWholeNumber = (value: Json | undefined, valueOf: ValueOf): number | undefined => {
  const read = readValue(value, valueOf);
  const number = typeof read === "string" && /^\s*[0-9]+\s*$/.test(read) ? Number(read) : read;
  return Number.isInteger(number) ? Number(number) : undefined;
};

/** Whether a field that a config has with this value may have one once the server has expanded it. */
export const mayBeSet = (value: Json | undefined, valueOf: ValueOf): boolean => {
  const read = readValue(value, valueOf);
  return value !== undefined && read !== null && read !== "";
};

/**
 * What the server reads instead of a text with placeholders; undefined if a variable is not known before the pod
 * starts, or if none is in the text. Source: replace_env_vars in the stack.py of every server.
 */
export const expandedText = (text: string, valueOf: ValueOf): Json | undefined => {
  const expanded = placeholdersIn(text).map(([, variable = "", operator, operand = ""]) => {
    const value = valueOf(variable);
    if (operator === "=") return value === "" ? operand : value;
    if (operator === "+") {
      return value === "" ? "" : value !== undefined || valueOf.isSet?.(variable) ? operand : undefined;
    }
    return value === "" ? undefined : value;
  });
  if (expanded.length === 0 || expanded.includes(undefined)) return undefined;
  let next = 0;
  return convertedText(text.replaceAll(PLACEHOLDER, () => expanded[next++] ?? ""));
};

/** What the server reads in place of the texts of a map, as far as it is known. An empty variable becomes null, which is a value. */
export const expandedSettings = (
  settings: JsonObject,
  valueOf: ValueOf,
): JsonObject =>
  Object.fromEntries(
    Object.entries(settings).map(([key, value]) => {
      const read = typeof value === "string" ? expandedText(value, valueOf) : undefined;
      return [key, read === undefined ? value : read];
    }),
  );

/** Python's bool, int and float, of which only the type matters here. */
export const convertedText = (text: string): Json => {
  if (text === "") return null;
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (!looksLikeNumber(text)) return text;
  const number = Number(text.trim().replaceAll("_", "").replaceAll(/(?![0-9])\p{Nd}/gu, "1"));
  return Number.isFinite(number) ? number : 0.5;
};

/** Names of the variables that a text reads, in its order. */
export const variablesIn = (text: string): ReadonlyArray<string> =>
  placeholdersIn(text).map(([, variable = ""]) => variable);

/** Variables without which the server does not start where `text` stands in its config. */
export const neededVariables = (text: string): ReadonlyArray<string> =>
  placeholdersIn(text).flatMap(([, name = "", operator]) => operator === undefined ? [name] : []);

/** Names of the variables in a value of which nothing is known: an image of the author's, or the ConfigMap behind an `envFrom`, may set them. */
export const unknownIn = (value: Json | undefined, { environment, valueOf }: KnownVariables): ReadonlyArray<string> => {
  const text = value === undefined ? "" : JSON.stringify(value);
  return [...new Set(variablesIn(text))]
    .filter((variable) => environment(variable) === "Unknown" && valueOf(variable) === undefined);
};

/** The end of a message about them. */
export const unlessSet = (names: ReadonlyArray<string>): string =>
  `the server does not start unless ${
    names.length === 0
      ? "something else, such as the image, sets what this depends on"
      : `${names.join(" and ")} is set, and spec.workload.overrides.env does not set it`
  }`;

/** Empty: not set. Without the values of Secrets, so that messages may quote what comes of it. */
export const knownValues = (environment: KnownEnvironment, { spec }: Pick<Facts, "spec">): ValueOf =>
  valuesIn(environment, (variable) => givenValue({ spec }, variable)?.value);

/** `given` values, and what is known of the others. */
export const valuesIn = (environment: KnownEnvironment, given: ValueOf): ValueOf =>
  Object.assign(
    (variable: string) => environment(variable) === "Unset" ? "" : given(variable),
    { isSet: (variable: string) => environment(variable) === "Set" },
  );
