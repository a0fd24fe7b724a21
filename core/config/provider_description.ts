/**
 * The file that describes the provider in an image, `lls-provider-spec.yaml`. The rules are those of prepare_providers.py, which
 * judges the file again when a pod starts; tests/server/prepare_providers_test.ts compares the two.
 */
import { PROVIDER_DESCRIPTION_BYTES_MAX } from "../data/limits.ts";
import * as Result from "effect/Result";
import { camelCase, EXTERNAL_LISTS } from "../api/api_names.ts";
import { at, isList, isObject, type Json } from "../data/json.ts";
import { printable } from "../data/printable.ts";
import { readYaml11 } from "../data/yaml.ts";

export const DESCRIPTION_FILE = "lls-provider-spec.yaml";
export const IMAGE_FOLDER = "/lls-provider/";

export interface ProviderDescription {
  readonly name: string;
  readonly version: string;
  readonly vendor: string;
  readonly packageName: string;
  readonly providerType: string;
  readonly api: string;
}

export const PACKAGE_NAME = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
export const PROVIDER_TYPE = /^(remote|inline)::[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** APIs in the description: those of the lists of the resource, and one under its new name. */
export const DESCRIBED_APIS: ReadonlyArray<string> = [...EXTERNAL_LISTS.map(({ api }) => api), "responses"];

export interface ReadDescription {
  readonly problems: ReadonlyArray<ProviderProblem>;
  readonly description: ProviderDescription;
  /** Paths that must exist in the image, as they are written. */
  readonly paths: ReadonlyArray<string>;
  /** Names of packages, as they are written. */
  readonly ignored: ReadonlyArray<string>;
}

/** Why a provider cannot be installed: a reason and the sentence of prepare_providers.py. */
export interface ProviderProblem {
  readonly reason: ProviderReason;
  readonly message: string;
}

/** Those that can be decided without the Python of the server. */
export type ProviderReason =
  | "ProviderApiMismatch"
  | "ProviderConflict"
  | "ProviderImportFailed"
  | "ProviderMetadataInvalid"
  | "ProviderMetadataMissing"
  | "ProviderPackagesInvalid"
  | "ProviderPackagesMissing"
  | "ProviderServerMismatch";

/** `listedUnder`: the API as the config of the server calls it; undefined where the image is in no resource. */
export const readDescription = (text: string, listedUnder?: string): Result.Result<ReadDescription, string> => {
  if (new TextEncoder().encode(text).length > PROVIDER_DESCRIPTION_BYTES_MAX) {
    return Result.fail(`${DESCRIPTION_FILE} is larger than ${PROVIDER_DESCRIPTION_BYTES_MAX} bytes`);
  }
  const read = readYaml11(text);
  if (Result.isFailure(read)) return Result.fail(`${DESCRIPTION_FILE} is not valid YAML: ${read.failure.detail}`);
  const document = read.success;
  const problems: ProviderProblem[] = [];
  const invalid = (message: string): void =>
    void problems.push({ reason: "ProviderMetadataInvalid", message: `${DESCRIPTION_FILE}: ${message}` });
  const field = (path: string, expected: string, fits: (value: string) => boolean): string => {
    const found = at(document, ...path.split("."));
    const value = isNumber(found) ? String(found) : found;
    if (typeof value === "string" && value !== "" && fits(value)) return value;
    invalid(`${path} must be ${expected}, and is ${shown(value)}`);
    return "";
  };
  const any = () => true;
  const exactly = (word: string) => (value: string) => value === word;
  field("apiVersion", '"llamastack.io/v1alpha1"', exactly("llamastack.io/v1alpha1"));
  field("kind", '"ProviderPackage"', exactly("ProviderPackage"));
  const description: ProviderDescription = {
    name: field("metadata.name", "a text", any),
    version: field("metadata.version", "a text", any),
    vendor: field("metadata.vendor", "a text", any),
    packageName: field("spec.packageName", "a dotted name of a Python package", (value) => PACKAGE_NAME.test(value)),
    providerType: field(
      "spec.providerType",
      "such as remote::name or inline::name",
      (value) => PROVIDER_TYPE.test(value),
    ),
    api: listedUnder === undefined
      ? field("spec.api", `one of ${DESCRIBED_APIS.join(", ")}`, (value) => DESCRIBED_APIS.includes(value))
      : field("spec.api", "a text", any),
  };
  const { api } = description;
  if (listedUnder !== undefined && api !== "" && listedUnder !== api && listedUnder !== RENAMED_APIS[api]) {
    problems.push({
      reason: "ProviderApiMismatch",
      message: `the image contains a provider of the ${shownApi(api)} API, but it is listed under ${listedUnder}; ` +
        (DESCRIBED_APIS.includes(api) ? `list it under ${fieldOf(api)}` : "correct spec.api in the image"),
    });
  }
  const listOf = (name: string, of: string): ReadonlyArray<string> => {
    const value = at(document, "spec", name) ?? [];
    if (isList(value) && value.every((item) => typeof item === "string")) return value;
    invalid(`spec.${name} must be a list of ${of}`);
    return [];
  };
  const wheelPath = at(document, "spec", "wheelPath") ?? undefined;
  if (wheelPath !== undefined && typeof wheelPath !== "string") {
    invalid("spec.wheelPath must be a path");
  }
  return Result.succeed({
    problems,
    description,
    paths: [
      ...(typeof wheelPath === "string" ? [wheelPath] : []),
      ...listOf("dependencyWheels", "paths"),
    ],
    ignored: listOf("ignoredDependencies", "names"),
  });
};

/** The name of an API in the description, where servers call it otherwise. */
const RENAMED_APIS: Readonly<Record<string, string>> = { agents: "responses" };

/** The list of the resource for an API of the description. */
const fieldOf = (api: string): string =>
  EXTERNAL_LISTS.find((list) => list.api === api || RENAMED_APIS[list.api] === api)?.field ?? camelCase(api);

/** Whoever makes an image may write anything there. */
const shownApi = (api: string): string => printable(api.replaceAll(/\s/g, " ")).slice(0, API_CHARACTERS_SHOWN);
const API_CHARACTERS_SHOWN = 100;

/** Python's YAML reader accepts tabs in quotes, comments and texts of several lines only. The last of these are not told apart here. */
export const tabProblems = (text: string): ReadonlyArray<ProviderProblem> => {
  if (/[|>][-+0-9]*[ \t]*$/m.test(text)) return [];
  const line = text.split("\n").findIndex((line) => /^[^"'#]*\t/.test(line));
  return line < 0 ? [] : [{
    reason: "ProviderMetadataInvalid",
    message: `${DESCRIPTION_FILE} is not valid YAML for Python: line ${line + 1} has a tab; use spaces`,
  }];
};

/** A version such as 1.0 is a number in YAML; larger ones are written in more ways than one. */
const isNumber = (value: Json | undefined): value is number =>
  typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER + 1;

/** Short, however large the value is. */
const shown = (value: Json | undefined): string => {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "string") return JSON.stringify([...value].slice(0, 100).join(""));
  if (typeof value === "boolean" || isNumber(value)) return String(value);
  return isList(value) ? "a list" : isObject(value) ? "a mapping" : "another value";
};

/** The path in the folder that the image has as `IMAGE_FOLDER`. */
export const pathInFolder = (path: string): string => {
  const found: string[] = [];
  for (const part of (path.startsWith(IMAGE_FOLDER) ? path.slice(IMAGE_FOLDER.length) : path).split("/")) {
    if (part === ".." && found.length > 0 && found.at(-1) !== "..") found.pop();
    else if (part !== "" && part !== ".") found.push(part);
  }
  return found.join("/");
};
