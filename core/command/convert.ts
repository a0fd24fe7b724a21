/**
 * `convert`: resources in the other API version, and the early shorthand as lists; other documents are unchanged. It only
 * rejects what the conversion would lose or hide; `lint` validates.
 */
import * as Result from "effect/Result";
import { rejection } from "../api/guarded_conversion.ts";
import { AS_WRITTEN, converted } from "../api/convert.ts";
import { portFindings } from "../api/change_rules.ts";
import { leftoverPaths } from "../api/convert/annotation.ts";
import { hasCounterpart } from "../api/convert/v1alpha1_paths.ts";
import { CONTAINER_NAME_DEFAULT, V1ALPHA1 } from "../api/v1alpha1.ts";
import { readV1alpha1 } from "../api/read_v1alpha1.ts";
import { API_VERSION, KIND } from "../api/v1alpha2.ts";
import { at, isObject, type Json, type JsonObject, objectAt, put, stringAt } from "../data/json.ts";
import { warningLine } from "../failure/warning.ts";
import { writeYaml } from "../data/yaml.ts";
import { type InputFile, type InputResource, readInputs } from "./input.ts";
import { lines, type Outcome, type Style } from "./outcome.ts";

export interface ConvertOptions {
  readonly to: "v1alpha1" | "v1alpha2";
  readonly format: "yaml" | "json";
  readonly style: Style;
}

export const convertCommand = (files: ReadonlyArray<InputFile>, { to, format, style }: ConvertOptions): Outcome => {
  const { documents, none } = readInputs(files);
  const made = documents.map((item) =>
    "label" in item ? convertedInput(item, to, style) : { resource: item.other, notes: [] }
  );
  return {
    stdout: none.length > 0
      ? ""
      : printed(made.flatMap(({ resource }) => resource === undefined ? [] : [resource]), format),
    stderr: lines([...none, ...made.flatMap(({ notes }) => notes)]),
    code: none.length > 0 || made.some(({ resource }) => resource === undefined) ? 1 : 0,
  };
};

const convertedInput = (
  { label, document, resource, warnings }: InputResource,
  to: "v1alpha1" | "v1alpha2",
  style: Style,
) => {
  const error = (sentence: string) => ({
    resource: undefined,
    notes: [`${style.name(label)}: ${style.error("error:")} ${sentence}`],
  });
  if (!isObject(document)) {
    return error(Result.isFailure(resource) ? resource.failure.failures.map(({ message }) => message).join("; ") : "");
  }
  const version = stringAt(document, "apiVersion") ?? "none";
  if (document.kind !== KIND || version !== V1ALPHA1 && version !== API_VERSION) {
    return error(
      `expected ${KIND} of ${V1ALPHA1} or ${API_VERSION}, got ${stringAt(document, "kind") ?? "no kind"} of ${version}`,
    );
  }
  // A misspelled field would become an annotation, where nothing finds it.
  const misspelled = readV1alpha1(document)?.failures ?? [];
  if (misspelled.length > 0) return error(misspelled.map(({ message }) => message).join("; "));
  const made = converted(explicit(document), to === "v1alpha1" ? V1ALPHA1 : API_VERSION, AS_WRITTEN);
  const [hidden] = portFindings(made);
  if (hidden !== undefined) return error(hidden.message);
  const problem = isObject(made.metadata) ? rejection(document, made, String(made.apiVersion)) : undefined;
  if (problem !== undefined) return error(`in ${to}, the API server would refuse it: it has ${problem}`);
  // Fields that do not fit into the annotations of an object would be lost silently.
  const back = converted(made, version, AS_WRITTEN);
  if (sizeOfSpec(back) < sizeOfSpec(explicit(document))) {
    return error(
      `the parts of spec that ${to} has no place for are larger than the annotations of an object may be: ` +
        `${lostIn(explicit(document), back).join(", ")}; keep the resource in ${version.split("/")[1]}`,
    );
  }
  const from = to === "v1alpha1" ? "v1alpha2" : "v1alpha1";
  const left = leftoverPaths(made, from);
  const reshaped = left.filter((path) => hasCounterpart(path, from));
  const lacking = left.filter((path) => !hasCounterpart(path, from));
  return {
    resource: made,
    notes: [
      ...warnings.map((note) => `${style.name(label)}: ${style.warning("warning:")} ${warningLine(note)}`),
      ...(reshaped.length === 0 ? [] : [
        `${style.name(label)}: ${reshaped.join(", ")}: ${to} writes this in another form; ` +
        "the original form is kept in an annotation for the conversion back",
      ]),
      ...(lacking.length === 0 ? [] : [
        `${style.name(label)}: ${to} has no field for ${
          lacking.join(", ")
        }; kept in an annotation for the conversion back`,
      ]),
    ],
  };
};

const sizeOfSpec = (resource: JsonObject): number => JSON.stringify(resource.spec ?? null).length;

/** The blocks of spec that the conversion back does not restore completely. */
const lostIn = (before: JsonObject, after: JsonObject): ReadonlyArray<string> => {
  const [was, is] = [objectAt(before, "spec"), objectAt(after, "spec")];
  return Object.keys(was).filter((block) =>
    JSON.stringify(is[block] ?? null).length < JSON.stringify(was[block] ?? null).length
  ).map((block) => `spec.${block}`);
};

/** The two defaults of v1alpha1 that would be reported as differences if they were omitted. */
const explicit = (resource: JsonObject): JsonObject => {
  if (resource.apiVersion !== V1ALPHA1) return resource;
  const container = at(resource, "spec", "server", "containerSpec");
  const network = at(resource, "spec", "network");
  const named = isObject(container)
    ? put(resource, ["spec", "server", "containerSpec"], { name: CONTAINER_NAME_DEFAULT, ...container })
    : resource;
  return isObject(network) ? put(named, ["spec", "network"], { exposeRoute: false, ...network }) : named;
};

const printed = (resources: ReadonlyArray<Json>, format: ConvertOptions["format"]): string =>
  resources.length === 0
    ? ""
    : format === "yaml"
    ? resources.map(writeYaml).join("---\n")
    : `${JSON.stringify(resources.length === 1 ? resources[0] : resources, null, 2)}\n`;
